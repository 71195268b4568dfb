"""Routes of feeds: tidy cells of one grid or of all that pass filters, whole grids, and one statistic of every grid."""

import uuid
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any

import orjson
from flask import Response, request, stream_with_context
from sqlalchemy import Connection

from registry.api import examples, serializers
from registry.api.context import grid_row, parts, project_for
from registry.api.exports import Export, send_export, send_stream
from registry.api.responses import MEDIA, dumps, wanted_form
from registry.api.schemas import CellsParameters, FeedParameters, StatisticsTableParameters, WholeGridsParameters
from registry.api.selections import filters_of, slice_of_request
from registry.api.smorest import Blueprint, reply
from registry.errors import Fault, Invalid
from registry.grids.slices import PARAMETER, Slice, pointer_to, read_slice, slice_document
from registry.operations.events import head_of, write_cursor
from registry.operations.export import (
    Selection,
    exported,
    exported_grids,
    exported_statistics,
    grids_of,
    select_cells,
    select_revision,
    select_statistics,
)
from registry.operations.find_grids import Filters
from registry.operations.names import joined_names
from registry.operations.query_names import check_filters, check_slice_of_grid, check_slice_of_grids
from registry.operations.stored_grids import StoredGrid, stored_grid
from registry.renderings import statistics_feed
from registry.renderings.cells_feed import cells_of_grid, columns_of, rows_of
from registry.renderings.rows import WRITERS, arrow_version, json_of_objects
from registry.renderings.statistics_columns import MEASURED

blp = Blueprint("feeds", "Cells as one tidy table, for other programs.")

FORMS = tuple(WRITERS)
_VERSION = "5"
"""Grows when the same cells are written differently."""


@blp.in_forms(
    "/projects/<project>/cells",
    "getProjectCells",
    FORMS,
    FeedParameters,
    "The cells: grid, revision, experiment, benchmark, model, variant, metric, unit, a text and a number "
    "(`<axis>_num`) for each axis, value, trials, stderr, ci_low, ci_high, updated_at, protocol",
    "Feed",
    parameters=["labels", "slice", "Range", "If-Range"],
)
def read_feed(query: dict[str, Any], project: str, suffix: str | None = None) -> Response:
    """Read all cells of a project

    One table of every grid that passes the filters, the oldest grid first; never paged. The columns are the same for
    all rows of a query, and the same with and without `updated_since`: an axis that a grid does not have is empty.
    Confidence intervals are at 95 %: 1.96 standard errors where those are known, else Wilson's where trials are.

    Names are those that rankings use: an alias counts as the name that it stands for. `experiment_as_sent` and the like
    have the names that were posted. `names=sent` gives the posted names alone.

    `protocol`, the last column, is how the grid was measured: JSON text with sorted keys, the same for the same
    protocol, and null (empty in CSV) where nothing is said. Cells that are cut to a slice have one more, `slice`, which
    says to what: such a table is a part, and is not taken as a grid.

    An axis that is called like another column is `axis_<name>`. In CSV, here and everywhere else, text that begins
    with `=`, `+`, `-`, `@`, a tab or a carriage return has an apostrophe before it, so that no spreadsheet runs it; the
    other forms have the text as it is.
    """
    filters, wanted = filters_of(query, FeedParameters, also=("at.",)), read_slice(request.args.lists())
    form = wanted_form(suffix, FORMS)
    row = project_for(project, "reader")
    with parts().database.snapshot() as connection:
        check_filters(connection, row.id, filters)
        joined = joined_names(connection, row.id) if query["names"] == "joined" else None
        selection = select_cells(connection, row.id, filters, joined)
        if wanted and selection.keys:
            check_slice_of_grids(connection, grids_of(connection, row.id, filters), wanted)
    explicit = query["missing"] == "explicit"
    return send_export(export_of(selection, form, f"feed-{selection.digest}", explicit, wanted=wanted))


def export_of(
    selection: Selection,
    form: str,
    tag: str,
    explicit: bool,
    head: dict[str, Any] | None = None,
    wanted: Slice = (),
) -> Export:
    """The selected revisions, cut to a slice, as an export in this form; `NotInstalled` where that needs what is not
    there."""
    of_one = head is not None and form == "json"
    columns = columns_of(selection.axes, selection.joined, wanted, of_one=of_one)
    mark = mark_of(form, _VERSION, explicit, columns.header, head, wanted)
    reading = parts().database.reading

    def pieces() -> Iterable[bytes]:
        read = (row for piece in exported(reading, selection) for row in piece)
        rows = (one for row in read for one in rows_of(row, columns, explicit=explicit))
        return json_of_objects(cells_of_grid(columns, rows), head) if of_one else WRITERS[form](columns.fields, rows)

    return Export(form, f"{tag}-{mark}.{form}", selection.cells, pieces)


def mark_of(form: str, *told: Any) -> str:
    """What tells the bytes of one way to write an export from those of others; `NotInstalled` where the form needs what
    is not there."""
    version = arrow_version() if form in ("parquet", "arrow") else ""
    return sha256(orjson.dumps([form, version, *told], default=str)).hexdigest()[:8]


