"""Questions about the current revision of a grid: its statistics by other settings, and where its series cross."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from flask import Response

from registry.api.cached_results import Part, Renderers, answer_to
from registry.api.context import caller, owned, parts
from registry.api.responses import of_values, wanted_form
from registry.errors import Fault, Invalid
from registry.grids.slices import Slice
from registry.operations.auth import authorize
from registry.operations.query_names import check_slice_of_grid, no_axis
from registry.operations.read import find_summary
from registry.query import StatisticsQuery, ThresholdsQuery
from registry.renderings.thresholds import thresholds_csv, thresholds_markdown, thresholds_text
from registry.results.thresholds import Thresholds

FORMS = ("json", "txt", "md", "csv")
_SETTINGS = ("alpha", "sharp_change", "equivalence")
_THRESHOLDS = of_values(Thresholds, {"txt": thresholds_text, "md": thresholds_markdown, "csv": thresholds_csv})


def settings_of(query: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that a query asks for in place of the usual ones."""
    return {name: query[name] for name in _SETTINGS if name in query}


def statistics_asked(
    grid: uuid.UUID,
    query: Mapping[str, Any],
    wanted: Slice,
    suffix: str | None,
    renderers: Renderers,
    part: Part | None,
) -> Response:
    """The statistics of a slice, or a part of them, by the settings of the query; computed when they are first
    asked."""
    row = _current(grid, wanted)
    settings = settings_of(query)
    question = StatisticsQuery("", "", at=wanted, grid=str(grid), revision=row.revision, **settings)
    return answer_to(question, row.project, wanted_form(suffix, FORMS), renderers, part)


def thresholds_asked(
    grid: uuid.UUID, levels: Sequence[float], query: Mapping[str, Any], wanted: Slice, suffix: str | None
) -> Response:
    """Query for the positions where the series cross these levels, by the settings of the query; computed when it is
    first asked."""
    check_along(grid, query)
    row = _current(grid, wanted)
    settings, asked = settings_of(query), tuple(sorted(set(levels)))
    along = query.get("along", "")
    about = {"at": wanted, "grid": str(grid), "revision": row.revision, "along": along}
    question = ThresholdsQuery("", "", **about, thresholds=asked, **settings)
    return answer_to(question, row.project, wanted_form(suffix, FORMS), _THRESHOLDS)


def check_along(grid: uuid.UUID, query: Mapping[str, Any]) -> None:
    """`Invalid` when the query asks along an axis that the grid does not have; nothing has to be computed to say so."""
    if "along" not in query:
        return
    with parts().database.reading() as connection:
        row = find_summary(connection, grid, owned(connection, grid, "reader").revision)
        authorize(caller(connection), row, "reader")
    axes = [axis["name"] for axis in row.axes]
    if query["along"] not in axes:
        raise Invalid([Fault("/along", no_axis(query["along"], axes))])


def _current(grid: uuid.UUID, wanted: Slice) -> Any:
    """The project and the current revision of a grid that the caller may read; `Invalid` when it has nothing of the
    slice."""
    with parts().database.reading() as connection:
        row = owned(connection, grid, "reader")
        if wanted:
            check_slice_of_grid(connection, grid, row.revision, wanted)
        return row
