"""Derive: rows -> Grid -> statistics -> rows, in one transaction a batch."""

from __future__ import annotations

import math
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import orjson
import structlog
from sqlalchemy import Connection, func, select, tuple_, update
from sqlalchemy.dialects.postgresql import insert

from registry.database import Database
from registry.rows import grid_of
from registry.settings import Settings
from registry.tables import derivations, revisions, statistics
from workers.promises import Claim, claim, give_back
from workers.statistics import METHODS_VERSION, describe

log = structlog.get_logger()


def derive_due(database: Database, settings: Settings) -> int:
    """Keep the promises that are due, one batch of them; how many there were.

    A batch that fails is done again grid by grid, so that a grid which cannot be described harms no other.
    """
    claimed = claim(database, settings, derivations, settings.batch_promises)
    rows = list(claimed.rows)
    while rows:
        batch, rows = _cut(database, rows, settings.batch_cells)
        try:
            _derive(database, claimed, batch)
        except Exception as error:
            log.warning("batch failed", promises=len(batch), error=repr(error))
            for row in batch:
                _derive_alone(database, settings, claimed, row)
    return len(claimed.rows)


def _cut(database: Database, rows: list[Any], cells: int) -> tuple[list[Any], list[Any]]:
    """As many rows as hold about `cells` cells, at least one; and the rest."""
    if len(rows) == 1:
        return rows, []
    with database.reading() as connection:
        keys = [(row.grid_id, row.revision) for row in rows]
        sizes = _sizes(connection, keys)
    total, count = 0, 0
    for row in rows:
        total += sizes.get((row.grid_id, row.revision), 0)
        if count and total > cells:
            break
        count += 1
    return rows[:count], rows[count:]


def _sizes(connection: Connection, keys: Sequence[tuple[uuid.UUID, int]]) -> dict[tuple[uuid.UUID, int], int]:
    query = select(revisions.c.grid_id, revisions.c.number, revisions.c.cell_count)
    found = connection.execute(query.where(tuple_(revisions.c.grid_id, revisions.c.number).in_(keys)))
    return {(row.grid_id, row.number): row.cell_count for row in found}


def _derive_alone(database: Database, settings: Settings, claimed: Claim, row: Any) -> None:
    try:
        _derive(database, claimed, [row])
    except Exception as error:
        log.warning("derivation failed", grid=str(row.grid_id), revision=row.revision, error=repr(error))
        give_back(database, settings, claimed, row, error)


def _derive(database: Database, claimed: Claim, batch: Sequence[Any]) -> None:
    """Compute outside of any transaction, then write and settle in one that checks the leases."""
    with database.reading() as connection:
        keys = [(row.grid_id, row.revision) for row in batch]
        found = connection.execute(
            select(revisions).where(tuple_(revisions.c.grid_id, revisions.c.number).in_(keys))
        ).all()
    documents = [statistics_row(revision) for revision in found]
    with database.transaction() as connection:
        mine = _still_held(connection, claimed, keys)
        kept = [row for row in documents if (row["grid_id"], row["revision"]) in mine]
        if kept:
            _write(connection, kept)


def _still_held(
    connection: Connection, claimed: Claim, keys: Sequence[tuple[uuid.UUID, int]]
) -> set[tuple[uuid.UUID, int]]:
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
    replaced = {name: statement.excluded[name] for name in ("methods_version", "etag", "document", "computed_at")}
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


def statistics_row(revision: Any) -> dict[str, Any]:
    """The finished document of a revision, as a row of `statistics`."""
    digest = bytes(revision.digest).hex()
    computed_at = datetime.now(UTC)
    document = {
        "grid": revision.grid_id,
        "revision": revision.number,
        "digest": f"sha256:{digest}",
        "state": "ready",
        "methods_version": METHODS_VERSION,
        "computed_at": computed_at,
        "metric": revision.metric,
        "axes": revision.axes,
        **describe(grid_of(revision)),
    }
    return {
        "grid_id": revision.grid_id,
        "revision": revision.number,
        "methods_version": METHODS_VERSION,
        "etag": f"{revision.number}-{digest[:16]}-s{METHODS_VERSION}",
        "document": finished(document),
        "computed_at": computed_at,
    }


def finished(document: Any) -> str:
    """JSON text; raises ValueError on NaN or Infinity, which orjson would write as null without a word."""
    check_finite(document)
    return orjson.dumps(document, option=orjson.OPT_UTC_Z).decode()


def check_finite(value: Any) -> None:
    """Raise ValueError if a NaN or an Infinity is anywhere in a JSON-ready value."""
    if type(value) is float:
        if not math.isfinite(value):
            raise ValueError(f"a statistic is {value}")
    elif isinstance(value, dict):
        for inner in value.values():
            check_finite(inner)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            check_finite(inner)
