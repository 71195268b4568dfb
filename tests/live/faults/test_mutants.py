"""The checker is worth something: it tells each mutant from the product, in the story where the difference shows."""

from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.live.faults.chaos import stranger_of
from tests.live.faults.checker import Verdict, check
from tests.live.faults.history import History
from tests.live.faults.mutants.fault_mutants import MUTANTS
from tests.live.faults.scenarios import Script, asleep, calm, forgetful_broker, frozen_worker, power_cut
from tests.live.faults.stage import PROJECT, Stage
from tests.ports import free_port

Story = Callable[[Stage, Script], None]
CAUGHT: dict[str, tuple[Story, str]] = {
    "synchronous_commit=off": (power_cut, "lost"),
    "publish-outbox": (forgetful_broker, "missing statistics"),
    "commit-then-delay": (forgetful_broker, "missing statistics"),
    "no lease check": (frozen_worker, "duplicate effects"),
    "stale statistics": (asleep, "stale statistics"),
    "stale rankings": (asleep, "stale rankings"),
    "no project filter": (calm, "strangers"),
    "NaN accepted": (calm, "not numbers"),
}
HEALTHY_PATIENCE, MUTANT_PATIENCE = 30.0, 6.0
AT_ONCE = 3


def told(directory: Path, stories: Collection[Story], patience: float, mutant: str = "") -> Verdict:
    """The verdict on a registry that has been through these stories."""
    # A dispatcher that computes without the broker on a slow machine would hide what a mutant has lost there.
    unanswered = 60.0 if mutant and forgetful_broker in stories else 1.0
    settings = {"lease_seconds": 2.0, "unanswered_seconds": unanswered, "worker_processes": 1, "log_level": "WARNING"}
    with Stage(directory, free_port(), mutant=mutant, **settings) as stage:
        history, stranger = History(), stranger_of(stage)
        script = Script(stage, history)
        for story in stories:
            story(stage, script)
        return check(history, stage.wire(), stranger, PROJECT, patience)


def test_the_product_comes_through_every_story(tmp_path: Path) -> None:
    stories = dict.fromkeys(story for story, _ in CAUGHT.values())
    verdict = told(tmp_path, stories, HEALTHY_PATIENCE)
    assert verdict.good, f"\n{verdict}"


@pytest.fixture(scope="module")
def verdicts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Future[Verdict]]]:
    """The verdict on each mutant; their stories run side by side, because most of them wait most of the time."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        yield {
            mutant: pool.submit(told, tmp_path_factory.mktemp("mutant"), [story], MUTANT_PATIENCE, mutant)
            for mutant, (story, _) in CAUGHT.items()
        }


@pytest.mark.parametrize("mutant", MUTANTS)
def test_the_checker_catches(verdicts: dict[str, Future[Verdict]], mutant: str) -> None:
    verdict = verdicts[mutant].result()
    assert CAUGHT[mutant][1] in verdict.broken, f"\n{verdict}"


def test_what_is_left_of_a_project_that_is_gone_is_called_lost(stage: Stage) -> None:
    history = History()
    Script(stage, history).publish("known")
    verdict = check(history, stage.wire(), stranger_of(stage), "gone")
    assert verdict.broken == {"lost"}, f"\n{verdict}"
