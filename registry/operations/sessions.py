"""Browser sessions: a random secret in a cookie stands for the token or the user that signed in.

Only the secret's SHA-256 is stored, so that whoever reads the database can take over no session. A session ends with
its token, when it expires, and at once when its user signs out: its row is deleted, and every copy of the cookie is
worthless.
"""

import hmac
import secrets
import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Any

from itsdangerous import BadData, URLSafeTimedSerializer
from sqlalchemy import Connection, delete, func, insert, select

from registry.errors import Unauthenticated
from registry.operations.audit_log import Actor, record
from registry.operations.auth import Caller, Role, authenticate, note_use
from registry.operations.users import Identity, note_user, roles_of
from registry.storage.tables import new_id, projects, sessions, signing_keys, tokens, users

SESSION_SECONDS = 30 * 24 * 3600
"""Longest session of a token, which is looked up at every request."""
_OVER = "Your session is over. Sign in again."


@dataclass(frozen=True, slots=True)
class Visitor:
    """Somebody who is signed in."""

    caller: Caller
    """What they may do as administrators; everything else they read as readers."""
    name: str
    """Of the token or of the user."""
    vouched_by: str
    """`token`, or the issuer of the user."""
    session_id: uuid.UUID | None
    """None: every request is vouched for by a proxy."""
    expires_at: datetime | None
    """End of the session; None where there is none."""
    project: str | None = None
    """Slug of the one project that the token is for."""
    groups: tuple[str, ...] = ()

    @property
    def as_reader(self) -> Caller:
        roles: dict[uuid.UUID | None, Role] = dict.fromkeys(self.caller.roles, "reader")
        return Caller(self.caller.token_id, roles, self.caller.user_id)


def begin_session(connection: Connection, token: str, request_id: uuid.UUID) -> str:
    """Secret of a new session of this token; `Unauthenticated` when the token is not valid."""
    caller = authenticate(connection, token)
    if caller.token_id is not None:
        note_use(connection, caller.token_id)
    row = connection.execute(select(tokens.c.project_id).where(tokens.c.id == caller.token_id)).one()
    values = {"token_id": caller.token_id, "expires_at": func.now() + timedelta(seconds=SESSION_SECONDS)}
    return _begin(connection, Actor(caller.token_id, request_id), row.project_id, values)


def begin_user_session(connection: Connection, identity: Identity, seconds: int, request_id: uuid.UUID) -> str:
    """Secret of a new session of this user, whose groups stay what they are now until it ends."""
    user = note_user(connection, identity)
    values = {
        "user_id": user.id,
        "groups": list(identity.groups),
        "expires_at": func.now() + timedelta(seconds=seconds),
    }
    return _begin(connection, Actor(None, request_id, user.id), None, values)


def _begin(connection: Connection, actor: Actor, project_id: uuid.UUID | None, values: dict[str, Any]) -> str:
    connection.execute(delete(sessions).where(sessions.c.expires_at < func.now()))
    secret, session_id = secrets.token_urlsafe(32), new_id()
    connection.execute(insert(sessions).values(id=session_id, secret_hash=_hash(secret), **values))
    record(connection, actor, "session.created", session_id, project_id=project_id)
    return secret


def resume_session(connection: Connection, secret: str) -> Visitor:
    """Visitor whose session this is; `Unauthenticated` when there is none, or it has ended."""
    row = _live(connection, secret)
    if row is None:
        raise Unauthenticated(_OVER)
    if row.user_id is not None:
        caller = Caller(None, roles_of(connection, row.user_name, row.groups), row.user_id)
        return Visitor(caller, row.user_name, row.issuer, row.id, row.expires_at, None, tuple(row.groups))
    caller = Caller(row.token_id, {row.project_id: row.role})
    return Visitor(caller, row.token_name, "token", row.id, min(row.expires_at, row.token_expires_at), row.slug)


def vouched_visitor(connection: Connection, identity: Identity) -> Visitor:
    """Visitor whom a trusted proxy names with each request."""
    user = note_user(connection, identity)
    caller = Caller(None, roles_of(connection, identity.name, identity.groups), user.id)
    return Visitor(caller, identity.name, identity.issuer, None, None, None, identity.groups)


def end_session(connection: Connection, secret: str, request_id: uuid.UUID) -> str:
    """End this session for every copy of its cookie; who vouched for it, "" where there was none."""
    row = _live(connection, secret)
    if row is None:
        return ""
    connection.execute(delete(sessions).where(sessions.c.id == row.id))
    actor = Actor(row.token_id, request_id, row.user_id)
    record(connection, actor, "session.ended", row.id, project_id=row.project_id)
    return row.issuer or "token"


def form_key(connection: Connection, visitor: Visitor) -> str:
    """What every form of this visitor's pages carries, and no other site can know."""
    bound_to = f"session {visitor.session_id}" if visitor.session_id else f"user {visitor.caller.user_id}"
    return hmac.new(_secret(connection), bound_to.encode(), sha256).hexdigest()


def write_note(connection: Connection, note: dict[str, str]) -> str:
    """Signed note for a browser to bring back."""
    return URLSafeTimedSerializer(_secret(connection), salt="registry note").dumps(note)


def read_note(connection: Connection, text: str, seconds: int) -> dict[str, str] | None:
    """Note that a browser brings back within so many seconds; None when it is not ours or too old."""
    try:
        found: dict[str, str] = URLSafeTimedSerializer(_secret(connection), salt="registry note").loads(text, seconds)
    except BadData:
        return None
    return found


def _secret(connection: Connection) -> bytes:
    return bytes(connection.execute(select(signing_keys.c.secret).where(signing_keys.c.name == "forms")).scalar_one())


_LIVE = (
    select(
        sessions.c.id,
        sessions.c.token_id,
        sessions.c.user_id,
        sessions.c.groups,
        sessions.c.expires_at,
        tokens.c.project_id,
        tokens.c.role,
        tokens.c.name.label("token_name"),
        tokens.c.expires_at.label("token_expires_at"),
        projects.c.slug,
        users.c.name.label("user_name"),
        users.c.issuer,
        tokens.c.revoked_at,
        (tokens.c.expires_at <= func.now()).label("token_expired"),
    )
    .outerjoin(tokens, tokens.c.id == sessions.c.token_id)
    .outerjoin(projects, projects.c.id == tokens.c.project_id)
    .outerjoin(users, users.c.id == sessions.c.user_id)
    .where(sessions.c.expires_at > func.now())
)


def _live(connection: Connection, secret: str) -> Any:
    row = connection.execute(_LIVE.where(sessions.c.secret_hash == _hash(secret))).one_or_none()
    return None if row is None or row.revoked_at is not None or row.token_expired else row


def _hash(secret: str) -> bytes:
    return sha256(secret.encode("utf-8", "replace")).digest()
