"""What a page costs the server, from the request to the bytes.

Runs the application in one process, on an embedded registry of its own with the demonstration and its statistics.
"""

import logging
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from flask.testing import FlaskClient

from bench.figures import Figure, show
from migrations.apply import migrate
from registry import create_app
from registry.demo import publish_demo
from registry.local.embedded import embedded_servers
from registry.logs import configure_logs
from registry.settings import Settings
from registry.storage.database import Database
from workers.derive import derive_due
from workers.jobs.invalidation import apply_invalidations
from workers.queries import compute_due

TARGET_MS = 60.0


@dataclass(frozen=True)
class Demonstration:
    """An application with the demonstration: a client of it, the path of seed 0's grid (7 by 20, with trials)."""

    client: FlaskClient
    grid: str
    database: Database
    settings: Settings

    def work(self) -> None:
        """Compute what is due."""
        apply_invalidations(self.database, self.settings)
        while derive_due(self.database, self.settings) + compute_due(self.database, self.settings):
            pass


@contextmanager
def demonstration() -> Iterator[Demonstration]:
    """The demonstration in one process, with its statistics and two answers computed."""
    with (
        tempfile.TemporaryDirectory(prefix="registry-bench-") as home,
        embedded_servers(home) as (database_url, redis_url),
    ):
        settings = replace(Settings(), database_url=database_url, redis_url=redis_url, ranking_debounce=0.0)
        migrate(database_url)
        database = Database(settings, name="bench")
        grids = publish_demo(database)
        found = Demonstration(create_app(settings).test_client(), f"/grids/{grids[0]}", database, settings)
        found.client.get(EXPERIMENT)
        found.client.get(RANKING)
        found.work()
        yield found
        database.close()


EXPERIMENT = "/projects/demo/results?view=heatmaps&experiment=window-by-ratio&metric=Pass@1&model=R1-Qwen"
RANKING = "/projects/demo/results?view=ranking&experiment=window-by-ratio&metric=Pass@1"


def measure(rounds: int = 60) -> Iterator[Figure]:
    """Milliseconds of a page, medians of so many requests."""
    logging.disable(logging.CRITICAL)
    configure_logs("ERROR")
    with demonstration() as found:
        client, grid = found.client, found.grid
        tag = client.get(grid).headers["ETag"]
        for name, path, known, most in (
            ("a grid's page (7 × 20, trials, every statistic)", grid, None, TARGET_MS),
            ("… not modified (304)", grid, tag, None),
            ("an experiment's page, four panels", EXPERIMENT, None, None),
            ("a ranking's page, two models", RANKING, None, None),
            ("`/statistics` as JSON, for comparison", f"/api/v1{grid}/statistics", None, None),
        ):
            passed, worked = spent(client, path, rounds, known)
            yield Figure(name, passed, "ms", at_most=most, beside=f"{worked:.1f} ms of processor")


def spent(client: FlaskClient, path: str, rounds: int, tag: str | None = None) -> tuple[float, float]:
    """The medians of the requests: milliseconds that passed, and those of this process's processor time."""
    headers = {} if tag is None else {"If-None-Match": tag}
    client.get(path, headers=headers)
    passed, worked = [], []
    for _ in range(rounds):
        begun, begun_work = time.perf_counter(), time.process_time()
        answer = client.get(path, headers=headers)
        passed.append(1000 * (time.perf_counter() - begun))
        worked.append(1000 * (time.process_time() - begun_work))
        assert answer.status_code == (200 if tag is None else 304), answer.status
    return statistics.median(passed), statistics.median(worked)


if __name__ == "__main__":
    show(measure())
