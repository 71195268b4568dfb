"""Rankings as the registry grows, with grids of 140 cells: `python -m bench.scale [1000 … 1000000]`.

For each size (100 models, one experiment, published in batches): what a stored ranking takes to read, what one more
grid costs, and what all of it takes on disk. Then the same for 1,000 models. Statistics are not computed here (that is
`bench.describing`); what they take on disk is measured on the first grids.
"""

import gzip
import json
import multiprocessing
import random
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import TextClause, func, select, text

from bench import load
from bench.figures import Figure, show
from bench.system import System, system
from registry.errors import Unavailable
from registry.query import RankingQuery
from registry.storage.tables import cached_results
from workers.derive import derive_due
from workers.jobs.invalidation import apply_invalidations
from workers.queries import compute, compute_due
from workers.rankings.pair_sums import catch_up, keeps_sums

CELLS = 140
BATCH = 500
PATIENCE = 900.0
METRIC = {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0, "upper": 100}
AXES = [
    {"name": "Type", "kind": "nominal", "levels": [str(i) for i in range(7)]},
    {"name": "Length", "kind": "numeric", "levels": list(range(20))},
]


@dataclass(frozen=True)
class Size:
    experiment: str
    models: int
    grids: int


def bodies(size: Size, first: int, last: int) -> list[bytes]:
    """Batches of the grids from `first` to before `last`: all models on one benchmark after the other."""
    chance = random.Random(first)
    pool = [json.dumps(_values(chance, level)) for level in range(size.models) for _ in range(4)]
    metric, axes, found = json.dumps(METRIC), json.dumps(AXES), []
    for start in range(first, last, BATCH):
        grids = []
        for number in range(start, min(start + BATCH, last)):
            benchmark, model = divmod(number, size.models)
            grids.append(
                f'{{"experiment": "{size.experiment}", "benchmark": "b{benchmark}", "model": "m{model:04}", '
                f'"metric": {metric}, "axes": {axes}, "values": {pool[4 * model + chance.randrange(4)]}}}'
            )
        found.append(f"[{','.join(grids)}]".encode())
    return found


def _values(chance: random.Random, level: int) -> list[list[float | None]]:
    """Ragged, one decimal; models differ a little."""
    return [
        [
            None if chance.random() < 0.05 else min(100.0, round(50 + level % 40 + chance.gauss(0, 5), 1))
            for _ in range(20)
        ]
        for _ in range(7)
    ]


def publish(args: tuple[System, Size, int, int]) -> None:
    found, size, first, last = args
    connection = found.connection()
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {found.token}"}
    step = 20 * BATCH
    for start in range(first, last, step):
        for body in bodies(size, start, min(start + step, last)):
            connection.request("POST", f"/api/v1/projects/{found.project}/grids/batch", body, headers)
            answer = connection.getresponse()
            sent = answer.read()
            if answer.status != 200 or b'"problem"' in sent:
                raise RuntimeError(f"{answer.status}: {sent[sent.find(b'problem') :][:300]!r}")


def grow(found: System, size: Size, have: int) -> float:
    """Publish what is missing with two clients; grids a second."""
    begun = time.perf_counter()
    middle = have + (size.grids - have) // 2 // BATCH * BATCH
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        plain = System(found.port, found.token, found.settings, None, found.web)  # type: ignore[arg-type]
        pool.map(publish, [(plain, size, have, middle), (plain, size, middle, size.grids)])
    return (size.grids - have) / (time.perf_counter() - begun)


def settle(found: System) -> float:
    """Fold and answer until the ranking is there; seconds."""
    begun = time.perf_counter()
    while True:
        try:
            while apply_invalidations(found.database, found.settings):
                pass
            compute_due(found.database, found.settings)
        except Unavailable as error:  # as a worker would: what waits is taken up again
            print(f"again, after {error}", file=sys.stderr, flush=True)
            continue
        with found.database.reading() as connection:
            if not connection.scalar(select(func.count()).where(cached_results.c.state == "pending")):
                return time.perf_counter() - begun
        if time.perf_counter() - begun > PATIENCE:
            raise RuntimeError(f"the ranking is pending after {PATIENCE:.0f} s")
        time.sleep(0.05)


