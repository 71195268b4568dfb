"""Compute the statistics of stored revisions, a batch in one transaction, and those by the settings of a query. Celery
tasks (`app.py`) and the inline worker call it.
"""

import math
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any

import structlog
from sqlalchemy import ColumnElement, Connection, and_, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert

from registry.errors import TryLater
from registry.grids.grid import Metric
from registry.query import RevisionQuery, StatisticsQuery, ThresholdsQuery, sliced_by
from registry.results.bi_facts import facts_of_statistics
from registry.results.codec import to_document, to_short_document
from registry.results.columns import packed
from registry.results.courses import Series
from registry.results.statistics import GridStatistics, SeriesThresholds
from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.keys import in_projects, of_grid
from registry.storage.rows import grid_of
from registry.storage.tables import derivations, grids, revisions, statistics
from workers.jobs.leases import Claim, claim, fail_attempt, is_refused, put_off, release, settle_ready
from workers.jobs.worker_process import cpu_limit, is_shutting_down, wake_dispatcher
from workers.jobs.worker_process import done as jobs_done
from workers.statistics import METHODS_VERSION, Parameters, describe, describe_all

log = structlog.get_logger()

Key = tuple[uuid.UUID, int]
_WRITTEN_EVERY = 0.1
SHIFT_SECONDS = 3.0
"""Seconds for which one wake-up keeps a worker: far below Celery's time limits, and below the grace of a supervisor
that stops it."""
_LEAST_DIGITS, _MOST_DIGITS = 5, 9
_GRIDS_TOGETHER = 32
_CELLS_TOGETHER = 5_000
"""Grids, and cells, that are computed together: beyond, the arrays leave the cache and readers wait for nothing."""


def derive_shift(database: Database, settings: Settings) -> int:
    """Compute due statistics until none are left or the shift is over; return how many were computed.

    Other work that waits gets its turn between shifts.
    """
    until = time.monotonic() + SHIFT_SECONDS
    total = 0
    while time.monotonic() < until and not is_shutting_down() and (count := derive_due(database, settings)):
        total += count
    return total


def derive_due(database: Database, settings: Settings) -> int:
    """Compute one batch of due statistics; return how many there were.

    A grid that cannot be described does not harm the others: its job fails alone, with the reason.
    """
    claimed = claim(database, settings, derivations, settings.batch_promises)
    rows = list(claimed.rows)
    if len(rows) > 1:
        rows, rest = _cut(database, rows, settings.batch_cells)
        if rest:
            release(database, claimed, rest)
    if rows:
        try:
            _derive(database, settings, claimed, rows)
        except TryLater as error:
            if is_refused(error):
                put_off(database, claimed, rows, error)
            raise
    return len(rows)


def _cut(database: Database, rows: list[Any], cells: int) -> tuple[list[Any], list[Any]]:
    """Rows with about `cells` cells together, at least one; and the rest, for which the lease would be too short."""
    with database.reading() as connection:
        sizes = _sizes(connection, rows)
    total, count = 0, 0
    for row in rows:
        total += sizes.get((row.grid_id, row.revision), 0)
        if count and total > cells:
            break
        count += 1
    return rows[:count], rows[count:]


def _keys(rows: Sequence[Any]) -> list[Key]:
    return [(row.grid_id, row.revision) for row in rows]


def _projects(rows: Sequence[Any]) -> set[uuid.UUID]:
    return {row.project_id for row in rows}


def _sizes(connection: Connection, jobs: Sequence[Any]) -> dict[Key, int]:
    statement = select(revisions.c.grid_id, revisions.c.number, revisions.c.cell_count)
    rows = connection.execute(statement.where(in_projects(revisions, _projects(jobs), _keys(jobs))))
    return {(row.grid_id, row.number): row.cell_count for row in rows}


def _derive(database: Database, settings: Settings, claimed: Claim, batch: Sequence[Any]) -> None:
    """Compute outside of any transaction, and write finished results soon, so that clients need not wait for the whole
    batch."""
    batch, revisions_by_key = _without_superseded(database, claimed, batch)
    if not batch:
        return
    done: list[dict[str, Any]] = []
    computed_keys: list[Key] = []
    begun = since = time.monotonic()
    for place, group in _groups(batch, revisions_by_key):
        if is_shutting_down():
            release(database, claimed, batch[place:])
            break
        began = time.perf_counter()
        computed = _computed(database, settings, claimed, group, revisions_by_key)
        jobs_done.add("statistics", len(computed), seconds=time.perf_counter() - began)
        done += computed
        computed_keys += [(row["grid_id"], row["revision"]) for row in computed]
        if time.monotonic() - since > _WRITTEN_EVERY:
            _settle(database, claimed, done)
            done, since = [], time.monotonic()
    _settle(database, claimed, done)
    if computed_keys:
        names = _names(computed_keys)
        log.info("derived", grids=names, count=len(names), ms=round(1000 * (time.monotonic() - begun), 1))


