"""Keyset pages: a cursor is the key of the last item, not a place in a list that moves.

Each list has cursors of its own form, which its query schema checks: a slug, an id, a number, or (`write_key`) the
sort key of a grid with its id.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any, TypeVar

from flask import Response, request
from sqlalchemy import Connection

from registry.api.context import asked_query, enter, parts
from registry.api.responses import dumps, send
from registry.operations.auth import Role
from registry.operations.find_grids import Key
from registry.results.codec import to_document
from registry.results.terms import Warning

Row = TypeVar("Row")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = 2**57
"""Microseconds after 1970, in the year 6536: what a cursor may say at most."""
_MOST = 2**31 - 1
"""The largest number of a column of integers."""


def write_key(key: Key, item: uuid.UUID) -> str:
    """The cursor after an item: its sort key in hexadecimal, and its id."""
    if isinstance(key, datetime):
        return f"{write_instant(key)}~{item}"
    if isinstance(key, int):
        return f"{key:x}~{item}"
    return f"{write_text(key)}~{item}"


def read_key(cursor: str, sort: str) -> tuple[Key, uuid.UUID]:
    """The sort key and the id in a cursor of a list that is sorted so."""
    text, _, item = cursor.partition("~")
    if sort.endswith("_count"):
        return min(int(text, 16), _MOST), uuid.UUID(item)
    if sort.endswith("_at"):
        return read_instant(text), uuid.UUID(item)
    return read_text(text), uuid.UUID(item)


def write_instant(instant: datetime) -> str:
    """Microseconds since 1970 in hexadecimal."""
    return f"{(instant - _EPOCH) // timedelta(microseconds=1):x}"


def read_instant(text: str) -> datetime:
    """The instant in a cursor, which is cut to what PostgreSQL knows."""
    return _EPOCH + timedelta(microseconds=min(int(text, 16), _LATEST))


def write_text(text: str) -> str:
    """The cursor after a name: its UTF-8 in hexadecimal."""
    return text.encode().hex() or "00"


def read_text(cursor: str) -> str:
    """The name in a cursor."""
    even = cursor if len(cursor) % 2 == 0 else f"0{cursor}"
    return bytes.fromhex(even).decode(errors="replace").replace("\0", "")


def listed(
    project: str,
    query: Mapping[str, Any],
    read: Callable[[Connection, uuid.UUID, Any, int], Sequence[Any]],
    write: Callable[[Any], Any],
    *,
    role: Role = "reader",
    by: str = "id",
) -> Response:
    """The page of what `read` finds in a project, of which cursors have the column `by`; the caller needs the role."""
    after = query.get("cursor")
    if after is not None:
        after = uuid.UUID(after) if by == "id" else read_text(after)
    with parts().database.reading() as connection:
        rows = read(connection, enter(connection, project, role).id, after, query["limit"] + 1)
    return page(rows, query["limit"], write, lambda row: str(row.id) if by == "id" else write_text(getattr(row, by)))


def page(
    rows: Sequence[Row],
    limit: int,
    write: Callable[[Row], Any],
    cursor_after: Callable[[Row], str],
    warnings: Sequence[Warning] = (),
    more: Mapping[str, Any] | None = None,
) -> Response:
    """`{"items", "next"}` of the first `limit` rows, with the `Link` to the next page if there are more rows.

    `warnings` are there where there are any, and `more` fields of the list. The ETag is the hash of the body.
    """
    shown = rows[:limit]
    cursor = cursor_after(shown[-1]) if len(rows) > limit else None
    doubts = {"warnings": to_document(list(warnings))} if warnings else {}
    body = dumps({"items": [write(row) for row in shown], "next": cursor, **doubts, **(more or {})})
    response = send(body, tag=sha256(body).hexdigest()[:16])
    if cursor is not None:
        response.headers["Link"] = f'<{request.path}?{asked_query(cursor=cursor)}>; rel="next"'
    return response
