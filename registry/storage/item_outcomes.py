"""Outcomes of items as they are stored: a row holds some cells of one revision that share an item set.

A revision that was made by an amendment goes on with the outcomes of the cells that the amendment left as they were;
one that was published as a whole begins without any.
"""

import gzip
import struct
import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson
from sqlalchemy import Connection, Integer, Select, Uuid, and_, column, func, select, values

from registry.grids.grid import Axis, Grid
from registry.grids.outcomes import HeldItems, Labels, Outcomes, size_of_bits
from registry.storage.keys import instant_of
from registry.storage.tables import item_continuations, item_outcomes


def labels_of(axes: Sequence[Axis], at: Sequence[int]) -> Labels:
    """Key of a coordinate, the same whatever the order of the axes and of their levels."""
    named = sorted((axis.name, axis.levels[place].label) for axis, place in zip(axes, at, strict=True))
    return tuple(label for _, label in named)


def packed_cells(held: Iterable[HeldItems]) -> dict[str, bytes]:
    """Columns `cells` and `outcomes` of cells that share a set."""
    said, payload = [], bytearray()
    for one in held:
        given = one.outcomes
        kind = "bits" if given.bits is not None else "scores"
        payload += given.bits if given.bits is not None else struct.pack(f"<{given.count}d", *(given.scores or ()))
        said.append([one.at, one.value, one.trials, given.repeats, kind, *filter(None, [given.clusters])])
    return {
        "cells": gzip.compress(orjson.dumps(said), mtime=0),
        "outcomes": gzip.compress(bytes(payload), mtime=0),
    }


def unpacked_cells(row: Any) -> Iterator[HeldItems]:
    """The cells of a row of `item_outcomes`."""
    payload, start = gzip.decompress(row.outcomes), 0
    for at, value, trials, repeats, kind, *more in orjson.loads(gzip.decompress(row.cells)):
        size = size_of_bits(row.count) if kind == "bits" else 8 * row.count
        piece, start = payload[start : start + size], start + size
        held = {"bits": piece} if kind == "bits" else {"scores": struct.unpack(f"<{row.count}d", piece)}
        clusters = tuple(more[0]) if more else None
        outcomes = Outcomes(row.count, **held, repeats=repeats, clusters=clusters)
        yield HeldItems(row.set_name, f"sha256:{bytes(row.digest).hex()}", tuple(at), value, trials, outcomes)


Revision = tuple[uuid.UUID, int]
"""The id of a grid, and the number of one of its revisions."""


def marks_of(connection: Connection, wanted: Iterable[Revision]) -> dict[Revision, int]:
    """Number of the last row of outcomes that each of these revisions has; nothing for one without any.

    It grows with every addition, so that an answer about a revision can say which outcomes it knew.
    """
    if not (given := list(wanted)):
        return {}
    asked = _asked(given)
    statement = _holding(select(asked, func.max(item_outcomes.c.id).label("mark")), asked).group_by(*asked.c)
    return {(row.grid_id, row.of_revision): row.mark for row in connection.execute(statement)}


def rows_of_revisions(connection: Connection, wanted: Iterable[Revision], as_of: str = "") -> dict[Revision, list[Any]]:
    """Rows that may hold for these revisions of grids, the newest first; nothing for one without any. At an instant,
    those that were posted until then."""
    if not (given := list(wanted)):
        return {}
    asked, then = _asked(given), instant_of(as_of)
    statement = _holding(select(item_outcomes, asked.c.of_revision), asked).order_by(item_outcomes.c.id.desc())
    if then is not None:
        statement = statement.where(item_outcomes.c.created_at <= then)
    found: dict[Revision, list[Any]] = {}
    for row in connection.execute(statement):
        found.setdefault((row.grid_id, row.of_revision), []).append(row)
    return found


def rows_of_grids(connection: Connection, rows: Iterable[Any], as_of: str = "") -> dict[uuid.UUID, list[Any]]:
    """The same by grid, of rows that each have the `id` of a grid and the `number` of its revision."""
    found = rows_of_revisions(connection, [(row.id, row.number) for row in rows], as_of)
    return {grid_id: held for (grid_id, _), held in found.items()}


def rows_of_items(connection: Connection, grid_id: uuid.UUID | str, revision: int) -> list[Any]:
    """Rows that may hold for a revision of a grid, the newest first."""
    one = uuid.UUID(str(grid_id)), revision
    return rows_of_revisions(connection, [one]).get(one, [])


def _asked(wanted: Sequence[Revision]) -> Any:
    return values(column("grid_id", Uuid), column("of_revision", Integer), name="asked").data(wanted)


def _holding(statement: Select[Any], asked: Any) -> Select[Any]:
    """The statement about rows of outcomes that were posted for revisions, or for ones before that they continue."""
    held, carried = item_outcomes.c, item_continuations.c
    continues = and_(
        carried.project_id == held.project_id,
        carried.grid_id == held.grid_id,
        carried.revision == asked.c.of_revision,
    )
    first = func.coalesce(carried.since, asked.c.of_revision)
    return (
        statement.select_from(item_outcomes)
        .join(asked, asked.c.grid_id == held.grid_id)
        .outerjoin(item_continuations, continues)
        .where(held.revision.between(first, asked.c.of_revision))
    )


def held_items(grid: Grid, rows: Sequence[Any]) -> dict[int, HeldItems]:
    """Outcomes by the flat index of their cell in a grid, from rows, the newest first.

    Those of a cell that is no longer what they were posted for are left out, and so are those outside of a slice.
    """
    if not rows:
        return {}
    places = {labels_of(grid.axes, cell.at): (grid.index(cell.at), cell) for cell in grid.cells()}
    found: dict[int, HeldItems] = {}
    for row in rows:
        for one in unpacked_cells(row):
            index, cell = places.get(one.at, (-1, None))
            if cell is not None and index not in found and (one.value, one.trials) == (cell.value, cell.trials):
                found[index] = one
    return found
