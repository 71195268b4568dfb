"""The page of the history of some cells of a grid: what they were at each revision, who published it, and when."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

from flask import Response, request
from sqlalchemy import Connection

from registry.api import serializers
from registry.api.context import grid_row, parts
from registry.api.schemas import HistoryParameters
from registry.errors import Fault, Invalid
from registry.grids.slices import PARAMETER, Slice, slice_text
from registry.operations.read import Recorded, names_of_publishers, read_history
from registry.operations.stored_grids import StoredGrid, stored_grid
from registry.pages.choices import slice_lists, slice_of_page
from registry.pages.front import knows_tokens, pages
from registry.pages.links import data_path
from registry.pages.live import live_on
from registry.pages.queries import salvaged
from registry.pages.responses import page
from registry.pages.sharing import about_grid
from registry.pages.spark import Point, Spark, line_of
from registry.renderings.numbers import decimals_of, fixed
from registry.renderings.words import place

Document = Mapping[str, Any]
MOST_COLUMNS = 8
"""Cells that the page shows beside each other."""


@pages.get("/grids/<uuid:grid>/history")
def history(grid: uuid.UUID) -> Response:
    """The cells of the slice in the address, the newest revision first; a form where those are too many."""
    query, faults = salvaged(HistoryParameters, families=(PARAMETER,))
    with parts().database.reading() as connection:
        row = grid_row(connection, grid, "reader")
        stored = stored_grid(row)
        wanted, found, more = _read(connection, stored, query, faults)
        named = [one.stored.revision for one in found] if knows_tokens(row.project_id) else []
        publishers = names_of_publishers(connection, grid, named)
    documents = [serializers.recorded(one) for one in found]
    places = list(_places(documents))
    shown = places if len(places) <= MOST_COLUMNS else []

    def context() -> dict[str, Any]:
        project = SimpleNamespace(slug=stored.project, visibility=row.visibility)
        return {
            **about_grid(stored, row),
            "faults": faults,
            "slices": slice_lists(stored.grid.axes, wanted),
            "where": slice_text(wanted),
            "places": shown,
            "count": len(places),
            "most": MOST_COLUMNS,
            "rows": list(_rows(documents, shown, publishers)),
            "lines": list(_lines(documents, shown)),
            "older": documents[-1]["revision"] if more else None,
            "publishers": publishers,
            "feed": live_on(project, ("grid.*",), grid=[grid]),
            "json": data_path(f"/grids/{grid}/history", row.visibility, list(request.args.items(multi=True))),
        }

    return page(
        "history.html", [stored.etag, stored.current_revision, row.visibility, publishers, faults], context,
        status=422 if faults else 200,
    )  # fmt: skip


def _read(
    connection: Connection, stored: StoredGrid, query: Mapping[str, Any], faults: list[Fault]
) -> tuple[Slice, list[Recorded], bool]:
    """The slice and its revisions; what is wrong with it joins the faults."""
    wanted: Slice = ()
    before = int(query["cursor"]) if "cursor" in query else None
    try:
        wanted = slice_of_page()
        if not faults and (wanted or len(stored.grid.values) <= MOST_COLUMNS):
            return wanted, *read_history(connection, stored.id, stored.current_revision, wanted, before, query["limit"])
    except Invalid as error:
        faults.extend(error.faults)
    return wanted, [], False


def _places(documents: Sequence[Document]) -> dict[str, None]:
    """The cells by their levels in words, those of the newest revision first."""
    return dict.fromkeys(place(cell["at"]) for one in documents for cell in one["cells"])


def _rows(
    documents: Sequence[Document], places: Sequence[str], publishers: Mapping[int, str]
) -> Iterator[dict[str, Any]]:
    """A row for each revision, with a text for each cell."""
    columns = [_by_place(one) for one in documents]
    decimals = decimals_of(cell["value"] for column in columns for cell in column.values())
    # What was before the oldest row is not on this page, or nothing.
    earlier = [*columns[1:], None]
    for one, column, before in zip(documents, columns, earlier, strict=False):
        yield {
            "number": one["revision"],
            "at": one["created_at"],
            "by": publishers.get(one["revision"], "the server"),
            "cells": [
                _told(column.get(name), before is not None and before.get(name) != column.get(name), decimals)
                for name in places
            ],
        }


def _by_place(document: Document) -> dict[str, Document]:
    return {place(cell["at"]): cell for cell in document["cells"]}


def _told(cell: Document | None, changed: bool, decimals: int | None) -> dict[str, Any]:
    """A cell at one revision: its value, its interval, and whether the revision before had another."""
    found = cell or {"value": None, "ci_low": None, "ci_high": None}
    ends = (found["ci_low"], found["ci_high"])
    interval = "" if None in ends else "–".join(fixed(end, decimals) for end in ends)
    return {"value": fixed(found["value"], decimals, ""), "interval": interval, "changed": changed}


def _lines(documents: Sequence[Document], places: Sequence[str]) -> Iterator[Spark]:
    """A small line for each cell over the revisions of this page, the oldest first."""
    numbers = sorted(float(one["revision"]) for one in documents)
    columns = [(one["revision"], _by_place(one)) for one in reversed(documents)]
    for name in places:
        points = [_point(number, column[name]) for number, column in columns if name in column]
        yield line_of(points, numbers, f"{name or 'the score'}, over {len(points)} revisions")


def _point(revision: int, cell: Document) -> Point:
    value = cell["value"]
    low, high = (value if end is None else end for end in (cell["ci_low"], cell["ci_high"]))
    return Point(float(revision), revision, value, low, high)
