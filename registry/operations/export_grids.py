"""Export whole grids: first select revisions, then read them piece by piece, as `registry.operations.export` does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

from sqlalchemy import Connection, tuple_

from registry.operations.export import Selection
from registry.operations.stored_grids import StoredGrid, stored_grid, stored_grids
from registry.storage.tables import grids, revisions


def exported_grids(
    reading: Callable[[], AbstractContextManager[Connection]], selection: Selection
) -> Iterator[StoredGrid]:
    """The selected revisions with their cells, in their order, a bounded number of cells read by one statement.

    What was deleted or purged since they were selected is left out.
    """
    for piece in selection.pieces():
        wanted = tuple_(revisions.c.grid_id, revisions.c.number).in_(piece)
        with reading() as connection:
            rows = connection.execute(stored_grids(revisions.c.number).where(wanted).order_by(grids.c.id)).all()
        yield from map(stored_grid, rows)
