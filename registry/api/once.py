"""Writes that may be repeated: with an Idempotency-Key the first answer is the answer."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Any

from flask import Response, request
from sqlalchemy import Connection

from registry.api.context import parts
from registry.errors import Fault, Invalid
from registry.operations.remember import Answer, recall, remember

_KEPT_HEADERS = ("Content-Type", "Location", "ETag")
_LONGEST = 255


def written(
    project_of: Callable[[Connection], Any], write: Callable[[Connection, Any], Response], *, rehearse: bool = False
) -> Response:
    """Run `write` in one transaction, in the project that `project_of` lets the caller into.

    With an `Idempotency-Key` the response is stored in the same transaction and replayed to every repetition.
    Afterwards the workers are woken. A rehearsal stores nothing.
    """
    with parts().database.transaction(rehearse=rehearse) as connection:
        row = project_of(connection)
        response = (
            _once(connection, row, write)
            if "Idempotency-Key" in request.headers and not rehearse
            else write(connection, row)
        )
    if not rehearse:
        parts().doorbell.ring()
    return response


def _once(connection: Connection, row: Any, write: Callable[[Connection, Any], Response]) -> Response:
    key = request.headers["Idempotency-Key"]
    if not 1 <= len(key) <= _LONGEST or not key.isprintable():
        raise Invalid([Fault("", f"an Idempotency-Key has 1 to {_LONGEST} printable characters")])
    asked = f"{request.method} {request.full_path}\n{request.headers.get('If-Match')}\n{request.mimetype}\n"
    digest = sha256(asked.encode() + request.get_data()).digest()
    stored = recall(connection, row.project_id, key, digest)
    if stored is not None:
        return Response(stored.body, stored.status, {**stored.headers, "Idempotent-Replayed": "true"})
    response = write(connection, row)
    headers = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
    remember(connection, row.project_id, key, digest, Answer(response.status_code, headers, response.get_data()))
    return response
