"""A grid's statistics: finished documents, or word of when to come back."""

from __future__ import annotations

import gzip
import time
import uuid
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import orjson
from flask import Response

from registry.api import examples
from registry.api.answers import json_answer, known_tags, patience, rendered, send_stored, tagged, wanted_form
from registry.api.context import caller, parts
from registry.api.platform import API_PREFIX, Blueprint, reply
from registry.api.schemas import StatisticsQuery
from registry.errors import Fault, Invalid
from registry.operations.admit import admit
from registry.operations.read import find_statistics
from registry.renderings import statistics as renderings

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
_FIRST_LOOK, _SLOWEST_LOOK = 0.01, 0.1


@blp.get("/grids/<uuid:grid>/<any(statistics,trends,changes,peaks,coverage,sensitivity,precision):part>")
@blp.arguments(StatisticsQuery, location="query")
@blp.answers(
    reply(
        200,
        "The statistics, or why they failed",
        "Statistics",
        example=examples.STATISTICS,
        forms=examples.TREND_FORMS,
        headers=["ETag"],
    ),
    reply(202, "Pending: come back", "Pending", example=examples.PENDING, headers=["Retry-After"]),
    reply(304, "Not modified"),
    public=True,
    parameters=["Prefer", "If-None-Match"],
)
def read_statistics(query: dict[str, Any], grid: uuid.UUID, part: str) -> Response:
    """Read a grid's statistics

    `statistics` is everything; the other words are parts of it. Always of the current revision: an answer for an
    older one is never given in its place.
    """
    return _answer(grid, part, query.get("along"), None)


@blp.get(
    "/grids/<uuid:grid>/<any(statistics,trends,changes,peaks,coverage,sensitivity,precision):part>.<any(json,txt,md,csv):suffix>"
)
@blp.arguments(StatisticsQuery, location="query")
@blp.answers(
    reply(
        200,
        "The statistics, or why they failed",
        "Statistics",
        example=examples.STATISTICS,
        forms=examples.TREND_FORMS,
        headers=["ETag"],
    ),
    reply(202, "Pending: come back", "Pending", example=examples.PENDING, headers=["Retry-After"]),
    reply(304, "Not modified"),
    public=True,
    parameters=["Prefer", "If-None-Match"],
)
def read_statistics_as(query: dict[str, Any], grid: uuid.UUID, part: str, suffix: str) -> Response:
    """Read a grid's statistics in the form that the suffix names"""
    return _answer(grid, part, query.get("along"), suffix)


def _answer(grid: uuid.UUID, part: str, along: str | None, suffix: str | None) -> Response:
    form = wanted_form(suffix, _FORMS)
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


def waited(look: Callable[[], Any], settled: Callable[[Any], bool]) -> Any:
    """What `look` sees, again and again for as long as the caller prefers to wait and it is not settled."""
    row = look()
    seconds = patience(parts().settings.max_wait)
    if settled(row) or not seconds:
        return row
    if not parts().waiters.acquire(blocking=False):
        return row
    try:
        until, pause = time.monotonic() + seconds, _FIRST_LOOK
        while not settled(row) and time.monotonic() < until:
            time.sleep(min(pause, max(0.0, until - time.monotonic())))
            pause = min(2 * pause, _SLOWEST_LOOK)
            row = look()
    finally:
        parts().waiters.release()
    return row


def unready(row: Any, subject: dict[str, Any], href: str, *, pending: bool | None = None) -> Response:
    """The answer where there is no document: pending (202) or failed (200, with the reason)."""
    if not (row.state != "failed" if pending is None else pending):
        return json_answer(subject | {"state": "failed", "reason": row.reason, "attempts": row.attempts})
    promised = subject | {"state": "pending", "derivation": {"state": "pending", "href": href}}
    return json_answer(promised, status=202, Retry_After="1")


def select(document: dict[str, Any], part: str, along: str | None) -> dict[str, Any]:
    """A part of the document under the same head, and only the series along one axis if that was asked."""
    if part != "statistics":
        document = {name: document[name] for name in (*_HEAD, *PARTS[part]) if name in document}
    if along is not None and "series" in document:
        if along not in {axis["name"] for axis in document["axes"]}:
            raise Invalid([Fault("/along", f'the grid has no axis "{along}"')])
        document = document | {"series": [series for series in document["series"] if series["along"] == along]}
    return document
