"""Idempotency keys: the first answer to a key is the answer to every repetition."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select

from registry.database import try_lock
from registry.errors import Busy, Fault, Invalid
from registry.tables import idempotency_keys


@dataclass(frozen=True, slots=True)
class Answer:
    """A response as it was, or is to be, sent."""

    status: int
    headers: dict[str, str]
    body: bytes


def recall(connection: Connection, project_id: uuid.UUID, key: str, request_digest: bytes) -> Answer | None:
    """The stored answer to this key. The key is held until the transaction ends.

    Raises `Busy` while another request with the key is under way and `Invalid` when the key came with another request.
    """
    if not try_lock(connection, "idempotency", project_id, key):
        raise Busy("A request with this Idempotency-Key is under way.")
    here = (idempotency_keys.c.project_id == project_id, idempotency_keys.c.key == key)
    row: Any = connection.execute(select(idempotency_keys).where(*here)).one_or_none()
    if row is None:
        return None
    if bytes(row.request_digest) != request_digest:
        raise Invalid([Fault("", "this Idempotency-Key was used with another request")])
    return Answer(row.status, row.headers, bytes(row.body))


def remember(connection: Connection, project_id: uuid.UUID, key: str, request_digest: bytes, answer: Answer) -> None:
    """Store the answer to a key, in the transaction that did the work."""
    connection.execute(
        insert(idempotency_keys).values(
            project_id=project_id,
            key=key,
            request_digest=request_digest,
            status=answer.status,
            headers=answer.headers,
            body=answer.body,
        )
    )
