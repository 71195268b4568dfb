"""A logger for Lightning: every logged metric becomes cells of a grid over `Step`.

from results_registry.adapters.lightning import RegistryLogger
Trainer(logger=RegistryLogger(experiment="pretraining", benchmark="validation", model="small"))
"""

from __future__ import annotations

from typing import Any

try:
    from lightning.pytorch.loggers import Logger
    from lightning.pytorch.utilities import rank_zero_only
except ModuleNotFoundError:  # the older name of the same library
    from pytorch_lightning.loggers import Logger
    from pytorch_lightning.utilities import rank_zero_only

from results_registry import flush
from results_registry.adapters.steps import Chosen, Steps, labels_of

_END_SECONDS = 5.0


class RegistryLogger(Logger):
    """Logs metrics by step; hyperparameters become labels of the grids that are made.

    `metrics` is as in `results_registry.adapters.steps.Steps`; `where` is what `log_cells` takes: `project`, `url`,
    `token`.
    Never raises; waits at the end of a run for at most five seconds. What is not sent then stays in the spool.
    """

    def __init__(
        self, *, experiment: str, benchmark: str, model: str, variant: str = "", metrics: Chosen = None, **where: Any
    ) -> None:
        super().__init__()
        names = {"experiment": experiment, "benchmark": benchmark, "model": model, "variant": variant}
        self._names = names
        self._steps = Steps(metrics, names, where)

    @property
    def name(self) -> str:
        return self._names["experiment"]

    @property
    def version(self) -> str:
        """The variant, which tells runs of one experiment and model apart."""
        return self._names["variant"]

    @rank_zero_only
    def log_metrics(self, metrics: dict[str, Any], step: int | None = None) -> None:
        self._steps.log(metrics, 0 if step is None else step)

    @rank_zero_only
    def log_hyperparams(self, params: Any, *_args: Any, **_more: Any) -> None:
        if params is not None:
            self._steps.labels = labels_of(params)

    @rank_zero_only
    def finalize(self, status: str) -> None:
        flush(_END_SECONDS)
