"""Projects, and the grids of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flask import Response, request

from registry.api import documents
from registry.api.context import caller, enter, parts
from registry.api.paging import read_key, write_key
from registry.api.schemas import FindQuery
from registry.operations.find import Filters, Page, find_grids, sort_key
from registry.operations.name import names_in_use
from registry.operations.project import list_projects
from registry.pages.answer import data_path, page
from registry.pages.asked import checked
from registry.pages.front import pages

FILTERS = ("experiment", "benchmark", "model", "variant", "metric")
_PROJECTS, _GRIDS, _NAMES = 500, 50, 200


@pages.get("/")
def projects() -> Response:
    """The projects that the visitor may see."""
    with parts().database.reading() as connection:
        rows = list_projects(connection, caller(connection), request.args.get("after"), _PROJECTS + 1)
    shown = [documents.project(row) for row in rows[:_PROJECTS]]
    more = rows[_PROJECTS - 1].slug if len(rows) > _PROJECTS else None
    json = data_path("/projects", "public")
    return page("projects.html", [shown, more], lambda: {"projects": shown, "more": more, "json": json})


@pages.get("/projects/<project>")
@pages.get("/projects/<project>/grids")
def project(project: str) -> Response:
    """The experiments and the grids of a project, filtered as in the API."""
    query = checked(FindQuery, without=("limit",))
    after = read_key(query["cursor"], instant=query["sort"].endswith("_at")) if "cursor" in query else None
    filters = Filters(**{kind: query[kind] for kind in FILTERS}, updated_since=query.get("updated_since"))
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        found = find_grids(connection, row.id, filters, Page(query["sort"], after, _GRIDS))
        names = {kind: names_in_use(connection, row.id, kind, limit=_NAMES) for kind in FILTERS}
    shown = found[:_GRIDS]
    cursor = write_key(sort_key(shown[-1], query["sort"]), shown[-1].id) if len(found) > _GRIDS else None
    own = [(name, value) for name, value in request.args.items(multi=True) if value]

    def context() -> dict[str, Any]:
        return {
            "project": row,
            "grids": [documents.summary(stored) for stored in shown],
            "names": names,
            "chosen": query,
            "cursor": cursor,
            "json": data_path(f"/projects/{project}/grids", row.visibility, own),
            "filtered": any(query[kind] for kind in FILTERS),
            "sorts": _SORTS,
        }

    return page("project.html", [row.updated_at, [(one.id, one.etag) for one in shown], names], context)


_SORTS: Sequence[tuple[str, str]] = (
    ("-updated_at", "newest first"),
    ("updated_at", "oldest first"),
    ("experiment", "experiment"),
    ("benchmark", "benchmark"),
    ("model", "model"),
)
