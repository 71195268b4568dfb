"""Export cells for the feeds of a project: first select revisions, then read their content piece by piece.

Revisions never change, so a list of them is a snapshot: an export reads it in short statements, holds no transaction
open while a slow client reads, and gives the same bytes every time.
"""

import itertools
import uuid
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from hashlib import sha256
from struct import Struct
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Connection, Select, Text, case, cast, func, select, text, tuple_
from sqlalchemy.dialects.postgresql import JSONB

from registry.operations.find_grids import Filters, conditions
from registry.operations.names import Joined
from registry.operations.stored_grids import StoredGrid, stored_grid, stored_grids
from registry.storage.keys import of_current, of_grid, of_revision
from registry.storage.statistics_jobs import job_state
from registry.storage.tables import derivations, grids, revisions, statistics

_KEY = Struct(">16sII")
_PIECE_GRIDS, _PIECE_CELLS = 256, 50_000


@dataclass(frozen=True, slots=True)
class Selection:
    """Revisions to export, in 24 bytes each, with the number of their cells and the names of their axes."""

    keys: bytes
    cells: int
    axes: tuple[str, ...]
    digest: str = ""
    """Digest of the revisions' contents and times, in their order, and of the names that aliases give them: after a
    restore, a revision number may come again with other content."""
    joined: Joined | None = None
    """What aliases join; None: grids are exported under the names that were posted."""

    def pieces(self) -> Iterator[list[tuple[uuid.UUID, int]]]:
        """Grid ids and revision numbers, in pieces with a bounded number of cells."""
        piece: list[tuple[uuid.UUID, int]] = []
        cells = 0
        for key, revision, size in _KEY.iter_unpack(self.keys):
            if piece and (len(piece) >= _PIECE_GRIDS or cells + size > _PIECE_CELLS):
                yield piece
                piece, cells = [], 0
            piece.append((uuid.UUID(bytes=key), revision))
            cells += size
        if piece:
            yield piece


def select_cells(
    connection: Connection, project_id: uuid.UUID, filters: Filters, joined: Joined | None = None
) -> Selection:
    """Current revisions of the project's grids that pass the filters, oldest grid first; under the names that aliases
    join them to, if these are given as `joined`."""
    found = selected(connection, current_revisions(connection, project_id, filters), joined)
    return with_all_axes(connection, project_id, filters, found)


def with_all_axes(connection: Connection, project_id: uuid.UUID, filters: Filters, found: Selection) -> Selection:
    """The same grids with the axes of all that pass the filters whenever they were updated, those of the oldest grid
    first: who reads what is new gets the columns of the whole, also while nothing is."""
    if filters.updated_since is None:
        return found
    whole = current_revisions(connection, project_id, replace(filters, updated_since=None)).order_by(None)
    oldest = func.min(cast(grids.c.id, Text))  # what has no min() is uuid, before PostgreSQL 18
    each = whole.with_only_columns(_names_of_axes()).group_by(_names_of_axes()).order_by(oldest)
    return replace(found, axes=tuple(dict.fromkeys(itertools.chain.from_iterable(connection.scalars(each)))))


_KNOWN = 6


def current_revisions(connection: Connection, project_id: uuid.UUID, filters: Filters) -> Select[Any]:
    """Statement for what `selected` reads of the current revisions of grids; columns may be added to it."""
    return (
        select(
            grids.c.id,
            revisions.c.number,
            revisions.c.cell_count,
            revisions.c.digest,
            updated_at(),
            _names_of_axes(),
        )
        .join(revisions, of_current(revisions))
        .where(*grids_of(connection, project_id, filters))
        .order_by(grids.c.id)
    )


def selected(connection: Connection, query: Select[Any], joined: Joined | None = None) -> Selection:
    """The revisions that a statement made of `current_revisions` finds; the digest covers its added columns too."""
    keys, cells, axes, digest = bytearray(), 0, dict[str, None](), sha256()
    with connection.execution_options(yield_per=2_000).execute(query) as rows:
        for row in rows:
            key = _KEY.pack(row.id.bytes, row.number, row.cell_count)
            keys += key
            digest.update(key + bytes(row.digest) + row.updated_at.isoformat().encode())
            if more := row[_KNOWN:]:
                digest.update(orjson.dumps(list(more)))
            cells += row.cell_count
            axes.update(dict.fromkeys(row.axes))
    if joined:
        digest.update(orjson.dumps(sorted(joined.items())))
    return Selection(bytes(keys), cells, tuple(axes), digest.hexdigest()[:32], joined)


