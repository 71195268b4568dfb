"""Files and functions of this project that one request or one job runs through: what a newcomer has to read.

Each trip is made once before it is counted, so that nothing is loaded or cached on the way that a second one would
find. The application, its workers and its database are those of `bench.pages`, in one process. A move is a call from a
function in one file into a function in another.
"""

import itertools
import logging
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

from bench.figures import Figure, show
from bench.pages import Demonstration, demonstration
from registry.logs import configure_logs
from registry.operations.auth import issue_token
from workers.derive import derive_due
from workers.jobs.invalidation import apply_invalidations
from workers.queries import compute_due

ROOT = Path(__file__).resolve().parent.parent
QUESTION = "experiment=window-by-ratio&metric=Pass@1"
GRID = {
    "experiment": "window-by-ratio",
    "benchmark": "AIME24",
    "model": "R1-Qwen",
    "variant": "trips",
    "metric": {"name": "Pass@1", "unit": "%", "direction": "higher", "lower": 0, "upper": 100},
    "axes": [
        {"name": "Window Size", "kind": "numeric", "levels": [512, 1024]},
        {"name": "Ratio", "kind": "numeric", "levels": [0.1, 0.2, 0.3]},
    ],
    "trials": 150,
}
AIMS = {"POST a grid": 35.0, "a ranking's page": 45.0}
OWN = tuple(f"{ROOT}/{room}/" for room in ("registry", "workers", "client", "migrations"))
NUMBERS = "/api/v1/projects/demo/rankings"


@dataclass
class Trip:
    """The functions that ran, and how often a call went from one file to another."""

    functions: set[CodeType] = field(default_factory=set)
    moves: int = 0

    @property
    def files(self) -> int:
        return len({function.co_filename for function in self.functions})

    def profile(self, frame: FrameType, event: str, _: object) -> None:
        """Count a call of a function of this project."""
        code, caller = frame.f_code, frame.f_back
        if event != "call" or not code.co_filename.startswith(OWN) or code.co_name == "<module>":
            return
        self.functions.add(code)
        while caller is not None and not caller.f_code.co_filename.startswith(OWN):
            caller = caller.f_back
        self.moves += caller is not None and caller.f_code.co_filename != code.co_filename


def made(trip: Callable[[], object]) -> Trip:
    """Make a trip and count it."""
    counted = Trip()
    sys.setprofile(counted.profile)
    try:
        trip()
    finally:
        sys.setprofile(None)
    return counted


def measure() -> Iterator[Figure]:
    """Files on the way of each trip, beside its functions and moves."""
    logging.disable(logging.CRITICAL)
    configure_logs("ERROR")
    with demonstration() as found:
        for name, prepare, trip in trips(found):
            for _ in range(2):
                prepare()
                counted = made(trip)
            beside = f"{len(counted.functions)} functions, {counted.moves:,} moves"
            yield Figure(name, counted.files, "files", at_most=AIMS.get(name), beside=beside)


def trips(found: Demonstration) -> Iterator[tuple[str, Callable[[], object], Callable[[], object]]]:
    """Each trip: its name, what is done before, and what is counted."""
    with found.database.transaction() as connection:
        token = issue_token(connection, project_id=None, role="admin", name="trips", days=1)[1]
    values = itertools.count(10)

    def post() -> None:
        values_sent = [[next(values), 85, 80], [70, 65, 61]]
        headers = {"Authorization": f"Bearer {token}"}
        answer = found.client.post("/api/v1/projects/demo/grids", json=GRID | {"values": values_sent}, headers=headers)
        assert answer.status_code in (200, 201), answer.text

    def get(path: str) -> Callable[[], object]:
        return lambda: found.client.get(path)

    def ask_anew() -> None:
        post()
        derive_due(found.database, found.settings)
        apply_invalidations(found.database, found.settings)

    ranking, page = f"/api/v1/projects/demo/rankings{{}}?{QUESTION}", f"/projects/demo/results?view=ranking&{QUESTION}"
    found.client.get(ranking.format(""))
    yield "POST a grid", found.work, post
    yield "its statistics in a worker", post, lambda: derive_due(found.database, found.settings)
    yield "a ranking in a worker", ask_anew, lambda: compute_due(found.database, found.settings)
    yield "a ranking as JSON", found.work, get(ranking.format(""))
    yield "a ranking as text", found.work, get(ranking.format(".txt"))
    yield "a ranking's page", found.work, get(page)
    yield "a grid's page", found.work, get(found.grid)


if __name__ == "__main__":
    show(measure())
