"""Outcomes of items of a grid: add them to a revision, and read those that it has."""

import gzip
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import orjson
from sqlalchemy import Connection, func, insert, select
from sqlalchemy.dialects.postgresql import insert as upsert

from registry.errors import Conflict, Fault, Invalid, NotFound
from registry.grids.grid import Cell, Grid, Position
from registry.grids.intake import Names
from registry.grids.intake.sent_items import SentItems
from registry.grids.outcomes import HeldItems
from registry.operations.amend import lock_grid
from registry.operations.audit_log import Actor, record
from registry.operations.find_grids import Filters, conditions
from registry.operations.read import find_grid
from registry.operations.revisions import invalidate_scopes
from registry.operations.stored_grids import StoredGrid, stored_grid, stored_grids, tombstone
from registry.storage.item_outcomes import held_items, labels_of, packed_cells, rows_of_grids, rows_of_items
from registry.storage.tables import grids, item_ids, item_outcomes


@dataclass(frozen=True, slots=True)
class GridItems:
    """A revision of a grid and the outcomes in its cells, by flat index; `is_new` when they were added just now."""

    stored: StoredGrid
    held: Mapping[int, HeldItems]
    is_new: bool = False


def add_items(
    connection: Connection,
    actor: Actor,
    row: Any,
    grid_id: uuid.UUID,
    revision: int | None,
    read: Callable[[Grid], SentItems],
) -> GridItems:
    """Add outcomes to cells of a revision, by default the current one; what it has already adds nothing.

    `row` is the grid's project, `read` reads what was sent for a grid. Raises `Invalid`, `NotFound`, and `Conflict`
    for a cell that has other outcomes.
    """
    stored = lock_grid(connection, grid_id, None)
    number = stored.revision if revision is None else revision
    if number != stored.revision:
        stored = _at_revision(connection, grid_id, number)
    given = read(stored.grid)
    rows = rows_of_items(connection, grid_id, number)
    held = held_items(stored.grid, rows)
    own = held_items(stored.grid, [one for one in rows if one.revision == number])
    fresh = _fresh(stored, given, held, own)
    if fresh:
        _write(connection, row.project_id, given, fresh, grid_id=grid_id, revision=number, token_id=actor.token_id)
        names = stored.names
        told = {"names": asdict(names), "revision": number, "set": given.of.name, "digest": given.of.digest}
        record(connection, actor, "items.added", grid_id, project_id=row.project_id, **told, cells=len(fresh))
        # Also those of an older revision: a gate may have pinned it.
        invalidate_scopes(connection, row.project_id, {(names.experiment, names.metric): [grid_id]})
    return GridItems(stored, {**held, **fresh}, bool(fresh))


def find_items(connection: Connection, grid_id: uuid.UUID, stored: StoredGrid) -> GridItems:
    """The outcomes that hold for a revision of a grid."""
    return GridItems(stored, held_items(stored.grid, rows_of_items(connection, grid_id, stored.revision)))


MOST_TOLD = 1_000
"""Grids of which the outcomes are read together."""


def items_of_models(
    connection: Connection, project_id: uuid.UUID, names: Names, models: Sequence[str]
) -> list[GridItems]:
    """The current outcomes of the grids of an experiment, benchmark and metric: of these models, or of all; `Invalid`
    where that are more than `MOST_TOLD`."""
    same = Filters([names.experiment], [names.benchmark], models, metric=[names.metric])
    here = (grids.c.project_id == project_id, *conditions(connection, project_id, same))
    count = connection.scalar(select(func.count()).select_from(grids).where(*here, *tombstone("exclude"))) or 0
    if count > MOST_TOLD:
        raise Invalid([Fault("/model", f"{count:,} grids are more than {MOST_TOLD:,}: name some models")])
    rows = connection.execute(stored_grids().where(*here).order_by(grids.c.id)).all()
    held = rows_of_grids(connection, rows)
    return [GridItems(one, held_items(one.grid, held.get(one.id, ()))) for one in map(stored_grid, rows)]


def ids_of_sets(connection: Connection, project_id: uuid.UUID, digests: set[str]) -> dict[str, list[str]]:
    """Ids of the items of these sets, by digest, where they are known."""
    wanted = [_bytes_of(digest) for digest in digests]
    query = select(item_ids).where(item_ids.c.project_id == project_id, item_ids.c.digest.in_(wanted))
    return {
        f"sha256:{bytes(row.digest).hex()}": orjson.loads(gzip.decompress(row.ids)) for row in connection.execute(query)
    }


def _at_revision(connection: Connection, grid_id: uuid.UUID, number: int) -> StoredGrid:
    row = find_grid(connection, grid_id, number)
    if row is None:
        raise NotFound(f"The grid has no revision {number}.")
    return stored_grid(row)


def _fresh(
    stored: StoredGrid, given: SentItems, held: Mapping[int, HeldItems], own: Mapping[int, HeldItems]
) -> dict[int, HeldItems]:
    """What is not there yet. Outcomes that an earlier revision left may be replaced, those of this one may not."""
    fresh: dict[int, HeldItems] = {}
    for at, outcomes in given.cells.items():
        index = stored.grid.index(at)
        cell = stored.grid.cell(index)
        assert cell is not None  # noqa: S101 (read_items took measured cells only)
        here = _held(stored, given, cell, outcomes=outcomes)
        if index in held and _content(held[index]) == _content(here):
            continue
        if index in own:
            raise Conflict(f"Revision {stored.revision} has other outcomes at {_place(stored, at)}; they never change.")
        fresh[index] = here
    return fresh


def _held(stored: StoredGrid, given: SentItems, cell: Cell, *, outcomes: Any) -> HeldItems:
    at = labels_of(stored.axes, cell.at)
    return HeldItems(given.of.name, given.of.digest, at, cell.value, cell.trials, outcomes)


def _content(one: HeldItems) -> tuple[Any, ...]:
    return one.digest, one.outcomes


def _place(stored: StoredGrid, at: Position) -> str:
    named = [f"{axis.name} {axis.levels[place].label}" for axis, place in zip(stored.axes, at, strict=True)]
    return ", ".join(named) or "its one cell"


def _write(
    connection: Connection, project_id: uuid.UUID, given: SentItems, fresh: Mapping[int, HeldItems], **of: Any
) -> None:
    digest = _bytes_of(given.of.digest)
    if given.of.ids is not None:
        ids = gzip.compress(orjson.dumps(given.of.ids), mtime=0)
        known = upsert(item_ids).values(project_id=project_id, digest=digest, ids=ids).on_conflict_do_nothing()
        connection.execute(known)
    row = {"project_id": project_id, "set_name": given.of.name, "digest": digest, "count": given.of.count, **of}
    connection.execute(insert(item_outcomes).values(row | packed_cells(fresh.values())))


def _bytes_of(digest: str) -> bytes:
    return bytes.fromhex(digest.removeprefix("sha256:"))
