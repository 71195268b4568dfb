"""Wait for events: one thread of a process asks the database on behalf of all who listen, and wakes them.

However many streams are open, the database gets one statement a look, and what was told is read and written once. It
is asked nothing while nobody listens: the thread ends, and starts with the next listener.
"""

import threading
import time
import uuid
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import orjson
import structlog

from registry.errors import RegistryError
from registry.operations.events import heads_of, lasting, read_events, write_cursor
from registry.results.codec import to_document
from registry.results.event_documents import event_of
from registry.storage.database import Database

log = structlog.get_logger()

LOOK_EVERY, LOOK_AT_LEAST = 0.2, 1.0
_FOR_EACH = 0.004
"""Seconds between two looks, and how many more for each listener: waking one takes a quarter of a millisecond of the
processor time that requests want too, and 200 of them five times a second took a quarter of it."""
CHECK_EVERY = 1.0
"""Seconds between two looks at whether listeners are still there and still allowed."""
READ_AT_ONCE, KEPT = 500, 2_000
"""Events of a project that one look reads, and that are kept for listeners; who is further behind asks the database."""
_WOKEN_AT_ONCE, _PAUSE = 4, 0.016
"""Listeners that are woken together, and seconds until the next ones are at most: requests take turns with them. Ten
of 200 every 4 ms made the p99 of publishing 1.5 times as long."""


class Told(NamedTuple):
    """An event as listeners take it: by what they choose, and the bytes that a stream sends."""

    position: int
    type: str
    data: Mapping[str, Any]
    line: bytes


def told_of(row: Any) -> Told:
    """An event from its row, as a message of server-sent events."""
    cursor = write_cursor(row.project_id, row.position)
    line = f"id: {cursor}\ndata: {orjson.dumps(to_document(event_of(row, cursor))).decode()}\n\n"
    return Told(int(row.position), row.type, row.data, line.encode())


class _Room:
    """Those who listen to one project, and what they were last told."""

    def __init__(self, position: int) -> None:
        self.changed = threading.Condition()
        self.position = position
        self.told: deque[Told] = deque(maxlen=KEPT)
        self.listeners: set[Listener] = set()


class Listener:
    """Somebody who listens to a project; `is_over` once nothing more is to be told."""

    def __init__(
        self, room: _Room, stopping: threading.Event, permit: uuid.UUID | None, gone: Callable[[], bool]
    ) -> None:
        self._room, self._stopping = room, stopping
        self.permit, self.gone, self.ended = permit, gone, False

    @property
    def is_over(self) -> bool:
        return self.ended or self._stopping.is_set()

    def wait(self, after: int, seconds: float) -> bool:
        """Wait until there are events behind a position; false when the seconds have passed before, or it is over."""
        until = time.monotonic() + seconds
        with self._room.changed:
            while self._room.position <= after and not self.is_over:
                left = until - time.monotonic()
                if left <= 0:
                    return False
                self._room.changed.wait(left)
        return not self.is_over

    def told_after(self, after: int, most: int) -> list[Told] | None:
        """The next events behind a position, none at the head; None if they are not kept here any more."""
        with self._room.changed:
            told = self._room.told
            if after == self._room.position:
                return []
            if not told or not told[0].position - 1 <= after < self._room.position:
                return None
            skipped = after + 1 - told[0].position
            return [told[place] for place in range(skipped, min(skipped + most, len(told)))]


