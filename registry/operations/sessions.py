"""Visits: what a browser carries instead of a token once somebody has signed in with it.

A ticket is `<public id>.<when it ends>.<number>.<signature>`. The signature is an HMAC-SHA256 under the token's hash as
it is stored, so every process can check it, it needs no further secret, and it dies with its token. Whoever could forge
one has read the tokens' table already, and a visit may do no more than read. Who signs out writes the number into the
audit log, and a ticket whose number stands there is refused, wherever a copy of it may be.
"""

from __future__ import annotations

import hmac
import secrets
import time
import uuid
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection, select

from registry.errors import Unauthenticated
from registry.operations.audit_log import Actor, record
from registry.operations.auth import Caller, authenticate, live_token, public_id
from registry.storage.tables import audit

VISIT_SECONDS = 30 * 24 * 3600
_CLOCKS_DIFFER = 24 * 3600
"""Seconds by which two processes may disagree about when an act was written."""
_OVER = "Your visit is over. Sign in again."


def begin_session(connection: Connection, token: str) -> str:
    """The ticket for whoever has this token; `Unauthenticated` when it is no good."""
    authenticate(connection, token)
    row = live_token(connection, public_id(token))
    if row is None:
        raise Unauthenticated("This token is not valid, has expired or was revoked.")
    ends, number = str(int(time.time()) + VISIT_SECONDS), secrets.token_hex(8)
    return f"{public_id(token)}.{ends}.{number}.{_signature(row, public_id(token), ends, number)}"


def resume_session(connection: Connection, ticket: str) -> Caller:
    """The caller of a ticket, as a reader of what its token opens; `Unauthenticated` when it is forged or over."""
    row, ends, number = _genuine(connection, ticket)
    if _ended(connection, ends, number):
        raise Unauthenticated(_OVER)
    return Caller(row.id, row.project_id, "reader")


def end_session(connection: Connection, ticket: str, request_id: uuid.UUID) -> None:
    """Refuse this ticket from now on; nothing happens to one that is no good."""
    try:
        row, ends, number = _genuine(connection, ticket)
    except Unauthenticated:
        return
    if not _ended(connection, ends, number):
        record(connection, Actor(row.id, request_id), "visit.ended", number, project_id=row.project_id)


def _genuine(connection: Connection, ticket: str) -> tuple[Any, int, str]:
    """The token of a ticket that we signed and that has not run out, when it ends, and its number."""
    public, ends, number, signature = (*ticket.split(".", 3), "", "", "")[:4]
    if len(public) == 8 and public.isascii() and public.isalnum() and ends.isascii() and ends.isdecimal():
        row = live_token(connection, public)
        if row is not None:
            genuine = hmac.compare_digest(signature.encode(), _signature(row, public, ends, number).encode())
            if genuine and int(ends) > time.time():
                return row, int(ends), number
    raise Unauthenticated(_OVER)


def _ended(connection: Connection, ends: int, number: str) -> bool:
    """Whether somebody signed out of this visit: only acts since it began are looked through."""
    began = ends - VISIT_SECONDS - _CLOCKS_DIFFER
    since = uuid.UUID(int=max(0, 1000 * began) << 80)
    told = select(audit.c.id).where(audit.c.id >= since, audit.c.act == "visit.ended", audit.c.subject == number)
    return connection.execute(told.limit(1)).first() is not None


def _signature(row: Any, public: str, ends: str, number: str) -> str:
    key = hmac.digest(bytes(row.secret_hash), b"registry visit", sha256)
    return hmac.new(key, f"{public}.{ends}.{number}".encode(), sha256).hexdigest()