def _names(keys: Iterable[Key]) -> list[str]:
    return [f"{grid_id}@{revision}" for grid_id, revision in keys]


def _without_superseded(
    database: Database, claimed: Claim, batch: Sequence[Any]
) -> tuple[Sequence[Any], Mapping[Key, Any]]:
    """The jobs but those of superseded revisions, and the revisions by key. Statistics of older revisions are computed
    when somebody asks for them: their jobs are settled."""
    current = (grids.c.revision == revisions.c.number).label("is_current")
    wanted = select(revisions, current).join(grids, of_grid(revisions))
    with database.reading() as connection:
        rows = connection.execute(wanted.where(in_projects(revisions, _projects(batch), _keys(batch)))).all()
    found = {(row.grid_id, row.number): row for row in rows}
    superseded = {key for key, row in found.items() if not row.is_current}
    if superseded:
        with database.transaction() as connection:
            held = _still_held(connection, claimed, in_projects(derivations, _projects(rows), superseded))
            _settle_jobs(connection, in_projects(derivations, _projects(rows), held))
        log.info("superseded", grids=_names(sorted(superseded)), count=len(superseded))
    return [row for row in batch if (row.grid_id, row.revision) not in superseded], found


def _groups(batch: Sequence[Any], revisions_by_key: Mapping[Key, Any]) -> Iterator[tuple[int, Sequence[Any]]]:
    """The jobs of a batch that are computed together, as the place of the first one and the jobs."""
    first, cells = 0, 0
    for place, key in enumerate(_keys(batch)):
        size = revisions_by_key[key].cell_count if key in revisions_by_key else 0
        if place > first and (place - first == _GRIDS_TOGETHER or cells + size > _CELLS_TOGETHER):
            yield first, batch[first:place]
            first, cells = place, 0
        cells += size
    yield first, batch[first:]


def _computed(
    database: Database, settings: Settings, claimed: Claim, group: Sequence[Any], revisions_by_key: Mapping[Key, Any]
) -> list[dict[str, Any]]:
    """Rows of `statistics` for a group; one by one if they cannot be computed together, so that a grid fails alone."""
    try:
        with cpu_limit():
            return statistics_rows([revisions_by_key[key] for key in _keys(group)])
    except Exception as error:
        if len(group) == 1:
            log.warning("derivation failed", grid=str(group[0].grid_id), revision=group[0].revision, error=repr(error))
            jobs_done.add("statistics", failed=1)
            fail_attempt(database, settings, claimed, group[0], error)
            return []
        log.warning("a group failed, computing its grids one by one", grids=len(group), error=repr(error))
    return [row for one in group for row in _computed(database, settings, claimed, [one], revisions_by_key)]


def _settle(database: Database, claimed: Claim, documents: Sequence[dict[str, Any]]) -> None:
    """Write results and settle their jobs in one transaction that checks the leases."""
    if not documents:
        return
    with database.transaction() as connection:
        held = _still_held(connection, claimed, _jobs_of(documents))
        kept = [row for row in documents if (row["grid_id"], row["revision"]) in held]
        if kept:
            _write(connection, kept)
    wake_dispatcher()


def _jobs_of(documents: Sequence[dict[str, Any]]) -> ColumnElement[bool]:
    keys = [(row["grid_id"], row["revision"]) for row in documents]
    return in_projects(derivations, (row["project_id"] for row in documents), keys)


def _still_held(connection: Connection, claimed: Claim, jobs: ColumnElement[bool]) -> set[Key]:
    # Locked, so that the leases cannot change hands before the commit, and in one order, so that two workers whose
    # batches overlap after a lease ran out cannot deadlock.
    held = (
        select(derivations.c.grid_id, derivations.c.revision)
        .where(jobs, derivations.c.lease == claimed.lease, derivations.c.state == "pending")
        .order_by(derivations.c.grid_id, derivations.c.revision)
        .with_for_update()
    )
    return {(row.grid_id, row.revision) for row in connection.execute(held)}


