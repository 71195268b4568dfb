"""Trade-offs: two quantities of several names, and the front."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from flask import Response
from marshmallow import INCLUDE, Schema
from sqlalchemy import Connection

from registry.api import examples
from registry.api.chart_schemas import TradeOffParameters, TradeOffPictureParameters, TradeOffPngParameters
from registry.api.charts import FORMS, options_of, pictured, tag_of
from registry.api.context import enter, parts
from registry.api.filters import QUANTITIES, faults_of, slices_of_request
from registry.api.responses import dumps, not_modified, send, tagged, wanted_form
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.charts.lines import Shown
from registry.charts.trade_offs import MOST_POINTS, Measured, Side, directed, trade_off_of
from registry.grids.slices import Slice
from registry.operations.slot_sources import Sources, read_sources
from registry.query import Query
from registry.renderings.lines.png import chart_png
from registry.renderings.trade_off import (
    trade_off_csv,
    trade_off_markdown,
    trade_off_svg,
    trade_off_text,
    trade_off_vega,
)
from registry.results.codec import to_document
from registry.results.trade_offs import TradeOff

blp = Blueprint("trade-offs", __name__, url_prefix=API_PREFIX, description="Two quantities against each other.")

_RENDERERS: Mapping[str, Callable[[TradeOff], str]] = {
    "txt": trade_off_text,
    "md": trade_off_markdown,
    "csv": trade_off_csv,
}
_SHARED: dict[str, Any] = {"public": True, "parameters": ["slice", "slice_of_quantity", "If-None-Match"]}
_DESCRIBED = blp.answers(
    reply(
        200, "The trade-off", "TradeOff", example=examples.TRADE_OFF, forms=examples.TRADE_OFF_FORMS, headers=["ETag"]
    ),
    reply(304, "Not modified"),
    **_SHARED,
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question with the grids that answer it, of x and of y."""

    query: Mapping[str, Any]
    sides: tuple[Side, Side]
    sources: tuple[Sources, Sources]
    tag: str

    @property
    def measured(self) -> tuple[Measured, Measured]:
        """Both sides with their grids."""
        x, y = (Measured(side, one.grids) for side, one in zip(self.sides, self.sources, strict=True))
        return x, y

    def check(self) -> None:
        """Raise `Invalid` where there is no such trade-off; cheap, unlike computing it."""
        for side in self.measured:
            if side.side.source == "metric":
                directed(side)

    @property
    def trade_off(self) -> TradeOff:
        """The answer, computed anew each time."""
        x, y = self.measured
        first = self.sources[1]
        derived = list(dict.fromkeys((*self.sources[0].derived, *first.derived)))
        shown = Shown(first.shown, first.not_shown, derived, first.rules)
        return trade_off_of(first.query.experiment, self.query["by"], self.query["missing"], x, y, shown)


@blp.get("/projects/<project>/trade-offs")
@blp.doc(operationId="getTradeOff")
@blp.arguments(TradeOffParameters, location="query", unknown=INCLUDE)
@_DESCRIBED
def read_trade_off(query: dict[str, Any], project: str) -> Response:
    """Set two quantities against each other

    One point a model (or variant): two metrics of an experiment, one metric at two slices, or a metric against a
    numeric label such as cost or size. Means are over the slots that all names shown share, with 95 % intervals.
    `front` are the names that no other beats in both; `place` says which others the noise leaves open. At most
    100 names, and 100,000 cells of each quantity: those with the most cells if none are named. Always of the current
    revisions.
    """
    return _answer(query, project, None)


@blp.get("/projects/<project>/trade-offs.<any(json,txt,md,csv):suffix>")
@blp.doc(operationId="getTradeOffAs")
@blp.arguments(TradeOffParameters, location="query", unknown=INCLUDE)
@_DESCRIBED
def read_trade_off_as(query: dict[str, Any], project: str, suffix: str) -> Response:
    """Set two quantities against each other, in the form that the suffix names"""
    return _answer(query, project, suffix)


