"""Writes that may be repeated: with an Idempotency-Key the first answer is the answer."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from flask import Response, request
from sqlalchemy import Connection

from registry.api.context import parts
from registry.errors import Fault, Invalid
from registry.operations.remember import Answer, recall, remember

_KEPT_HEADERS = ("Content-Type", "Location", "ETag")
_KEY = re.compile(r"[!-~]{1,255}")


def written(
    project_of: Callable[[Connection], Any], write: Callable[[Connection, Any], Response], *, rehearse: bool = False
) -> Response:
    """Run `write` in one transaction, in the project that `project_of` lets the caller into.

    With an `Idempotency-Key` the response is stored in the same transaction and replayed to every repetition.
    Afterwards the workers are woken. A rehearsal stores nothing.
    """
    key = idempotency_key()
    with parts().database.transaction(rehearse=rehearse) as connection:
        row = project_of(connection)
        response = write(connection, row) if key is None or rehearse else _once(connection, row, key, write)
    if not rehearse:
        parts().doorbell.ring()
    return response


def idempotency_key() -> str | None:
    """The request's Idempotency-Key; `Invalid` when it has another form than it may."""
    key = request.headers.get("Idempotency-Key")
    if key is not None and _KEY.fullmatch(key) is None:
        raise Invalid([Fault("", "an Idempotency-Key has 1 to 255 visible ASCII characters")])
    return key


def _once(connection: Connection, row: Any, key: str, write: Callable[[Connection, Any], Response]) -> Response:
    conditions = [request.headers.get(name) for name in ("If-Match", "If-None-Match")]
    asked = f"{request.method} {request.full_path}\n{conditions}\n{request.mimetype}\n"
    digest = sha256(asked.encode() + request.get_data()).digest()
    stored = recall(connection, row.project_id, key, digest)
    if stored is not None:
        return Response(stored.body, stored.status, {**stored.headers, "Idempotent-Replayed": "true"})
    response = write(connection, row)
    headers = {name: response.headers[name] for name in _KEPT_HEADERS if name in response.headers}
    remember(connection, row.project_id, key, digest, Answer(response.status_code, headers, _plain(response)))
    return response


def _plain(response: Response) -> bytes:
    """The body as it is without compression: who asks again may take another coding than who asked first."""
    compressed = response.headers.get("Content-Encoding") == "gzip"
    return gzip.decompress(response.get_data()) if compressed else response.get_data()
