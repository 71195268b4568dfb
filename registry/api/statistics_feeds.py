"""Route of a feed: one statistic of every grid of a project as a tidy table of trends, peaks or coverage."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from flask import Response, request
from sqlalchemy import Connection

from registry.api.context import enter, parts
from registry.api.exports import Export, send_export
from registry.api.feeds import FORMS, mark_of
from registry.api.responses import wanted_form
from registry.api.schemas import StatisticsTableParameters
from registry.api.selections import filters_of
from registry.api.smorest import Blueprint
from registry.errors import Fault, Invalid
from registry.grids.slices import PARAMETER, pointer_to
from registry.operations.export import Selection, exported_statistics, select_statistics
from registry.operations.names import joined_names
from registry.operations.query_names import check_filters
from registry.renderings.rows import WRITERS
from registry.renderings.statistics_columns import MEASURED
from registry.renderings.statistics_feed import columns_of, rows_of

blp = Blueprint("statistics_feeds", "A statistic of every grid, tidy.")

_VERSION = "3"
"""Grows when the same statistics are written differently."""


@blp.in_forms(
    "/projects/<project>/statistics",
    "getProjectStatistics",
    FORMS,
    StatisticsTableParameters,
    "The rows",
    {"anyOf": [{"$ref": f"#/components/schemas/{part.capitalize()}Feed"} for part in MEASURED]},
    example="trends_feed",
    parameters=["labels", "Range", "If-Range"],
)
def read_feed(query: dict[str, Any], project: str, suffix: str | None = None) -> Response:
    """Read one statistic of all grids of a project

    `trends`: a row a series, whose coordinate is empty on the axis that it runs along. `peaks`: a row a best cell, so
    several where best cells tie; `best_set_size` says among how many cells the best one is with the confidence
    `best_set_level`. `coverage`: a row a grid. Of the current revision of every grid that passes the filters, the
    oldest first; never paged. A grid that is pending or failed, or has nothing of this, has one row with its `state`
    and `reason`, and empty numbers. Filters, columns of axes, names and ranges are those of `getProjectCells`.
    `at.<axis>` is refused: what is best or the slope in a slice only the grid's own path computes.
    """
    statistic = query["part"]
    _refuse_slices(statistic)
    filters, form = filters_of(query, StatisticsTableParameters), wanted_form(suffix, FORMS)
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
    with parts().database.snapshot() as connection:
        check_filters(connection, row.id, filters)
        joined = joined_names(connection, row.id) if query["names"] == "joined" else None
        selection = select_statistics(connection, row.id, filters, joined)
        return send_export(_export_of(connection, statistic, selection, form))


def _refuse_slices(statistic: str) -> None:
    """`Invalid` for `at.<axis>`, which would be taken for statistics of the slice."""
    asked = [name.removeprefix(PARAMETER) for name in request.args if name.startswith(PARAMETER)]
    if asked:
        raise Invalid(
            [
                Fault(
                    pointer_to(axis),
                    f"does not cut this table, whose {statistic} are of whole grids: filter its rows by their columns,"
                    f" or ask for those of a slice by /grids/<grid>/statistics?part={statistic}&{PARAMETER}{axis}=…",
                )
                for axis in asked
            ]
        )


def _export_of(connection: Connection, statistic: str, selection: Selection, form: str) -> Export:
    """The statistic of the selected revisions in this form; `NotInstalled` where that needs what is not there."""
    columns = columns_of(statistic, selection.axes, selection.joined)
    mark = mark_of(form, _VERSION, [field.name for field in columns.fields])

    def pieces() -> Iterable[bytes]:
        read = exported_statistics(connection, selection, noise=statistic == "peaks")
        return WRITERS[form](columns.fields, (one for row in read for one in rows_of(row, columns)))

    return Export(form, f"{statistic}-{selection.digest}-{mark}.{form}", selection.cells, pieces, at_once=True)
