"""Rankings at a leaderboard's size, on embedded servers, with one thread for products of matrices as worker processes
have.

A project of 200,000 grids of one cell: a full table of 1,000 models on 100 benchmarks, and a ragged one of 662 models
on 1,555 benchmarks, 88 % of it missing, as in MTEB. Rankings are computed in this process, by methods and policies,
over all benchmarks and over 56 of them; the times are processor time of this process, and what passed by the clock.
"""

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any
from uuid import UUID

import numpy as np
import orjson
from sqlalchemy import insert, text

from bench.figures import Figure
from migrations.apply import migrate
from registry.local.embedded import embedded_servers
from registry.operations.projects import make_project
from registry.query import RankingQuery
from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.tables import grids, new_id, shapes, stored_revisions
from workers.queries import compute, document_of

METRIC = {"name": "score", "unit": None, "direction": "higher", "lower": 0.0, "upper": 100.0}
SHAPE = {"id": UUID(int=1), "metric": METRIC, "axes": []}
SLUG = "board"
GRIDS = 200_000
SUITE = tuple(f"b{number:04}" for number in range(56))
POLICIES = [
    ("mean_difference", "matched"),
    ("mean", "available"),
    ("win_rate", "matched"),
    ("win_rate", "zero_votes"),
    ("bradley_terry", "matched"),
    ("borda", "zero_votes"),
    ("borda", "zero_points"),
]


@dataclass(frozen=True)
class Board:
    experiment: str
    models: int
    benchmarks: int
    share: float
    """Of the cells that are there."""


BOARDS = (Board("full", 1_000, 100, 1.0), Board("ragged", 662, 1_555, 0.0975))


def scores(board: Board) -> np.ndarray[Any, Any]:
    """Models x benchmarks, NaN where there is no grid: a strength, a difficulty and noise, one decimal."""
    chance = np.random.default_rng(7)
    strength = chance.normal(0, 8, board.models)[:, None] + chance.normal(0, 10, board.benchmarks)
    found = np.clip(np.round(55 + strength + chance.normal(0, 4, strength.shape), 1), 0, 100)
    # As on real boards some models are measured nearly everywhere and most on a few common benchmarks.
    popular = chance.beta(0.5, 0.5 / board.share - 0.5 + 1e-9, board.benchmarks)
    found[chance.random(found.shape) >= (popular if board.share < 1 else 1.0)] = np.nan
    if board.share < 1:
        found[:, :56] = np.where(
            np.isnan(found[:, :56]) & (chance.random((board.models, 56)) < 0.7), 50.0, found[:, :56]
        )
    return found


def rows(project: UUID, board: Board) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    table = scores(board)
    for model, benchmark in np.argwhere(np.isfinite(table)).tolist():
        yield _row(project, board.experiment, f"m{model:04}", f"b{benchmark:04}", float(table[model, benchmark]))


def _row(
    project: UUID, experiment: str, model: str, benchmark: str, value: float
) -> tuple[dict[str, Any], dict[str, Any]]:
    own = new_id()
    number = round(10 * value)
    identity = UUID(bytes=sha256(orjson.dumps([experiment, model, benchmark])).digest()[:16])
    grid = {
        "id": own, "project_id": project, "identity": identity, "experiment": experiment, "benchmark": benchmark,
        "model": model, "variant": "", "metric": METRIC["name"], "revision": 1,
    }  # fmt: skip
    revision = {
        "project_id": project, "grid_id": own, "number": 1, "digest": identity.bytes, "shape_id": SHAPE["id"],
        "cell_count": 1, "numbers": [number], "scale": 10,
    }  # fmt: skip
    return grid, revision


def fill(database: Database, boards: Sequence[Board], grids_in_all: int) -> UUID:
    """The project with its grids, as if it had been published long ago."""
    with database.transaction() as connection:
        project = UUID(str(make_project(connection, slug=SLUG, name=SLUG, visibility="public").id))
        connection.execute(insert(shapes).values(SHAPE | {"project_id": project}))
    pairs = [pair for board in boards for pair in rows(project, board)]
    rest = grids_in_all - len(pairs)
    pairs += [_row(project, "others", f"m{number % 500}", f"o{number // 500}", 50.0) for number in range(max(0, rest))]
    for start in range(0, len(pairs), 2_000):
        some = pairs[start : start + 2_000]
        with database.transaction() as connection:
            connection.execute(insert(grids).values([grid for grid, _ in some]))
            connection.execute(insert(stored_revisions).values([revision for _, revision in some]))
    with database.transaction() as connection:
        connection.execute(text("ANALYZE"))
    return project


def asked(database: Database, settings: Settings, project: UUID, query: RankingQuery, board: Board) -> Figure:
    """What a ranking takes, and how long it is."""
    begun, passed = time.process_time(), time.perf_counter()
    found = compute(database, settings, project, query)
    while found is None:
        found = compute(database, settings, project, query)
    taken, by_clock = time.process_time() - begun, time.perf_counter() - passed
    size = len(orjson.dumps(document_of(found))) / 1000
    over = f" over {len(query.benchmark)} named ones" if query.benchmark else ""
    name = f"{board.models:,} models × {board.benchmarks:,} benchmarks{over}, {query.method}, {query.missing}"
    if reason := getattr(found, "reason", None):
        return Figure(name, None, "s of a core", beside=f"no order: {reason}")
    return Figure(name, taken, "s of a core", at_most=2.0, beside=f"{by_clock:.1f} s by the clock, {size:,.0f} kB")


def measure(models: int = 1_000, benchmarks: int = 100, ragged: bool = True, others: int = GRIDS) -> Iterator[Figure]:
    """Every method and policy over all benchmarks, and the first of them over the named ones."""
    boards = (Board("full", models, benchmarks, 1.0), *(BOARDS[1:] if ragged else ()))
    with tempfile.TemporaryDirectory(prefix="registry-bench-") as home, embedded_servers(home) as urls:
        migrate(urls[0])
        settings = replace(Settings(), database_url=urls[0])
        database = Database(settings, name="bench")
        project = fill(database, boards, others)
        for board in boards:
            for place, (method, missing) in enumerate(POLICIES):
                for suite in ((), SUITE)[: 1 if place else 2]:
                    query = RankingQuery(board.experiment, "score", suite, method=method, missing=missing)
                    yield asked(database, settings, project, query, board)
        database.close()