@blp.get("/projects/<project>/trade-offs.svg")
@blp.doc(operationId="getTradeOffSvg")
@blp.arguments(TradeOffPictureParameters, location="query", unknown=INCLUDE)
@blp.answers(*pictured("image/svg+xml"), **_SHARED)
def trade_off_as_svg(query: dict[str, Any], project: str) -> Response:
    """Draw a trade-off as SVG

    Filled points are on the front, which is drawn as steps; hollow ones may be; grey ones are behind. Crosses are 95 %
    intervals.
    """
    return _sent(query, project, "svg", TradeOffPictureParameters, lambda one: trade_off_svg(one, options_of(query)))


@blp.get("/projects/<project>/trade-offs.png")
@blp.doc(operationId="getTradeOffPng")
@blp.arguments(TradeOffPngParameters, location="query", unknown=INCLUDE)
@blp.answers(*pictured("image/png"), **_SHARED)
def trade_off_as_png(query: dict[str, Any], project: str) -> Response:
    """Draw a trade-off as PNG

    The same picture as the SVG. A character that no font of the server has is written `<U+6A21>`.
    """
    options = options_of(query)

    def draw(found: TradeOff) -> bytes:
        return chart_png(TradeOff, found, lambda one: trade_off_svg(one, options), query["scale"])

    return _sent(query, project, "png", TradeOffPngParameters, draw)


@blp.get("/projects/<project>/trade-offs.vl.json")
@blp.doc(operationId="getTradeOffVegaLite")
@blp.arguments(TradeOffPictureParameters, location="query", unknown=INCLUDE)
@blp.answers(*pictured("application/vnd.vegalite.v6+json"), **_SHARED)
def trade_off_as_vega(query: dict[str, Any], project: str) -> Response:
    """Describe a trade-off in Vega-Lite

    The means are inside, with their place by the front.
    """
    options = options_of(query)
    return _sent(query, project, "vl.json", TradeOffPictureParameters, lambda one: dumps(trade_off_vega(one, options)))


def ask_trade_off(
    connection: Connection, project: str, query: Mapping[str, Any], slices: tuple[Slice, Slice]
) -> tuple[Any, Asked]:
    """The row of the project, and the question with its grids."""
    row = enter(connection, project, "reader")
    x, y = (_side(query, axis, at) for axis, at in zip(QUANTITIES, slices, strict=True))
    by = query["by"]
    names = {kind: tuple(sorted(set(query[kind]))) for kind in ("benchmark", "model", "variant")}
    metric = y if y.source == "metric" else x
    with faults_of(metric.axis):
        of_metric = read_sources(connection, row.id, _query(query, metric, names), by, MOST_POINTS)
    other = x if metric is y else y
    if other.source == "metric":
        with faults_of(other.axis):
            beside = read_sources(connection, row.id, _query(query, other, names), by, MOST_POINTS, of_metric.shown)
    else:
        beside = of_metric
    sources = (beside, of_metric) if metric is y else (of_metric, beside)
    read = (*sources[0].grids, *sources[1].grids)
    return row, Asked(query, (x, y), sources, tag_of(read, (*of_metric.not_shown, of_metric.rules.tag), row))


def _query(query: Mapping[str, Any], side: Side, names: Mapping[str, tuple[str, ...]]) -> Query:
    return Query(query["experiment"], side.name, **names, at=side.at)


def _side(query: Mapping[str, Any], axis: Any, at: Slice) -> Side:
    source, _, name = query[axis].partition(":")
    better = {"x": query.get("x_better"), "y": query.get("y_better")}
    return Side(axis, source, name, at, better[axis])


def _answer(query: dict[str, Any], project: str, suffix: str | None) -> Response:
    form = wanted_form(suffix, FORMS)
    make = _RENDERERS.get(form, lambda found: dumps(to_document(found)))
    return _sent(query, project, form, TradeOffParameters, make)


def _sent(
    query: dict[str, Any], project: str, form: str, schema: type[Schema], make: Callable[[TradeOff], str | bytes]
) -> Response:
    """Computed only for who does not have it."""
    with parts().database.reading() as connection:
        _, asked = ask_trade_off(connection, project, query, slices_of_request(query, schema))
    tag = tagged(asked.tag, form)
    return send(b"" if not_modified(tag) else make(asked.trade_off), form=form, tag=tag)
