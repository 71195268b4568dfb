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
from registry.api.query_schemas import SeriesParameters, StatisticsParameters, ThresholdsParameters, TrendsParameters
from registry.api.responses import known_tags, of_values, rendered, send_stored, tagged, wanted_form
from registry.api.smorest import API_PREFIX, Blueprint, ready, reply
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

SERVED = (
    ("statistics", "getStatistics", "Statistics", "Read a grid's statistics", "Everything; its parts have paths too."),
    (
        "changes",
        "getChanges",
        "Changes",
        "Read a grid's changes",
        "Each series with its steps, of which some are sharp.",
    ),
    ("peaks", "getPeaks", "PeaksPart", "Read a grid's peaks", "The best cells, and what noise leaves of them."),
    ("coverage", "getCoverage", "CoveragePart", "Read a grid's coverage", "What was measured of what was declared."),
    (
        "sensitivity",
        "getSensitivity",
        "SensitivityPart",
        "Read a grid's sensitivity",
        "The share of the variance that each axis explains.",
    ),
    (
        "precision",
        "getPrecision",
        "PrecisionPart",
        "Read a grid's precision",
        "What the printed decimals say of the trials behind them.",
    ),
)
"""Part, operation, schema, summary and description of each resource; the trends have more to say below."""
_CURRENT = (
    "Of the current revision: an answer for an older one is never given in its place. With `alpha`, `sharp_change` or"
    " `equivalence`, or of an older `revision`, it is computed when it is first asked (`202`, `Prefer: wait=10` waits)"
    " and kept; `params` says by what. What older methods computed is computed again when it is read."
)
_ANSWERS = [reply(304, "Not modified"), reply(202, "Pending")]
_OPTIONS: dict[str, Any] = {"public": True, "parameters": ["slice", "Prefer", "If-None-Match"]}
_TRENDS_DESCRIBED = blp.answers(
    reply(
        200,
        "The trends, or why they failed; with `threshold`, where the series cross",
        {"anyOf": [*ready("Trends")["oneOf"], {"$ref": "#/components/schemas/Thresholds"}]},
        example=examples.TRENDS,
        forms=examples.TREND_FORMS,
        headers=["ETag"],
    ),
    *_ANSWERS,
    **_OPTIONS,
)
_THRESHOLDS_DESCRIBED = blp.answers(
    reply(
        200,
        "Where the series cross, or why that failed",
        ready("Thresholds"),
        example=examples.THRESHOLDS,
        forms=examples.THRESHOLDS_FORMS,
        headers=["ETag"],
    ),
    *_ANSWERS,
    **_OPTIONS,
)
_SUFFIX = "<any(json,txt,md,csv):suffix>"


def _serve(part: str, operation: str, schema: str, summary: str, about: str) -> None:
    """Add the resource of a part of the statistics, and its path with a suffix."""
    described = blp.answers(
        reply(
            200,
            f"{schema}, or why the statistics failed",
            ready(schema),
            example=examples.part(part),
            forms=examples.STATISTICS_FORMS if part == "statistics" else dict.fromkeys(("txt", "md", "csv")),
            headers=["ETag"],
        ),
        *_ANSWERS,
        **_OPTIONS,
    )

    def read(query: dict[str, Any], grid: uuid.UUID) -> Response:
        return _answer(grid, part, query, None)

    def read_as(query: dict[str, Any], grid: uuid.UUID, suffix: str) -> Response:
        return _answer(grid, part, query, suffix)

    more = _CURRENT if part == "statistics" else "By the settings that `getStatistics` takes."
    read.__doc__ = f"{summary}\n\n{about} {more}"
    read_as.__doc__ = f"{summary} in the form that the suffix names\n\nAnswers what `{operation}` answers."
    for view, path, name in ((read, part, operation), (read_as, f"{part}.{_SUFFIX}", f"{operation}As")):
        taken = blp.doc(operationId=name)(
            blp.arguments(_schema_of(part), location="query", unknown=INCLUDE)(described(view))
        )
        blp.get(f"/grids/<uuid:grid>/{path}", endpoint=f"{view.__name__}_{part}")(taken)


def _schema_of(part: str) -> type[StatisticsParameters]:
    return {"trends": TrendsParameters, "statistics": SeriesParameters}.get(part, StatisticsParameters)


for served in SERVED:
    _serve(*served)


@blp.get("/grids/<uuid:grid>/trends")
@blp.doc(operationId="getTrends")
@blp.arguments(TrendsParameters, location="query", unknown=INCLUDE)
@_TRENDS_DESCRIBED
def read_trends(query: dict[str, Any], grid: uuid.UUID) -> Response:
    """Read a grid's trends

    One series for each line of cells along an axis that has an order. `threshold=90` asks where they cross 90, as
    `thresholds?value=90` does.
    """
    return _trends(grid, query, None)


@blp.get(f"/grids/<uuid:grid>/trends.{_SUFFIX}")
@blp.doc(operationId="getTrendsAs")
@blp.arguments(TrendsParameters, location="query", unknown=INCLUDE)
@_TRENDS_DESCRIBED
def read_trends_as(query: dict[str, Any], grid: uuid.UUID, suffix: str) -> Response:
    """Read a grid's trends in the form that the suffix names"""
    return _trends(grid, query, suffix)


@blp.get("/grids/<uuid:grid>/thresholds")
@blp.doc(operationId="getThresholds")
@blp.arguments(ThresholdsParameters, location="query", unknown=INCLUDE)
@_THRESHOLDS_DESCRIBED
def read_thresholds(query: dict[str, Any], grid: uuid.UUID) -> Response:
    """Read where a grid's series cross levels

    `value=90` may be repeated; computed when it is first asked (`202`, `Prefer: wait=10` waits) and kept.
    """
    return thresholds_asked(grid, query["value"], query, slice_of_request(query, ThresholdsParameters), None)


@blp.get(f"/grids/<uuid:grid>/thresholds.{_SUFFIX}")
@blp.doc(operationId="getThresholdsAs")
@blp.arguments(ThresholdsParameters, location="query", unknown=INCLUDE)
@_THRESHOLDS_DESCRIBED
def read_thresholds_as(query: dict[str, Any], grid: uuid.UUID, suffix: str) -> Response:
    """Read where a grid's series cross levels, in the form that the suffix names"""
    return thresholds_asked(grid, query["value"], query, slice_of_request(query, ThresholdsParameters), suffix)


def _answer(grid: uuid.UUID, part: str, query: Mapping[str, Any], suffix: str | None) -> Response:
    check_along(grid, query)
    form = wanted_form(suffix, FORMS)
    wanted = slice_of_request(query, _schema_of(part))
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


def _trends(grid: uuid.UUID, query: dict[str, Any], suffix: str | None) -> Response:
    if query["threshold"]:
        wanted = slice_of_request(query, TrendsParameters)
        return thresholds_asked(grid, query["threshold"], query, wanted, suffix)
    return _answer(grid, "trends", query, suffix)


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
