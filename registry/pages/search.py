"""Pages that find things: the grids of a project by filters, and by words its names, labels and grids, or projects that
the visitor may see."""

from collections.abc import Sequence
from typing import Any

from flask import Response, request
from marshmallow import ValidationError

from registry.api import serializers
from registry.api.context import caller, enter, parts
from registry.api.fields import Words
from registry.api.paging import write_key
from registry.api.schemas import FindParameters
from registry.api.selections import filters_of
from registry.errors import Fault
from registry.operations.find_grids import Filters, Page, find_grids, sort_key
from registry.operations.names import joined_names, spelled
from registry.operations.scope_options import count_grids
from registry.operations.search import KINDS, Found, found_labels, found_names, found_projects, found_suites
from registry.pages.choices import choice_of
from registry.pages.front import pages
from registry.pages.links import data_path, of_data
from registry.pages.live import GRIDS, STATISTICS, live_on
from registry.pages.parameters import checked, cursor_of
from registry.pages.responses import page

FILTERS = ("experiment", "benchmark", "model", "variant", "metric")
_OF_PAGE = 50
_TYPED = ("updated_since", "id")
"""Filters without a list to choose from: they are in the form once they are in the address, and so are labels."""
_SORTS: Sequence[tuple[str, str]] = (
    ("-updated_at", "newest first"),
    ("updated_at", "oldest first"),
    *((kind, kind) for kind in KINDS),
    ("-cell_count", "most cells"),
    ("cell_count", "fewest cells"),
)
_NAMES, _LABELS, _GRIDS, _PROJECTS, _PLACES = 12, 12, 20, 50, 5


@pages.get("/projects/<project>/grids")
def grids(project: str) -> Response:
    """The grids that pass the filters in the address."""
    query = checked(FindParameters, without=("limit", "deleted"), families=("label.",))
    after, filters = cursor_of(query["sort"]), filters_of(query, FindParameters)
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        found = find_grids(connection, row.id, filters, Page(query["sort"], after, _OF_PAGE))
        total = count_grids(connection, row.id, filters)
        choices = [choice_of(connection, row.id, kind, query[kind], filters) for kind in FILTERS]
        joined = joined_names(connection, row.id)
    shown = found[:_OF_PAGE]
    own = of_data()

    def context() -> dict[str, Any]:
        return {
            "project": row,
            "grids": [serializers.summary(spelled(stored, joined)) for stored in shown],
            "total": total,
            "choices": choices,
            "labels": [(name, text) for name, text in own if name.startswith("label.") or name in _TYPED],
            "words": " ".join(filters.words),
            "sort": query["sort"],
            "cursor": write_key(sort_key(shown[-1], query["sort"]), shown[-1].id) if len(found) > _OF_PAGE else None,
            "json": data_path(f"/projects/{project}/grids", row.visibility, own),
            "filtered": bool(filters.labels or filters.words or any(query.get(name) for name in (*FILTERS, *_TYPED))),
            "feed": live_on(row, (*GRIDS, *STATISTICS)),
            "sorts": _SORTS,
        }

    return page("grids.html", [row.updated_at, [(one.id, one.etag) for one in shown], total, choices, joined], context)


@pages.get("/search")
def search() -> Response:
    """The projects in which the words occur, of the first ones the names and suites that hold them."""
    words, faults = _asked()
    with parts().database.reading() as connection:
        who = caller(connection)
        found = found_projects(connection, who, words, _PROJECTS) if words else Found((), 0)
        shown = found.items[:_PLACES]
        names = [found_names(connection, one.id, words, _NAMES, joined_names(connection, one.id)) for one in shown]
        suites = [found_suites(connection, one.id, words, _NAMES) for one in shown]

    def context() -> dict[str, Any]:
        places = [(one, list(each.items()), of) for one, each, of in zip(shown, names, suites, strict=True)]
        return {"projects": found, "places": places, **_said(words, faults)}

    return page("search.html", [found, names, suites, faults], context, status=422 if faults else 200)


@pages.get("/projects/<project>/search")
def search_project(project: str) -> Response:
    """The names, suites, labels and grids of a project that hold the words."""
    words, faults = _asked()
    filters = Filters(words=words)
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        joined = joined_names(connection, row.id) if words else {}
        names = found_names(connection, row.id, words, _NAMES, joined) if words else {}
        suites = found_suites(connection, row.id, words, _NAMES) if words else Found((), 0)
        labels = found_labels(connection, row.id, words, _LABELS) if words else Found((), 0)
        listed = find_grids(connection, row.id, filters, Page(limit=_GRIDS))[:_GRIDS] if words else []
        total = count_grids(connection, row.id, filters) if words else 0

    def context() -> dict[str, Any]:
        return {
            "project": row,
            "suites": suites,
            "found": [(kind, names[kind]) for kind in KINDS if names],
            "labels": labels,
            "grids": [serializers.summary(spelled(stored, joined)) for stored in listed],
            "total": total,
            "json": data_path(f"/projects/{project}/grids", row.visibility, [("q", " ".join(words))] if words else ()),
            "feed": live_on(row, GRIDS),
            **_said(words, faults),
        }

    made_of = [row.updated_at, names, joined, suites, labels, [(one.id, one.etag) for one in listed], total, faults]
    return page("search.html", made_of, context, status=422 if faults else 200)


def _asked() -> tuple[Sequence[str], list[Fault]]:
    """The words that are looked for, or what is wrong with them; neither where nothing was asked."""
    text = " ".join(request.args.get("q", "").split())
    if not text:
        return (), []
    try:
        return Words().deserialize(text), []
    except ValidationError as error:
        return (), [Fault("/q", str(said)) for said in error.messages]


def _said(words: Sequence[str], faults: Sequence[Fault]) -> dict[str, Any]:
    return {"words": words, "q": " ".join(words), "faults": faults}