class EventWatch:
    """All who listen in this process."""

    def __init__(self, database: Database, stopping: threading.Event) -> None:
        self._database, self._stopping = database, stopping
        self._lock = threading.Lock()
        self._rooms: dict[uuid.UUID, _Room] = {}
        self._thread: threading.Thread | None = None
        self.catching_up = threading.BoundedSemaphore(2)
        """Listeners that read what they missed themselves, so that requests find a connection too."""

    @contextmanager
    def listening(self, project_id: uuid.UUID, position: int) -> Iterator[Listener]:
        """Listen to a project whose latest event is at this position."""
        listener = self.enter(project_id, position)
        try:
            yield listener
        finally:
            self.leave(project_id, listener)

    def enter(
        self,
        project_id: uuid.UUID,
        position: int,
        permit: uuid.UUID | None = None,
        gone: Callable[[], bool] = lambda: False,
    ) -> Listener:
        """Like `listening`, until `leave`; it is over when the permit is, or the client is `gone`."""
        with self._lock:
            room = self._rooms.setdefault(project_id, _Room(position))
            listener = Listener(room, self._stopping, permit, gone)
            room.listeners.add(listener)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="event-watch", daemon=True)
                self._thread.start()
        return listener

    def leave(self, project_id: uuid.UUID, listener: Listener) -> None:
        with self._lock:
            room = self._rooms.get(project_id)
            if room is not None:
                room.listeners.discard(listener)
                if not room.listeners:
                    del self._rooms[project_id]

    def _run(self) -> None:
        checked = looked = time.monotonic()
        while not self._stopping.wait(LOOK_EVERY):
            with self._lock:
                rooms = dict(self._rooms)
                if not rooms:
                    self._thread = None
                    return
            try:
                if time.monotonic() - looked >= _pause(rooms.values()):
                    looked = time.monotonic()
                    self._look(rooms)
                if time.monotonic() - checked >= CHECK_EVERY:
                    checked = time.monotonic()
                    self._check(rooms.values())
            except RegistryError:
                pass  # The database is away: listeners go on waiting.
            except Exception:
                log.exception("events cannot be watched")
        with self._lock:
            for room in self._rooms.values():
                with room.changed:
                    room.changed.notify_all()

    def _look(self, rooms: Mapping[uuid.UUID, _Room]) -> None:
        with self._database.reading() as connection:
            heads = heads_of(connection, rooms)
            news = {
                project_id: read_events(connection, project_id, room.position, READ_AT_ONCE)
                for project_id, room in rooms.items()
                if heads.get(project_id, 0) > room.position
            }
        # Behind the news, so that who was shut out before they happened is not told them.
        self._check([rooms[project_id] for project_id in news])
        for project_id, stretch in news.items():
            room, told = rooms[project_id], [told_of(row) for row in stretch.events]
            with room.changed:
                if told and told[0].position != room.position + 1:
                    room.told.clear()
                room.told.extend(told)
                room.position = stretch.next
            self._wake(room)
        for project_id, room in rooms.items():
            if heads.get(project_id, 0) < room.position:
                # The database was restored from an earlier state: who listens finds out from the database itself.
                with room.changed:
                    room.position = heads.get(project_id, 0)
                    room.told.clear()

    def _wake(self, room: _Room) -> None:
        pause = min(_PAUSE, LOOK_AT_LEAST * _WOKEN_AT_ONCE / max(1, len(room.listeners)))
        for woken in range(0, max(1, len(room.listeners)), _WOKEN_AT_ONCE):
            if woken:
                self._stopping.wait(pause)
            with room.changed:
                room.changed.notify(_WOKEN_AT_ONCE)

    def _check(self, rooms: Collection[_Room]) -> None:
        with self._lock:
            everybody = [(room, one) for room in rooms for one in room.listeners]
        permits = {one.permit for _, one in everybody if one.permit is not None}
        if not everybody:
            return
        with self._database.reading() as connection:
            last = lasting(connection, permits)
        for room, one in everybody:
            if one.gone() or (one.permit is not None and one.permit not in last):
                one.ended = True
                with room.changed:
                    room.changed.notify_all()


def _pause(rooms: Collection[_Room]) -> float:
    listeners = sum(len(room.listeners) for room in rooms)
    return min(LOOK_AT_LEAST, LOOK_EVERY / 2 + _FOR_EACH * listeners)


class StreamPlaces:
    """Streams that may be open at once: so many in all, and half of them for one holder."""

    def __init__(self, most: int) -> None:
        self._most, self._of_one = most, max(1, most // 2)
        self._lock = threading.Lock()
        self._held: dict[str, int] = {}

    def __len__(self) -> int:
        return sum(self._held.values())

    def take(self, holder: str) -> bool:
        """Take a place; false where there is none."""
        with self._lock:
            if len(self) >= self._most or self._held.get(holder, 0) >= self._of_one:
                return False
            self._held[holder] = self._held.get(holder, 0) + 1
        return True

    def give_back(self, holder: str) -> None:
        with self._lock:
            self._held[holder] -= 1
            if not self._held[holder]:
                del self._held[holder]
