"""What a cluster costs beside one PostgreSQL, in turns.

    python -m bench.nodes ONE_DATABASE ITS_BROKER COORDINATOR ITS_BROKER

The databases are empty but for the tables, which the second one has in shards (`registry partition --citus`).
"""

import json
import os
import random
import statistics
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from sqlalchemy import func, select

from bench.load import grid
from bench.system import System, running, system
from registry.local.processes import DISPATCHER, WORKER
from registry.storage.tables import statistics as statistics_table

PROJECTS, GRIDS, ROUNDS, TURNS, DESCRIBED = 64, 2_000, 200, 3, 500


class Side:
    """One of the two, with the milliseconds that each kind of request took."""

    def __init__(self, found: System) -> None:
        self.found, self.line = found, found.connection()
        self.described = 0
        self.took: dict[str, list[float]] = defaultdict(list)

    def call(self, what: str, method: str, path: str, sent: Any = None) -> Any:
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.found.token}"}
        begun = time.perf_counter()
        self.line.request(method, f"/api/v1/{path}", None if sent is None else json.dumps(sent), headers)
        answer = self.line.getresponse()
        body = json.loads(answer.read())
        self.took[what].append(1000 * (time.perf_counter() - begun))
        if answer.status not in (200, 201, 202) or "problem" in str(body)[:200]:
            raise RuntimeError(f"{what}: {answer.status} {str(body)[:300]}")
        return body

    def load(self, project: int) -> None:
        self.call("make a project", "POST", "projects", {"slug": f"p{project}", "name": f"p{project}"})
        for first in range(0, GRIDS, 100):
            some = [grid(number, seed=project, rows=3, columns=4) for number in range(first, first + 100)]
            self.call("publish a batch of 100 (3 × 4)", "POST", f"projects/p{project}/grids/batch", some)

    def compute(self, projects: range) -> None:
        """Describe some of what was loaded, and read rankings."""
        ready = select(func.count()).select_from(statistics_table)
        with running([DISPATCHER, WORKER], os.environ | self.found.settings.environment()):
            while (first := self.count(ready)) == self.described:
                time.sleep(0.05)
            begun = time.perf_counter()
            while (now := self.count(ready)) < first + DESCRIBED:
                time.sleep(0.05)
            self.described = now
            rate = (self.described - first) / (time.perf_counter() - begun)
            self.took["describe a grid (3 × 4), with its share of the rest"].append(1000 / rate)
            self.line = self.found.connection()  # the server ends one that waits for long
            for project in projects:
                path = f"projects/p{project}/rankings?experiment=experiment-0&metric=accuracy"
                for _ in range(20):
                    self.call("read a ranking", "GET", path)

    def count(self, query: Any) -> int:
        with self.found.database.reading() as reading:
            return int(reading.scalar(query) or 0)

    def ask(self, project: int, number: int) -> None:
        """Publish one grid, and read and change it."""
        one = grid(10_000 + number, seed=project)
        made = self.call("publish a grid (7 × 20)", "POST", f"projects/p{project}/grids", one)["id"]
        self.call("read a grid", "GET", f"grids/{made}")
        self.call("read its statistics, pending", "GET", f"grids/{made}/statistics")
        self.call("list 100 grids", "GET", f"projects/p{project}/grids?limit=100")
        cells = {"cells": [{"at": {"Type": "1", "Length": 0}, "value": 50}]}
        self.call("amend a grid", "PATCH", f"grids/{made}/cells", cells)


def main(*urls: str) -> None:
    with ExitStack() as stack:
        enter: Callable[..., System] = stack.enter_context
        pairs = (urls[:2], urls[2:])
        sides = [Side(enter(system("serve", workers=False, servers=pair, ranking_debounce=0.0))) for pair in pairs]  # type: ignore[arg-type]
        for project in range(PROJECTS):
            for side in random.sample(sides, 2):
                side.load(project)
        for number in range(ROUNDS):
            for side in random.sample(sides, 2):
                side.ask(random.randrange(PROJECTS), number)
        told(*sides)
        for turn in range(TURNS):
            for side in random.sample(sides, 2):
                side.compute(range(4 * turn, 4 * turn + 4))
        told(*sides)


def told(one: Side, cluster: Side) -> None:
    """Print the middle of what each took, and the ratio."""
    print("| p50, ms | one PostgreSQL | cluster | ratio |\n|---|---|---|---|")
    for what, times in one.took.items():
        here, there = statistics.median(times), statistics.median(cluster.took[what])
        print(f"| {what} | {here:.1f} | {there:.1f} | {there / here:.2f} |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