def grids_of(connection: Connection, project_id: uuid.UUID, filters: Filters) -> list[ColumnElement[bool]]:
    """Conditions for the project's grids that pass the filters."""
    here = (grids.c.project_id == project_id, grids.c.deleted_at.is_(None))
    return [*here, *conditions(connection, project_id, filters)]


def updated_at() -> Any:
    """When a revision was published, or its grid came back."""
    return func.greatest(revisions.c.created_at, grids.c.created_at).label("updated_at")


def _names_of_axes() -> Any:
    return func.jsonb_path_query_array(revisions.c.axes, text("'$[*].name'"), type_=JSONB).label("axes")


def select_revision(grid_id: uuid.UUID, revision: int, cells: int, axes: tuple[str, ...]) -> Selection:
    """One revision of one grid."""
    return Selection(_KEY.pack(grid_id.bytes, revision, cells), cells, axes)


_NOISE = (revisions.c.trials, *(cast(revisions.c[name], Text).label(name) for name in
                                ("cell_trials", "stderr", "repeats", "sd")))  # fmt: skip

_LISTED = text(
    "unnest(CAST(:ids AS uuid[]), CAST(:numbers AS integer[])) WITH ORDINALITY AS wanted (id, number, place)"
)


def _wanted(*more: Any) -> Select[Any]:
    """Statement for revisions in the order in which they are wanted, with these columns."""
    return (
        select(
            grids.c.id,
            *(grids.c[name] for name in ("experiment", "benchmark", "model", "variant")),
            revisions.c.number,
            revisions.c.metric,
            cast(revisions.c.axes, Text).label("axes"),
            updated_at(),
            *more,
        )
        .join(revisions, of_grid(revisions))
        .join(_LISTED, text("wanted.id = revisions.grid_id AND wanted.number = revisions.number"))
        .order_by(text("wanted.place"))
    )


_CONTENT = _wanted(cast(revisions.c["values"], Text).label("values"), *_NOISE, revisions.c.protocol)


def exported(reading: Callable[[], AbstractContextManager[Connection]], selection: Selection) -> Iterator[list[Any]]:
    """Rows of the selected revisions, a list for each piece, read by one statement each.

    Arrays and axes come as PostgreSQL's text, which is parsed here faster than by the driver.
    """
    for piece in selection.pieces():
        wanted = {"ids": [str(key) for key, _ in piece], "numbers": [number for _, number in piece]}
        with reading() as connection:
            rows = connection.execute(_CONTENT, wanted).all()
        yield list(rows)


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


_STATE = case((statistics.c.etag.is_not(None), "ready"), else_=job_state).label("state")
"""A document of older methods is served until that of the newer ones is there."""
_REASON = case((statistics.c.etag.is_(None), derivations.c.reason)).label("reason")


def select_statistics(
    connection: Connection, project_id: uuid.UUID, filters: Filters, joined: Joined | None
) -> Selection:
    """Current revisions of the project's grids that pass the filters, oldest grid first. The digest changes with their
    statistics too."""
    query = current_revisions(connection, project_id, filters).add_columns(_STATE, _REASON, statistics.c.etag)
    found = selected(connection, _with_documents(query), joined)
    return with_all_axes(connection, project_id, filters, found)


def _with_documents(query: Select[Any]) -> Select[Any]:
    return query.outerjoin(derivations, of_revision(derivations)).outerjoin(statistics, of_revision(statistics))


_DOCUMENTS = _with_documents(_wanted(_STATE, _REASON, statistics.c.methods_version, statistics.c.document))
_WITH_NOISE = _DOCUMENTS.add_columns(*_NOISE)


def exported_statistics(connection: Connection, selection: Selection, *, noise: bool) -> Iterator[Any]:
    """Rows of the selected revisions with their documents, which are None where there is none; with `noise`, what is
    known of that of their cells, arrays as PostgreSQL's text."""
    statement = _WITH_NOISE if noise else _DOCUMENTS
    for piece in selection.pieces():
        wanted = {"ids": [str(key) for key, _ in piece], "numbers": [number for _, number in piece]}
        yield from connection.execute(statement, wanted).all()
