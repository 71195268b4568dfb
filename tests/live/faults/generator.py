"""Clients as jobs are: most publish, some amend, a few repeat themselves, the rest read what must not be stale.

Every write is unlike every other: its number is in a label (publications) or in the value (amendments). So each
revision that is found afterwards belongs to exactly one write.
"""

import random
import threading
import time
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from tests.live.faults.history import History, Identity, Write
from tests.live.faults.wire import Wire

EXPERIMENTS = ("alpha", "beta", "gamma")
WEIGHTS = (12, 6, 1)
"""How often each is written. Where writes are rare a ranking is ready for long enough to be read."""
BENCHMARKS = ("one", "two")
METRIC = {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0, "upper": 100}
TASKS = ("a", "b", "c")
STEPS = (0, 1, 2, 4, 8)
LATER_STEPS = (16, 32)
"""Levels that only amendments add."""
INSISTENCE = 15.0
"""Seconds for which a client asks again for a ranking that is not ready."""


class Client:
    """One job: a thread, a connection, a random source of its own."""

    def __init__(
        self, number: int, wire: Wire, history: History, seed: int, think: float, project: str, prefix: str = ""
    ) -> None:
        self.number, self.wire, self.history, self.think, self.project = number, wire, history, think, project
        self.prefix = prefix
        self.chance = random.Random(f"{seed}/{number}")
        self.done: list[Write] = []

    def run(self, until: float, patience: float) -> None:
        """Act until the history's clock says `until`; what is under way then is insisted on for `patience` more."""
        while self.history.now < until:
            self.act(until + patience)
            time.sleep(self.chance.uniform(0, 2 * self.think))

    def act(self, give_up: float) -> None:
        draw = self.chance.random()
        if draw < 0.60:
            self.settle(self.publication(), give_up)
        elif draw < 0.85:
            amendment = self.amendment()
            self.settle(amendment or self.publication(), give_up)
        elif draw < 0.90:
            self.replay()
        else:
            self.read()

    def publication(self) -> Write:
        """A grid of this client's own, or one that all clients write: then with a key, or its repetition could come
        after somebody else's revision and make another."""
        shared = self.chance.random() < 0.4
        experiment, benchmark = self._busy(), self.chance.choice(BENCHMARKS)
        identity = (experiment, benchmark, "everyone's" if shared else f"client {self.number}")
        keyed = shared or self.chance.random() < 0.7
        return self._write("POST", identity, f"projects/{self.project}/grids", keyed)

    def amendment(self) -> Write | None:
        """A cell or two of a grid that is known to be there; None when none is."""
        experiment = self._busy()
        known = self.history.known(experiment)
        if not known:
            return None
        grid = self.chance.choice(known)
        return self._write("PATCH", (experiment, "", grid), f"grids/{grid}/cells", keyed=True)

    def _busy(self) -> str:
        [experiment] = self.chance.choices(EXPERIMENTS, WEIGHTS)
        return self.prefix + experiment

    def _write(self, method: str, identity: Identity, path: str, keyed: bool) -> Write:
        number = self.history.number()
        sent = grid(self.chance, number, identity) if method == "POST" else cells(self.chance, number)
        key = f"{identity[0]}-{number}" if keyed else None
        return self.history.add(Write(number, self.number, method, identity, path, sent, key))

    def settle(self, write: Write, give_up: float) -> None:
        """Send until it is known what became of it, as the README tells jobs to do."""
        while self.history.now < give_up:
            began = self.history.now
            headers = {} if write.key is None else {"Idempotency_Key": write.key}
            answer = self.wire.call(write.method, write.path, write.sent, **headers)
            self.history.answered(write, began, answer)
            if write.acknowledged:
                self.done.append(write)
                return
            if write.refused:
                return
            time.sleep(min(answer.retry_after, 1.0) * self.chance.uniform(0.5, 1))

    def replay(self) -> None:
        """A write that was acknowledged, sent again with its key: the first answer comes back."""
        keyed = [write for write in self.done if write.key is not None]
        if not keyed:
            return
        write = self.chance.choice(keyed[-50:])
        answer = self.wire.call(write.method, write.path, write.sent, Idempotency_Key=str(write.key))
        self.history.saw("a replay", answer)
        if answer.status in (200, 201):
            self.history.counts["replays answered"] += 1
            document = answer.json
            if (document["id"], document["revision"], document["digest"]) != (write.grid, write.revision, write.digest):
                what = f"the key {write.key} was answered with revision {document['revision']} of {document['id']}"
                self.history.find("duplicate effects", what, write.line())

    def read(self) -> None:
        """A ranking, now and then statistics: what was acknowledged before the request must be in the answer."""
        experiment = self.prefix + self.chance.choice(EXPERIMENTS)
        floors = self.history.floors(experiment)
        if floors and self.chance.random() < 0.3:
            self.read_statistics(*self.chance.choice(sorted(floors.items())))
            return
        if self.chance.random() < 0.5:
            self.read_ranking(experiment)
            return
        # However slow the machine: the more clients insist, the fewer write, and the sooner a ranking is ready.
        give_up = self.history.now + INSISTENCE
        while not self.read_ranking(experiment, {"Prefer": "wait=2"}) and self.history.now < give_up:
            time.sleep(self.chance.uniform(0, 2 * self.think))

    def read_ranking(self, experiment: str, patience: Mapping[str, str] = MappingProxyType({})) -> bool:
        """The usual ranking, and whether it was there; no input may be older than what was acknowledged before."""
        floors = self.history.floors(experiment)
        path = f"projects/{self.project}/rankings?experiment={quote(experiment)}&metric=accuracy"
        answer = self.wire.call("GET", path, **patience)
        self.history.saw("a ranking", answer)
        if answer.status == 200:
            self.history.counts["rankings read"] += 1
            document = answer.json
            if document["state"] != "ready":
                self.history.find("failed", f"the ranking of {experiment}: {document['reason']}")
                return True
            inputs = {one["grid"]: one["revision"] for one in document["inputs"]}
            late = {grid: floor for grid, floor in floors.items() if inputs.get(grid, 0) < floor}
            if late:
                self.history.find("stale rankings", f"{experiment} at {self.history.now:.2f} without {late}")
        return answer.status == 200

    def read_statistics(self, grid: str, floor: int) -> None:
        answer = self.wire.call("GET", f"grids/{grid}/statistics")
        self.history.saw("statistics", answer)
        if answer.status == 200:
            self.history.counts["statistics read"] += 1
            document = answer.json
            if document["revision"] < floor:
                what = (
                    f"grid {grid} at {self.history.now:.2f}: revision {document['revision']}, {floor} was acknowledged"
                )
                self.history.find("stale statistics", what)
            elif document["state"] == "ready":
                version = f"{document['revision']}, methods {document['methods_version']}"
                self.history.same_bytes(f"statistics of {grid}", version, answer.body)


