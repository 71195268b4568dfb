"""One statistic of every grid of a project as one tidy table: trends, peaks, coverage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import Any

import orjson
from flask import Response, request
from sqlalchemy import Connection

from registry.api.context import enter, parts
from registry.api.exports import Export, send_export
from registry.api.feeds import FORMS
from registry.api.responses import wanted_form
from registry.api.schemas import StatisticsTableParameters
from registry.api.selections import filters_of
from registry.api.smorest import Blueprint
from registry.errors import Fault, Invalid
from registry.grids.slices import PARAMETER, pointer_to
from registry.operations.export import Selection, exported_statistics, select_statistics
from registry.operations.names import joined_names
from registry.operations.query_names import check_filters
from registry.renderings.feed_arrow import arrow_of_rows, arrow_version, parquet_of_rows
from registry.renderings.grid import Row, csv_of_rows, json_of_rows, ndjson_of_rows
from registry.renderings.statistics import MEASURED
from registry.renderings.statistics_feed import columns_of, rows_of

blp = Blueprint("statistics_feeds", "A statistic of every grid, tidy.")

_VERSION = "2"
"""Grows when the same statistics are written differently."""
_WRITERS: dict[str, Callable[[Any, Iterable[Row]], Iterator[bytes]]] = {
    "csv": csv_of_rows,
    "ndjson": ndjson_of_rows,
    "json": json_of_rows,
    "parquet": parquet_of_rows,
    "arrow": arrow_of_rows,
}


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
        return send_export(_export_of(connection, statistic, selection, form, query.get("lost")))


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


def _export_of(connection: Connection, statistic: str, selection: Selection, form: str, lost: float | None) -> Export:
    """The statistic of the selected revisions in this form; `NotInstalled` where that needs what is not there."""
    columns = columns_of(statistic, selection.axes, selection.joined, lost)
    told: list[Any] = [_VERSION, form, [field.name for field in columns.fields]]
    if lost is not None:
        told.append(lost)
    if form in ("parquet", "arrow"):
        told.append(arrow_version())
    mark = sha256(orjson.dumps(told)).hexdigest()[:8]

    def pieces() -> Iterable[bytes]:
        read = exported_statistics(connection, selection, noise=statistic == "peaks")
        return _WRITERS[form](columns.fields, (one for row in read for one in rows_of(row, columns)))

    return Export(form, f"{statistic}-{selection.digest}-{mark}.{form}", selection.cells, pieces, at_once=True)
