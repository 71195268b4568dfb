"""Training loops of others: transformers as it is installed, driven by its own CallbackHandler as its Trainer does."""

from argparse import Namespace
from typing import Any

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


def drive(served: Served, *, first: bool = True, **given: Any) -> dict[str, Any]:
    """What is stored of a training that reports to the registry's callback."""
    from transformers import TrainerControl, TrainerState
    from transformers.trainer_callback import CallbackHandler

    from results_registry.adapters.transformers import RegistryCallback

    handler = CallbackHandler([RegistryCallback(**NAMES, **given, **served.where)], None, None, None, None)
    told: Any = Namespace(), (state := TrainerState(is_world_process_zero=first)), TrainerControl()
    handler.on_train_begin(*told)
    for step, loss in ((10, 2.5), (20, 1.5)):
        state.global_step = step
        handler.on_log(*told, {"loss": loss * 2, "learning_rate": 1e-4, "epoch": 0.1})
        metrics = {"eval_loss": loss, "eval_accuracy": 50.0 + step, "eval_runtime": 3.2, "epoch": 0.1}
        handler.on_evaluate(*told, dict(metrics))
        handler.on_log(*told, dict(metrics))
    handler.on_train_end(*told)
    return grids(served)


LOSS, ACCURATE = ([10, 20], [2.5, 1.5], {}), ([10, 20], [60.0, 70.0], {})


def test_evaluations_become_grids_over_steps(served: Served) -> None:
    assert drive(served) == {"eval_loss": LOSS, "eval_accuracy": ACCURATE}


def test_metrics_are_chosen_named_and_described(served: Served) -> None:
    assert drive(served, metrics={"eval_accuracy": ACCURACY}) == {"accuracy": ACCURATE}
    assert served.grid()["metric"]["upper"] == 100


def test_training_is_logged_when_asked(served: Served) -> None:
    found = drive(served, training=True)
    assert found["loss"] == ([10, 20], [5.0, 3.0], {})
    assert set(found) == {"loss", "learning_rate", "eval_loss", "eval_accuracy"}


def test_only_the_first_process_logs(served: Served) -> None:
    assert drive(served, first=False, training=True) == {}
