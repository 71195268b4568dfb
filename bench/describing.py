"""What a description costs, on one core and through Celery. `python -m bench.describing` prints a table."""

from __future__ import annotations

import os
import random
import statistics
import time
from pathlib import Path

from bench.load import publish
from bench.main_job import drain
from bench.system import system
from registry.demo import demo_grids
from registry.garbage import collect_rarely
from registry.grids.grid import Axis, Grid, Level, Metric
from registry.grids.intake import Limits, read_submission

PERCENT = Metric("accuracy", "%", "higher", 0, 100)


def numeric(rows: int, columns: int, trials: int | None, seed: int = 0) -> Grid:
    """A full grid with two numeric axes."""
    chance = random.Random(rows + 1000 * seed)
    axes = tuple(
        Axis(name, "numeric", tuple(Level(str(i), float(i)) for i in range(size)))
        for name, size in (("row", rows), ("column", columns))
    )
    return Grid(PERCENT, axes, tuple(round(chance.uniform(30, 100), 1) for _ in range(rows * columns)), trials)


def cpu(found: Grid, times: int = 15) -> float:
    """Milliseconds of one core for a description, the median of several."""
    from workers.statistics import describe

    describe(found)
    seconds = []
    for _ in range(times):
        begun = time.process_time()
        describe(found)
        seconds.append(time.process_time() - begun)
    return 1000 * statistics.median(seconds)


def cpu_together(count: int) -> float:
    """Milliseconds of one core for each of so many grids that are described together, as a worker does."""
    from workers.statistics import describe_all

    grids = [numeric(7, 20, 300, seed) for seed in range(count)]
    seconds = []
    for _ in range(5):
        begun = time.process_time()
        for first in range(0, count, 32):
            describe_all(grids[first : first + 32])
        seconds.append(time.process_time() - begun)
    return 1000 * statistics.median(seconds) / count


def memory(name: str) -> list[float]:
    """Resident MiB of the worker's processes."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
                pages = int((entry / "statm").read_text().split()[1])
            except OSError:
                continue
            if name.encode() in command:
                found.append(pages * os.sysconf("SC_PAGE_SIZE") / 2**20)
    return sorted(found)


def main() -> None:
    collect_rarely()
    seed = read_submission({"axes": []} | demo_grids()[0], Limits()).grid
    for name, found in (
        ("seed 0 (7 × 20, one nominal axis, trials)", seed),
        ("7 × 20, two numeric axes, trials", numeric(7, 20, 300)),
        ("7 × 20, two numeric axes, no trials", numeric(7, 20, None)),
        ("35 × 35, two numeric axes, trials", numeric(35, 35, 300)),
    ):
        print(f"  describe {name}: {cpu(found):.1f} ms of one core")
    print(f"  describe 100 of 7 × 20, two numeric axes, trials: {cpu_together(100):.1f} ms of one core for each")
    with system() as running:
        publish(running, 1000, 1, 0, batch=100)
        begun = time.perf_counter()
        drain(running)
        seconds = time.perf_counter() - begun
        print(f"  1,000 grids of 7 × 20 through Celery, two worker processes: {seconds:.1f} s")
        print(f"  that is {60 * 1000 / seconds:.0f} grids a minute, {60 * 1000 / seconds / 2:.0f} for each core")
        sizes = ", ".join(f"{size:.0f}" for size in memory("workers.app"))
        print(f"  resident memory of the worker's processes (MiB): {sizes}")


if __name__ == "__main__":
    main()
