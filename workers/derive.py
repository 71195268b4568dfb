"""Derive: rows -> Grid -> statistics -> rows, in one transaction a batch."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import structlog
from sqlalchemy import Connection, and_, delete, func, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert

from registry.results.codec import to_bytes, to_document
from registry.results.statistics import GridStatistics
from registry.settings import Settings
from registry.storage.bi_facts import facts_of_statistics
from registry.storage.database import Database
from registry.storage.rows import grid_of
from registry.storage.tables import derivations, grids, revisions, statistics
from workers.jobs.cpu_limit import cpu_limit
from workers.jobs.leases import Claim, claim, fail_attempt, release
from workers.jobs.shutdown import is_shutting_down
from workers.statistics import METHODS_VERSION, describe

log = structlog.get_logger()

Key = tuple[uuid.UUID, int]
_WRITTEN_EVERY = 0.1
_SHIFT_SECONDS = 3.0
"""How long one wake-up keeps a worker: far from the time limits, and from the patience of who stops it."""


def derive_shift(database: Database, settings: Settings) -> int:
    """Keep promises until none is due, or for one shift: what else waits must have its turn. How many were kept."""
    until = time.monotonic() + _SHIFT_SECONDS
    total = 0
    while time.monotonic() < until and not is_shutting_down() and (count := derive_due(database, settings)):
        total += count
    return total


def derive_due(database: Database, settings: Settings) -> int:
    """Keep the promises that are due, one batch of them; how many there were.

    A grid that cannot be described harms no other: it is given back alone, with the reason.
    """
    claimed = claim(database, settings, derivations, settings.batch_promises)
    rows = list(claimed.rows)
    if len(rows) > 1:
        rows, rest = _cut(database, rows, settings.batch_cells)
        if rest:
            release(database, claimed, rest)
    if rows:
        _derive(database, settings, claimed, rows)
    return len(rows)


def _cut(database: Database, rows: list[Any], cells: int) -> tuple[list[Any], list[Any]]:
    """As many rows as hold about `cells` cells, at least one; and the rest, for which the lease would be too short."""
    with database.reading() as connection:
        sizes = _sizes(connection, _keys(rows))
    total, count = 0, 0
    for row in rows:
        total += sizes.get((row.grid_id, row.revision), 0)
        if count and total > cells:
            break
        count += 1
    return rows[:count], rows[count:]


def _keys(rows: Sequence[Any]) -> list[Key]:
    return [(row.grid_id, row.revision) for row in rows]


def _sizes(connection: Connection, keys: Sequence[Key]) -> dict[Key, int]:
    query = select(revisions.c.grid_id, revisions.c.number, revisions.c.cell_count)
    found = connection.execute(query.where(tuple_(revisions.c.grid_id, revisions.c.number).in_(keys)))
    return {(row.grid_id, row.number): row.cell_count for row in found}


def _derive(database: Database, settings: Settings, claimed: Claim, batch: Sequence[Any]) -> None:
    """Compute outside of any transaction; what is done is written soon, so that nobody waits for a whole batch."""
    with database.reading() as connection:
        wanted = tuple_(revisions.c.grid_id, revisions.c.number).in_(_keys(batch))
        found = {(row.grid_id, row.number): row for row in connection.execute(select(revisions).where(wanted))}
    done: list[dict[str, Any]] = []
    since = time.monotonic()
    for place, row in enumerate(batch):
        if is_shutting_down():
            release(database, claimed, batch[place:])
            break
        try:
            with cpu_limit():
                done.append(statistics_row(found[row.grid_id, row.revision]))
        except Exception as error:
            log.warning("derivation failed", grid=str(row.grid_id), revision=row.revision, error=repr(error))
            fail_attempt(database, settings, claimed, row, error)
        if time.monotonic() - since > _WRITTEN_EVERY:
            _settle(database, claimed, done)
            done, since = [], time.monotonic()
    _settle(database, claimed, done)


def _settle(database: Database, claimed: Claim, documents: Sequence[dict[str, Any]]) -> None:
    """Write and settle in one transaction that checks the leases."""
    if not documents:
        return
    with database.transaction() as connection:
        mine = _still_held(connection, claimed, [(row["grid_id"], row["revision"]) for row in documents])
        kept = [row for row in documents if (row["grid_id"], row["revision"]) in mine]
        if kept:
            _write(connection, kept)


def _still_held(connection: Connection, claimed: Claim, keys: Sequence[Key]) -> set[Key]:
    promise = tuple_(derivations.c.grid_id, derivations.c.revision)
    mine = (
        select(derivations.c.grid_id, derivations.c.revision)
        .where(promise.in_(keys), derivations.c.lease == claimed.lease, derivations.c.state == "pending")
        .order_by(derivations.c.grid_id, derivations.c.revision)
        .with_for_update()
    )
    return {(row.grid_id, row.revision) for row in connection.execute(mine)}


def _write(connection: Connection, rows: Sequence[dict[str, Any]]) -> None:
    statement = insert(statistics)
    replaced = {
        name: statement.excluded[name] for name in ("methods_version", "etag", "document", "facts", "computed_at")
    }
    connection.execute(
        statement.on_conflict_do_update(index_elements=["grid_id", "revision"], set_=replaced), list(rows)
    )
    settled = {
        "state": "ready",
        "methods_version": METHODS_VERSION,
        "settled_at": func.now(),
        "reason": None,
        "lease": None,
        "leased_until": None,
    }
    keys = [(row["grid_id"], row["revision"]) for row in rows]
    promise = tuple_(derivations.c.grid_id, derivations.c.revision)
    connection.execute(update(derivations).where(promise.in_(keys)).values(settled))
    # Nobody is shown the statistics of a revision that was superseded; they would be most of what is stored.
    ids = [row["grid_id"] for row in rows]
    superseded = and_(grids.c.id == statistics.c.grid_id, statistics.c.revision < grids.c.revision)
    connection.execute(delete(statistics).where(superseded, statistics.c.grid_id.in_(ids)))


def statistics_row(revision: Any) -> dict[str, Any]:
    """The finished document of a revision, as a row of `statistics`."""
    digest = bytes(revision.digest).hex()
    computed_at = datetime.now(UTC)
    found = describe(grid_of(revision), None)
    document = statistics_document(revision, found, computed_at=computed_at)
    return {
        "grid_id": revision.grid_id,
        "revision": revision.number,
        "methods_version": METHODS_VERSION,
        "etag": f"{revision.number}-{digest[:16]}-s{METHODS_VERSION}",
        "document": to_bytes(document),
        "facts": to_document(facts_of_statistics(found)),
        "computed_at": computed_at,
    }


def statistics_document(revision: Any, found: GridStatistics, **more: Any) -> dict[str, Any]:
    """What was computed of a revision, under what it is about."""
    return {
        "grid": revision.grid_id,
        "revision": revision.number,
        "digest": f"sha256:{bytes(revision.digest).hex()}",
        "state": "ready",
        "methods_version": METHODS_VERSION,
        **more,
        "metric": revision.metric,
        "axes": revision.axes,
        **to_document(found),
    }
