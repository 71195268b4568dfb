"""A grid's cells, tidy: one row a measured cell."""

from __future__ import annotations

import uuid
from typing import Any

from flask import Response
from marshmallow import INCLUDE

from registry.api import examples
from registry.api.context import grid_row, parts
from registry.api.exports import send_export
from registry.api.feeds import export_of
from registry.api.filters import slice_of_request
from registry.api.responses import MEDIA, wanted_form
from registry.api.schemas import CellsParameters
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.grids.slices import slice_document
from registry.operations.export import select_revision
from registry.operations.query_names import check_slice_of_grid
from registry.operations.stored_grids import stored_grid

blp = Blueprint("cells", __name__, url_prefix=API_PREFIX, description="The measured cells of a grid, one row each.")

_FORMS = ("json", "csv", "ndjson", "parquet", "arrow")
_DESCRIBED = blp.answers(
    reply(
        200,
        "The measured cells",
        "Cells",
        example=examples.CELLS,
        forms=examples.CELLS_FORMS,
        media=[MEDIA["parquet"], MEDIA["arrow"]],
        headers=["ETag", "Accept-Ranges"],
    ),
    reply(206, "The range of it that was asked for", headers=["ETag", "Content-Range"]),
    reply(304, "Not modified"),
    errors=[413, 416, 501],
    public=True,
    parameters=["slice", "If-None-Match", "Range", "If-Range"],
)


@blp.get("/grids/<uuid:grid>/cells")
@blp.doc(operationId="getCells")
@blp.arguments(CellsParameters, location="query", unknown=INCLUDE)
@_DESCRIBED
def read_cells(query: dict[str, Any], grid: uuid.UUID) -> Response:
    """Read a grid's cells

    Unmeasured cells are absent. CSV, NDJSON, Parquet and Arrow have the columns of the project's feed with
    `names=sent`: a grid's own path has its names as they were posted. So do the objects of the JSON, and besides them
    each cell's coordinate as `at`. Tables for people are forms of the grid.
    """
    return _answer(grid, query, None)


@blp.get("/grids/<uuid:grid>/cells.<any(json,csv,ndjson,parquet,arrow):suffix>")
@blp.doc(operationId="getCellsAs")
@blp.arguments(CellsParameters, location="query", unknown=INCLUDE)
@_DESCRIBED
def read_cells_as(query: dict[str, Any], grid: uuid.UUID, suffix: str) -> Response:
    """Read a grid's cells in the form that the suffix names"""
    return _answer(grid, query, suffix)


def _answer(grid: uuid.UUID, query: dict[str, Any], suffix: str | None) -> Response:
    wanted = slice_of_request(query, CellsParameters)
    with parts().database.reading() as connection:
        stored = stored_grid(grid_row(connection, grid, "reader", query.get("revision")))
        if wanted:
            check_slice_of_grid(connection, grid, stored.revision, wanted)
    form, tag = wanted_form(suffix, _FORMS), f"{stored.revision_tag}-{stored.updated_at:%Y%m%d%H%M%S%f}-cells"
    axes = tuple(axis.name for axis in stored.grid.axes)
    selection = select_revision(stored.id, stored.revision, len(stored.grid.values), axes)
    head = {"grid": str(stored.id), "revision": stored.revision, "digest": stored.digest}
    head |= {"slice": slice_document(wanted)} if wanted else {}
    return send_export(export_of(selection, form, tag, query["missing"] == "explicit", head, wanted))
