"""Visits: what a browser carries instead of a token once somebody has signed in with it.

A ticket is `<public id>.<when it ends>.<signature>`. The signature is an HMAC-SHA256 under the token's stored hash,
so every process can check it, it needs no further secret, and it dies with its token. Whoever could forge one has
read the tokens' table already, and a visit may do no more than read.
"""

from __future__ import annotations

import hmac
import time
from hashlib import sha256
from typing import Any

from sqlalchemy import Connection

from registry.errors import Unauthenticated
from registry.operations.admit import Caller, identify, live_token, public_id

VISIT_SECONDS = 30 * 24 * 3600
_OVER = "Your visit is over. Sign in again."


def begin_visit(connection: Connection, token: str) -> str:
    """The ticket for whoever has this token; `Unauthenticated` when it is no good."""
    identify(connection, token)
    row = live_token(connection, public_id(token))
    if row is None:
        raise Unauthenticated("This token is not valid, has expired or was revoked.")
    ends = str(int(time.time()) + VISIT_SECONDS)
    return f"{public_id(token)}.{ends}.{_signature(row, public_id(token), ends)}"


def resume_visit(connection: Connection, ticket: str) -> Caller:
    """The caller of a ticket, as a reader of what its token opens; `Unauthenticated` when it is forged or over."""
    public, ends, signature = (*ticket.split(".", 2), "", "")[:3]
    if len(public) == 8 and public.isascii() and public.isalnum() and ends.isascii() and ends.isdecimal():
        row = live_token(connection, public)
        genuine = row is not None and hmac.compare_digest(signature.encode(), _signature(row, public, ends).encode())
        if row is not None and genuine and int(ends) > time.time():
            return Caller(row.id, row.project_id, "reader")
    raise Unauthenticated(_OVER)


def _signature(row: Any, public: str, ends: str) -> str:
    key = hmac.digest(bytes(row.secret_hash), b"registry visit", sha256)
    return hmac.new(key, f"{public}.{ends}".encode(), sha256).hexdigest()
