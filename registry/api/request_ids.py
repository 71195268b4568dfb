"""The id of a request: its caller's, where that is one, else a new one; and the trace that it belongs to."""

from __future__ import annotations

import re
import uuid

from flask import request

_UUID = re.compile(r"[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
_TRACEPARENT = re.compile(r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}", re.ASCII)


def sent_id() -> str:
    """The UUID in `X-Request-Id`, with or without dashes; a new one where there is none or something else."""
    sent = request.headers.get("X-Request-Id", "")
    return str(uuid.UUID(sent) if _UUID.fullmatch(sent) else uuid.uuid4())


def trace_id() -> str | None:
    """The trace in `traceparent` (W3C Trace Context); None where there is none."""
    found = _TRACEPARENT.fullmatch(request.headers.get("traceparent", ""))
    return None if found is None else found[1]
