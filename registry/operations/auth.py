"""Authentication by tokens, and authorization by roles and projects.

A token is `rgs_<8 characters>_<30 characters><6 characters>`: a public id, a secret, and a checksum of both by which a
scanner recognises a token. Only the SHA-256 of the whole is stored.
"""

import hmac
import secrets
import string
import uuid
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from typing import Any, Literal

from sqlalchemy import ColumnElement, Connection, bindparam, func, insert, select, update

from registry.errors import Forbidden, NotFound, Unauthenticated
from registry.storage.statements import Prepared
from registry.storage.tables import new_id, projects, tokens

Role = Literal["reader", "writer", "admin"]
ROLES: tuple[Role, ...] = ("reader", "writer", "admin")
_ALPHABET = string.digits + string.ascii_uppercase + string.ascii_lowercase
_SEND = "Send one: Authorization: Bearer rgs_…"
_NO_ENTRY = "Nothing public is here under this name. Send a token: Authorization: Bearer rgs_…"


@dataclass(frozen=True, slots=True)
class Caller:
    """Caller of a request: a token, a user who signed in without one, a share link (roles alone), or nobody."""

    token_id: uuid.UUID | None = None
    roles: Mapping[uuid.UUID | None, Role] = field(default_factory=dict)
    """What it may do, by project; under None, in every project."""
    user_id: uuid.UUID | None = None
    unnoted: bool = False
    """Whether its token's last use is to be noted."""

    @property
    def is_anyone(self) -> bool:
        return not self.roles and self.token_id is None and self.user_id is None

    @property
    def administers(self) -> bool:
        """Whether it is an administrator anywhere."""
        return "admin" in self.roles.values()

    @property
    def operates(self) -> bool:
        """Whether it administers every project."""
        return self.roles.get(None) == "admin"

    def role_in(self, project_id: uuid.UUID) -> Role | None:
        """The greater of its role in this project and its role in every project; None without either."""
        found = [self.roles[one] for one in (None, project_id) if one in self.roles]
        return max(found, key=ROLES.index, default=None)


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
        (func.coalesce(tokens.c.last_used_at, tokens.c.created_at) < func.now() - _UNNOTED).label("unnoted"),
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
    """Caller that a token stands for; `Unauthenticated` when it is malformed, unknown, expired or revoked."""
    if well_formed(token):
        row = live_token(connection, public_id(token))
        if row is not None and hmac.compare_digest(bytes(row.secret_hash), sha256(token.encode()).digest()):
            return Caller(row.id, {row.project_id: row.role}, unnoted=row.unnoted)
    raise Unauthenticated("This token is not valid, has expired or was revoked.")


def note_use(connection: Connection, token_id: uuid.UUID) -> None:
    """Note that a token is used now, to the minute: a write for each request would cost more than it tells."""
    here = tokens.c.id == token_id
    late = func.coalesce(tokens.c.last_used_at, tokens.c.created_at) < func.now() - _UNNOTED
    connection.execute(update(tokens).where(here, late).values(last_used_at=func.now()))


def authorize(caller: Caller, project: Any, needs: Role) -> None:
    """Check that the caller has a role of at least `needs` in the project (a row, or None if there is none).

    Anonymous callers get `Unauthenticated`, whether the project exists or not; who has no role in it gets `NotFound`
    unless the project is public; a role that is too small gets `Forbidden`.
    """
    public = project is not None and project.visibility == "public"
    if public and needs == "reader":
        return
    if caller.is_anyone:
        raise Unauthenticated(_refusal(needs) if public else _NO_ENTRY)
    role = None if project is None else caller.role_in(project.project_id)
    if role is None and not public:
        raise NotFound(f"There is nothing here that {_who(caller)} may see.")
    if role is None:
        raise Forbidden(
            "You have no role in this project." if caller.user_id else "This token belongs to another project."
        )
    if ROLES.index(role) < ROLES.index(needs):
        raise Forbidden(
            f"This needs the role {needs}; {_who(caller, 'the')} {'have' if caller.user_id else 'has'} {role}."
        )


def _who(caller: Caller, article: str = "this") -> str:
    return "you" if caller.user_id else f"{article} token"


def _refusal(needs: Role) -> str:
    act = "writing needs a token" if needs == "writer" else "this needs a token"
    return f"Anyone may read this project, but {act} with the role {needs}. {_SEND}"


def authorize_operator(caller: Caller) -> None:
    """Check that the caller administers every project."""
    if caller.is_anyone:
        raise Unauthenticated(f"This needs an administrator's token for every project. {_SEND}")
    if not caller.operates:
        raise Forbidden("This needs an administrator's token for every project.")


def list_tokens(
    connection: Connection, project_id: uuid.UUID | None, after: uuid.UUID | None, limit: int
) -> Sequence[Any]:
    """Tokens of a project, or (None) of every project, that were not revoked, oldest first, without their secrets."""
    query = select(tokens).where(_of(project_id), tokens.c.revoked_at.is_(None))
    if after is not None:
        query = query.where(tokens.c.id > after)
    return connection.execute(query.order_by(tokens.c.id).limit(limit)).all()


def _of(project_id: uuid.UUID | None) -> ColumnElement[bool]:
    return tokens.c.project_id.is_(None) if project_id is None else tokens.c.project_id == project_id


def find_token(connection: Connection, project_id: uuid.UUID | None, token_id: uuid.UUID) -> Any:
    """Token of a project, or (None) of every project, that was not revoked; `NotFound` if there is no such token."""
    here = (tokens.c.id == token_id, _of(project_id), tokens.c.revoked_at.is_(None))
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


def revoke(connection: Connection, project_id: uuid.UUID | None, token_id: uuid.UUID) -> None:
    """Revoke a token of a project, or (None) of every project, at once; `NotFound` if there is no such token."""
    revoked = connection.execute(
        update(tokens)
        .where(tokens.c.id == token_id, _of(project_id), tokens.c.revoked_at.is_(None))
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
