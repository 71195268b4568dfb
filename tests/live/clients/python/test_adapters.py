"""Training loops of others: transformers as it is installed, driven by its own CallbackHandler as its Trainer does."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable
from typing import Any

import pytest

from results_registry import flush
from tests.client.conftest import Served
from tests.house import ACCURACY

NAMES = {"experiment": "tuning", "benchmark": "dev", "model": "tiny"}


def grids(served: Served) -> dict[str, Any]:
    """What was stored, by metric: the levels of the one axis, the values, the labels."""
    assert flush(10)
    found = {}
    for summary in served.grids():
        grid = served.project.get(f"grids/{summary['id']}").get_json()
        [axis] = grid["axes"]
        assert (axis["name"], axis["kind"]) == ("Step", "numeric")
        found[grid["metric"]["name"]] = (axis["levels"], grid["values"], grid["labels"])
    return found


class TestTransformers:
    """Driven by transformers' own CallbackHandler, as its Trainer drives it."""

    @pytest.fixture
    def drive(self) -> Callable[..., None]:
        from transformers import TrainerControl, TrainerState
        from transformers.trainer_callback import CallbackHandler

        def run(callback: Any, *, first: bool = True) -> None:
            handler = CallbackHandler([callback], None, None, None, None)
            state, control = TrainerState(is_world_process_zero=first), TrainerControl()
            arguments: Any = Namespace()
            handler.on_train_begin(arguments, state, control)
            for step, loss in ((10, 2.5), (20, 1.5)):
                state.global_step = step
                handler.on_log(arguments, state, control, {"loss": loss * 2, "learning_rate": 1e-4, "epoch": 0.1})
                metrics = {"eval_loss": loss, "eval_accuracy": 50.0 + step, "eval_runtime": 3.2, "epoch": 0.1}
                handler.on_evaluate(arguments, state, control, dict(metrics))
                handler.on_log(arguments, state, control, dict(metrics))
            handler.on_train_end(arguments, state, control)

        return run

    def test_evaluations_become_grids_over_steps(self, served: Served, drive: Callable[..., None]) -> None:
        from results_registry.adapters.transformers import RegistryCallback

        drive(RegistryCallback(**NAMES, **served.where))
        assert grids(served) == {
            "eval_loss": ([10, 20], [2.5, 1.5], {}),
            "eval_accuracy": ([10, 20], [60.0, 70.0], {}),
        }

    def test_metrics_are_chosen_named_and_described(self, served: Served, drive: Callable[..., None]) -> None:
        from results_registry.adapters.transformers import RegistryCallback

        drive(RegistryCallback(**NAMES, metrics={"eval_accuracy": ACCURACY}, **served.where))
        assert grids(served) == {"accuracy": ([10, 20], [60.0, 70.0], {})}
        assert served.grid()["metric"]["upper"] == 100

    def test_training_is_logged_when_asked(self, served: Served, drive: Callable[..., None]) -> None:
        from results_registry.adapters.transformers import RegistryCallback

        drive(RegistryCallback(**NAMES, training=True, **served.where))
        found = grids(served)
        assert found["loss"] == ([10, 20], [5.0, 3.0], {})
        assert set(found) == {"loss", "learning_rate", "eval_loss", "eval_accuracy"}

    def test_only_the_first_process_logs(self, served: Served, drive: Callable[..., None]) -> None:
        from results_registry.adapters.transformers import RegistryCallback

        drive(RegistryCallback(**NAMES, training=True, **served.where), first=False)
        assert grids(served) == {}