def _write(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    statement = insert(statistics)
    replaced = {
        name: statement.excluded[name] for name in ("methods_version", "etag", "document", "facts", "computed_at")
    }
    # By its name: the key has one column more where the table is in partitions.
    connection.execute(statement.on_conflict_do_update(constraint="pk_statistics", set_=replaced), list(rows))
    _settle_jobs(connection, _jobs_of(rows))
    # Statistics of superseded revisions are never shown, and would be most of the stored bytes.
    mine = statistics.c.project_id.in_({row["project_id"] for row in rows})
    these = statistics.c.grid_id.in_([row["grid_id"] for row in rows])
    superseded = and_(of_grid(statistics), statistics.c.revision < grids.c.revision)
    connection.execute(delete(statistics).where(superseded, mine, these))


def _settle_jobs(connection: Connection, jobs: ColumnElement[bool]) -> None:
    settled = {
        "state": "ready",
        "methods_version": METHODS_VERSION,
        "settled_at": func.now(),
        "reason": None,
        "lease": None,
        "leased_until": None,
    }
    settle_ready(connection, update(derivations).where(jobs).values(settled), METHODS_VERSION)


def statistics_rows(revisions_: Sequence[Any]) -> list[dict[str, Any]]:
    """Rows of `statistics` with the documents of revisions, which are computed together."""
    found = describe_all([grid_of(revision) for revision in revisions_])
    return [_statistics_row(revision, one) for revision, one in zip(revisions_, found, strict=True)]


def _statistics_row(revision: Any, found: GridStatistics) -> dict[str, Any]:
    digest = bytes(revision.digest).hex()
    computed_at = datetime.now(UTC)
    document = statistics_document(revision, found, computed_at=computed_at)
    return {
        "project_id": revision.project_id,
        "grid_id": revision.grid_id,
        "revision": revision.number,
        "methods_version": METHODS_VERSION,
        "etag": f"{revision.number}-{digest[:16]}-s{METHODS_VERSION}",
        "document": packed(document),
        "facts": to_short_document(facts_of_statistics(found), told_digits(revision.values, found)),
        "computed_at": computed_at,
    }


def told_digits(values: Sequence[float | None], found: GridStatistics) -> int:
    """The significant digits of statistics: two more than the largest value has as it was posted, five to nine."""
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    if not largest or found.precision is None or found.precision.decimals is None:
        return _MOST_DIGITS
    whole = math.floor(math.log10(largest)) + 1
    return min(max(whole + found.precision.decimals + 2, _LEAST_DIGITS), _MOST_DIGITS)


def statistics_document(revision: Any, found: GridStatistics, **more: Any) -> dict[str, Any]:
    """Document of a revision's statistics, with the revision's identity, metric and axes."""
    return {
        "grid": revision.grid_id,
        "revision": revision.number,
        "digest": f"sha256:{bytes(revision.digest).hex()}",
        "state": "ready",
        "methods_version": METHODS_VERSION,
        **more,
        "metric": revision.metric,
        "axes": revision.axes,
        **to_short_document(found, told_digits(revision.values, found)),
        "params": to_document(found.params),  # as they were asked
    }


_OWN = ("sharp_change", "equivalence", "detail")


def asked_parameters(query: RevisionQuery, metric: Metric) -> Parameters:
    """Parameters with the query's settings, and the defaults of the metric for the rest."""
    usual = Parameters.of(metric) if query.alpha is None else Parameters.of(metric, query.alpha)
    given = {name: value for name in _OWN if (value := getattr(query, name, None)) is not None}
    return replace(usual, **given)


def statistics_asked_document(query: StatisticsQuery, revision: Any) -> dict[str, Any]:
    """Document of a revision's statistics by the query's settings."""
    grid = grid_of(revision)
    return statistics_document(revision, describe(grid, asked_parameters(query, grid.metric)), **sliced_by(query))


def thresholds_document(query: ThresholdsQuery, revision: Any) -> dict[str, Any]:
    """Positions where each series of a revision crosses the query's levels."""
    grid = grid_of(revision)
    parameters = replace(asked_parameters(query, grid.metric), thresholds=query.thresholds)
    described = describe(grid, parameters)
    meant = [one for one in described.series if query.along in ("", one.along)]
    return {
        "grid": query.grid,
        "revision": query.revision,
        "metric": revision.metric,
        "axes": revision.axes,
        "params": to_document(parameters),
        "thresholds": list(query.thresholds),
        **sliced_by(query),
        "series": to_document([_crossings(one) for one in meant]),
        "series_left_out": described.series_left_out,
    }


def _crossings(one: Series) -> SeriesThresholds:
    return SeriesThresholds(**{field.name: getattr(one, field.name) for field in fields(SeriesThresholds)})
