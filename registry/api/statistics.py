"""A grid's statistics: finished documents, or word of when to come back."""

from __future__ import annotations

import gzip
import uuid
from hashlib import sha256
from typing import Any

import orjson
from flask import Response

from registry.api import examples
from registry.api.answers import known_tags, rendered, send_stored, tagged, wanted_form
from registry.api.asked import answer_to
from registry.api.context import caller, parts
from registry.api.platform import API_PREFIX, Blueprint, reply
from registry.api.schemas import StatisticsQuery
from registry.api.waiting import unready, waited
from registry.errors import Fault, Invalid
from registry.operations.admit import admit
from registry.operations.read import find_statistics
from registry.question import ThresholdsQuestion
from registry.renderings import statistics as renderings
from registry.renderings.thresholds import thresholds_csv, thresholds_markdown, thresholds_text

blp = Blueprint(
    "statistics", __name__, url_prefix=API_PREFIX, description="Numbers that were computed and nobody posted."
)

_FORMS = ("json", "txt", "md", "csv")
_HEAD = ("grid", "revision", "digest", "state", "methods_version", "params", "computed_at", "axes", "metric")
PARTS: dict[str, tuple[str, ...]] = {
    "trends": ("series", "grid_trend"),
    "changes": ("series",),
    "peaks": ("peaks",),
    "coverage": ("coverage",),
    "sensitivity": ("sensitivity",),
    "precision": ("precision",),
}
_THRESHOLDS = {"txt": thresholds_text, "md": thresholds_markdown, "csv": thresholds_csv}


@blp.get("/grids/<uuid:grid>/<any(statistics,trends,changes,peaks,coverage,sensitivity,precision):part>")
@blp.arguments(StatisticsQuery, location="query")
@blp.answers(
    reply(
        200,
        "The statistics, or why they failed",
        {"anyOf": [{"$ref": "#/components/schemas/Statistics"}, {"$ref": "#/components/schemas/Thresholds"}]},
        example=examples.STATISTICS,
        forms=examples.TREND_FORMS,
        headers=["ETag"],
    ),
    reply(
        202,
        "Pending: come back",
        {"anyOf": [{"$ref": "#/components/schemas/Pending"}, {"$ref": "#/components/schemas/PendingAnswer"}]},
        example=examples.PENDING,
        headers=["Retry-After"],
    ),
    reply(304, "Not modified"),
    public=True,
    parameters=["Prefer", "If-None-Match"],
)
def read_statistics(query: dict[str, Any], grid: uuid.UUID, part: str) -> Response:
    """Read a grid's statistics

    `statistics` is everything; the other words are parts of it. Always of the current revision: an answer for an
    older one is never given in its place. `trends?threshold=90` says where the series cross 90.
    """
    return _answer(grid, part, query, None)


@blp.get(
    "/grids/<uuid:grid>/<any(statistics,trends,changes,peaks,coverage,sensitivity,precision):part>.<any(json,txt,md,csv):suffix>"
)
@blp.arguments(StatisticsQuery, location="query")
@blp.answers(
    reply(
        200,
        "The statistics, or why they failed",
        {"anyOf": [{"$ref": "#/components/schemas/Statistics"}, {"$ref": "#/components/schemas/Thresholds"}]},
        example=examples.STATISTICS,
        forms=examples.TREND_FORMS,
        headers=["ETag"],
    ),
    reply(
        202,
        "Pending: come back",
        {"anyOf": [{"$ref": "#/components/schemas/Pending"}, {"$ref": "#/components/schemas/PendingAnswer"}]},
        example=examples.PENDING,
        headers=["Retry-After"],
    ),
    reply(304, "Not modified"),
    public=True,
    parameters=["Prefer", "If-None-Match"],
)
def read_statistics_as(query: dict[str, Any], grid: uuid.UUID, part: str, suffix: str) -> Response:
    """Read a grid's statistics in the form that the suffix names"""
    return _answer(grid, part, query, suffix)


def _answer(grid: uuid.UUID, part: str, query: dict[str, Any], suffix: str | None) -> Response:
    form, along = wanted_form(suffix, _FORMS), query.get("along")
    if query["threshold"]:
        return _thresholds(grid, part, query, form)
    mark = ("" if part == "statistics" else f"-{part}") + (
        "" if along is None else "-" + sha256(along.encode()).hexdigest()[:8]
    )
    known = [tag.removesuffix(tagged(mark, form)) for tag in known_tags() if tag.endswith(tagged(mark, form))]

    def look() -> Any:
        with parts().database.reading() as connection:
            row = find_statistics(connection, grid, known)
            admit(caller(connection), row, "reader")
            return row

    row = waited(look, lambda row: row.etag is not None or row.state == "failed")
    if row.etag is None:
        return unready(row, {"grid": grid, "revision": row.revision}, f"{API_PREFIX}/grids/{grid}/statistics")
    if row.document is None or (part == "statistics" and form == "json" and along is None):
        return send_stored(row.document, tagged(row.etag + mark, form))
    return rendered(
        form, select(orjson.loads(gzip.decompress(row.document)), part, along), renderings.of(part), row.etag + mark
    )


def _thresholds(grid: uuid.UUID, part: str, query: dict[str, Any], form: str) -> Response:
    """Where the series of the current revision cross levels that the usual answer does not have."""
    if part != "trends" or "along" in query:
        raise Invalid([Fault("/threshold", "is asked of trends, and of all of their series")])
    with parts().database.reading() as connection:
        row = find_statistics(connection, grid)
        admit(caller(connection), row, "reader")
    levels = tuple(sorted(set(query["threshold"])))
    question = ThresholdsQuestion("", "", grid=str(grid), revision=row.revision, thresholds=levels)
    return answer_to(question, row.project, form, _THRESHOLDS, f"{API_PREFIX}/grids/{grid}/trends")


def select(document: dict[str, Any], part: str, along: str | None) -> dict[str, Any]:
    """A part of the document under the same head, and only the series along one axis if that was asked."""
    if part != "statistics":
        document = {name: document[name] for name in (*_HEAD, *PARTS[part]) if name in document}
    if along is not None and "series" in document:
        if along not in {axis["name"] for axis in document["axes"]}:
            raise Invalid([Fault("/along", f'the grid has no axis "{along}"')])
        document = document | {"series": [series for series in document["series"] if series["along"] == along]}
    return document
