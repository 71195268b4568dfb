"""Users: people whom a proxy or an OpenID provider vouches for, and the members that say what they may do.

A user is known by the issuer and its own name of them (the subject). What they may do is written down by the name that
the issuer tells, or by a group: before they come for the first time, and without a token.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, get_args

from sqlalchemy import Connection, and_, delete, func, or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError

from registry.errors import Conflict, NotFound
from registry.operations.auth import ROLES, Role
from registry.storage.tables import members, new_id, users

MemberKind = Literal["user", "group"]
MEMBER_KINDS: tuple[MemberKind, ...] = get_args(MemberKind)
_SEEN = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Identity:
    """A person as an issuer describes them."""

    issuer: str
    subject: str
    name: str
    groups: tuple[str, ...] = ()


def note_user(connection: Connection, identity: Identity) -> Any:
    """Row of this user, made at the first visit; name and time of the last visit are kept, the latter to the minute."""
    row = _known(connection, identity)
    if row is not None and row.name == identity.name and not row.unnoted:
        return row
    values = {"id": new_id(), "issuer": identity.issuer, "subject": identity.subject, "name": identity.name}
    changed = {"name": identity.name, "seen_at": func.now()}
    statement = insert(users).values(values).on_conflict_do_update(index_elements=["issuer", "subject"], set_=changed)
    connection.execute(statement)
    return _known(connection, identity)


def _known(connection: Connection, identity: Identity) -> Any:
    unnoted = (users.c.seen_at < func.now() - _SEEN).label("unnoted")
    here = (users.c.issuer == identity.issuer, users.c.subject == identity.subject)
    return connection.execute(select(*users.c, unnoted).where(*here)).one_or_none()


def roles_of(connection: Connection, name: str, groups: Sequence[str]) -> Mapping[uuid.UUID | None, Role]:
    """Greatest role of a user of this name in these groups, by project; under None, in every project."""
    mine = or_(
        and_(members.c.kind == "user", members.c.name == written_name(name)),
        and_(members.c.kind == "group", members.c.name.in_(groups)),
    )
    found: dict[uuid.UUID | None, Role] = {}
    for row in connection.execute(select(members.c.project_id, members.c.role).where(mine)):
        found[row.project_id] = max(row.role, found.get(row.project_id, "reader"), key=ROLES.index)
    return found


def written_name(name: str) -> str:
    """A user's name as members are stored: addresses in lower case, anything else as it is."""
    return name.lower() if "@" in name else name


def add_member(connection: Connection, project_id: uuid.UUID | None, *, kind: MemberKind, name: str, role: Role) -> Any:
    """Give a user or a group a role in a project, or (None) in every project; `Conflict` when it has one there."""
    written = written_name(name) if kind == "user" else name
    values = {"id": new_id(), "project_id": project_id, "kind": kind, "name": written, "role": role}
    try:
        return connection.execute(insert(members).values(values).returning(*members.c)).one()
    except IntegrityError:
        raise Conflict(f'"{written}" has a role here already: remove that first.') from None


def list_members(
    connection: Connection, project_id: uuid.UUID | None, after: uuid.UUID | None, limit: int
) -> Sequence[Any]:
    """Members of a project, or (None) of every project, oldest first."""
    query = select(members).where(members.c.project_id.is_not_distinct_from(project_id))
    if after is not None:
        query = query.where(members.c.id > after)
    return connection.execute(query.order_by(members.c.id).limit(limit)).all()


def remove_member(connection: Connection, project_id: uuid.UUID | None, member_id: uuid.UUID) -> Any:
    """Take a role back at once and return its row; `NotFound` if there is no such member."""
    here = (members.c.id == member_id, members.c.project_id.is_not_distinct_from(project_id))
    row = connection.execute(delete(members).where(*here).returning(*members.c)).one_or_none()
    if row is None:
        raise NotFound("There is no such member here.")
    return row
