"""A grid's cells, tidy: one row a measured cell."""

from __future__ import annotations

import uuid
from typing import Any

from flask import Response

from registry.api import documents, examples
from registry.api.answers import dumps, rendered, wanted_form
from registry.api.context import grid_row, parts
from registry.api.platform import API_PREFIX, Blueprint, reply
from registry.api.schemas import RevisionQuery
from registry.operations.stored import stored_grid
from registry.renderings.grid import cells_csv, cells_markdown, cells_text

blp = Blueprint("cells", __name__, url_prefix=API_PREFIX, description="The measured cells of a grid, one row each.")

_FORMS = ("json", "txt", "md", "csv", "ndjson")
_DESCRIBED = blp.answers(
    reply(200, "The measured cells", "Cells", example=examples.CELLS, forms=examples.CELLS_FORMS, headers=["ETag"]),
    reply(304, "Not modified"),
    public=True,
    parameters=["If-None-Match"],
)


@blp.get("/grids/<uuid:grid>/cells")
@blp.arguments(RevisionQuery, location="query")
@_DESCRIBED
def read_cells(query: dict[str, Any], grid: uuid.UUID) -> Response:
    """Read a grid's cells

    Unmeasured cells are absent.
    """
    return _answer(grid, query.get("revision"), None)


@blp.get("/grids/<uuid:grid>/cells.<any(json,txt,md,csv,ndjson):suffix>")
@blp.arguments(RevisionQuery, location="query")
@_DESCRIBED
def read_cells_as(query: dict[str, Any], grid: uuid.UUID, suffix: str) -> Response:
    """Read a grid's cells in the form that the suffix names"""
    return _answer(grid, query.get("revision"), suffix)


def _answer(grid: uuid.UUID, revision: int | None, suffix: str | None) -> Response:
    with parts().database.reading() as connection:
        stored = stored_grid(grid_row(connection, grid, "reader", revision))
    form = wanted_form(suffix, _FORMS)
    document = documents.grid(stored)
    if form in ("json", "ndjson"):
        document = {
            "grid": stored.id,
            "revision": stored.revision,
            "digest": stored.digest,
            "items": documents.cells(stored.grid),
        }
    forms = {"txt": cells_text, "md": cells_markdown, "csv": cells_csv, "ndjson": _lines}
    return rendered(form, document, forms, f"{stored.revision_tag}-cells")


def _lines(document: dict[str, Any]) -> str:
    return "".join(dumps(cell).decode() + "\n" for cell in document["items"])
