"""Routes of one grid's statistics: its stored document, or word of when to come back; where its series cross levels."""

import uuid
from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any

from flask import Response
from marshmallow import Schema, ValidationError, fields, validate, validates_schema
from sqlalchemy import Connection

from registry.api.answers import Part, Renderers, answer_to, part_asked, stored_answer, tags_known
from registry.api.context import caller, owned, parts
from registry.api.fields import Choice, Name, Quantity, Share
from registry.api.long_poll import unready, usual_wait, waited
from registry.api.responses import of_values, wanted_form
from registry.api.schemas import about, fields_wanted, number_of_revision
from registry.api.selections import slice_of_request
from registry.api.smorest import Blueprint
from registry.errors import Fault, Invalid, NotFound
from registry.grids.slices import Slice
from registry.methods_version import METHODS_VERSION
from registry.operations.auth import authorize
from registry.operations.health import requeue_old
from registry.operations.query_names import check_slice_of_grid, no_axis
from registry.operations.read import find_statistics, find_summary
from registry.query import StatisticsQuery, ThresholdsQuery
from registry.renderings import statistics as renderings
from registry.renderings.sheet import forms
from registry.renderings.thresholds import page, thresholds_csv
from registry.results.statistics import Statistics, Thresholds

HEAD = (
    "grid",
    "revision",
    "digest",
    "state",
    "methods_version",
    "params",
    "computed_at",
    "axes",
    "slice",
    "metric",
    "assumes",
    "design_effect",
)
"""Fields of every part: which grid it is about, and by what it was computed."""
OMITTED = ("slice",)
"""Fields of parts that an answer has only where they were asked for."""
PARTS: dict[str, tuple[str, ...]] = {
    "trends": ("opened", "series", "series_left_out", "grid_trend"),
    "changes": ("series", "series_left_out"),
    "peaks": ("peaks",),
    "coverage": ("coverage",),
    "sensitivity": ("sensitivity",),
    "precision": ("precision",),
}
"""The path of a part, and the fields that it has beside the head."""
FORMS = ("json", "txt", "md", "csv")
_SETTINGS = ("alpha", "sharp_change", "equivalence")
_THRESHOLDS = of_values(Thresholds, {**forms(page), "csv": thresholds_csv})


