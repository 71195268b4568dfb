"""Writes that may be repeated: with an Idempotency-Key the first answer is the answer."""

import gzip
import re
from collections.abc import Callable
from functools import wraps
from hashlib import sha256
from typing import Any

from flask import Response, request
from sqlalchemy import Connection

from registry.api.context import caller, enter, owned, owned_claim, owned_delivery, parts
from registry.api.request_body import sent_bytes
from registry.errors import InvalidHeader
from registry.operations.auth import Role, authorize, authorize_operator
from registry.operations.idempotency import StoredResponse, find_records, find_response, lock_key, store_response

_STORED_HEADERS = ("Content-Type", "Location", "ETag")
_KEY = re.compile(r"[!-~]{1,255}")
Write = Callable[[Connection, Any], Response]
View = Callable[..., Response]
Kept = Callable[[Response], Response]
"""Function from a response to the one that is stored for repetitions, where they differ."""


def written(
    project_of: Callable[[Connection], Any],
    write: Write,
    *,
    needs: Role = "writer",
    rehearse: bool = False,
    kept: Kept | None = None,
) -> Response:
    """Run `write` in one transaction, in the project that `project_of` lets the caller into in the role `needs`.

    With an `Idempotency-Key` the response is stored in the same transaction and replayed to every repetition, also
    when what it was about is gone since. Afterwards the workers are woken. A rehearsal stores nothing.
    """
    key = None if rehearse else idempotency_key()
    with parts().database.transaction(rehearse=rehearse) as connection:
        stored = None if key is None else find_replay(connection, key, needs)
        if stored is not None:
            return _replayed(stored)
        row = project_of(connection)
        response = write(connection, row) if key is None else _once(connection, row, key, write, kept)
    if not rehearse:
        parts().notifier.notify()
    return response


def idempotent_write(needs: Role = "writer", *, kept: Kept | None = None) -> Callable[[View], View]:
    """Decorate a view that writes: it is given the connection and the row of the project or grid in its path first.

    The transaction, the caller's right in the role `needs`, the `Idempotency-Key` and the wake-up of the workers are as
    `written` has them.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def run(*sent: Any, **path: Any) -> Response:
            def home(connection: Connection) -> Any:
                if "grid" in path:
                    return owned(connection, path["grid"], needs)
                if "claim" in path:
                    return owned_claim(connection, path["claim"], needs)
                if "delivery" in path:
                    return owned_delivery(connection, path["delivery"], needs)
                return enter(connection, path["project"], needs)

            def write(connection: Connection, row: Any) -> Response:
                return view(connection, row, *sent, **path)

            return written(home, write, needs=needs, kept=kept)

        return run

    return decorate


def made(slug: str, make: Callable[[Connection], tuple[Any, Response]]) -> Response:
    """Make a project of this name in one transaction, once for an `Idempotency-Key`: its row, and the answer."""
    key = idempotency_key()
    with parts().database.transaction() as connection:
        authorize_operator(caller(connection))
        if key is not None:
            lock_key(connection, slug, key)
        for one in [] if key is None else find_records(connection, key, slug=slug):
            if one.request_digest == _digest():
                return _replayed(one.response)
        row, response = make(connection)
        if key is not None:
            store_response(connection, row.id, key, _digest(), _stored(response))
    return response


def find_replay(connection: Connection, key: str, needs: Role) -> StoredResponse | None:
    """The answer to this very request under this key, if the caller has the role in the project that it was given in.

    It is looked for before the project or the grid itself: the request may have deleted it.
    """
    arguments = request.view_args or {}
    places = {"slug": "project", "grid_id": "grid", "claim_id": "claim", "delivery_id": "delivery"}
    for one in find_records(connection, key, **{name: arguments.get(place) for name, place in places.items()}):
        if one.request_digest == _digest():
            authorize(caller(connection), one.project, needs)
            return one.response
    return None


def idempotency_key() -> str | None:
    """The request's Idempotency-Key; `InvalidHeader` when it has another form than it may."""
    key = request.headers.get("Idempotency-Key")
    if key is not None and _KEY.fullmatch(key) is None:
        raise InvalidHeader("the header Idempotency-Key has 1 to 255 visible ASCII characters")
    return key


def _once(connection: Connection, row: Any, key: str, write: Write, kept: Kept | None) -> Response:
    stored = find_response(connection, row.project_id, key, _digest())
    if stored is not None:
        return _replayed(stored)
    response = write(connection, row)
    store_response(connection, row.project_id, key, _digest(), _stored(kept(response) if kept else response))
    return response


def _digest() -> bytes:
    """Digest that tells this request from any other."""
    conditions = [request.headers.get(name) for name in ("If-Match", "If-None-Match")]
    asked = f"{request.method} {request.full_path}\n{conditions}\n{request.mimetype}\n".encode()
    return sha256(asked + sent_bytes()).digest()


def _stored(response: Response) -> StoredResponse:
    headers = {name: response.headers[name] for name in _STORED_HEADERS if name in response.headers}
    return StoredResponse(response.status_code, headers, _plain(response))


def _replayed(stored: StoredResponse) -> Response:
    return Response(stored.body, stored.status, {**stored.headers, "Idempotent-Replayed": "true"})


def _plain(response: Response) -> bytes:
    """The body as it is without compression: who asks again may take another coding than who asked first."""
    compressed = response.headers.get("Content-Encoding") == "gzip"
    return gzip.decompress(response.get_data()) if compressed else response.get_data()
