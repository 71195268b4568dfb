"""Keyset pages: a cursor is the sort key of the last item, not a place in a list that moves."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Sequence
from hashlib import sha256
from typing import Any
from urllib.parse import urlencode

import orjson
from flask import Response, request

from registry.api.answers import json_answer
from registry.errors import Fault, Invalid


def write_cursor(*key: str) -> str:
    return base64.urlsafe_b64encode(orjson.dumps([_kind(), *key])).decode().rstrip("=")


def read_cursor(cursor: str | None, parts: int) -> list[str] | None:
    """The key in a cursor of this list, None for the first page; `Invalid` for anything else."""
    if cursor is None:
        return None
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        kind, *key = orjson.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        if hmac.compare_digest(kind, _kind()) and len(key) == parts and all(isinstance(part, str) for part in key):
            return [str(part) for part in key]
    except (binascii.Error, ValueError, TypeError):
        pass
    raise Invalid([Fault("/cursor", "is not a cursor of this list with this order")])


def _kind() -> str:
    """What a cursor belongs to: the path and the order."""
    return sha256(f"{request.path}?{request.args.get('sort', '')}".encode()).hexdigest()[:8]


def page(items: Sequence[Any], cursor: str | None) -> Response:
    """`{"items", "next"}` with the `Link` to the next page."""
    response = json_answer({"items": items, "next": cursor})
    if cursor is not None:
        query = [(name, value) for name, value in request.args.items(multi=True) if name != "cursor"]
        response.headers["Link"] = f'<{request.path}?{urlencode([*query, ("cursor", cursor)])}>; rel="next"'
    return response