def settings_of(query: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that a query asks for in place of the usual ones."""
    return {name: query[name] for name in _SETTINGS if name in query}


def statistics_asked(
    grid: uuid.UUID,
    query: Mapping[str, Any],
    wanted: Slice,
    form: str,
    renderers: Renderers,
    part: Part | None,
) -> Response:
    """The statistics of a slice, or a part of them, by the settings of the query; computed when they are first
    asked."""
    project, revision = _readable_revision(grid, wanted, query)
    settings = settings_of(query)
    detail = query.get("detail")
    question = StatisticsQuery("", "", at=wanted, grid=str(grid), revision=revision, detail=detail, **settings)
    return answer_to(question, project, form, renderers, part)


def thresholds_asked(grid: uuid.UUID, query: Mapping[str, Any], wanted: Slice, form: str) -> Response:
    """Query for the positions where the series cross the levels of the query, by its settings; computed when it is
    first asked."""
    project, revision = _readable_revision(grid, wanted, query)
    part = part_asked(query, Thresholds, form)
    settings, asked = settings_of(query), tuple(sorted(set(query["value"])))
    along = query.get("along", "")
    about = {"at": wanted, "grid": str(grid), "revision": revision, "along": along}
    question = ThresholdsQuery("", "", **about, thresholds=asked, **settings)
    return answer_to(question, project, form, _THRESHOLDS, part)


def check_along(grid: uuid.UUID, query: Mapping[str, Any]) -> None:
    """`Invalid` when the query asks along an axis that the grid does not have; nothing has to be computed to say so."""
    along = query.get("along")
    if along is None:
        return
    with parts().database.reading() as connection:
        current = owned(connection, grid, "reader").revision
        row = _summary(connection, grid, query.get("revision", current))
        authorize(caller(connection), row, "reader")
    axes = [axis["name"] for axis in row.axes]
    if along not in axes:
        raise Invalid([Fault("/along", no_axis(along, axes))])


def _readable_revision(grid: uuid.UUID, wanted: Slice, query: Mapping[str, Any]) -> tuple[str, int]:
    """The project of a grid that the caller may read, and the number of the revision that the query names, else of the
    current one; `NotFound` where there is none, `Invalid` when it has nothing of the slice."""
    with parts().database.reading() as connection:
        row = owned(connection, grid, "reader")
        number = query.get("revision", row.revision)
        if number != row.revision:
            _summary(connection, grid, number)
        if wanted:
            check_slice_of_grid(connection, grid, number, wanted)
        return row.project, number


def _summary(connection: Connection, grid: uuid.UUID, number: int) -> Any:
    row = find_summary(connection, grid, number)
    if row is None:
        raise NotFound("The grid has no such revision.")
    return row


def recompute_old(rows: Iterable[Any]) -> None:
    """Have those rows of `find_statistics` that are old computed again, and wake who does it. A row may be None."""
    if requeue_old(parts().database, rows):
        parts().notifier.notify()


_ON_DEMAND = " Computed when it is first asked."
_MOST_LEVELS = 20


class StatisticsParameters(Schema):
    part = Choice(*PARTS, "thresholds", metadata=about("Only this of the statistics; everything if not given."))
    value = fields.List(
        Quantity(),
        validate=validate.Length(1, _MOST_LEVELS, error=f"is given 1 to {_MOST_LEVELS} times"),
        metadata=about("With `part=thresholds`: where the series cross these levels; may be repeated."),
    )
    fields = fields_wanted()
    revision = number_of_revision("An older revision.")
    along = Name(metadata=about("Only the series along this axis."))
    alpha = Share(metadata=about("The level of tests and intervals, 0.05 if not given." + _ON_DEMAND))
    sharp_change = Quantity(
        least=0,
        metadata=about("The size from which a step may be called sharp, 5 % of a bounded range if not given."),
    )
    equivalence = Quantity(
        least=0,
        metadata=about("The margin within which a series may be called flat, 2 % of a bounded range if not given."),
    )

    detail = Choice("full", metadata=about("Every step in `changes`, not only the outstanding ones." + _ON_DEMAND))

    @validates_schema
    def _check_part(self, data: dict[str, Any], **_options: Any) -> None:
        part = data.get("part")
        if (part == "thresholds") != ("value" in data):
            raise ValidationError("is needed with part=thresholds, and for nothing else", "value")
        if part == "thresholds" and "detail" in data:
            raise ValidationError("says nothing of part=thresholds", "detail")


blp = Blueprint("statistics", "Numbers that were computed and nobody posted.")


@blp.in_forms(
    "/grids/<uuid:grid>/statistics",
    "getStatistics",
    FORMS,
    StatisticsParameters,
    "The statistics, or why they failed",
    {"anyOf": [{"$ref": f"#/components/schemas/{name}"} for name in ("Statistics", "Thresholds", "Failed")]},
    example="statistics",
    parameters=["slice"],
    computed=True,
)
def read_statistics(query: dict[str, Any], grid: uuid.UUID, suffix: str | None = None) -> Response:
    """Read a grid's statistics

    Everything, or one `part`; a part has the fields of its own only. Of the current revision: an answer for an older
    one is never given in its place. With `alpha`, `sharp_change`, `equivalence` or `detail`, of an older
    `revision`, and where
    series cross a `value`, it is computed when it is first asked (`202`, `Prefer: wait=10` waits) and kept; `params`
    says by what. What older methods computed is computed again when it is read.
    """
    check_along(grid, query)
    form = wanted_form(suffix, FORMS)
    wanted = slice_of_request(query, StatisticsParameters)
    part = query.get("part", "statistics")
    if part == "thresholds":
        return thresholds_asked(grid, query, wanted, form)
    chosen = _chosen(part, query, form)
    if wanted or settings_of(query) or "detail" in query:
        return statistics_asked(grid, query, wanted, form, _renderers(part), chosen)
    known = tags_known(form, chosen)

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
    return stored_answer(row, form, _renderers(part), chosen)


def _chosen(part: str, query: Mapping[str, Any], form: str) -> Part | None:
    along = query.get("along")
    mark = ("" if part == "statistics" else f"-{part}") + (
        "" if along is None else "-" + sha256(along.encode()).hexdigest()[:8]
    )
    chosen = Part(mark, lambda document: select(document, part, along)) if mark else None
    only = None if part == "statistics" else (*HEAD, *PARTS[part])
    return part_asked(query, Statistics, form, only=only, of=chosen)


def _renderers(part: str) -> Renderers:
    return of_values(Statistics, renderings.of(part))


def select(document: dict[str, Any], part: str, along: str | None) -> dict[str, Any]:
    """A part of the document under the same head, and only the series along one axis if that was asked."""
    if part != "statistics":
        document = {name: document[name] for name in (*HEAD, *PARTS[part]) if name in document}
    if along is not None and "series" in document:
        document = document | {"series": [series for series in document["series"] if series["along"] == along]}
    return document
