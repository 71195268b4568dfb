"""Lines: several names along one axis of an experiment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flask import Response
from marshmallow import INCLUDE, Schema
from sqlalchemy import Connection

from registry.api import examples
from registry.api.chart_schemas import LinesParameters, LinesPictureParameters, LinesPngParameters
from registry.api.charts import FORMS, options_of, pictured, tag_of
from registry.api.context import enter, parts
from registry.api.filters import slice_of_request
from registry.api.responses import dumps, not_modified, send, tagged, wanted_form
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.charts.lines import MOST_LINES, LinesQuery, Shown, frame_of_lines, lines_of
from registry.grids.slices import Slice
from registry.operations.slot_sources import Sources, read_sources
from registry.renderings.lines import lines_csv, lines_markdown, lines_svg, lines_text, lines_vega
from registry.renderings.lines.png import chart_png
from registry.results.codec import to_document
from registry.results.lines import Lines

blp = Blueprint("lines", __name__, url_prefix=API_PREFIX, description="Several names along one axis.")

_RENDERERS: Mapping[str, Callable[[Lines], str]] = {"txt": lines_text, "md": lines_markdown, "csv": lines_csv}
_SHARED: dict[str, Any] = {"public": True, "parameters": ["slice", "If-None-Match"]}
_DESCRIBED = blp.answers(
    reply(200, "The lines", "Lines", example=examples.LINES, forms=examples.LINES_FORMS, headers=["ETag"]),
    reply(304, "Not modified"),
    **_SHARED,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the grids that answer it."""

    query: LinesQuery
    sources: Sources
    tag: str

    def check(self) -> None:
        """Raise `Invalid` where there are no such lines; cheap, unlike computing them."""
        frame_of_lines(self.query, self.sources.grids)

    @property
    def lines(self) -> Lines:
        """The answer, computed anew each time."""
        shown = Shown(self.sources.shown, self.sources.not_shown, self.sources.derived, self.sources.rules)
        return lines_of(self.query, self.sources.grids, shown)


@blp.get("/projects/<project>/lines")
@blp.doc(operationId="getLines")
@blp.arguments(LinesParameters, location="query", unknown=INCLUDE)
@_DESCRIBED
def read_lines(query: dict[str, Any], project: str) -> Response:
    """Draw several names along an axis

    One line a model (or variant, benchmark, level of another axis): at each level the mean over the slots that all
    names shown share there, with its 95 % interval from the noise of the cells. A slot is a benchmark with the
    coordinates on the other axes. A level without a mean has no point. At most 12 names, those with the most cells if
    none are named, and 100,000 cells. Always of the current revisions.
    """
    return _answer(query, project, None)


@blp.get("/projects/<project>/lines.<any(json,txt,md,csv):suffix>")
@blp.doc(operationId="getLinesAs")
@blp.arguments(LinesParameters, location="query", unknown=INCLUDE)
@_DESCRIBED
def read_lines_as(query: dict[str, Any], project: str, suffix: str) -> Response:
    """Draw several names along an axis, in the form that the suffix names"""
    return _answer(query, project, suffix)


@blp.get("/projects/<project>/lines.svg")
@blp.doc(operationId="getLinesSvg")
@blp.arguments(LinesPictureParameters, location="query", unknown=INCLUDE)
@blp.answers(*pictured("image/svg+xml"), **_SHARED)
def lines_as_svg(query: dict[str, Any], project: str) -> Response:
    """Draw lines as SVG

    Broken where a level has no mean; lone points are markers. Bands are 95 % intervals, whiskers with more than four
    lines. The range of the values is that of what is drawn, and is said.
    """
    return _sent(query, project, "svg", LinesPictureParameters, lambda lines: lines_svg(lines, options_of(query)))


@blp.get("/projects/<project>/lines.png")
@blp.doc(operationId="getLinesPng")
@blp.arguments(LinesPngParameters, location="query", unknown=INCLUDE)
@blp.answers(*pictured("image/png"), **_SHARED)
def lines_as_png(query: dict[str, Any], project: str) -> Response:
    """Draw lines as PNG

    The same picture as the SVG. A character that no font of the server has is written `<U+6A21>`.
    """
    options = options_of(query)

    def draw(lines: Lines) -> bytes:
        return chart_png(Lines, lines, lambda one: lines_svg(one, options), query["scale"])

    return _sent(query, project, "png", LinesPngParameters, draw)


@blp.get("/projects/<project>/lines.vl.json")
@blp.doc(operationId="getLinesVegaLite")
@blp.arguments(LinesPictureParameters, location="query", unknown=INCLUDE)
@blp.answers(*pictured("application/vnd.vegalite.v6+json"), **_SHARED)
def lines_as_vega(query: dict[str, Any], project: str) -> Response:
    """Describe lines in Vega-Lite

    The means are inside; neighbours that are joined share a `run`.
    """
    options = options_of(query)
    return _sent(query, project, "vl.json", LinesPictureParameters, lambda lines: dumps(lines_vega(lines, options)))


def ask_lines(connection: Connection, project: str, query: Mapping[str, Any], wanted: Slice) -> tuple[Any, Asked]:
    """The row of the project, and the question with its grids."""
    row = enter(connection, project, "reader")
    question = LinesQuery(
        query["experiment"],
        query["metric"],
        **{kind: tuple(sorted(set(query[kind]))) for kind in ("benchmark", "model", "variant")},
        at=wanted,
        along=query["along"],
        by=query["by"],
        missing=query["missing"],
    )
    sources = read_sources(connection, row.id, question, question.by, MOST_LINES)
    return row, Asked(question, sources, tag_of(sources.grids, (*sources.not_shown, sources.rules.tag), row))


def _answer(query: dict[str, Any], project: str, suffix: str | None) -> Response:
    form = wanted_form(suffix, FORMS)
    make = _RENDERERS.get(form, lambda lines: dumps(to_document(lines)))
    return _sent(query, project, form, LinesParameters, make)


def _sent(
    query: dict[str, Any], project: str, form: str, schema: type[Schema], make: Callable[[Lines], str | bytes]
) -> Response:
    """Computed only for who does not have it."""
    with parts().database.reading() as connection:
        _, asked = ask_lines(connection, project, query, slice_of_request(query, schema))
    tag = tagged(asked.tag, form)
    return send(b"" if not_modified(tag) else make(asked.lines), form=form, tag=tag)
