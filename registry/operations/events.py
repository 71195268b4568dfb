"""Events of a project: read them in their order, by cursors, as long as what lets a reader listen lasts.

A cursor is opaque to clients: base64url of a version, six bytes that bind it to its project, and a position. A later
version may hold several positions; this one is read as long as it is given out.
"""

import binascii
import uuid
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from hashlib import blake2b
from typing import Any

from sqlalchemy import Connection, Select, func, select, tuple_, union_all

from registry.errors import CursorExpired, Fault, Invalid
from registry.storage.arrivals import is_told
from registry.storage.tables import claims, event_heads, events, grids, projects, shares, stored_revisions, tokens

MOST_SCANNED = 20_000
"""Events that one reading looks at; the next one goes on behind them."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which events a reader wants; the others are left out.

    `types` are types such as `claim.flipped`, or all of a kind as `claim.*`; none: all types. `without` are beginnings
    of types that are left out. `names` are fields of the data and the texts that they must have.
    """

    types: Sequence[str] = ()
    without: Sequence[str] = ()
    names: Mapping[str, str] = field(default_factory=dict)

    def holds(self, type_: str, data: Mapping[str, Any]) -> bool:
        """Return whether an event is one of these, as `_narrowed` asks the database."""
        if self.types and not any(_covers(one, type_) for one in self.types):
            return False
        if type_.startswith(tuple(self.without)):
            return False
        return all(data.get(name) == text for name, text in self.names.items())


EVERYTHING = Wanted()


@dataclass(frozen=True, slots=True)
class Head:
    """Positions of a project's oldest kept and latest event; without events 1 and 0."""

    first: int
    position: int


@dataclass(frozen=True, slots=True)
class Stretch:
    """Events of a feed behind a position, and the position behind which the next stretch begins."""

    events: Sequence[Any]
    next: int
    head: Head
    older: int = 0
    """Position before which more stand that were not looked at; 0: none do, or the stretch goes forward."""


def head_of(connection: Connection, project_id: uuid.UUID) -> Head:
    """Where the feed of a project begins and ends."""
    query = select(event_heads.c.first, event_heads.c.position).where(event_heads.c.project_id == project_id)
    row = connection.execute(query).one_or_none()
    return Head(1, 0) if row is None else Head(row.first, row.position)


def heads_of(connection: Connection, project_ids: Collection[uuid.UUID]) -> dict[uuid.UUID, int]:
    """Position of the latest event of each of these projects that has any."""
    query = select(event_heads.c.project_id, event_heads.c.position)
    rows = connection.execute(query.where(event_heads.c.project_id.in_(project_ids)))
    return {row.project_id: int(row.position) for row in rows}


def read_events(
    connection: Connection, project_id: uuid.UUID, after: int, limit: int, wanted: Wanted = EVERYTHING
) -> Stretch:
    """Up to `limit` events behind a position, in order; a stretch may have none and yet end behind where it began.

    The connection sees one state of the database, or else what is deleted meanwhile may be missed.
    """
    head = head_of(connection, project_id)
    until = min(head.position, after + MOST_SCANNED)
    query = _narrowed(_between(project_id, after, until), wanted).order_by(events.c.position)
    found = connection.execute(query.limit(limit)).all()
    return Stretch(found, int(found[-1].position) if len(found) == limit else max(until, after), head)


def latest_events(
    connection: Connection, project_id: uuid.UUID, limit: int, wanted: Wanted = EVERYTHING, before: int | None = None
) -> Stretch:
    """The last `limit` events, the newest first, of the last `MOST_SCANNED`; with `before`, of those before a position.

    Older ones than these stand before `Stretch.older`.
    """
    head = head_of(connection, project_id)
    last = head.position if before is None else min(head.position, before - 1)
    query = _narrowed(_between(project_id, last - MOST_SCANNED, last), wanted).order_by(events.c.position.desc())
    found = connection.execute(query.limit(limit)).all()
    begins = int(found[-1].position) if len(found) == limit else last - MOST_SCANNED + 1
    return Stretch(found, head.position, head, begins if begins > head.first else 0)


def position_before(connection: Connection, project_id: uuid.UUID, instant: datetime) -> int:
    """The position behind which the events stand that got theirs at this instant or later.

    Found by halving: positions are dense, and later ones were given later.
    """
    head = head_of(connection, project_id)
    low, high = head.first - 1, head.position
    at = select(events.c.recorded_at).where(events.c.project_id == project_id)
    while low < high:
        middle = (low + high + 1) // 2
        if connection.execute(at.where(events.c.position == middle)).scalar_one() < instant:
            low = middle
        else:
            high = middle - 1
    return low


def _between(project_id: uuid.UUID, after: int, until: int) -> Select[Any]:
    return select(events).where(
        events.c.project_id == project_id, events.c.position > after, events.c.position <= until
    )


