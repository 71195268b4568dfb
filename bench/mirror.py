"""A mirror in Parquet: the first run over all cells, the next one after a share of the grids changed, and a query that
asks nothing of the registry.

Runs are processes of their own, as a timer starts them; their times are with the start of Python. Grids are of 7 × 20
cells with trials. Nobody computes statistics: only cells are mirrored.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from bench.figures import Figure, show
from bench.load import grid, post, publish
from bench.system import System, system
from workers.jobs.upkeep import sequence_arrivals

CELLS = 7 * 20
RECIPE = Path(__file__).parent.parent / "docs" / "recipes" / "mirror.md"
_BATCH = 500
_BEST = """
SELECT experiment, benchmark, arg_max(model, mean) FROM (
    SELECT experiment, benchmark, model, avg(value) AS mean FROM cells WHERE axes['Length'].number < 10 GROUP BY ALL
) GROUP BY ALL
"""


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of the command: by the clock, of the processor, at most in memory, and how many requests it made."""

    seconds: float
    processor: float
    mebibytes: float
    requests: int


def measure(grids: int = 7_200, changed: int = 72) -> Iterator[Figure]:
    """Rows a second and peak memory of the first run, bytes a cell, the next run, and a query of all cells."""
    with system("serve", workers=False) as found, tempfile.TemporaryDirectory(prefix="registry-mirror-") as home:
        lake = Path(home) / "lake"
        publish(found, grids, 1, 0, min(_BATCH, grids))
        sequence_arrivals(found.database)
        first = _run(found, lake)
        rows, size = grids * CELLS, sum(file.stat().st_size for file in lake.rglob("*.parquet"))
        told = f"{first.seconds:.1f} s, {first.processor:.1f} s of its processor, {first.requests} requests"
        yield Figure(f"first run over {rows:,} cells", rows / first.seconds, "cells/s", beside=told)
        yield Figure("… its memory at most", first.mebibytes, "MiB")
        yield Figure("… a cell on disk", size / rows, "B", beside=f"{size / 2**20:.1f} MiB with the table of grids")
        _publish_others(found, changed)
        sequence_arrivals(found.database)
        yield _figure(f"the next run after {changed} of {grids:,} grids changed", _run(found, lake))
        yield _figure("… after nothing changed", _run(found, lake))
        yield Figure("best model of each benchmark, DuckDB over all cells", _queried(lake), "s")


def _figure(name: str, run: _Run) -> Figure:
    told = f"{run.processor:.1f} s of its processor, {run.requests} requests, {run.mebibytes:.0f} MiB"
    return Figure(name, run.seconds, "s", beside=told)


def _publish_others(found: System, count: int) -> None:
    """Publish other values for the first grids."""
    path, connection = f"/api/v1/projects/{found.project}/grids/batch", found.connection()
    status, answer = post(connection, found, path, json.dumps([grid(one, seed=1) for one in range(count)]).encode())
    if status != 200 or b'"problem"' in answer:
        raise RuntimeError(f"{status}: {answer[:300]!r}")


def _run(found: System, lake: Path) -> _Run:
    where = {"REGISTRY_URL": f"http://127.0.0.1:{found.port}", "REGISTRY_TOKEN": found.token}
    before = _requests(found)
    begun = time.perf_counter()
    command = [sys.executable, "-m", "registry", "mirror", str(lake), found.project, "--quiet"]
    child = subprocess.Popen(command, env=os.environ | where | {"HOME": str(lake.parent)})
    _, status, used = os.wait4(child.pid, 0)
    seconds = time.perf_counter() - begun
    child.returncode = os.waitstatus_to_exitcode(status)
    if status:
        raise RuntimeError(f"registry mirror ended with status {child.returncode}")
    requests = _requests(found) - before - 1  # and that of the metrics before
    return _Run(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, requests)


def _requests(found: System) -> int:
    """Requests that the web process has answered."""
    connection = found.connection()
    connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {found.token}"})
    text = connection.getresponse().read().decode()
    connection.close()
    return sum(
        int(float(one)) for one in re.findall(r"^registry_request_seconds_count\{.*\} (\S+)$", text, re.MULTILINE)
    )


def _queried(lake: Path) -> float:
    """Seconds of a query of all cells by the view of the recipe, in a new process' memory."""
    import duckdb

    [view, *_] = re.findall(r"```sql\n(.*?)```", RECIPE.read_text(encoding="utf-8"), re.DOTALL)
    before = Path.cwd()
    os.chdir(lake)
    try:
        begun = time.perf_counter()
        with duckdb.connect() as connection:
            connection.execute(view)
            connection.execute(_BEST).fetchall()
        return time.perf_counter() - begun
    finally:
        os.chdir(before)


if __name__ == "__main__":
    show(measure())
