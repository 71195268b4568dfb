"""Repeated requests, of the API by a key and of forms by theirs: the answer to the first one, and where its sender is
led, are given again."""

import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from registry.errors import Busy, InvalidHeader
from registry.storage.database import try_lock
from registry.storage.tables import claims, deliveries, grids, idempotency_keys, projects, submitted_forms


@dataclass(frozen=True, slots=True)
class StoredResponse:
    """Status, headers and body of a response, as they are stored and sent again."""

    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True)
class IdempotencyRecord:
    """A stored response, the digest of its request, and its project."""

    response: StoredResponse
    request_digest: bytes
    project: Any


def find_records(
    connection: Connection,
    key: str,
    *,
    slug: str | None = None,
    grid_id: uuid.UUID | None = None,
    claim_id: uuid.UUID | None = None,
    delivery_id: uuid.UUID | None = None,
) -> list[IdempotencyRecord]:
    """Stored responses for this key, newest first, in projects with this slug or in that of this grid, claim or
    delivery; deleted projects included."""
    if slug is not None and "\0" in slug:
        return []  # PostgreSQL has no such text
    place = projects.c.slug == slug
    for table, own in ((grids, grid_id), (claims, claim_id), (deliveries, delivery_id)):
        if own is not None:
            place = projects.c.id == select(table.c.project_id).where(table.c.id == own).scalar_subquery()
    query = (
        select(idempotency_keys, projects.c.visibility)
        .join(projects, projects.c.id == idempotency_keys.c.project_id)
        .where(idempotency_keys.c.key == key, place)
        .order_by(idempotency_keys.c.created_at.desc())
    )
    rows = connection.execute(query).all()
    return [
        IdempotencyRecord(StoredResponse(row.status, row.headers, bytes(row.body)), bytes(row.request_digest), row)
        for row in rows
    ]


def find_response(
    connection: Connection, project_id: uuid.UUID, key: str, request_digest: bytes
) -> StoredResponse | None:
    """Stored response for this key, or None. The key is locked until the transaction ends.

    Raises `Busy` while another request with the key is under way, and `InvalidHeader` when the key came with a request
    of another digest.
    """
    lock_key(connection, project_id, key)
    here = (idempotency_keys.c.project_id == project_id, idempotency_keys.c.key == key)
    row: Any = connection.execute(select(idempotency_keys).where(*here)).one_or_none()
    if row is None:
        return None
    if bytes(row.request_digest) != request_digest:
        raise InvalidHeader("the Idempotency-Key was used with another request")
    return StoredResponse(row.status, row.headers, bytes(row.body))


def lock_key(connection: Connection, place: uuid.UUID | str, key: str) -> None:
    """Lock a key of a project (its id, or the slug of one to be made) until the transaction ends; `Busy` if it is
    locked."""
    if not try_lock(connection, "idempotency", place, key):
        raise Busy("A request with this Idempotency-Key is under way.", reason="key_under_way")


def store_response(
    connection: Connection, project_id: uuid.UUID, key: str, request_digest: bytes, response: StoredResponse
) -> None:
    """Store the response for a key, in the transaction that did the work."""
    connection.execute(
        insert(idempotency_keys).values(
            project_id=project_id,
            key=key,
            request_digest=request_digest,
            status=response.status,
            headers=response.headers,
            body=response.body,
        )
    )


_KEPT = timedelta(days=1)


def claim_form(connection: Connection, form_id: uuid.UUID) -> str | None:
    """Claim a form for this transaction; where its sender was led if it was carried out before.

    While another transaction carries out the same form, this one waits for it.
    """
    statement = upsert(submitted_forms).values(id=form_id, location="").on_conflict_do_nothing()
    if connection.execute(statement.returning(submitted_forms.c.id)).first() is not None:
        return None
    found = select(submitted_forms.c.location).where(submitted_forms.c.id == form_id).with_for_update()
    led: Any = connection.scalar(found)
    return str(led)


def note_location(connection: Connection, form_id: uuid.UUID, location: str) -> None:
    """Remember where the sender of a claimed form is led, and forget forms of yesterday."""
    connection.execute(delete(submitted_forms).where(submitted_forms.c.at < func.now() - _KEPT))
    connection.execute(update(submitted_forms).where(submitted_forms.c.id == form_id).values(location=location))
