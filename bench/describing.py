"""What a description costs, on one core and through Celery."""

import random
import statistics
import time
from collections.abc import Iterator

from bench.figures import Figure, show
from bench.load import drain, publish, waiting
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


def measure(grids: int = 1000, together: int = 100, times: int = 15) -> Iterator[Figure]:
    """Milliseconds of a core for a description, and grids a second through Celery."""
    collect_rarely()
    seed = read_submission({"axes": []} | demo_grids()[0], Limits()).grid
    for name, found, most in (
        ("7 × 20, two numeric axes, trials, alone", numeric(7, 20, 300), 9.0),
        ("7 × 20, two numeric axes, no trials, alone", numeric(7, 20, None), None),
        ("35 × 35, two numeric axes, trials, alone", numeric(35, 35, 300), 30.0),
        ("seed 0 (7 × 20, one nominal axis, trials), alone", seed, None),
    ):
        yield Figure(name, cpu(found, times), "ms of a core", at_most=most)
    each = cpu_together(together)
    yield Figure("7 × 20, two numeric axes, trials, each of 100", each, "ms of a core", at_most=5.0)
    with system() as running:
        publish(running, grids, 1, 0, batch=min(grids, 100))
        # Some are described while others are published.
        rate = waiting(running) / drain(running)
    yield Figure("7 × 20 (one nominal axis) through Celery, two processes", rate, "grids/s", at_least=400.0)


if __name__ == "__main__":
    show(measure())
