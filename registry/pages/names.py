"""The names of one kind in a project: all of them, or those that hold the words that are looked for."""

from __future__ import annotations

from typing import Any

from flask import Response, redirect, request

from registry.api.context import enter, parts
from registry.api.paging import read_text, write_text
from registry.api.schemas import NamesInUseParameters
from registry.operations.find import FILTERED
from registry.operations.names import count_names, names_in_use
from registry.pages.front import pages
from registry.pages.links import data_path, name_page
from registry.pages.live import GRIDS, live_on
from registry.pages.name import show_name
from registry.pages.queries import checked
from registry.pages.responses import page

_LISTED = 100
NAME = "name"
"""The parameter with a name that stands in no path."""


@pages.get("/projects/<project>/<any(experiments,benchmarks,models,variants,metrics):kinds>")
def names(project: str, kinds: str) -> Response:
    """The names of a kind in use with how many grids carry each; with `name` the page of that name."""
    kind = kinds.removesuffix("s")
    if request.args.get(NAME):
        return _page_of_name(project, kind, request.args[NAME])
    query = checked(NamesInUseParameters, without=("limit", "suite", *FILTERED))
    after, words = read_text(query["cursor"]) if "cursor" in query else None, query.get("q", ())
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        found = names_in_use(connection, row.id, kind, after, _LISTED + 1, words=words)
        total = count_names(connection, row.id, kind, words)
    shown = found[:_LISTED]
    given = [(name, text) for name, text in request.args.items(multi=True) if text]

    def context() -> dict[str, Any]:
        return {
            "project": row,
            "kind": kind,
            "names": shown,
            "total": total,
            "feed": live_on(row, GRIDS),
            "words": " ".join(words),
            "cursor": write_text(shown[-1]["name"]) if len(found) > _LISTED else None,
            "json": data_path(f"/projects/{project}/names/{kinds}", row.visibility, given),
        }

    return page("names.html", [row.updated_at, found, total], context)


def _page_of_name(project: str, kind: str, name: str) -> Response:
    """The page of a name that its path cannot hold; of any other by its path."""
    place = name_page(project, kind, name)
    if kind == "experiment" or "?name=" not in place:
        return redirect(place or "/", 303)  # type: ignore[return-value]
    return show_name(project, kind, name)
