"""A callback for Hugging Face's `Trainer`: every evaluation becomes cells of grids over `Step`.

from results_registry.adapters.transformers import RegistryCallback
Trainer(…, callbacks=[RegistryCallback(experiment="fine-tuning", benchmark="MMLU", model="Qwen-2.5 3B")])
"""

from __future__ import annotations

from typing import Any

from transformers import TrainerCallback

from results_registry.adapters.steps import Chosen, Steps

_LOGGED = ("loss", "grad_norm", "learning_rate")


class RegistryCallback(TrainerCallback):
    """Logs evaluations, and with `training=True` the training loss and what is logged beside it.

    `metrics` is as in `results_registry.adapters.steps.Steps`; `where` is what `log_cells` takes: `project`, `url`,
    `token`.
    Never raises and never waits; only the process that the Trainer calls the world's first logs.
    """

    def __init__(
        self,
        *,
        experiment: str,
        benchmark: str,
        model: str,
        variant: str = "",
        metrics: Chosen = None,
        training: bool = False,
        **where: Any,
    ) -> None:
        names = {"experiment": experiment, "benchmark": benchmark, "model": model, "variant": variant}
        self._evaluations = Steps(metrics, names, where)
        self._training = Steps(metrics if metrics is not None else _LOGGED, names, where) if training else None

    def on_evaluate(
        self, args: Any, state: Any, control: Any, metrics: dict[str, Any] | None = None, **_given: Any
    ) -> None:
        """Log an evaluation at the step that training has reached."""
        if state.is_world_process_zero:
            self._evaluations.log(metrics or {}, state.global_step)

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **_given: Any) -> None:
        """Log the training's own numbers; those of evaluations come through `on_evaluate`."""
        if self._training is not None and state.is_world_process_zero:
            own = {name: value for name, value in (logs or {}).items() if not name.startswith("eval_")}
            self._training.log(own, state.global_step)
