"""Read what a mirror needs of a registry: a project, its events, its grids with their cells, its aliases."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson

from registry.mirror.current_grids import Aliases
from registry.mirror.directory import Anchor
from results_registry.errors import NotThere, Refused, Unreachable
from results_registry.http import Transport
from results_registry.origin import segment
from results_registry.positions import HEADER

TYPES = ("grid.published", "grid.revised", "grid.deleted", "grid.restored", "grid.purged", "alias.*")
_PAGE, _GRIDS = 1_000, 64
_MONOTONIC = {HEADER: "0/0"}
"""Asks for the place of what was read, so that no later request reads an older replica."""


class EventsMissed(Exception):
    """The events behind a cursor cannot be read any more, or are other ones now; says why."""


class _Expired(EventsMissed):
    """The registry does not keep the events behind a cursor."""


@dataclass(slots=True)
class Changes:
    """What events tell of: up to where, and what a mirror has to read again."""

    cursor: str
    """Behind the last event, or that from which on they are read."""
    position: int
    anchor: Anchor | None
    grids: dict[str, None] = field(default_factory=dict)
    """Grids that were published, deleted or restored."""
    purged: set[str] = field(default_factory=set)
    aliased: bool = False

    def note(self, event: Mapping[str, Any]) -> None:
        """Take in one more event."""
        self.anchor = Anchor(self.cursor, event["id"])
        self.position, self.cursor = event["position"], event["cursor"]
        grid = event["data"].get("grid")
        if event["type"].startswith("alias."):
            self.aliased = True
        elif grid is not None:  # a purge has emptied what was told of its grid before
            self.grids[grid] = None
            if event["type"] == "grid.purged":
                self.purged.add(grid)


@dataclass(frozen=True, slots=True)
class Everything:
    """All grids of a project, and the event that they are as new as."""

    cursor: str
    position: int
    grids: Iterator[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Source:
    """A project of a registry."""

    transport: Transport
    slug: str

    def project_id(self) -> str | None:
        """The id of the project; None where there is none that the caller may see."""
        try:
            return str(self.transport.get(self._path(""))["id"])
        except NotThere as error:
            if "type" not in error.problem:
                raise  # something else than a registry answers there
            return None

    def changes(self, cursor: str, position: int, anchor: Anchor | None) -> Changes:
        """Read what events after a cursor tell; `EventsMissed` where they cannot be read, or the last one is
        another."""
        try:
            return self._changes(anchor.after if anchor else cursor, position, anchor)
        except _Expired:
            if anchor is None:
                raise
        # Only the event before may be too old; those that follow may all be there.
        return self._changes(cursor, position, None)

    def _changes(self, after: str, position: int, anchor: Anchor | None) -> Changes:
        seen = Changes(after, position, anchor)
        while True:
            page = self._events(after)
            found = page["items"]
            if anchor is not None:
                if not found or found[0]["id"] != anchor.event:
                    raise EventsMissed("Its events are other ones than before: the database was restored.")
                seen.cursor, found, anchor = found[0]["cursor"], found[1:], None
            for event in found:
                seen.note(event)
            after = page["next"]
            if after == page["head"]:
                break
        seen.cursor = after
        return seen

    def _events(self, after: str) -> Any:
        try:
            return self.transport.get(
                self._path("/events"), after=after, type=list(TYPES), limit=_PAGE, headers=_MONOTONIC
            )
        except Refused as error:
            if error.status == 410:
                raise _Expired(error.detail) from None
            raise

    @contextmanager
    def everything(self) -> Iterator[Everything]:
        """All grids, read as they come while the block lasts."""
        with self.transport.stream(self._path("/grids.ndjson"), headers=_MONOTONIC) as (headers, chunks):
            yield Everything(_cursor(headers), _position(headers), map(orjson.loads, _lines(chunks)))

    def grids(self, ids: Iterable[str], position: int) -> Iterator[dict[str, Any]]:
        """Those of the grids that are there, at least as new as the event at a position."""
        waiting = list(ids)
        for first in range(0, len(waiting), _GRIDS):
            some = {"grid": waiting[first : first + _GRIDS]}
            answer = self.transport.call("GET", self._path("/grids.ndjson"), query=some, headers=_MONOTONIC)
            if _position(answer.headers) < position:
                raise Unreachable("The registry answers with grids that are older than its events; try again.")
            yield from map(orjson.loads, answer.body.splitlines())

    def aliases(self) -> Aliases:
        """Names that aliases join: kind and alias → name."""
        found = self.transport.pages(self._path("/aliases"))
        return {(one["kind"], one["alias"]): one["name"] for one in found}

    def _path(self, rest: str) -> str:
        return f"projects/{segment(self.slug)}{rest}"


def _cursor(headers: Mapping[str, str]) -> str:
    found = headers.get("registry-events-cursor")
    if found is None:
        raise Unreachable("The registry does not say how new its grids are; mirrors need release 0.2 of it.")
    return found


def _position(headers: Mapping[str, str]) -> int:
    _cursor(headers)
    return int(headers["registry-events-position"])


def _lines(chunks: Iterable[bytes]) -> Iterator[bytes]:
    waiting: list[bytes] = []
    for chunk in chunks:
        first, *others = chunk.split(b"\n")
        waiting.append(first)
        for other in others:
            yield b"".join(waiting)
            waiting = [other]
    if last := b"".join(waiting):
        yield last
