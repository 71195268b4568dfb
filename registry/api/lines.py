"""Routes of two views: lines, several names along an axis of a table of means; and trade-offs, two
quantities of several names, and which names are on the front, where none surpasses them."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from flask import Response, request
from sqlalchemy import Connection

from registry.api.answers import Part, answer_to, answered, ask, settled, unanswered
from registry.api.charts import FORMS, LinesParameters, TradeOffParameters, renderers
from registry.api.context import enter, entered, parts
from registry.api.long_poll import usual_wait
from registry.api.responses import dumps, not_modified, of_values, send, tagged, wanted_form
from registry.api.selections import QUANTITIES, faults_of, selected, slice_of_request, slices_of_request
from registry.api.smorest import Blueprint
from registry.errors import Fault, Invalid
from registry.grids.grid import Axis
from registry.grids.slices import Slice, kept_levels, with_slice
from registry.operations.find_grids import with_aliases
from registry.operations.names import joined_names
from registry.operations.query_names import check_names, known_names_text
from registry.operations.query_scope import axes_of_scope, cells_by_name, first_published, label_texts, most_cells_first
from registry.query import AggregatesQuery
from registry.renderings.charts.lines import lines_svg, lines_vega
from registry.renderings.charts.trade_off import trade_off_svg, trade_off_vega
from registry.renderings.lines import lines_csv, page
from registry.renderings.sheet import forms
from registry.renderings.trade_off import page as page_of_trade_off
from registry.renderings.trade_off import trade_off_csv
from registry.results.aggregates import Aggregates
from registry.results.codec import from_bytes, from_document, to_document
from registry.results.lines import Lines
from registry.results.trade_offs import TradeOff
from registry.selection import KINDS
from registry.views.lines import MOST_LINES, lines_of
from registry.views.trade_offs import MOST_POINTS, Side, of_label, of_table, trade_off_of

blp = Blueprint("lines", "Several names along one axis.")

_TABLES = {**forms(page), "csv": lines_csv}


@dataclass(frozen=True, slots=True)
class Asked:
    """The table of which lines are a view, the names that there is no room for, and in which order all of them get
    their looks."""

    table: AggregatesQuery
    not_shown: Sequence[str]
    order: Sequence[str]

    @property
    def part(self) -> Part:
        """The lines in the document of the table."""
        mark = sha256(repr((self.not_shown, self.order)).encode()).hexdigest()[:8]
        return Part(f"-lines{mark}", lambda document: to_document(self.lines(document)))

    def lines(self, document: dict[str, Any]) -> Lines:
        """The lines in the document of the table."""
        return lines_of(from_document(Aggregates, document), self.not_shown, self.order)


@blp.in_forms(
    "/projects/<project>/lines",
    "getLines",
    FORMS,
    LinesParameters,
    "The lines",
    "Lines",
    parameters=["slice"],
    computed=True,
)
def read_lines(query: dict[str, Any], project: str, suffix: str | None = None) -> Response:
    """Draw several names along an axis

    The table (`aggregates`) of models, or of variants, benchmarks or levels of another axis, by the levels of an axis.
    A level without a mean has no point. At most 12 names, those with the most cells if none are named. Pictures are
    broken where a level has no mean; lone points are markers. Bands are intervals, whiskers with more than four
    lines. A name keeps its colour under every filter, and when other names are published after it.
    """
    selection = selected(query, project, slice_of_request(query, LinesParameters))
    with parts().database.reading() as connection:
        asked = ask_lines(connection, enter(connection, project, "reader").id, query, selection)
    made = of_values(Lines, renderers(query, Lines, _TABLES, lines_svg, lines_vega))
    return answer_to(asked.table, project, wanted_form(suffix, FORMS), made, asked.part)


def ask_lines(
    connection: Connection, project_id: uuid.UUID, query: Mapping[str, Any], selection: Mapping[str, Any]
) -> Asked:
    """The table that answers a query about a selection; `NotFound` and `Invalid` for names and axes that are not
    there."""
    by, at = query["by"], selection["at"]
    scope = AggregatesQuery(**selection, group_by=())
    scope = scope.canonical(joined_names(connection, project_id))
    check_names(connection, project_id, scope, with_aliases(connection, project_id, "experiment", [scope.experiment]))
    axes = axes_of_scope(connection, project_id, scope)
    along, not_shown = _along(axes, query["along"], by, dict(at)), list[str]()
    table = replace(
        scope,
        group_by=(by, f"axis:{along}"),
        over=() if by == "benchmark" else ("benchmark",),
        missing=query["missing"],
        alpha=query["alpha"],
    )
    if by in KINDS:
        named = getattr(scope, by)
        if len(named) > MOST_LINES and not scope.suite:
            raise Invalid([Fault(f"/{by}", f"at most {MOST_LINES} are drawn at once, and {len(named)} are named")])
        known = most_cells_first(cells_by_name(connection, project_id, scope, by))
        shown: dict[str, Any] = {by: tuple(sorted(known[:MOST_LINES]))}
        not_shown = sorted(known[MOST_LINES:])
        order = first_published(connection, project_id, scope.experiment, by)
        return Asked(replace(table, **shown) if not_shown else table, not_shown, order)
    every = _levels(axes, by.removeprefix("axis:"), dict(at))
    levels = [label for label, kept in every if kept]
    if len(levels) > MOST_LINES:
        first = by.removeprefix("axis:"), tuple(sorted(levels[:MOST_LINES]))
        at = tuple(sorted([one for one in at if one[0] != first[0]] + [first]))
        table, not_shown = replace(table, at=at), levels[MOST_LINES:]
    return Asked(table, not_shown, [label for label, _ in every])


def _along(axes: Sequence[Axis], wanted: str, by: str, at: Mapping[str, Sequence[str]]) -> str:
    """The axis that lines run along; without a wanted one, that in order with the most levels."""
    by_name = dict[str, list[Axis]]()
    for axis in axes:
        by_name.setdefault(axis.name, []).append(axis)
    named_by = by.removeprefix("axis:") if by.startswith("axis:") else None
    if named_by is not None and wanted == named_by:
        raise Invalid([Fault("/by", "is the axis that the lines run along; choose another one")])
    for place, name in (("along", wanted or None), ("by", named_by)):
        if name is not None and name not in by_name:
            raise Invalid(
                [Fault(f"/{place}", f'none of these grids has an axis "{name}"; {known_names_text(by_name, name)}')]
            )
    usable = sorted(name for name in by_name if name != named_by)
    if not usable:
        none = Fault("/along", "None of these grids has an axis that lines could run along.")
        lone = Fault("/by", "is the only axis of these grids, and lines need another one to run along")
        raise Invalid([lone if named_by else none])
    counts = {name: sum(kept for _, kept in _levels(axes, name, at)) for name in usable}
    return wanted or max(usable, key=lambda name: (by_name[name][0].ordered, counts[name]))


def _levels(axes: Sequence[Axis], name: str, at: Mapping[str, Sequence[str]]) -> list[tuple[str, bool]]:
    """The levels of an axis of several grids in their order, and whether each is in the slice."""
    found = dict[float | str, tuple[float, str, bool]]()
    for axis in sorted((one for one in axes if one.name == name), key=lambda one: -len(one.levels)):
        kept = set(kept_levels(axis.levels, at.get(name, ())))
        for place, level in enumerate(axis.levels):
            key = level.label if level.number is None else level.number
            found.setdefault(key, (len(found) if level.number is None else level.number, level.label, place in kept))
    ordered = list(found.values())
    if all(not isinstance(key, str) for key in found):
        ordered.sort()
    return [(label, kept) for _, label, kept in ordered]


trade_offs_blp = Blueprint("trade-offs", "Two quantities against each other.")

_TABLES_OF_TRADE_OFFS = {**forms(page_of_trade_off), "csv": trade_off_csv}


@dataclass(frozen=True, slots=True)
class AskedTradeOff:
    """A question with what answers it: a table of means for each metric, the texts of each label."""

    query: Mapping[str, Any]
    scope: AggregatesQuery
    sides: tuple[Side, Side]
    names: Sequence[str]
    labels: Mapping[str, Mapping[str, Sequence[str]]]
    without: Mapping[str, str]
    """Why names have no point that lack a quantity altogether."""
    not_shown: Sequence[str]
    benchmarks: Mapping[str, Collection[str]]
    """Those of each side that is measured."""

    @property
    def tables(self) -> Mapping[str, AggregatesQuery]:
        """The table of each side that is measured."""
        names: dict[str, Any] = {self.query["by"]: tuple(self.names)} if self.names else {}
        return {
            side.axis: replace(self.scope, metric=side.name, at=side.at, **names)
            for side in self.sides
            if side.source == "metric"
        }

    def found(self, documents: Mapping[str, dict[str, Any]]) -> TradeOff:
        """The answer from the documents of the tables; `Invalid` where a metric needs a better end and has none."""
        x, y = (
            of_table(side, from_document(Aggregates, documents[side.axis]), self.names, self.benchmarks[side.axis])
            if side.source == "metric"
            else of_label(side, self.labels[side.axis], self.names)
            for side in self.sides
        )
        asked = self.query
        of = asked["experiment"], asked["by"], asked["missing"], asked["alpha"]
        found = trade_off_of(*of, (x, y), self.without, self.not_shown)
        return replace(found, selection=replace(self.scope, at=self._shared_slice).selected())

    @property
    def _shared_slice(self) -> Slice:
        return tuple(one for one in self.sides[0].at if one in self.sides[1].at)


@dataclass(frozen=True, slots=True)
class Answer:
    """A trade-off with its entity tag, or else the question that is not answered yet, with its row."""

    found: TradeOff | None
    tag: str = ""
    open: Any = None


@trade_offs_blp.in_forms(
    "/projects/<project>/trade-offs",
    "getTradeOff",
    FORMS,
    TradeOffParameters,
    "The trade-off",
    "TradeOff",
    parameters=["slice", "slice_of_quantity"],
    computed=True,
)
def read_trade_off(query: dict[str, Any], project: str, suffix: str | None = None) -> Response:
    """Set two quantities against each other

    One point a model (or variant): two metrics of an experiment, one metric at two slices, or a metric against a
    numeric label such as cost or size. Means are those of the table, with intervals. `front` are the names that no
    other beats in both; `place` says which others the noise leaves open. At most 100 names, those with the most cells
    if none are named. In pictures filled points are on the front, which is drawn as steps; hollow ones may be; grey
    ones are behind; crosses are intervals.
    """
    form = wanted_form(suffix, FORMS)
    slices, selection = slices_of_request(query, TradeOffParameters), selected(query, project)
    with entered(project) as (connection, row):
        asked = ask_trade_off(connection, row.id, query, selection, slices)
    answer = answer_of(asked, project, usual_wait(form))
    if answer.found is None:
        question, waiting = answer.open
        return unanswered(question, waiting, form)
    tag = tagged(answer.tag, form)
    if not_modified(tag):
        return send(b"", form=form, tag=tag)
    if form == "json":
        return send(dumps(to_document(answer.found)), form=form, tag=tag)
    made = renderers(query, TradeOff, _TABLES_OF_TRADE_OFFS, trade_off_svg, trade_off_vega)
    return send(made[form](answer.found), form=form, tag=tag)


def ask_trade_off(
    connection: Connection,
    project_id: uuid.UUID,
    query: Mapping[str, Any],
    selection: Mapping[str, Any],
    slices: tuple[Slice, Slice],
) -> AskedTradeOff:
    """The question of a query about a selection, whose metric and slice are those of each quantity; `NotFound` and
    `Invalid` for names that are not there."""
    by, sides = query["by"], tuple(_side(query, axis, at) for axis, at in zip(QUANTITIES, slices, strict=True))
    x, y = sides
    own: dict[str, Any] = {"metric": "", "over": ("benchmark",), "missing": query["missing"], "alpha": query["alpha"]}
    scope = AggregatesQuery(**selection, **own, group_by=(by,))
    scope = scope.canonical(joined_names(connection, project_id))
    experiments = with_aliases(connection, project_id, "experiment", [scope.experiment])
    cells, benchmarks = dict[str, Mapping[str, int]](), dict[str, Collection[str]]()
    for side in sides:
        if side.source == "metric":
            of_side = replace(scope, metric=side.name, at=side.at)
            with faults_of(side.axis):
                check_names(connection, project_id, of_side, experiments)
            cells[side.axis] = cells_by_name(connection, project_id, of_side, by)
            benchmarks[side.axis] = cells_by_name(connection, project_id, of_side, "benchmark")
    metric = y if y.source == "metric" else x
    measured = replace(scope, metric=metric.name)
    labels: dict[str, Mapping[str, Sequence[str]]] = {
        side.axis: label_texts(connection, project_id, measured, by, side.name)
        for side in sides
        if side.source == "label"
    }
    known = most_cells_first(cells[metric.axis])
    without = {
        name: f"has no cell of {with_slice(side.name, side.at)}"
        for side in sides
        if side.source == "metric"
        for name in {*known, *(other for one in cells.values() for other in one)} - cells[side.axis].keys()
    }
    for axis, texts in labels.items():
        [side] = [one for one in sides if one.axis == axis]
        without |= of_label(side, texts, known).why
    left = [name for name in known if name not in without]
    return AskedTradeOff(
        query, scope, (x, y), sorted(left[:MOST_POINTS]), labels, without, sorted(left[MOST_POINTS:]), benchmarks
    )


def answer_of(asked: AskedTradeOff, project: str, patience: float) -> Answer:
    """The trade-off from its tables, which are computed when they are first asked for.

    Where names turn out to lack one of the quantities at its slice, it is asked for once more without them: what they
    lack is no reason to leave out what the others share.
    """
    incomparable = None
    while True:
        rows = {axis: ask(table, project, (), patience) for axis, table in asked.tables.items()}
        for question, row in rows.values():
            if not settled(row) or not answered(row):
                return Answer(None, open=(question, row))
        documents = {axis: from_bytes(row.document) for axis, (_, row) in rows.items()}
        found = asked.found(documents)
        drawn = [point.name for point in found.points]
        if asked.query["missing"] != "matched" or not drawn or len(drawn) == len(asked.names):
            break
        why = {one.name: one.reason for one in found.without}
        asked, incomparable = replace(asked, names=sorted(drawn), without=why), found.incomparable
    found = replace(found, incomparable=incomparable or found.incomparable)
    tags = [row.etag for _, row in rows.values()]
    told = sorted(request.args.items(multi=True)), tags, asked.without, asked.labels, asked.not_shown
    return Answer(found, sha256(repr(told).encode()).hexdigest()[:24])


def _side(query: Mapping[str, Any], axis: Any, at: Slice) -> Side:
    source, _, name = query[axis].partition(":")
    better = {"x": query.get("x_better"), "y": query.get("y_better")}
    return Side(axis, source, name, at, better[axis])