def _narrowed(query: Select[Any], wanted: Wanted) -> Select[Any]:
    if wanted.types:
        query = query.where(is_told(wanted.types, {}))
    for beginning in wanted.without:
        query = query.where(~events.c.type.startswith(beginning, autoescape=True))
    for name, text in wanted.names.items():
        query = query.where(events.c.data[name].astext == text)
    return query


def _covers(pattern: str, type_: str) -> bool:
    return type_.startswith(pattern[:-1]) if pattern.endswith(".*") else type_ == pattern


PATTERN = "[A-Za-z0-9_-]{11,40}"
_VERSION, _BOUND = b"\x01", 6
_LONGEST = 8
"""Bytes of a position, which PostgreSQL keeps in as many."""


def write_cursor(project_id: uuid.UUID, position: int) -> str:
    """The cursor behind a position, from which on a reader has seen everything up to it."""
    said = position.to_bytes(max(1, (position.bit_length() + 7) // 8), "big")
    return urlsafe_b64encode(_VERSION + _bound(project_id, said) + said).rstrip(b"=").decode()


def read_cursor(project_id: uuid.UUID, cursor: str) -> int:
    """The position of a cursor of this project; `Invalid` for any other text."""
    try:
        read = urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
    except (binascii.Error, ValueError):
        read = b""
    version, bound, said = read[:1], read[1 : 1 + _BOUND], read[1 + _BOUND :]
    known = version == _VERSION and 0 < len(said) <= _LONGEST and bound == _bound(project_id, said)
    if not known or write_cursor(project_id, int.from_bytes(said, "big")) != cursor:
        raise Invalid([Fault("/after", "is not a cursor of this project's events")])
    return int.from_bytes(said, "big")


def _bound(project_id: uuid.UUID, said: bytes) -> bytes:
    """What only a cursor of this project and position has: a slip of a finger or another project's is noticed."""
    return blake2b(_VERSION + said, key=project_id.bytes, digest_size=_BOUND).digest()


def check_kept(project_id: uuid.UUID, after: int, head: Head) -> None:
    """Raise `CursorExpired` when events behind this position are not kept any more, or never were: a cursor beyond the
    latest event is of a time before the database was restored."""
    first = write_cursor(project_id, head.first - 1)
    if after < head.first - 1:
        raise CursorExpired(f"The feed keeps events from position {head.first} on, not those after {after}.", first)
    if after > head.position:
        raise CursorExpired(f"The feed ends at position {head.position}; the cursor is of an earlier state.", first)


def lasting(connection: Connection, permits: Collection[uuid.UUID]) -> set[uuid.UUID]:
    """Those of these ids that still admit: a token or a share that is not over, a project that is public."""
    if not permits:
        return set()
    now = func.now()
    found = union_all(
        select(tokens.c.id).where(tokens.c.id.in_(permits), tokens.c.revoked_at.is_(None), tokens.c.expires_at > now),
        select(shares.c.id).where(shares.c.id.in_(permits), shares.c.expires_at > now),
        select(projects.c.id).where(
            projects.c.id.in_(permits), projects.c.visibility == "public", projects.c.deleted_at.is_(None)
        ),
    )
    return set(connection.execute(found).scalars())


def still_there(connection: Connection, project_id: uuid.UUID, ids: Collection[uuid.UUID]) -> set[str]:
    """Those of the ids that are grids or claims of the project and not deleted, as text."""
    if not ids:
        return set()
    of_grids = select(grids.c.id).where(
        grids.c.id.in_(ids), grids.c.project_id == project_id, grids.c.deleted_at.is_(None)
    )
    of_claims = select(claims.c.id).where(
        claims.c.id.in_(ids), claims.c.project_id == project_id, claims.c.archived_at.is_(None)
    )
    return {str(one) for one in connection.scalars(union_all(of_grids, of_claims))}


_BESIDE = ("number", "digest", "created_at", "labels", "token_id", "warnings", "source")
"""Columns of a revision that no number is read from."""


def relabelled(
    connection: Connection, project_id: uuid.UUID, revised: Collection[tuple[uuid.UUID, int]]
) -> set[tuple[str, int]]:
    """Those of these revisions, each its grid's id and its number, that have other labels than the one before and are
    the same else."""
    if not revised:
        return set()
    now, before = stored_revisions.alias("now").c, stored_revisions.alias("before").c
    same = (now[one.name].is_not_distinct_from(before[one.name]) for one in now if one.name not in _BESIDE)
    query = select(now.grid_id, now.number).where(
        now.project_id == project_id,
        tuple_(now.grid_id, now.number).in_(list(revised)),
        before.number == now.number - 1,
        now.labels.is_distinct_from(before.labels),
        *same,
    )
    return {(str(row.grid_id), row.number) for row in connection.execute(query)}
