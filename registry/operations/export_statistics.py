"""Export the statistics of many grids: first select revisions, then read their documents piece by piece.

Unlike cells, documents are replaced: when methods change, and with a grid's next revision. Both parts are read by one
connection that sees one snapshot.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from typing import Any

from sqlalchemy import Connection, Select, Text, case, cast, select, text

from registry.operations.aliases import Joined
from registry.operations.export import Selection, current_revisions, selected, updated_at, with_all_axes
from registry.operations.find import Filters
from registry.storage.keys import of_grid, of_revision
from registry.storage.statements import extend_request
from registry.storage.statistics_jobs import job_state
from registry.storage.tables import derivations, grids, revisions, statistics

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


_NOISE = (revisions.c.trials, *(cast(revisions.c[name], Text).label(name) for name in
                                ("cell_trials", "stderr", "repeats", "sd")))  # fmt: skip
_WANTED = text(
    "unnest(CAST(:ids AS uuid[]), CAST(:numbers AS integer[])) WITH ORDINALITY AS wanted (id, number, place)"
)


def _documents(*more: Any) -> Select[Any]:
    query = (
        select(
            grids.c.id,
            *(grids.c[name] for name in ("experiment", "benchmark", "model", "variant")),
            revisions.c.number,
            revisions.c.metric,
            cast(revisions.c.axes, Text).label("axes"),
            updated_at(),
            _STATE,
            _REASON,
            statistics.c.methods_version,
            statistics.c.document,
            *more,
        )
        .join(revisions, of_grid(revisions))
        .join(_WANTED, text("wanted.id = revisions.grid_id AND wanted.number = revisions.number"))
        .order_by(text("wanted.place"))
    )
    return _with_documents(query)


_DOCUMENTS = _documents()
_WITH_NOISE = _documents(*_NOISE)


def exported_statistics(connection: Connection, selection: Selection, *, noise: bool) -> Iterator[Any]:
    """Rows of the selected revisions with their documents, which are None where there is none; with `noise`, what is
    known of that of their cells, arrays as PostgreSQL's text.

    The time that the reader takes between two pieces is not counted against the request's deadline.
    """
    statement = _WITH_NOISE if noise else _DOCUMENTS
    for piece in selection.pieces():
        wanted = {"ids": [str(key) for key, _ in piece], "numbers": [number for _, number in piece]}
        began = time.monotonic()
        yield from connection.execute(statement, wanted).all()
        extend_request(time.monotonic() - began)
