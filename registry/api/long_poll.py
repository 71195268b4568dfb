"""Wait in a request for what is pending, as `Prefer: wait` asks, or tell the caller when to come back."""

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import quote

from flask import Response, g, request

from registry.api.context import asked_query, parts
from registry.api.responses import json_answer, patience
from registry.errors import Failed, Pending

_FIRST_LOOK, _SLOWEST_LOOK = 0.01, 0.1
_COMPUTING = "This is still being computed. Ask again after Retry-After, or for JSON, which says how far it is."


def waited(
    look: Callable[[], Any], settled: Callable[[Any], bool], at_least: float = 0.0, most: float = math.inf
) -> Any:
    """Call `look` again and again for as long as the caller prefers to wait, or for `at_least` so many seconds, but
    for `most` at most, and it is not settled.

    A process that is to end has nobody wait.
    """
    row = look()
    seconds = min(most, max(at_least, preference()))
    if settled(row) or not seconds:
        return row
    with place_to_wait(seconds) as until:
        pause = _FIRST_LOOK
        while not settled(row) and time.monotonic() < until and not parts().stopping.is_set():
            parts().stopping.wait(min(pause, max(0.0, until - time.monotonic())))
            pause = min(2 * pause, _SLOWEST_LOOK)
            row = look()
    return row


@contextmanager
def place_to_wait(seconds: float) -> Iterator[float]:
    """The time until which the caller may wait: so many seconds from now, or now if too many are waiting."""
    if not parts().waiters.acquire(blocking=False):
        g.pop("preference", None)
        yield time.monotonic()
        return
    try:
        yield time.monotonic() + seconds
    finally:
        parts().waiters.release()


def preference() -> int:
    """Seconds that the caller prefers to wait; the answer says that this was taken into account."""
    seconds = patience(parts().settings.max_wait)
    if seconds:
        g.preference = f"wait={seconds}"
    return seconds or 0


def usual_wait(form: str) -> int:
    """Seconds that a caller waits who says nothing of it: as long as is allowed for a form that cannot say "pending",
    which readers of tables and pictures would take for an empty one."""
    most = parts().settings.max_wait
    return most if form != "json" and patience(most) is None else 0


def unready(
    row: Any, subject: dict[str, Any], form: str, *, pending: bool | None = None, progress: float | None = None
) -> Response:
    """The answer where there is no document: pending (202, and how much is done if that is known) or failed (200, with
    the reason). What is pending says where to ask again; a question that was sent by POST is sent again.

    JSON says so; in place of any other form it is an error, `Pending` or `Failed`.
    """
    waits = row.state != "failed" if pending is None else pending
    if form != "json":
        raise Pending(_COMPUTING) if waits else Failed(f"This could not be computed: {row.reason}")
    if not waits:
        return json_answer(subject | {"state": "failed", "reason": row.reason, "attempts": row.attempts})
    known = {} if progress is None else {"progress": progress}
    if request.method == "POST":
        return json_answer(
            subject | {"state": "pending", "derivation": {"state": "pending", **known}}, status=202, Retry_After="1"
        )
    href = asked_address()
    promised = subject | {"state": "pending", "derivation": {"state": "pending", "href": href, **known}}
    return json_answer(promised, status=202, Retry_After="1", Location=href)


def asked_address() -> str:
    """Address of the JSON form of this request: its path without a form's suffix, and its query."""
    form = (request.view_args or {}).get("suffix")
    path = quote(request.path.removesuffix(f".{form}") if form else request.path)
    query = asked_query()
    return f"{path}?{query}" if query else path


def note_preference(response: Response) -> Response:
    """Say which preference was taken into account (RFC 7240, 3)."""
    if "preference" in g:
        response.headers["Preference-Applied"] = g.preference
    return response
