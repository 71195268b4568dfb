"""Projects, and the grids of one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from flask import Response, g, request

from registry.api import serializers
from registry.api.context import caller, enter, parts
from registry.api.filters import filters_of
from registry.api.paging import read_instant, write_instant, write_key
from registry.api.schemas import SLUG, FindParameters
from registry.errors import Fault, Invalid
from registry.grids.intake.levels import has_control
from registry.operations.find import Page, find_grids, sort_key
from registry.operations.find_claims import ClaimFilters
from registry.operations.form_options import count_grids
from registry.operations.listed_claims import verdicts_in_order
from registry.operations.names import names_in_use
from registry.operations.projects import count_projects, projects_by_use
from registry.operations.search import KINDS
from registry.pages.choices import choice_of
from registry.pages.front import pages
from registry.pages.links import data_path
from registry.pages.live import GRIDS, STATISTICS, live_on
from registry.pages.prose import prose_of
from registry.pages.queries import checked, cursor_of
from registry.pages.responses import page
from registry.pages.said import headline, ordered

FILTERS = ("experiment", "benchmark", "model", "variant", "metric")
_PROJECTS, _GRIDS, _EXPERIMENTS = 100, 50, 100
_TYPED = ("updated_since", "id")
"""Filters without a list to choose from: they are in the form once they are in the address, and so are labels."""
_FROM = "experiments_after"
"""The parameter with the last experiment that the page before listed."""


@pages.get("/")
def projects() -> Response:
    """The projects that the visitor may see, the latest used first."""
    with parts().database.reading() as connection:
        who = caller(connection)
        rows = projects_by_use(connection, who, _after(), _PROJECTS + 1)
        total = count_projects(connection, who)
    shown = rows[:_PROJECTS]
    more = f"{write_instant(shown[-1].used_at)}~{shown[-1].slug}" if len(rows) > _PROJECTS else None
    json = data_path("/projects", "private" if "visitor" in g else "public")
    return page(
        "projects.html",
        [rows, total],
        lambda: {"projects": shown, "total": total, "more": more, "json": json},
    )


def _text(name: str) -> str | None:
    text = request.args.get(name)
    if text and has_control(text):
        raise Invalid([Fault(f"/{name}", "must not hold control characters")])
    return text or None


def _after() -> tuple[datetime, str] | None:
    text = request.args.get("after")
    if text and not re.fullmatch(f"[0-9a-f]{{1,14}}~{SLUG}", text):
        raise Invalid([Fault("/after", "is not a cursor of this list")])
    instant, _, slug = (text or "").partition("~")
    return (read_instant(instant), slug) if text else None


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
        choices = [choice_of(connection, row.id, kind, query[kind], filters) for kind in FILTERS]
        verdicts = verdicts_in_order(connection, row.id, ClaimFilters())
        experiments = names_in_use(connection, row.id, "experiment", _text(_FROM), limit=_EXPERIMENTS + 1)
    shown = found[:_GRIDS]
    cursor = write_key(sort_key(shown[-1], query["sort"]), shown[-1].id) if len(found) > _GRIDS else None
    own = [(name, value) for name, value in request.args.items(multi=True) if value and name != _FROM]

    def context() -> dict[str, Any]:
        return {
            "project": row,
            "grids": [serializers.summary(stored) for stored in shown],
            "prose_": prose_of(row.description),
            "about_json": data_path(f"/projects/{project}", row.visibility),
            "total": total,
            "headline": headline(verdicts),
            "verdicts_": ordered(verdicts),
            "choices": choices,
            "experiments": experiments[:_EXPERIMENTS],
            "more_experiments": experiments[_EXPERIMENTS - 1]["name"] if len(experiments) > _EXPERIMENTS else None,
            "labels": [(name, text) for name, text in own if name.startswith("label.") or name in _TYPED],
            "words": " ".join(filters.words),
            "kinds": KINDS,
            "sort": query["sort"],
            "cursor": cursor,
            "json": data_path(f"/projects/{project}/grids", row.visibility, own),
            "filtered": bool(filters.labels or filters.words or any(query.get(name) for name in (*FILTERS, *_TYPED))),
            "atom": data_path(f"/projects/{project}/events.atom", row.visibility),
            "feed": live_on(row, (*GRIDS, *STATISTICS, "claim.*", "experiment.*", "project.updated")),
            "sorts": _SORTS,
        }

    made_of = [row.updated_at, [(one.id, one.etag) for one in shown], total, choices, experiments, verdicts]
    return page("project.html", made_of, context)


_SORTS: Sequence[tuple[str, str]] = (
    ("-updated_at", "newest first"),
    ("updated_at", "oldest first"),
    *((kind, kind) for kind in KINDS),
    ("-cell_count", "most cells"),
    ("cell_count", "fewest cells"),
)
