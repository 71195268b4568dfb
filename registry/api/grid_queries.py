"""Questions about the current revision of a grid: its statistics by other settings, and where its series cross."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from flask import Response
from sqlalchemy import Connection

from registry.api.cached_results import Part, Renderers, answer_to
from registry.api.context import caller, owned, parts
from registry.api.partial import part_asked
from registry.api.responses import of_values
from registry.errors import Fault, Invalid, NotFound
from registry.grids.grid import Axis
from registry.grids.slices import Slice
from registry.operations.auth import authorize
from registry.operations.query_names import check_slice_of_grid, no_axis
from registry.operations.read import find_summary
from registry.query import StatisticsQuery, ThresholdsQuery
from registry.renderings.thresholds import thresholds_csv, thresholds_markdown, thresholds_text
from registry.results.thresholds import Thresholds
from registry.storage.rows import axis_of

FORMS = ("json", "txt", "md", "csv")
_SETTINGS = ("alpha", "sharp_change", "equivalence", "split")
_THRESHOLDS = of_values(Thresholds, {"txt": thresholds_text, "md": thresholds_markdown, "csv": thresholds_csv})


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
    project, revision = _revision(grid, wanted, query)
    settings = settings_of(query)
    question = StatisticsQuery("", "", at=wanted, grid=str(grid), revision=revision, **settings)
    return answer_to(question, project, form, renderers, part)


def thresholds_asked(grid: uuid.UUID, query: Mapping[str, Any], wanted: Slice, form: str) -> Response:
    """Query for the positions where the series cross the levels of the query, by its settings; computed when it is
    first asked."""
    project, revision = _revision(grid, wanted, query)
    part = part_asked(query, Thresholds, form)
    settings, asked = settings_of(query), tuple(sorted(set(query["value"])))
    along = query.get("along", "")
    about = {"at": wanted, "grid": str(grid), "revision": revision, "along": along}
    question = ThresholdsQuery("", "", **about, thresholds=asked, **settings)
    return answer_to(question, project, form, _THRESHOLDS, part)


def check_along(grid: uuid.UUID, query: Mapping[str, Any]) -> None:
    """`Invalid` when the query asks along an axis that the grid does not have, or splits none of its axes; nothing has
    to be computed to say so."""
    if not {"along", "split"} & query.keys():
        return
    with parts().database.reading() as connection:
        current = owned(connection, grid, "reader").revision
        row = _summary(connection, grid, query.get("revision", current))
        authorize(caller(connection), row, "reader")
    axes = [axis["name"] for axis in row.axes]
    along = query.get("along")
    if along is not None and along not in axes:
        raise Invalid([Fault("/along", no_axis(along, axes))])
    if "split" in query:
        _check_split([axis_of(axis) for axis in row.axes if along in (None, axis["name"])], query["split"])


def _check_split(axes: Sequence[Axis], at: float) -> None:
    """`Invalid` when no numeric axis has levels on both sides."""
    numbers = {axis.name: axis.numbers for axis in axes if axis.kind == "numeric" and axis.levels}
    if not any(min(found) <= at < max(found) for found in numbers.values()):
        ranges = [f"{name} has {min(found):g} to {max(found):g}" for name, found in numbers.items()]
        told = f"splits no axis; {', '.join(ranges)}" if ranges else "splits no axis: there is no numeric one"
        raise Invalid([Fault("/split", told)])


def _revision(grid: uuid.UUID, wanted: Slice, query: Mapping[str, Any]) -> tuple[str, int]:
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
