"""Browser sessions: a signed ticket stands for a token that a user has signed in with.

A ticket is `<public id>.<number>.<time of signing>.<signature>`. It is signed under the token's stored hash, so every
process can check it, it needs no further secret, and it dies with its token. Forging one takes the table of tokens, and
a session may only read. Signing out writes the ticket's number to the audit log; from then on every copy of the ticket
is refused.
"""

from __future__ import annotations

import secrets
import uuid
from contextlib import suppress
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from itsdangerous import BadSignature, TimestampSigner
from sqlalchemy import Connection, select

from registry.errors import Unauthenticated
from registry.operations.audit_log import Actor, record
from registry.operations.auth import Caller, authenticate, live_token, public_id
from registry.storage.tables import audit_log

SESSION_SECONDS = 30 * 24 * 3600
_CLOCKS_DIFFER = timedelta(days=1)
"""Largest difference expected between the clocks of two processes."""
_OVER = "Your session is over. Sign in again."


def begin_session(connection: Connection, token: str) -> str:
    """Ticket for a token; `Unauthenticated` when the token is not valid."""
    authenticate(connection, token)
    row = live_token(connection, public_id(token))
    if row is None:
        raise Unauthenticated("This token is not valid, has expired or was revoked.")
    return _signer(row).sign(f"{public_id(token)}.{secrets.token_hex(8)}").decode()


def resume_session(connection: Connection, ticket: str) -> Caller:
    """Caller of a ticket, as a reader of what its token opens; `Unauthenticated` when it is forged or has ended."""
    row, began, number = _genuine(connection, ticket)
    if _ended(connection, began, number):
        raise Unauthenticated(_OVER)
    return Caller(row.id, row.project_id, "reader")


def end_session(connection: Connection, ticket: str, request_id: uuid.UUID) -> None:
    """Refuse this ticket from now on; an invalid one is ignored."""
    try:
        row, began, number = _genuine(connection, ticket)
    except Unauthenticated:
        return
    if not _ended(connection, began, number):
        record(connection, Actor(row.id, request_id), "visit.ended", number, project_id=row.project_id)


def _genuine(connection: Connection, ticket: str) -> tuple[Any, datetime, str]:
    """Row of the token, time of signing and number of a ticket; `Unauthenticated` if it is forged or has expired."""
    public, number = (*ticket.split(".", 2), "", "")[:2]
    if len(public) == 8 and public.isascii() and public.isalnum():
        row = live_token(connection, public)
        if row is not None:
            with suppress(BadSignature):
                _, began = _signer(row).unsign(ticket, max_age=SESSION_SECONDS, return_timestamp=True)
                return row, began, number
    raise Unauthenticated(_OVER)


def _ended(connection: Connection, began: datetime, number: str) -> bool:
    """Return whether this session was signed out of; only audit entries since it began are searched."""
    since = uuid.UUID(int=int(1000 * (began - _CLOCKS_DIFFER).timestamp()) << 80)
    entries = select(audit_log.c.id).where(
        audit_log.c.id >= since, audit_log.c.action == "visit.ended", audit_log.c.subject == number
    )
    return connection.execute(entries.limit(1)).first() is not None


def _signer(row: Any) -> TimestampSigner:
    return TimestampSigner(bytes(row.secret_hash), b"registry visit", key_derivation="hmac", digest_method=sha256)