cells_blp = Blueprint("cells", "The measured cells of a grid, one row each.")


@cells_blp.in_forms(
    "/grids/<uuid:grid>/cells",
    "getCells",
    FORMS,
    CellsParameters,
    "The measured cells",
    "Cells",
    errors=[413],
    parameters=["slice", "Range", "If-Range"],
)
def read_cells(query: dict[str, Any], grid: uuid.UUID, suffix: str | None = None) -> Response:
    """Read a grid's cells

    Unmeasured cells are absent. CSV, NDJSON, Parquet and Arrow have the columns of the project's feed with
    `names=sent`: a grid's own path has its names as they were posted. So do the objects of the JSON, and besides them
    each cell's coordinate as `at`. Tables for people are forms of the grid.
    """
    wanted = slice_of_request(query, CellsParameters)
    with parts().database.reading() as connection:
        stored = stored_grid(grid_row(connection, grid, "reader", query.get("revision")))
        if wanted:
            check_slice_of_grid(connection, grid, stored.revision, wanted)
    form, tag = wanted_form(suffix, FORMS), f"{stored.revision_tag}-{stored.updated_at:%Y%m%d%H%M%S%f}-cells"
    axes = tuple(axis.name for axis in stored.grid.axes)
    selection = select_revision(stored.id, stored.revision, len(stored.grid.values), axes)
    head = {"grid": str(stored.id), "revision": stored.revision, "digest": stored.digest}
    head |= {"slice": slice_document(wanted)} if wanted else {}
    return send_export(export_of(selection, form, tag, query["missing"] == "explicit", head, wanted))


CURSOR, POSITION = "Registry-Events-Cursor", "Registry-Events-Position"
_PIECE = 64 * 1024
_ANSWER = reply(200, "A grid a line", headers=[CURSOR, POSITION])
_ANSWER["response"]["content"] = {
    MEDIA["ndjson"]: {"schema": {"type": "string"}, "example": examples.answer("whole_grids", "ndjson")}
}


@blp.get("/projects/<project>/grids.ndjson", operation="exportGrids")
@blp.arguments(WholeGridsParameters, location="query")
@blp.answers(_ANSWER, public=True)
def export_grids(query: dict[str, Any], project: str) -> Response:
    """Read all grids of a project with their cells

    The oldest grid first, never paged. A line is what `getGrid` answers, and can be sent to `publishGrids`. The grids
    are at least as new as the events up to `Registry-Events-Cursor`.
    """
    row = project_for(project, "reader")
    with parts().database.snapshot() as connection:
        head = head_of(connection, row.id).position
        selection = select_cells(connection, row.id, Filters(ids=query["grid"]))
    response = send_stream(
        "ndjson", stream_with_context(_lines(exported_grids(parts().database.reading, selection))), selection.cells
    )
    response.headers[CURSOR], response.headers[POSITION] = write_cursor(row.id, head), str(head)
    return response


def _lines(found: Iterable[StoredGrid]) -> Iterator[bytes]:
    """The lines, so many at once as are worth sending: a grid may have a million cells."""
    piece = bytearray()
    for one in found:
        piece += dumps(serializers.grid(one)) + b"\n"
        if len(piece) >= _PIECE:
            yield bytes(piece)
            piece.clear()
    yield bytes(piece)


statistics_blp = Blueprint("statistics_feeds", "A statistic of every grid, tidy.")

_OF_STATISTICS = "3"
"""Grows when the same statistics are written differently."""


@statistics_blp.in_forms(
    "/projects/<project>/statistics",
    "getProjectStatistics",
    FORMS,
    StatisticsTableParameters,
    "The rows",
    {"anyOf": [{"$ref": f"#/components/schemas/{part.capitalize()}Feed"} for part in MEASURED]},
    example="trends_feed",
    parameters=["labels", "Range", "If-Range"],
)
def read_statistics(query: dict[str, Any], project: str, suffix: str | None = None) -> Response:
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
    row = project_for(project, "reader")
    with parts().database.snapshot() as connection:
        check_filters(connection, row.id, filters)
        joined = joined_names(connection, row.id) if query["names"] == "joined" else None
        selection = select_statistics(connection, row.id, filters, joined)
        return send_export(_statistics_of(connection, statistic, selection, form))


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


def _statistics_of(connection: Connection, statistic: str, selection: Selection, form: str) -> Export:
    """The statistic of the selected revisions in this form; `NotInstalled` where that needs what is not there."""
    columns = statistics_feed.columns_of(statistic, selection.axes, selection.joined)
    mark = mark_of(form, _OF_STATISTICS, [field.name for field in columns.fields])

    def pieces() -> Iterable[bytes]:
        read = exported_statistics(connection, selection, noise=statistic == "peaks")
        return WRITERS[form](columns.fields, (one for row in read for one in statistics_feed.rows_of(row, columns)))

    return Export(form, f"{statistic}-{selection.digest}-{mark}.{form}", selection.cells, pieces, at_once=True)
