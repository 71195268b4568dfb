"""Cursors of a project's feed: opaque to clients, so that what they say may change.

A cursor is base64url of a version, six bytes that bind it to its project, and a position. A later version may hold
several positions; this one is read as long as it is given out.
"""

from __future__ import annotations

import binascii
import uuid
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import blake2b

from registry.errors import CursorExpired, Fault, Invalid
from registry.operations.events import Head

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
