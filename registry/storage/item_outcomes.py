"""Outcomes of items as they are stored: a row holds some cells of one revision that share an item set.

A revision that was made by an amendment goes on with the outcomes of the cells that the amendment left as they were;
one that was published as a whole begins without any.
"""

from __future__ import annotations

import gzip
import struct
import uuid
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Connection, Integer, Uuid, column, func, select, values

from registry.grids.grid import Axis, Grid
from registry.grids.outcomes import HeldItems, Labels, Outcomes, size_of_bits
from registry.storage.keys import grids_at, instant_of, of_grid
from registry.storage.tables import grids, item_continuations, item_outcomes


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


def mark_of(grid_id: Any, revision: Any) -> ColumnElement[int]:
    """Number of the last row of outcomes that a revision of a grid has, as a column; 0 without any.

    It grows with every addition, so that an answer about a revision can say which outcomes it knew.
    """
    last = select(func.coalesce(func.max(item_outcomes.c.id), 0)).where(*_holding(grid_id, revision))
    return last.correlate(grids).scalar_subquery()


def _holding(grid_id: Any, revision: Any) -> tuple[ColumnElement[bool], ...]:
    carried = (
        select(item_continuations.c.since)
        .where(item_continuations.c.grid_id == grid_id, item_continuations.c.revision == revision)
        .correlate_except(item_continuations)
        .scalar_subquery()
    )
    first = func.coalesce(carried, revision)
    return item_outcomes.c.grid_id == grid_id, item_outcomes.c.revision.between(first, revision)


def rows_of_items(
    connection: Connection, grid_id: uuid.UUID | str, revision: int, mark: int | None = None
) -> Sequence[Any]:
    """Rows that may hold for a revision of a grid, the newest first; those up to a mark."""
    statement = select(item_outcomes).where(*_holding(grid_id, revision)).order_by(item_outcomes.c.id.desc())
    return connection.execute(statement if mark is None else statement.where(item_outcomes.c.id <= mark)).all()


def current_rows(
    connection: Connection, grid_ids: Iterable[uuid.UUID], project_id: uuid.UUID, as_of: str = ""
) -> dict[uuid.UUID, list[Any]]:
    """Rows that may hold for the revisions of grids that are current, or were at an instant, the newest first; nothing
    for one without any. At an instant, those that were posted until then."""
    there, then = grids_at(project_id, as_of), instant_of(as_of)
    statement = (
        select(item_outcomes)
        .join(there, of_grid(item_outcomes, there))
        .where(there.c.id.in_(list(grid_ids)), *_holding(there.c.id, there.c.revision))
        .order_by(item_outcomes.c.id.desc())
    )
    if then is not None:
        statement = statement.where(item_outcomes.c.created_at <= then)
    found: dict[uuid.UUID, list[Any]] = {}
    for row in connection.execute(statement):
        found.setdefault(row.grid_id, []).append(row)
    return found


def rows_of_revisions(
    connection: Connection, wanted: Iterable[tuple[uuid.UUID, int]]
) -> dict[tuple[uuid.UUID, int], list[Any]]:
    """Rows that may hold for these revisions of grids, the newest first; nothing for one without any."""
    given = list(wanted)
    if not given:
        return {}
    asked = values(column("grid_id", Uuid), column("revision", Integer), name="asked").data(given)
    statement = (
        select(item_outcomes, asked.c.revision.label("of_revision"))
        .join(asked, asked.c.grid_id == item_outcomes.c.grid_id)
        .where(*_holding(asked.c.grid_id, asked.c.revision))
        .order_by(item_outcomes.c.id.desc())
    )
    found: dict[tuple[uuid.UUID, int], list[Any]] = {}
    for row in connection.execute(statement):
        found.setdefault((row.grid_id, row.of_revision), []).append(row)
    return found


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
