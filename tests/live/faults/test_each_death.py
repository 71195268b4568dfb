"""Power-off: whatever dies, every acknowledged publication is there and gets its statistics."""

import os
import signal
from collections import defaultdict
from dataclasses import replace
from typing import Any

from sqlalchemy import func, select

from registry.broker import QUEUE, redis_client
from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.tables import derivations
from tests.live.processes.system import Servers, System, awaited, children, processes


def values(number: int) -> list[list[float]]:
    """A content of its own for each number: 24 × 24 cells, which keep a worker busy for a while."""
    return [[(number + 7 * row + 3 * column) % 100 + number / 1000 for column in range(24)] for row in range(24)]


AXES = [{"name": name, "kind": "numeric", "levels": list(range(24))} for name in ("x", "y")]


class Ledger:
    """What was acknowledged, by grid."""

    def __init__(self, system: System) -> None:
        self.system, self.client = system, system.client()
        self.revisions: dict[str, dict[int, str]] = defaultdict(dict)
        self.sent = 0

    def publish(self, count: int, models: int = 5) -> None:
        for _ in range(count):
            self.sent += 1
            self.note(
                self.client.publish_until_acknowledged(
                    model=f"model {self.sent % models}", axes=AXES, values=values(self.sent), trials=None
                )
            )

    def publish_until_leased(self) -> None:
        """Publish until a worker is seen computing: one that keeps up has nothing under way after a fixed number."""

        def more() -> int:
            self.publish(10)
            return leased(self.system)

        awaited(more, why="a lease")

    def note(self, grid: dict[str, Any]) -> None:
        self.revisions[grid["id"]][grid["revision"]] = grid["digest"]

    def check(self) -> None:
        """All statistics arrive, for the newest revision; the revisions are those that were acknowledged."""
        assert sum(map(len, self.revisions.values())) == self.sent
        for grid, acknowledged in self.revisions.items():
            document = awaited(lambda grid=grid: self.client.statistics({"id": grid}))
            assert document["state"] == "ready", document
            newest = max(acknowledged)
            assert (document["revision"], document["digest"]) == (newest, acknowledged[newest])
            listed = awaited(lambda grid=grid: self.listed(grid))
            assert {row["revision"]: row["digest"] for row in listed} == acknowledged
            assert sorted(acknowledged) == list(range(1, len(acknowledged) + 1))

    def listed(self, grid: str) -> list[dict[str, Any]] | None:
        """The revisions of a grid once each is derived."""
        answer = self.client.call("GET", f"grids/{grid}/revisions")
        assert answer.status == 200, answer.body
        rows = answer.json["items"]
        return rows if all(row["derivation"]["state"] == "ready" for row in rows) else None


def leased(system: System) -> int:
    database = Database(system.settings, name="tests")
    with database.reading() as connection:
        held = select(func.count()).where(derivations.c.state == "pending", derivations.c.lease.is_not(None))
        found = int(connection.scalar(held) or 0)
    database.close()
    return found


def test_kill_9_of_the_worker_and_its_children_while_they_compute(fragile: System) -> None:
    ledger = Ledger(fragile)
    ledger.publish_until_leased()
    fragile.kill("worker")
    ledger.publish(5)
    fragile.start("worker")
    ledger.check()


def test_kill_9_of_the_worker_for_good(fragile: System) -> None:
    """Nobody starts it again: the dispatcher computes."""
    ledger = Ledger(fragile)
    ledger.publish_until_leased()
    fragile.kill("worker")
    ledger.publish(5)
    ledger.check()


def test_kill_9_of_a_child_of_the_worker(fragile: System) -> None:
    ledger = Ledger(fragile)
    ledger.publish_until_leased()
    started = children(fragile.running["worker"].pid)
    assert started
    for child in started:
        os.kill(child, signal.SIGKILL)
    ledger.publish(5)
    ledger.check()
    assert fragile.running["worker"].poll() is None


def test_power_off_of_everything(fragile: System) -> None:
    ledger = Ledger(fragile)
    ledger.publish(20)
    for name in ("web", "worker", "dispatcher"):
        fragile.kill(name)
    fragile.start("dispatcher", "worker", "web")
    ledger.publish(3)
    ledger.check()


def test_a_broker_that_is_flushed_with_doorbells_in_it(fragile: System) -> None:
    """The doorbells ring again, and the worker hears them: nobody else may compute here."""
    fragile.terminate("dispatcher", "worker")
    fragile.settings = patient(fragile.settings)
    ledger, client = Ledger(fragile), redis_client(fragile.settings)
    ledger.publish(10)
    fragile.start("dispatcher")
    awaited(lambda: client.llen(QUEUE) > 0)
    fragile.start("worker")
    client.flushall()
    ledger.check()
    for _ in range(3):
        client.flushall()
        ledger.publish(10)
        client.flushall()
        ledger.check()
    client.close()
    assert "without the broker" not in fragile.log("dispatcher")


def patient(settings: Settings) -> Settings:
    """Unanswered doorbells are no reason to compute without the workers."""
    return replace(settings, unanswered_seconds=3600.0)


def test_a_broker_that_is_gone(fragile: System, fragile_servers: Servers) -> None:
    ledger = Ledger(fragile)
    ledger.publish(10)
    fragile_servers.kill_broker()
    ledger.publish(20)
    ledger.check()
    assert "without the broker" in fragile.log("dispatcher")


def test_a_worker_hears_again_after_each_restart_of_the_broker(fragile: System, fragile_servers: Servers) -> None:
    """The stand-in leaves when the broker is back; from then on nobody but the worker computes."""
    fragile.terminate("dispatcher")
    fragile.settings = patient(fragile.settings)
    fragile.start("dispatcher")
    ledger = Ledger(fragile)
    for _ in range(2):
        fragile_servers.kill_broker()
        ledger.publish(2)
        ledger.check()
        fragile_servers.start_broker()
        awaited(lambda: not processes_of_stand_in(fragile))
        ledger.publish(2)
        ledger.check()
        assert processes_of_stand_in(fragile) == []


def processes_of_stand_in(system: System) -> list[int]:
    mine = processes(holding=f"REGISTRY_PORT={system.settings.port}")
    return [pid for pid in processes(holding="workers.inline_worker") if pid in mine]


def test_sigterm_ends_each_process_within_ten_seconds_and_loses_nothing(fragile: System) -> None:
    ledger = Ledger(fragile)
    ledger.publish_until_leased()
    took = fragile.terminate("web", "worker", "dispatcher")
    assert max(took.values()) < 10, took
    assert processes(holding=f"REGISTRY_PORT={fragile.settings.port}") == []
    fragile.start("dispatcher", "worker", "web")
    ledger.check()
