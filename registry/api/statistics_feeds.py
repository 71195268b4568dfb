"""One statistic of every grid of a project as one tidy table: trends, peaks, coverage."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from typing import Any

import orjson
from flask import Response, request
from marshmallow import INCLUDE
from sqlalchemy import Connection

from registry.api import examples
from registry.api.context import enter, parts
from registry.api.exports import Export, send_export
from registry.api.feeds import FORMS
from registry.api.filters import filters_of
from registry.api.responses import MEDIA, wanted_form
from registry.api.schemas import TableParameters, TrendTableParameters
from registry.api.smorest import API_PREFIX, Blueprint, reply
from registry.errors import Fault, Invalid
from registry.grids.slices import PARAMETER, pointer_to
from registry.operations.aliases import joined_names
from registry.operations.export import Selection
from registry.operations.export_statistics import exported_statistics, select_statistics
from registry.operations.query_names import check_filters
from registry.renderings.feed_arrow import arrow_of_rows, arrow_version, parquet_of_rows
from registry.renderings.rows import Row, csv_of_rows, json_of_rows, ndjson_of_rows
from registry.renderings.statistics_feed import columns_of, rows_of

blp = Blueprint("statistics_feeds", __name__, url_prefix=API_PREFIX, description="A statistic of every grid, tidy.")

SERVED = (
    (
        "trends",
        "Trends",
        "Read all trends of a project",
        "A row a series: its slope, its fitted change and its direction, with their uncertainty. The coordinate of a"
        " series is empty on the axis that it runs along.",
    ),
    (
        "peaks",
        "Peaks",
        "Read the best cells of all grids of a project",
        "A row a best cell, so several for a grid whose best cells tie. How sure it is: `best_set_size` says among how"
        " many cells the best one is with the confidence `best_set_level`.",
    ),
    (
        "coverage",
        "Coverage",
        "Read the coverage of all grids of a project",
        "A row a grid: how many of its declared cells were measured.",
    ),
)
"""Statistic, the word in operations, summary and description of each feed."""
_MORE = (
    "Of the current revision of every grid that passes the filters, the oldest first; never paged. A grid that is"
    " pending or failed, or has nothing of this, has one row with its `state` and `reason`, and empty numbers. Filters,"
    " columns of axes, names and ranges are those of `getProjectCells`. `at.<axis>` is refused: what is best or the"
    " slope in a slice only the grid's own path computes."
)
_LIKE_TRENDS = "All else is as with `getProjectTrends`."
_VERSION = "2"
"""Grows when the same statistics are written differently."""
_WRITERS: dict[str, Callable[[Any, Iterable[Row]], Iterator[bytes]]] = {
    "csv": csv_of_rows,
    "ndjson": ndjson_of_rows,
    "json": json_of_rows,
    "parquet": parquet_of_rows,
    "arrow": arrow_of_rows,
}


def _serve(statistic: str, word: str, summary: str, about: str) -> None:
    """Add the feed of a statistic, and its path with a suffix."""
    described = blp.answers(
        reply(
            200,
            "The rows",
            f"{word}Feed",
            example=examples.feed_of(statistic),
            forms=dict.fromkeys(("csv", "ndjson")),
            media=[MEDIA["parquet"], MEDIA["arrow"]],
            headers=["ETag", "Accept-Ranges"],
        ),
        reply(206, "The range of it that was asked for", headers=["ETag", "Content-Range"]),
        reply(304, "Not modified"),
        errors=[416, 501],
        public=True,
        parameters=["labels", "If-None-Match", "Range", "If-Range"],
    )

    def read(query: dict[str, Any], project: str) -> Response:
        return _feed(statistic, query, project, None)

    def read_as(query: dict[str, Any], project: str, suffix: str) -> Response:
        return _feed(statistic, query, project, suffix)

    read.__doc__ = f"{summary}\n\n{about} {_MORE if statistic == 'trends' else _LIKE_TRENDS}"
    read_as.__doc__ = f"{summary} in the form that the suffix names"
    suffixed = f"{statistic}.<any({','.join(FORMS)}):suffix>"
    for view, path, operation in ((read, statistic, f"getProject{word}"), (read_as, suffixed, f"getProject{word}As")):
        taken = blp.doc(operationId=operation)(
            blp.arguments(_schema_of(statistic), location="query", unknown=INCLUDE)(described(view))
        )
        blp.get(f"/projects/<project>/{path}", endpoint=f"{view.__name__}_{statistic}")(taken)


def _schema_of(statistic: str) -> type[TableParameters]:
    return TrendTableParameters if statistic == "trends" else TableParameters


for served in SERVED:
    _serve(*served)


def _feed(statistic: str, query: dict[str, Any], project: str, suffix: str | None) -> Response:
    _refuse_slices(statistic)
    filters, form = filters_of(query, _schema_of(statistic)), wanted_form(suffix, FORMS)
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
                    f" or ask for those of a slice by /grids/<grid>/{statistic}?{PARAMETER}{axis}=…",
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
