"""Projects, and the grids of one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from flask import Response, g, request

from registry.api import serializers
from registry.api.context import caller, enter, parts
from registry.api.filters import filters_of
from registry.api.paging import write_key
from registry.api.schemas import SLUG, FindParameters
from registry.errors import Fault, Invalid
from registry.grids.intake.levels import has_control
from registry.operations.find import Page, find_grids, sort_key
from registry.operations.form_options import count_grids
from registry.operations.names import names_in_use
from registry.operations.projects import list_projects
from registry.pages.choices import choice_of
from registry.pages.front import pages
from registry.pages.links import data_path
from registry.pages.queries import checked, cursor_of
from registry.pages.responses import page

FILTERS = ("experiment", "benchmark", "model", "variant", "metric")
_PROJECTS, _GRIDS, _EXPERIMENTS = 500, 50, 100
_TYPED = ("updated_since", "id")
"""Filters without a list to choose from: they are in the form once they are in the address, and so are labels."""
_FROM = "experiments_after"
"""The parameter with the last experiment that the page before listed."""


@pages.get("/")
def projects() -> Response:
    """The projects that the visitor may see."""
    with parts().database.reading() as connection:
        rows = list_projects(connection, caller(connection), _after(), _PROJECTS + 1)
    shown = [serializers.project(row) for row in rows[:_PROJECTS]]
    more = rows[_PROJECTS - 1].slug if len(rows) > _PROJECTS else None
    json = data_path("/projects", "private" if g.get("signed_in") else "public")
    return page("projects.html", [shown, more], lambda: {"projects": shown, "more": more, "json": json})


def _text(name: str) -> str | None:
    text = request.args.get(name)
    if text and has_control(text):
        raise Invalid([Fault(f"/{name}", "must not hold control characters")])
    return text or None


def _after() -> str | None:
    text = request.args.get("after")
    if text and not re.fullmatch(SLUG, text):
        raise Invalid([Fault("/after", "is not the name of a project")])
    return text or None


@pages.get("/projects/<project>")
@pages.get("/projects/<project>/grids")
def project(project: str) -> Response:
    """The experiments and the grids of a project, filtered as in the API."""
    query = checked(FindParameters, without=("limit", "deleted"), also=(_FROM,), families=("label.",))
    after, filters = cursor_of(query["sort"]), filters_of(query, FindParameters)
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
        found = find_grids(connection, row.id, filters, Page(query["sort"], after, _GRIDS))
        total = count_grids(connection, row.id, filters)
        choices = [choice_of(connection, row.id, kind, query[kind]) for kind in FILTERS]
        experiments = names_in_use(connection, row.id, "experiment", _text(_FROM), limit=_EXPERIMENTS + 1)
    shown = found[:_GRIDS]
    cursor = write_key(sort_key(shown[-1], query["sort"]), shown[-1].id) if len(found) > _GRIDS else None
    own = [(name, value) for name, value in request.args.items(multi=True) if value and name != _FROM]

    def context() -> dict[str, Any]:
        return {
            "project": row,
            "grids": [serializers.summary(stored) for stored in shown],
            "total": total,
            "choices": choices,
            "experiments": experiments[:_EXPERIMENTS],
            "more_experiments": experiments[_EXPERIMENTS - 1]["name"] if len(experiments) > _EXPERIMENTS else None,
            "labels": [(name, text) for name, text in own if name.startswith("label.") or name in _TYPED],
            "sort": query["sort"],
            "cursor": cursor,
            "json": data_path(f"/projects/{project}/grids", row.visibility, own),
            "filtered": bool(filters.labels or any(query.get(name) for name in (*FILTERS, *_TYPED))),
            "sorts": _SORTS,
        }

    return page(
        "project.html", [row.updated_at, [(one.id, one.etag) for one in shown], total, choices, experiments], context
    )


_SORTS: Sequence[tuple[str, str]] = (
    ("-updated_at", "newest first"),
    ("updated_at", "oldest first"),
    ("experiment", "experiment"),
    ("benchmark", "benchmark"),
    ("model", "model"),
)
