"""The grids of a project with their cells, a line each: for mirrors and backups of what was published."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from flask import Response, stream_with_context

from registry.api import examples, serializers
from registry.api.context import enter, parts
from registry.api.exports import send_stream
from registry.api.feeds import blp
from registry.api.responses import MEDIA, dumps
from registry.api.schemas import WholeGridsParameters
from registry.api.smorest import reply
from registry.operations.events import head_of, write_cursor
from registry.operations.export import exported_grids, select_cells
from registry.operations.find import Filters
from registry.operations.stored_grids import StoredGrid

CURSOR, POSITION = "Registry-Events-Cursor", "Registry-Events-Position"
_PIECE = 64 * 1024


_ANSWER = reply(200, "A grid a line", headers=[CURSOR, POSITION])
_ANSWER["response"]["content"] = {
    MEDIA["ndjson"]: {"schema": {"type": "string"}, "example": examples.WHOLE_GRIDS["ndjson"]}
}


@blp.get("/projects/<project>/grids.ndjson")
@blp.doc(operationId="exportGrids")
@blp.arguments(WholeGridsParameters, location="query")
@blp.answers(
    _ANSWER,
    public=True,
)
def export_grids(query: dict[str, Any], project: str) -> Response:
    """Read all grids of a project with their cells

    The oldest grid first, never paged. A line is what `getGrid` answers, and can be sent to `publishGrids`. The grids
    are at least as new as the events up to `Registry-Events-Cursor`.
    """
    with parts().database.reading() as connection:
        row = enter(connection, project, "reader")
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
