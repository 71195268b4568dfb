"""Streams of events (server-sent events): each has a thread of the server while it is open, and no connection.

A stream ends within a minute, at once when the process is to end, and soon when its token is revoked or its client has
gone; the client resumes with the last `id` that it has. Each `id` is a cursor.
"""

import random
import select
import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from flask import Response, g, request
from sqlalchemy import Connection

from registry.api.context import parts
from registry.api.event_watch import EventWatch, Listener, told_of
from registry.api.metrics import STREAMS
from registry.api.responses import MEDIA
from registry.errors import RegistryError, Unavailable
from registry.operations.auth import Caller
from registry.operations.events import Wanted, check_kept, head_of, lasting, read_events, write_cursor
from registry.operations.shares import find_share
from registry.storage.database import Database

LONGEST, JITTER = 55.0, 5.0
"""Seconds after which a stream ends at most, and how much earlier it may: not all resume at the same moment."""
HEARTBEAT = 5.0
"""Seconds without a word after which a comment is sent: nginx closes a silent connection after forty."""
_RETRY = 3_000
"""Milliseconds after which a client resumes, up to half more."""
_AT_ONCE = 100
"""Events that are sent in one piece: what a client does not read waits in memory."""


@dataclass(frozen=True, slots=True)
class Permit:
    """What lets a caller listen: the id of a token, a share or a public project (None: until the stream ends), and who
    counts as one for the number of streams."""

    id: uuid.UUID | None
    holder: str

    @classmethod
    def of(cls, connection: Connection, who: Caller, project: Any) -> "Permit":
        if who.token_id is not None:
            return cls(who.token_id, str(who.token_id))
        if who.user_id is not None:
            return cls(None, str(who.user_id))
        if who.is_anyone:
            return cls(project.project_id, parts().policy.address())
        share: uuid.UUID = find_share(connection, g.share).id
        return cls(share, str(share))


def is_stream(environ: Mapping[str, Any]) -> bool:
    """Whether a request asks for a stream: servers give it a thread that is not one of those of other requests."""
    path = environ.get("PATH_INFO", "")  # a page has this path too, without what comes before
    of_feed = path.endswith("/events") and path.startswith(("/api/", "/data/"))
    return of_feed and asks_for_stream(environ.get("HTTP_ACCEPT", ""))


def asks_for_stream(accept: str) -> bool:
    return MEDIA["sse"].partition(";")[0] in accept


def open_stream(project_id: uuid.UUID, after: int | None, wanted: Wanted, permit: Permit) -> Response:
    """The stream of a project's events behind a position, from the head if there is none.

    `Unavailable` when too many are open, `CursorExpired` when what follows is not kept.
    """
    with parts().database.reading() as connection:
        head = head_of(connection, project_id)
    position = head.position if after is None else after
    check_kept(project_id, position, head)
    if request.method == "HEAD":
        return _response(())
    watch, places = parts().watch, parts().streams
    if not places.take(permit.holder):
        raise Unavailable("Too many streams of events are open; ask for pages, or again later.", random.randint(3, 9))  # noqa: S311
    listener = watch.enter(project_id, head.position, permit.id, _hung_up(request.environ))
    STREAMS.inc()

    def close() -> None:
        watch.leave(project_id, listener)
        places.give_back(permit.holder)
        STREAMS.dec()

    response = _response(_Stream(parts().database, watch, listener, project_id, wanted).pieces(position))
    response.call_on_close(close)
    return response


def _response(pieces: Any) -> Response:
    response = Response(pieces, content_type=MEDIA["sse"])
    response.headers["Cache-Control"] = "no-store"
    # nginx would collect it; a client would wait for a page that never fills.
    response.headers["X-Accel-Buffering"] = "no"
    response.headers["Vary"] = "Accept, Authorization"
    return response


@dataclass(frozen=True, slots=True)
class _Stream:
    database: Database
    watch: EventWatch
    listener: Listener
    project_id: uuid.UUID
    wanted: Wanted

    def pieces(self, position: int) -> Iterator[bytes]:
        """The bytes of the stream, a few events or a heartbeat at a time."""
        until = time.monotonic() + LONGEST - random.uniform(0, JITTER)  # noqa: S311
        yield f"retry: {_RETRY + random.randrange(_RETRY // 2)}\n".encode() + self._mark(position)  # noqa: S311
        marked, silent_since = position, time.monotonic()
        while not self.listener.is_over and (now := time.monotonic()) < until:
            try:
                lines, position = self._next(position)
            except RegistryError:
                return  # Who resumes is told what it is.
            quiet = silent_since + HEARTBEAT - now
            if lines:
                yield b"".join(lines)
            elif quiet <= 0:
                yield self._mark(position) if position > marked else b":\n\n"
            else:
                self.listener.wait(position, min(quiet, until - now))
                continue
            marked, silent_since = position, time.monotonic()
        if position > marked:
            yield self._mark(position)

    def _mark(self, position: int) -> bytes:
        """A message without data: clients remember its id and do nothing else."""
        return f"id: {write_cursor(self.project_id, position)}\n\n".encode()

    def _next(self, after: int) -> tuple[list[bytes], int]:
        told = self.listener.told_after(after, _AT_ONCE)
        if told is not None:
            lines = [one.line for one in told if self.wanted.holds(one.type, one.data)]
            return lines, told[-1].position if told else after
        with self.watch.catching_up, self.database.snapshot() as connection:
            stretch = read_events(connection, self.project_id, after, _AT_ONCE, self.wanted)
            permit = self.listener.permit
            if permit is not None and permit not in lasting(connection, [permit]):
                self.listener.ended = True
                return [], after
        check_kept(self.project_id, after, stretch.head)
        return [told_of(row).line for row in stretch.events], stretch.next


def _hung_up(environ: Mapping[str, Any]) -> Callable[[], bool]:
    """Function that tells whether the client has closed its connection, as far as the server lets one know."""
    line = environ.get("gunicorn.socket")
    if line is None:
        return lambda: False
    closed = getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR

    def look() -> bool:
        poll = select.poll()
        try:
            poll.register(line, closed)
            return bool(poll.poll(0))
        except (OSError, ValueError):
            return True

    return look
