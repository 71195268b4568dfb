"""The page of a difference between two revisions of a grid: which cells came, went and changed, and in what."""

from __future__ import annotations

import uuid
from typing import Any

from flask import Response

from registry.api import serializers
from registry.api.context import grid_row, parts
from registry.operations.read import compare_revisions, find_summary
from registry.operations.stored_grids import grid_summary, stored_grid
from registry.pages.changed import MEASURED, changes_of, differing, name_of, written
from registry.pages.front import pages
from registry.pages.links import data_path
from registry.pages.responses import page
from registry.renderings.words import place, title
from registry.storage.rows import MEMBERS

_LISTED = 200
_LARGEST = 2**31 - 1


@pages.get(f"/grids/<uuid:grid>/revisions/<int(min=1,max={_LARGEST}):a>..<int(min=1,max={_LARGEST}):b>")
def revisions(grid: uuid.UUID, a: int, b: int) -> Response:
    """Show the changes from revision a to b, the first cells of each kind; all of them are in the JSON."""
    with parts().database.reading() as connection:
        row = grid_row(connection, grid, "reader")
        found = compare_revisions(connection, grid, a, b)
        before, after = (serializers.summary(grid_summary(find_summary(connection, grid, number))) for number in (a, b))
    stored = stored_grid(row)

    def context() -> dict[str, Any]:
        document = serializers.difference(found)
        return {
            "grid": serializers.summary(stored),
            "title": title(serializers.summary(stored)),
            "found": document,
            "changed": [(one["at"], differing(one["from"], one["to"])) for one in document["changed"][:_LISTED]],
            "lists": [_listed(document, kind) for kind in ("added", "removed")],
            "said_of": place,
            "others": list(changes_of(before, after, MEMBERS)),
            "json": data_path(f"/grids/{grid}/revisions/{a}..{b}", row.visibility),
            "every": 0,
        }

    return page("revisions.html", [stored.etag, stored.current_revision, row.visibility], context)


def _listed(document: dict[str, Any], kind: str) -> tuple[str, list[str], list[tuple[Any, list[str]]]]:
    """The kind, the fields that its cells have, and the first cells with these."""
    cells = document[kind][:_LISTED]
    fields = [field for field in MEASURED if any(field in one for one in cells)]
    rows = [(one["at"], [written(one.get(field)) for field in fields]) for one in cells]
    return kind, [name_of(field) for field in fields], rows
