"""Route of lines: several names along one axis, a view (`registry.views.lines`) of a table of means."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from flask import Response
from sqlalchemy import Connection

from registry.api.cached_results import Part, answer_to
from registry.api.charts import FORMS, LinesParameters, renderers
from registry.api.context import enter, parts
from registry.api.responses import of_values, wanted_form
from registry.api.selections import selected, slice_of_request
from registry.api.smorest import Blueprint
from registry.errors import Fault, Invalid
from registry.grids.grid import Axis
from registry.grids.slices import kept_levels
from registry.operations.find import with_aliases
from registry.operations.names import joined_names
from registry.operations.query_names import check_names, known_names_text
from registry.operations.scope_options import axes_of_scope, cells_by_name, first_published, most_cells_first
from registry.query import AggregatesQuery
from registry.renderings.charts.lines import lines_svg, lines_vega
from registry.renderings.lines import lines_csv, page
from registry.renderings.sheet import forms
from registry.results.aggregates import Aggregates
from registry.results.codec import from_document, to_document
from registry.results.lines import Lines
from registry.selection import KINDS
from registry.views.lines import MOST_LINES, lines_of

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
    broken where a level has no mean; lone points are markers. Bands are 95 % intervals, whiskers with more than four
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
        raise Invalid([Fault("/along", "none of these grids has an axis that lines could run along")])
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