def read_times(found: System, size: Size, count: int) -> tuple[list[float], int]:
    connection = found.connection()
    path = f"/api/v1/projects/{found.project}/rankings?experiment={size.experiment}&metric=accuracy"
    times, length = [], 0
    for _ in range(count):
        begun = time.perf_counter()
        connection.request("GET", path, headers={"Accept-Encoding": "gzip"})
        answer = connection.getresponse()
        body = answer.read()
        times.append(time.perf_counter() - begun)
        if answer.status != 200:
            raise RuntimeError(f"{answer.status}: {body[:200]!r}")
        length = len(gzip.decompress(body)) if answer.headers["Content-Encoding"] == "gzip" else len(body)
    return times, length


def one_more(found: System, size: Size, rounds: int) -> tuple[list[float], float]:
    """Seconds to count one changed grid, where this experiment keeps sums, and of the last ranking made anew."""
    question = RankingQuery(size.experiment, "accuracy")
    with found.database.reading() as connection:
        project = connection.scalar(text("SELECT id FROM projects WHERE slug = 'bench'"))
        keeps = keeps_sums(connection, project, question)
    times = []
    for turn in range(rounds if keeps else 0):
        chance = random.Random(turn)
        number = chance.randrange(size.grids) // BATCH * BATCH
        publish((found, size, number, number + 1))
        # Another value than before, so that there is something to count.
        body = bodies(size, number + 1 + turn, number + 2 + turn)[0]
        connection_ = found.connection()
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {found.token}"}
        connection_.request("POST", f"/api/v1/projects/{found.project}/grids/batch", body, headers)
        connection_.getresponse().read()
        while apply_invalidations(found.database, found.settings):
            pass
        begun = time.perf_counter()
        if not catch_up(found.database, project, question, float("inf")):
            raise RuntimeError("somebody else counts")
        times.append(time.perf_counter() - begun)
    begun = time.perf_counter()
    compute(found.database, found.settings, project, question)
    return times, time.perf_counter() - begun


_SIZES = text("""
    SELECT relname AS name, pg_total_relation_size(oid) AS whole FROM pg_class
    WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace
""")
_PARTS = text("""
    SELECT relname AS name, pg_relation_size(oid) AS whole FROM pg_class
    WHERE relkind IN ('r', 'i') AND relnamespace = 'public'::regnamespace
    UNION ALL SELECT relname || ', toast', pg_total_relation_size(reltoastrelid) FROM pg_class
    WHERE reltoastrelid <> 0 AND relnamespace = 'public'::regnamespace
""")
"""Each table, what is stored outside of its rows, and each index by itself."""


def disk(found: System, sizes: TextClause = _SIZES) -> dict[str, int]:
    """Bytes by name."""
    with found.database.reading() as connection:
        return {row.name: row.whole for row in connection.execute(sizes)}


def grown(found: System, size: Size, have: int, most: float, reads: int, rounds: int) -> Iterator[Figure]:
    """Publish what a size lacks, and measure what its ranking costs; one more grid may take `most` milliseconds."""
    name = f"{size.models:,} models, {size.grids:,} grids"
    rate = grow(found, size, have)
    ready = settle(found)
    first_most = 60.0 if size.grids >= 1_000_000 else None
    yield Figure(f"{name}: first ranking", ready, "s", at_most=first_most, beside=f"published {rate:,.0f} a second")
    times, length = read_times(found, size, reads)
    yield Figure(
        f"{name}: a stored ranking, p50", 1000 * statistics.median(times), "ms", beside=f"{length / 1000:,.0f} kB"
    )
    more, anew = one_more(found, size, rounds)
    settle(found)
    if more:
        beside = f"the ranking made anew {anew:.2f} s"
        yield Figure(f"{name}: one more grid", 1000 * statistics.median(more), "ms", at_most=most, beside=beside)
    else:
        yield Figure(f"{name}: one more grid, from all cells", anew, "s", beside="no sums are kept of so few cells")


def without_statistics(found: System) -> float:
    """Bytes a cell on disk."""
    return sum(disk(found).values()) / _grids(found) / CELLS


