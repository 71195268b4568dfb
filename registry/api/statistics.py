"""A grid's statistics: finished documents, or word of when to come back."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from flask import Response
from marshmallow import INCLUDE

from registry.api import examples
from registry.api.cached_results import Part, Renderers
from registry.api.context import caller, parts
from registry.api.filters import slice_of_request
from registry.api.grid_queries import FORMS, check_along, settings_of, statistics_asked, thresholds_asked
from registry.api.long_poll import unready, usual_wait, waited
from registry.api.old_statistics import recompute_old
from registry.api.partial import part_asked
from registry.api.query_schemas import StatisticsParameters
from registry.api.responses import known_tags, of_values, rendered, send_stored, tagged, wanted_form
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.api.statistics_parts import HEAD, PARTS
from registry.errors import Fault, Invalid
from registry.methods_version import METHODS_VERSION
from registry.operations.auth import authorize
from registry.operations.read import find_statistics
from registry.renderings import statistics as renderings
from registry.results.codec import from_bytes
from registry.results.series import losing
from registry.results.statistics import Statistics

blp = Blueprint(
    "statistics", __name__, url_prefix=API_PREFIX, description="Numbers that were computed and nobody posted."
)

_DESCRIBED = blp.answers(
    reply(
        200,
        "The statistics, or why they failed",
        {"anyOf": [{"$ref": f"#/components/schemas/{name}"} for name in ("Statistics", "Thresholds", "Failed")]},
        example=examples.STATISTICS,
        forms=examples.STATISTICS_FORMS,
        headers=["ETag"],
    ),
    reply(304, "Not modified"),
    reply(202, "Pending"),
    public=True,
    parameters=["slice", "Prefer", "If-None-Match"],
)


@blp.get("/grids/<uuid:grid>/statistics")
@blp.doc(operationId="getStatistics")
@blp.arguments(StatisticsParameters, location="query", unknown=INCLUDE)
@_DESCRIBED
def read_statistics(query: dict[str, Any], grid: uuid.UUID) -> Response:
    """Read a grid's statistics

    Everything, or one `part`; a part has the fields of its own only. Of the current revision: an answer for an older
    one is never given in its place. With `alpha`, `sharp_change` or `equivalence`, of an older `revision`, and where
    series cross a `value`, it is computed when it is first asked (`202`, `Prefer: wait=10` waits) and kept; `params`
    says by what. What older methods computed is computed again when it is read.
    """
    return _answer(grid, query, None)


@blp.get("/grids/<uuid:grid>/statistics.<any(json,txt,md,csv):suffix>")
@blp.doc(operationId="getStatisticsAs")
@blp.arguments(StatisticsParameters, location="query", unknown=INCLUDE)
@_DESCRIBED
def read_statistics_as(query: dict[str, Any], grid: uuid.UUID, suffix: str) -> Response:
    """Read a grid's statistics in the form that the suffix names"""
    return _answer(grid, query, suffix)


def _answer(grid: uuid.UUID, query: Mapping[str, Any], suffix: str | None) -> Response:
    check_along(grid, query)
    form = wanted_form(suffix, FORMS)
    wanted = slice_of_request(query, StatisticsParameters)
    part = query.get("part", "statistics")
    if part == "thresholds":
        return thresholds_asked(grid, query, wanted, form)
    chosen = _chosen(part, query, form)
    if wanted or settings_of(query):
        return statistics_asked(grid, query, wanted, form, _renderers(part), chosen)
    mark = chosen.mark if chosen else ""
    known = [tag.removesuffix(tagged(mark, form)) for tag in known_tags() if tag.endswith(tagged(mark, form))]

    def look() -> Any:
        with parts().database.reading() as connection:
            row = find_statistics(connection, grid, known)
            authorize(caller(connection), row, "reader")
        recompute_old([row])
        return row

    number, usual = query.get("revision"), usual_wait(form)

    def is_settled(row: Any) -> bool:
        # Who does not say to wait takes what older methods computed.
        there = row.etag is not None if usual else row.methods_version == METHODS_VERSION
        return number not in (None, row.revision) or there or row.state == "failed"

    row = waited(look, is_settled, usual)
    if number not in (None, row.revision):
        return statistics_asked(grid, query, wanted, form, _renderers(part), chosen)
    if row.etag is None:
        return unready(row, {"grid": grid, "revision": row.revision}, form)
    if row.document is None or (chosen is None and form == "json"):
        return send_stored(row.document, tagged(row.etag + mark, form))
    document = from_bytes(row.document)
    return rendered(form, chosen.select(document) if chosen else document, _renderers(part), row.etag + mark)


def _chosen(part: str, query: Mapping[str, Any], form: str) -> Part | None:
    """The part of the document that is wanted; None: all of it."""
    along, lost = query.get("along"), query.get("lost")
    mark = ("" if part == "statistics" else f"-{part}") + (
        "" if along is None else "-" + sha256(along.encode()).hexdigest()[:8]
    )
    mark += "" if lost is None else f"-lost{lost!r}"
    chosen = Part(mark, lambda document: select(document, part, along, lost)) if mark else None
    only = None if part == "statistics" else (*HEAD, *PARTS[part])
    return part_asked(query, Statistics, form, only=only, of=chosen)


def _renderers(part: str) -> Renderers:
    return of_values(Statistics, renderings.of(part))


def select(document: dict[str, Any], part: str, along: str | None, lost: float | None = None) -> dict[str, Any]:
    """A part of the document under the same head, and only the series along one axis, or those that lost more than
    something, if that was asked; `Invalid` where nobody can say what a loss is."""
    if part != "statistics":
        document = {name: document[name] for name in (*HEAD, *PARTS[part]) if name in document}
    if along is not None and "series" in document:
        document = document | {"series": [series for series in document["series"] if series["along"] == along]}
    return document if lost is None or "series" not in document else _losing(document, lost)


def _losing(document: dict[str, Any], lost: float) -> dict[str, Any]:
    direction, series = document["metric"].get("direction"), document["series"]
    if direction is None:
        raise Invalid([Fault("/lost", "the metric says no better end: nobody can say what a loss is")])
    return document | {"series": losing(series, direction, lost), "lost": {"more_than": lost, "of": len(series)}}
