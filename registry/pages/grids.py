"""The grids of a project, filtered as in the API."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flask import Response, request

from registry.api import serializers
from registry.api.context import enter, parts
from registry.api.paging import write_key
from registry.api.schemas import FindParameters
from registry.api.selections import filters_of
from registry.operations.find import Page, find_grids, sort_key
from registry.operations.scope_options import count_grids
from registry.operations.search import KINDS
from registry.pages.choices import choice_of
from registry.pages.front import pages
from registry.pages.links import data_path
from registry.pages.live import GRIDS, STATISTICS, live_on
from registry.pages.queries import checked, cursor_of
from registry.pages.responses import page

FILTERS = ("experiment", "benchmark", "model", "variant", "metric")
_GRIDS = 50
_TYPED = ("updated_since", "id")
"""Filters without a list to choose from: they are in the form once they are in the address, and so are labels."""
_SORTS: Sequence[tuple[str, str]] = (
    ("-updated_at", "newest first"),
    ("updated_at", "oldest first"),
    *((kind, kind) for kind in KINDS),
    ("-cell_count", "most cells"),
    ("cell_count", "fewest cells"),
)


@pages.get("/projects/<project>/grids")
def grids(project: str) -> Response:
    """The grids that pass the filters in the address."""
    query = checked(FindParameters, without=("limit", "deleted"), families=("label.",))
    after, filters = cursor_of(query["sort"]), filters_of(query, FindParameters)
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        found = find_grids(connection, row.id, filters, Page(query["sort"], after, _GRIDS))
        total = count_grids(connection, row.id, filters)
        choices = [choice_of(connection, row.id, kind, query[kind], filters) for kind in FILTERS]
    shown = found[:_GRIDS]
    own = [(name, value) for name, value in request.args.items(multi=True) if value]

    def context() -> dict[str, Any]:
        return {
            "project": row,
            "grids": [serializers.summary(stored) for stored in shown],
            "total": total,
            "choices": choices,
            "labels": [(name, text) for name, text in own if name.startswith("label.") or name in _TYPED],
            "words": " ".join(filters.words),
            "sort": query["sort"],
            "cursor": write_key(sort_key(shown[-1], query["sort"]), shown[-1].id) if len(found) > _GRIDS else None,
            "json": data_path(f"/projects/{project}/grids", row.visibility, own),
            "filtered": bool(filters.labels or filters.words or any(query.get(name) for name in (*FILTERS, *_TYPED))),
            "feed": live_on(row, (*GRIDS, *STATISTICS)),
            "sorts": _SORTS,
        }

    return page("grids.html", [row.updated_at, [(one.id, one.etag) for one in shown], total, choices], context)