def _grids(found: System) -> int:
    with found.database.reading() as connection:
        return int(connection.scalar(text("SELECT count(*) FROM grids")) or 1)


def statistics_on_disk(found: System) -> float:
    """Bytes a cell that the statistics of the first grids take."""
    derive_due(found.database, found.settings)
    with found.database.reading() as connection:
        rows, size = connection.execute(text("SELECT count(*), sum(length(document)) FROM statistics")).one()
    return float(size / rows / CELLS)


def with_trials(grids: int, kind: str, most: float) -> Iterator[Figure]:
    """Bytes a cell of grids whose cells have trials, a tenth of them revised, on servers of their own: what is there
    before does not count. Tables, what is stored outside of their rows, and indexes are named beside it."""
    with system(workers=False) as found:
        empty = disk(found, _PARTS)
        _publish_with_trials(found, kind, range(grids))
        bare = sum(disk(found, _PARTS).values()) - sum(empty.values())
        _derive_all(found)
        _publish_with_trials(found, kind, range(0, grids, 10), seed=1)
        _derive_all(found)
        each = {name: (size - empty[name]) / grids / CELLS for name, size in disk(found, _PARTS).items()}
        largest = sorted(each.items(), key=lambda one: -one[1])
        beside = ", ".join(f"{name} {size:.2f}" for name, size in largest if size >= 0.1)
        named = f"disk a cell with trials, first axis {kind}"
        yield Figure(f"{named}, without statistics", bare / grids / CELLS, "B", at_most=40.0)
        yield Figure(f"{named}, with statistics", sum(each.values()), "B", at_most=most, beside=beside)
        _, anew = one_more(found, Size("experiment-0", 50, min(grids, 1_000)), 0)
        yield Figure(f"{min(grids, 1_000):,} grids with trials, first axis {kind}: the ranking made anew", anew, "s")


def _publish_with_trials(found: System, kind: str, numbers: Sequence[int], seed: int = 0) -> None:
    first = {"nominal": AXES[0], "numeric": {"name": "Layers", "kind": "numeric", "levels": list(range(7))}}[kind]
    path, connection = f"/api/v1/projects/{found.project}/grids/batch", found.connection()
    for start in range(0, len(numbers), BATCH):
        some = [load.grid(one, seed) | {"axes": [first, AXES[1]]} for one in numbers[start : start + BATCH]]
        status, answer = load.post(connection, found, path, json.dumps(some).encode())
        if status != 200 or b'"problem"' in answer:
            raise RuntimeError(f"{status}: {answer[:300]!r}")


def _derive_all(found: System) -> None:
    while derive_due(found.database, found.settings):
        pass


def measure(
    sizes: Sequence[int] = (1_000, 10_000),
    thousands: Sequence[int] = (10_000,),
    reads: int = 400,
    rounds: int = 9,
    trials: int = 2_000,
) -> Iterator[Figure]:
    """Rankings of 100 models at growing numbers of grids, then of 1,000 models beside them.

    The usual sizes take a minute; a million grids of 100 models take ten.
    """
    with system(workers=False) as found:
        for have, grids in zip((0, *sizes), sizes, strict=False):
            yield from grown(found, Size("hundred", 100, grids), have, 10.0, reads, rounds)
        bare = without_statistics(found)
        largest = ", ".join(
            f"{name} {bytes_ / _grids(found) / CELLS:.1f}"
            for name, bytes_ in sorted(disk(found).items(), key=lambda item: -item[1])[:4]
        )
        yield Figure("disk a cell without statistics", bare, "B", at_most=15.0, beside=largest)
        told = statistics_on_disk(found)
        yield Figure("disk a cell with statistics", bare + told, "B", at_most=40.0)
        for have, grids in zip((0, *thousands), thousands, strict=False):
            yield from grown(found, Size("thousand", 1_000, grids), have, 50.0, reads, rounds)
    yield from with_trials(trials, "nominal", 60.0)
    yield from with_trials(trials, "numeric", 100.0)


if __name__ == "__main__":
    show(measure([int(one) for one in sys.argv[1:]] or (1_000, 10_000)))
