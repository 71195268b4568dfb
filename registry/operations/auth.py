"""Authentication by tokens, and authorization by roles and projects.

A token is `rgs_<8 characters>_<30 characters><6 characters>`: a public id, a secret, and a checksum of both by which a
scanner recognises a token. Only the SHA-256 of the whole is stored.
"""

from __future__ import annotations

import hmac
import secrets
import string
import uuid
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from typing import Any, Literal

from sqlalchemy import Connection, bindparam, func, insert, select, update

from registry.errors import Forbidden, NotFound, Unauthenticated
from registry.storage.prepared_statements import Prepared
from registry.storage.tables import new_id, projects, tokens

Role = Literal["reader", "writer", "admin"]
ROLES: tuple[Role, ...] = ("reader", "writer", "admin")
_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_NO_ENTRY = "Nothing public is here under this name. Send a token: Authorization: Bearer rgs_…"


@dataclass(frozen=True, slots=True)
class Caller:
    """Caller of a request: anonymous (`role` None), or a token for one project or (`project_id` None) for all."""

    token_id: uuid.UUID | None = None
    project_id: uuid.UUID | None = None
    role: Role | None = None


ANYONE = Caller()


def issue_token(
    connection: Connection, *, project_id: uuid.UUID | None, role: Role, name: str, days: int
) -> tuple[Any, str]:
    """Make a token. Return its row and its secret, which cannot be read again."""
    public = "".join(secrets.choice(_ALPHABET) for _ in range(8))
    secret = "".join(secrets.choice(_ALPHABET) for _ in range(30))
    token = f"rgs_{public}_{secret}{_checksum(public + secret)}"
    row = connection.execute(
        insert(tokens)
        .values(
            id=new_id(),
            public_id=public,
            secret_hash=sha256(token.encode()).digest(),
            project_id=project_id,
            role=role,
            name=name,
            expires_at=func.now() + timedelta(days=days),
        )
        .returning(*tokens.c)
    ).one()
    return row, token


def _checksum(text: str) -> str:
    number, digits = zlib.crc32(text.encode()), ""
    for _ in range(6):
        number, digit = divmod(number, len(_ALPHABET))
        digits = _ALPHABET[digit] + digits
    return digits


def well_formed(token: str) -> bool:
    """Return whether the text has the shape and the checksum of a token."""
    parts = token.split("_")
    if len(parts) != 3 or parts[0] != "rgs" or len(parts[1]) != 8 or len(parts[2]) != 36:
        return False
    if not (token.isascii() and parts[1].isalnum() and parts[2].isalnum()):
        return False
    return hmac.compare_digest(_checksum(parts[1] + parts[2][:30]), parts[2][30:])


_UNNOTED = timedelta(minutes=1)
_TOKEN = Prepared(
    "token",
    select(
        *(tokens.c[name] for name in ("id", "project_id", "role", "secret_hash", "revoked_at")),
        (tokens.c.expires_at > func.now()).label("live"),
        (func.coalesce(tokens.c.last_used_at, tokens.c.created_at) < func.now() - timedelta(minutes=1)).label(
            "unnoted"
        ),
    ).where(tokens.c.public_id == bindparam("public_id")),
    {"public_id": "text"},
)


def public_id(token: str) -> str:
    """Part of a well-formed token that may be shown."""
    return token.split("_")[1]


def live_token(connection: Connection, public: str) -> Any:
    """Row of the token with this public id; None when it is unknown, expired or revoked."""
    row = _TOKEN.one_or_none(connection, {"public_id": public})
    return row if row is not None and row.live and row.revoked_at is None else None


def authenticate(connection: Connection, token: str) -> Caller:
    """Caller that a token stands for; `Unauthenticated` when it is malformed, unknown, expired or revoked.

    The time of the token's last use is kept to the minute: a write for each request would cost more than it tells.
    """
    if well_formed(token):
        row = live_token(connection, public_id(token))
        if row is not None and hmac.compare_digest(bytes(row.secret_hash), sha256(token.encode()).digest()):
            if row.unnoted:
                connection.execute(update(tokens).where(tokens.c.id == row.id).values(last_used_at=func.now()))
            return Caller(row.id, row.project_id, row.role)
    raise Unauthenticated("This token is not valid, has expired or was revoked.")


def authorize(caller: Caller, project: Any, needs: Role) -> None:
    """Check that the caller has a role of at least `needs` in the project (a row, or None if there is none).

    Anonymous callers get `Unauthenticated`, whether the project exists or not; a token of another project gets
    `NotFound` unless the project is public; a role that is too small gets `Forbidden`.
    """
    public = project is not None and project.visibility == "public"
    if public and needs == "reader":
        return
    if caller.role is None:
        raise Unauthenticated(_NO_ENTRY)
    if project is None or (caller.project_id not in (None, project.project_id) and not public):
        raise NotFound("There is nothing here that this token may see.")
    if caller.project_id not in (None, project.project_id):
        raise Forbidden("This token belongs to another project.")
    if ROLES.index(caller.role) < ROLES.index(needs):
        raise Forbidden(f"This needs the role {needs}; the token has {caller.role}.")


def authorize_operator(caller: Caller) -> None:
    """Check that the caller administers every project."""
    if caller.role is None:
        raise Unauthenticated(_NO_ENTRY)
    if caller.role != "admin" or caller.project_id is not None:
        raise Forbidden("This needs an administrator's token for every project.")


def list_tokens(connection: Connection, project_id: uuid.UUID, after: uuid.UUID | None, limit: int) -> Sequence[Any]:
    """Tokens of the project that were not revoked, oldest first, without their secrets."""
    query = select(tokens).where(tokens.c.project_id == project_id, tokens.c.revoked_at.is_(None))
    if after is not None:
        query = query.where(tokens.c.id > after)
    return connection.execute(query.order_by(tokens.c.id).limit(limit)).all()


def find_token(connection: Connection, project_id: uuid.UUID, token_id: uuid.UUID) -> Any:
    """Token of the project that was not revoked; `NotFound` if it has no such token."""
    here = (tokens.c.id == token_id, tokens.c.project_id == project_id, tokens.c.revoked_at.is_(None))
    row = connection.execute(select(tokens).where(*here)).one_or_none()
    if row is None:
        raise NotFound("The project has no such token.")
    return row


def own_token(connection: Connection, caller: Caller) -> Any:
    """Row of the caller's token, with its project's slug (None for all); `Unauthenticated` without a token."""
    if caller.token_id is None:
        raise Unauthenticated("This request carries no token. Send one: Authorization: Bearer rgs_…")
    slug = select(projects.c.slug).where(projects.c.id == tokens.c.project_id).scalar_subquery()
    return connection.execute(select(*tokens.c, slug.label("project")).where(tokens.c.id == caller.token_id)).one()


def revoke(connection: Connection, project_id: uuid.UUID, token_id: uuid.UUID) -> None:
    """Revoke a token of the project at once."""
    revoked = connection.execute(
        update(tokens)
        .where(tokens.c.id == token_id, tokens.c.project_id == project_id, tokens.c.revoked_at.is_(None))
        .values(revoked_at=func.now())
    )
    if revoked.rowcount == 0:
        raise NotFound("The project has no such token.")


def has_operator(connection: Connection) -> bool:
    """Return whether any live token administers every project."""
    live = select(tokens.c.id).where(
        tokens.c.project_id.is_(None),
        tokens.c.role == "admin",
        tokens.c.revoked_at.is_(None),
        tokens.c.expires_at > func.now(),
    )
    return connection.execute(live.limit(1)).first() is not None
