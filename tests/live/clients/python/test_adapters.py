"""Training loops of others: transformers as it is installed, Lightning by its published interface.

Lightning needs torch, which is larger than everything else here together. Its part is played by the abstract base class
of its documentation (lightning.pytorch.loggers.Logger, 2.6): the same names, abstract methods and properties.
"""

from __future__ import annotations

import importlib
import sys
from abc import ABC, abstractmethod
from argparse import Namespace
from collections.abc import Callable, Iterator
from functools import wraps
from types import ModuleType
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


class Logger(ABC):
    """lightning.pytorch.loggers.Logger, as documented."""

    @property
    @abstractmethod
    def name(self) -> str | None: ...

    @property
    @abstractmethod
    def version(self) -> int | str | None: ...

    @property
    def root_dir(self) -> str | None:
        return None

    @property
    def log_dir(self) -> str | None:
        return None

    @property
    def group_separator(self) -> str:
        return "/"

    @abstractmethod
    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None: ...

    @abstractmethod
    def log_hyperparams(self, params: Any, *args: Any, **kwargs: Any) -> None: ...

    def save(self) -> None: ...  # noqa: B027 (empty there, too)

    def finalize(self, status: str) -> None:
        self.save()


def rank_zero_only(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def run(*args: Any, **kwargs: Any) -> Any:
        return method(*args, **kwargs) if rank_zero_only.rank == 0 else None  # type: ignore[attr-defined]

    return run


class Scalar:
    """A torch scalar, by what it has."""

    shape = ()

    def __init__(self, value: float) -> None:
        self._value = value

    def item(self) -> float:
        return self._value


class TestLightning:
    @pytest.fixture(params=["lightning.pytorch", "pytorch_lightning"])
    def logger_class(self, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
        """The adapter, with the library under one of its two names."""
        for name in ("lightning", "lightning.pytorch", "pytorch_lightning"):
            monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.setitem(sys.modules, request.param.split(".")[0], ModuleType("root"))
        for name in ("", ".loggers", ".utilities"):
            module = ModuleType(request.param + name)
            module.Logger, module.rank_zero_only = Logger, rank_zero_only  # type: ignore[attr-defined]
            monkeypatch.setitem(sys.modules, request.param + name, module)
        monkeypatch.setattr(rank_zero_only, "rank", 0, raising=False)
        sys.modules.pop("results_registry.adapters.lightning", None)
        yield importlib.import_module("results_registry.adapters.lightning").RegistryLogger
        sys.modules.pop("results_registry.adapters.lightning", None)

    def test_metrics_become_grids_over_steps_with_the_hyperparameters_as_labels(
        self, served: Served, logger_class: Any
    ) -> None:
        logger = logger_class(**NAMES, variant="run 1", **served.where)
        assert (logger.name, logger.version) == ("tuning", "run 1")
        logger.log_hyperparams({"lr": 1e-4, "model": {"layers": 2, "name": "a\nb"}})
        logger.log_metrics({"train_loss": Scalar(2.5), "epoch": 0}, step=10)
        logger.log_metrics({"train_loss": Scalar(1.5), "epoch": 1}, step=20)
        logger.save()
        logger.finalize("success")
        labels = {"lr": "0.0001", "model.layers": "2", "model.name": "a b"}
        assert grids(served) == {"train_loss": ([10, 20], [2.5, 1.5], labels)}

    def test_a_namespace_of_many_hyperparameters_is_cut_aloud(
        self, served: Served, logger_class: Any, caplog: pytest.LogCaptureFixture
    ) -> None:
        logger = logger_class(**NAMES, **served.where)
        logger.log_hyperparams(Namespace(**{f"p{number}": "x" * 300 for number in range(70)}))
        logger.log_metrics({"loss": 1.0}, step=1)
        assert len(grids(served)["loss"][2]) == 64
        assert "6 hyperparameters are not" in caplog.text

    def test_other_ranks_log_nothing(self, served: Served, logger_class: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(rank_zero_only, "rank", 1)
        logger = logger_class(**NAMES, **served.where)
        logger.log_metrics({"loss": 1.0}, step=1)
        logger.finalize("success")
        assert grids(served) == {}

    def test_the_first_rank_logs_though_the_environment_counts_otherwise(
        self, served: Served, logger_class: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("SLURM_PROCID", "4")
        logger_class(**NAMES, **served.where).log_metrics({"loss": 1.0}, step=1)
        assert grids(served)["loss"] == ([1], [1.0], {})
