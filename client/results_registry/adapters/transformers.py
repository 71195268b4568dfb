"""A callback for Hugging Face's `Trainer`: every evaluation becomes cells of grids over `Step`.

from results_registry.adapters.transformers import RegistryCallback
Trainer(…, callbacks=[RegistryCallback(experiment="fine-tuning", benchmark="MMLU", model="Qwen-2.5 3B")])
"""

import numbers
from collections.abc import Iterable, Mapping
from typing import Any

from transformers import TrainerCallback

from results_registry import log_cells

_STEP = {"name": "Step", "kind": "numeric"}
_LOGGED = ("loss", "grad_norm", "learning_rate")
_BOOKKEEPING = ("epoch", "step", "total_flos", "lr", "learning_rate", "grad_norm")
_TIMINGS = ("_runtime", "_per_second", "_time", "_jit_compilation_time")


class RegistryCallback(TrainerCallback):
    """Logs evaluations, and with `training=True` the training loss and what is logged beside it.

    `metrics` chooses what is logged: names, or a mapping from a reported name to the metric it is
    (`{"eval_accuracy": {"name": "accuracy", "direction": "higher", "lower": 0, "upper": 1}}`). Without it every
    reported number is a metric, except learning rates, timings and counts of epochs. `where` is what `log_cells` takes:
    `project`, `url`, `token`.
    Never raises and never waits; only the process that the Trainer calls the world's first logs.
    """

    def __init__(
        self,
        *,
        experiment: str,
        benchmark: str,
        model: str,
        variant: str = "",
        metrics: Mapping[str, str | Mapping[str, Any]] | Iterable[str] | None = None,
        training: bool = False,
        **where: Any,
    ) -> None:
        names = {"experiment": experiment, "benchmark": benchmark, "model": model, "variant": variant}
        self._where = {"all_ranks": True} | where | names
        self._metrics = metrics if metrics is None or isinstance(metrics, Mapping) else {name: name for name in metrics}
        self._is_training = training

    def on_evaluate(
        self, args: Any, state: Any, control: Any, metrics: dict[str, Any] | None = None, **_given: Any
    ) -> None:
        """Log an evaluation at the step that training has reached."""
        chosen = self._metrics
        if chosen is None:
            chosen = {name: name for name, value in (metrics or {}).items() if _is_result(name, value)}
        self._log(state, metrics or {}, chosen)

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_given: Any) -> None:
        """Log the training's own numbers; those of evaluations come through `on_evaluate`."""
        if self._is_training:
            chosen = {name: name for name in _LOGGED} if self._metrics is None else self._metrics
            own = {name: value for name, value in (logs or {}).items() if not name.startswith("eval_")}
            self._log(state, own, chosen)

    def _log(self, state: Any, reported: Mapping[str, Any], chosen: Mapping[str, Any]) -> None:
        if state.is_world_process_zero:
            for name in chosen.keys() & reported.keys():
                cell = {"Step": state.global_step, "value": reported[name]}
                log_cells(cell, metric=chosen[name], axes=[_STEP], **self._where)


def _is_result(name: str, value: Any) -> bool:
    is_number = isinstance(value, numbers.Real) or (getattr(value, "shape", None) == () and hasattr(value, "item"))
    return is_number and name not in _BOOKKEEPING and not name.endswith(_TIMINGS)
