"""Visits: what a browser carries instead of a token once somebody has signed in with it.

A ticket is `<public id>.<number>.<when it was signed>.<signature>`. It is signed under the token's hash as it is
stored, so every process can check it, it needs no further secret, and it dies with its token. Whoever could forge
one has read the tokens' table already, and a visit may do no more than read. Who signs out writes the number into the
audit log, and a ticket whose number stands there is refused, wherever a copy of it may be.
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
from registry.storage.tables import audit

VISIT_SECONDS = 30 * 24 * 3600
_CLOCKS_DIFFER = timedelta(days=1)
"""How much two processes may disagree about when an act was written."""
_OVER = "Your visit is over. Sign in again."


def begin_session(connection: Connection, token: str) -> str:
    """The ticket for whoever has this token; `Unauthenticated` when it is no good."""
    authenticate(connection, token)
    row = live_token(connection, public_id(token))
    if row is None:
        raise Unauthenticated("This token is not valid, has expired or was revoked.")
    return _signer(row).sign(f"{public_id(token)}.{secrets.token_hex(8)}").decode()


def resume_session(connection: Connection, ticket: str) -> Caller:
    """The caller of a ticket, as a reader of what its token opens; `Unauthenticated` when it is forged or over."""
    row, began, number = _genuine(connection, ticket)
    if _ended(connection, began, number):
        raise Unauthenticated(_OVER)
    return Caller(row.id, row.project_id, "reader")


def end_session(connection: Connection, ticket: str, request_id: uuid.UUID) -> None:
    """Refuse this ticket from now on; nothing happens to one that is no good."""
    try:
        row, began, number = _genuine(connection, ticket)
    except Unauthenticated:
        return
    if not _ended(connection, began, number):
        record(connection, Actor(row.id, request_id), "visit.ended", number, project_id=row.project_id)


def _genuine(connection: Connection, ticket: str) -> tuple[Any, datetime, str]:
    """The token of a ticket that is signed and has not run out, when it was signed, and its number."""
    public, number = (*ticket.split(".", 2), "", "")[:2]
    if len(public) == 8 and public.isascii() and public.isalnum():
        row = live_token(connection, public)
        if row is not None:
            with suppress(BadSignature):
                _, began = _signer(row).unsign(ticket, max_age=VISIT_SECONDS, return_timestamp=True)
                return row, began, number
    raise Unauthenticated(_OVER)


def _ended(connection: Connection, began: datetime, number: str) -> bool:
    """Whether somebody signed out of this visit: only acts since it began are looked through."""
    since = uuid.UUID(int=int(1000 * (began - _CLOCKS_DIFFER).timestamp()) << 80)
    told = select(audit.c.id).where(audit.c.id >= since, audit.c.act == "visit.ended", audit.c.subject == number)
    return connection.execute(told.limit(1)).first() is not None


def _signer(row: Any) -> TimestampSigner:
    return TimestampSigner(bytes(row.secret_hash), b"registry visit", key_derivation="hmac", digest_method=sha256)
