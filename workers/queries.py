"""Compute the results of queries, and settle them only if no input changed meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Literal

import orjson
import structlog
from sqlalchemy import and_, case, func, select, update

from registry.query import (
    ComparisonQuery,
    Query,
    RankingQuery,
    RevisionQuery,
    StatisticsQuery,
    SweetSpotQuery,
    ThresholdsQuery,
    query_of,
)
from registry.results.codec import to_bytes, to_document
from registry.results.ranking import Ranking
from registry.settings import Settings
from registry.storage.bi_facts import facts_of_answer
from registry.storage.database import Database
from registry.storage.rows import sliced_row
from registry.storage.tables import cached_results, revisions
from workers.comparisons import compared_rows, comparison_document
from workers.jobs.cpu_limit import cpu_limit
from workers.jobs.leases import Claim, claim, fail_attempt, release
from workers.rankings.board import board_ranking
from workers.rankings.direct import direct_ranking, refused_ranking
from workers.rankings.from_pair_sums import ranking_from_sums, size_from_sums
from workers.rankings.pair_sums.scopes import close_scope, is_up_to_date, keeps_sums, open_scope
from workers.rankings.pair_sums.update import catch_up
from workers.scope import alias_map, scope_rows, scope_size
from workers.statistics import METHODS_VERSION
from workers.statistics.counted_ranking import sums_have_order
from workers.statistics.ranking import MOST_NAMES
from workers.statistics_by_settings import statistics_asked_document
from workers.sweet_spots import TOO_LARGE, sweet_spot_document, thresholds_document

log = structlog.get_logger()

_PER_PAIR = 100
"""Cost of a pair of models besides their cells, in cells."""
READY = {"methods_version": METHODS_VERSION, "state": "ready"}
_TOO_MANY_CELLS = "too many cells to be compared one by one; ask about fewer models or benchmarks"
_MOST_WITHOUT_SUMS = 300_000
"""Cells up to which a ranking that pair sums could give is made from all cells each time. At 1.4 million one more grid
takes 0.8 to 3 s that way, and a tenth of it from sums."""
_COUNTING_SHIFT = 5.0
_COUNTING_PAUSE = 0.1
"""Seconds for which one claim updates pair sums, and those until its next one: other jobs get their share."""


Result = Ranking | dict[str, Any]
Way = Literal["cells", "board", "sums", "refused"]
"""From cells with exact tests, from all cells of a leaderboard at once, from pair sums, or not at all."""

_FROM_REVISION: dict[type[Query], Callable[[Any, Any], dict[str, Any]]] = {
    StatisticsQuery: statistics_asked_document,
    ThresholdsQuery: thresholds_document,
}
_FROM_GRIDS: dict[type[Query], Callable[[Any, Sequence[Any], Mapping[tuple[str, str], str]], Result]] = {
    RankingQuery: direct_ranking,
    SweetSpotQuery: sweet_spot_document,
}


def compute_due(database: Database, settings: Settings) -> int:
    """Compute one due query, if there is one; return how many there were."""
    claimed = claim(database, settings, cached_results, 1)
    for row in claimed.rows:
        try:
            _compute_and_settle(database, settings, claimed, row)
        except Exception as error:
            log.warning("answer failed", answer=str(row.id), error=repr(error))
            fail_attempt(database, settings, claimed, row, error)
    return len(claimed.rows)


def _compute_and_settle(database: Database, settings: Settings, claimed: Claim, row: Any) -> None:
    started = time.perf_counter()
    with cpu_limit():
        result = compute(database, settings, row.project_id, query_of(row.query))
    if result is None:
        release(database, claimed, [row], _COUNTING_PAUSE)
        return
    document = document_of(result)
    columns = {
        # The generation grew if an input changed since the claim. The job then stays pending, and this result, although
        # it is stored, is never served: `document_generation` is behind `generation`.
        "state": case((cached_results.c.generation == row.generation, "ready"), else_="pending"),
        "document_generation": row.generation,
        "attempts": 0,
        "lease": None,
        "leased_until": None,
        "reason": None,
        "document": to_bytes(document | {"computed_at": datetime.now(UTC)}),
        "facts": to_document(facts_of_answer(result)),
        "etag": etag_of(document),
        "methods_version": METHODS_VERSION,
        "seconds": time.perf_counter() - started,
        "computed_at": func.now(),
    }
    with database.transaction() as connection:
        # Only under its own lease: after that ran out, another worker may have computed a newer result.
        held = and_(cached_results.c.id == row.id, cached_results.c.lease == claimed.lease)
        connection.execute(update(cached_results).where(held).values(columns))


def document_of(result: Result) -> dict[str, Any]:
    """The document of a result, but for the time of computation."""
    if not isinstance(result, Ranking):
        return result | READY
    document: dict[str, Any] = to_document(replace(result, methods_version=METHODS_VERSION))
    return document


def etag_of(document: Mapping[str, Any]) -> str:
    """Entity tag of a result: a hash of everything but the time of computation."""
    return sha256(orjson.dumps(dict(document))).hexdigest()[:24]


def compute_again(database: Database, settings: Settings, project_id: Any, query: Query) -> dict[str, Any] | None:
    """Complete document of a query, computed without a write; None while its pair sums are out of date."""
    with cpu_limit():
        if isinstance(query, RankingQuery) and _way_of(database, settings, project_id, query) == "sums":
            # Unlike `compute`, this opens and updates no scope: verifying writes nothing.
            with database.snapshot() as connection:
                whole = is_up_to_date(connection, project_id, query)
                return document_of(ranking_from_sums(connection, project_id, query)) if whole else None
        result = compute(database, settings, project_id, query)
    return None if result is None else document_of(result)


def compute(database: Database, settings: Settings, project_id: Any, query: Query) -> Result | None:
    """Result of a query from the rows as they are now; None while its pair sums are still being updated."""
    if isinstance(query, RevisionQuery):
        with database.reading() as connection:
            wanted = (revisions.c.grid_id == query.grid, revisions.c.number == query.revision)
            revision = sliced_row(connection.execute(select(revisions).where(*wanted)).one(), query.at)
        return _FROM_REVISION[type(query)](query, revision)
    if isinstance(query, ComparisonQuery):
        with database.reading() as connection:
            aliases = alias_map(connection, project_id)
            baseline, contender = compared_rows(connection, project_id, query)
            return comparison_document(query, baseline, contender, aliases)
    way = _way_of(database, settings, project_id, query)
    if way == "cells":
        return _compute_from_cells(database, project_id, query)
    if not isinstance(query, RankingQuery):
        return {"experiment": query.experiment, "metric": query.metric} | TOO_LARGE
    if way == "sums":
        return _compute_from_sums(database, settings, project_id, query)
    return (
        _compute_board(database, settings, project_id, query)
        if way == "board"
        else refused_ranking(query, _TOO_MANY_CELLS)
    )


def _compute_board(database: Database, settings: Settings, project_id: Any, query: RankingQuery) -> Result:
    with database.reading() as connection:
        kept = _comes_from_sums(query) and not query.model and keeps_sums(connection, project_id, query)
    if kept:
        # It was larger once, or was opened by a release that had no other way. What is left may even be small.
        close_scope(database, project_id, query)
        if not exceeds_limit(settings, query, *_size(database, project_id, query)):
            return _compute_from_cells(database, project_id, query)
    with database.snapshot() as connection:
        found = board_ranking(connection, project_id, query)
    return refused_ranking(query, _TOO_MANY_CELLS) if found is None else found


def _size(database: Database, project_id: Any, query: Query) -> tuple[int, int]:
    with database.reading() as connection:
        return scope_size(connection, project_id, query)


def _compute_from_cells(database: Database, project_id: Any, query: Query) -> Result:
    # Two statements and so two snapshots: a change between them has invalidated the result before it is served.
    with database.reading() as connection:
        rows = scope_rows(connection, project_id, query)
        aliases = alias_map(connection, project_id)
    return compute_from_rows(query, rows, aliases)


def _way_of(database: Database, settings: Settings, project_id: Any, query: Query) -> Way:
    """How a query about a scope is computed.

    A scope that keeps pair sums goes on with them until it is half as large as one that would begin to keep them, so
    that a scope near the limit does not change its way by turns.
    """
    with database.reading() as connection:
        models, cells = scope_size(connection, project_id, query)
        keeps = isinstance(query, RankingQuery) and _has_pair_sums(query) and keeps_sums(connection, project_id, query)
    if not isinstance(query, RankingQuery):
        return "refused" if exceeds_limit(settings, query, models, cells) else "cells"
    usual = keeps and not query.model
    if not usual and not exceeds_limit(settings, query, models, cells):
        return "cells"
    most = settings.ranking_cells
    if _comes_from_sums(query):
        most = min(most, _MOST_WITHOUT_SUMS) // (2 if usual else 1)
    if query.by in ("model", "variant") and not query.at and cells <= most:
        return "board"
    return "sums" if _has_pair_sums(query) else "refused"


def _comes_from_sums(query: RankingQuery) -> bool:
    """Return whether pair sums are kept for this ranking and have its order."""
    return _has_pair_sums(query) and sums_have_order(query.method, query.missing)


def exceeds_limit(settings: Settings, query: Query, models: int, cells: int) -> bool:
    """Return whether a query over so many models and cells is too large."""
    if isinstance(query, RankingQuery) and query.by == "model":
        return models > MOST_NAMES or models * cells + _PER_PAIR * models**2 > settings.ranking_work
    return cells > settings.ranking_work


def _has_pair_sums(query: RankingQuery) -> bool:
    """Return whether pair sums are kept for this kind of ranking."""
    return query.by == "model" and not query.benchmark and not query.variant and not query.at


def _compute_from_sums(database: Database, settings: Settings, project_id: Any, query: RankingQuery) -> Result | None:
    open_scope(database, project_id, query)
    if not catch_up(database, project_id, query, time.monotonic() + _COUNTING_SHIFT):
        return None
    # One snapshot: another worker may update the scope and the sums of its names meanwhile.
    with database.snapshot() as connection:
        names, cells = size_from_sums(connection, project_id, query)
        if query.model or exceeds_limit(settings, query, names, 2 * cells):
            return ranking_from_sums(connection, project_id, query)
    # Most of the scope was deleted. What is left is ranked from its cells again; the size is doubled above, so that a
    # scope near the limit is not opened and closed by turns.
    close_scope(database, project_id, query)
    return _compute_from_cells(database, project_id, query)


def compute_from_rows(query: Query, rows: Sequence[Any], aliases: Mapping[tuple[str, str], str]) -> Result:
    """Result of a query about a scope, from rows of grids: equal inputs give equal bytes."""
    return _FROM_GRIDS[type(query)](query, rows, aliases)