def grid(chance: random.Random, number: int, identity: Identity) -> dict[str, Any]:
    """A publication over Task and Step with holes and ties; numbers of one decimal."""
    values = [[_value(chance) for _ in STEPS] for _ in TASKS]
    values[0][0] = values[0][0] or 50.0
    experiment, benchmark, model = identity
    return {
        "experiment": experiment,
        "benchmark": benchmark,
        "model": model,
        "metric": METRIC,
        "axes": [
            {"name": "Task", "kind": "nominal", "levels": list(TASKS)},
            {"name": "Step", "kind": "numeric", "levels": list(STEPS)},
        ],
        "values": values,
        "labels": {"write": str(number)},
    }


def _value(chance: random.Random) -> float | None:
    return None if chance.random() < 0.1 else round(chance.uniform(40, 60), 1)


def cells(chance: random.Random, number: int) -> dict[str, Any]:
    """An amendment; its values have four decimals and are the write's own."""
    count = chance.choice((1, 1, 2))
    places = chance.sample([(task, step) for task in TASKS for step in (*STEPS, *LATER_STEPS)], count)
    value = (2 * (number % 90_000) + 1) / 2000
    return {"cells": [{"at": {"Task": task, "Step": step}, "value": value} for task, step in places]}


def run_clients(clients: Sequence[Client], until: float, patience: float) -> None:
    """All clients at once; returns when the last has ended, and raises what one of them raised."""
    failures: list[BaseException] = []

    def guarded(client: Client) -> None:
        try:
            client.run(until, patience)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(client,), name=f"client {client.number}") for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
