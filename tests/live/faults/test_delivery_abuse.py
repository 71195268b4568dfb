"""F4, delivery abuse: doorbells that come twice, late or as nonsense, and grids that kill who computes them."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.live.faults.chaos import stranger_of
from tests.live.faults.checker import check
from tests.live.faults.history import History
from tests.live.faults.scenarios import Script
from tests.live.faults.stage import PROJECT, Stage, awaited
from tests.ports import free_port

QUEUE, WAKE = "registry", "registry:wake"
NONSENSE = [
    b"",
    b"nothing",
    b"[]",
    b"{}",
    b"null",
    b'{"headers": 1}',
    b'{"headers": {}, "body": ""}',
    b"\xff\xfe",
    b"9" * 5000,
]


def altered(notifier: bytes, **headers: Any) -> bytes:
    message = json.loads(notifier)
    message["headers"] |= headers
    return json.dumps(message).encode()


@pytest.fixture(scope="module")
def doorbells(stage: Stage) -> list[bytes]:
    """Real doorbells, taken while no worker is there to hear them."""
    broker = stage.broker()
    stage.kill_tree("worker")
    Script(stage, History()).publish("a doorbell", "doorbells")
    awaited(lambda: broker.llen(QUEUE) > 0, 10, "a doorbell")
    found = broker.lrange(QUEUE, 0, -1)
    broker.close()
    return [bytes(one) for one in found]


@pytest.mark.parametrize("kind", ["five-times", "stale", "for-nobody", "nonsense"])
def test_whatever_is_delivered_every_statistic_comes_once(stage: Stage, doorbells: list[bytes], kind: str) -> None:
    history, experiment = History(), f"doorbells-{kind}"
    script = Script(stage, history)
    sent = {
        "five-times": doorbells * 5,
        "stale": [
            altered(one, expires="2020-01-01T00:00:00+00:00", eta="2020-01-01T00:00:00+00:00") for one in doorbells
        ],
        "for-nobody": [altered(one, task=name) for one in doorbells for name in ("workers.nothing", "os.system", "")],
        "nonsense": NONSENSE,
    }[kind]
    broker = stage.broker()
    for number in range(10):
        script.publish(f"model {number}", experiment)
        for message in sent:
            broker.rpush(QUEUE, message)
            broker.lpush(QUEUE, message)
        broker.rpush(WAKE, *sent)
    broker.close()
    verdict = check(history, stage.wire(), stranger_of(stage), PROJECT, experiments=[experiment])
    assert verdict.good, f"\n{verdict}"


def test_grids_that_kill_their_worker_are_put_apart_while_others_are_computed(tmp_path: Path) -> None:
    """A statistic that raises and one that ends its process, in the midst of twenty grids that are well."""
    settings = {"lease_seconds": 2.0, "unanswered_seconds": 1.0, "log_level": "WARNING"}
    with Stage(tmp_path, free_port(), mutant="poison", **settings) as stage:
        script = Script(stage, History())
        begun = time.monotonic()
        well = []
        for number in range(20):
            if number % 10 == 5:
                raising = script.publish("raises", "well")
                deadly = script.publish("dies", "well")
            well.append(script.publish(f"model {number}", "well"))
        script.await_statistics(*well)
        assert time.monotonic() - begun < 10 + 5, "the neighbours of poison waited for it"

        def settled(grid: str) -> Any:
            answer = script.wire.call("GET", f"grids/{grid}/statistics")
            return answer.json if answer.status == 200 else None

        reasons = {write.identity[2]: awaited(lambda w=write: settled(w.grid), 60) for write in (raising, deadly)}
        assert {name: one["state"] for name, one in reasons.items()} == {"raises": "failed", "dies": "failed"}
        assert {one["attempts"] for one in reasons.values()} == {5}
        assert reasons["raises"]["reason"] == "ZeroDivisionError: poison"
        assert "died" in reasons["dies"]["reason"]
