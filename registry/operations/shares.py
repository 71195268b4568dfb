"""Share links: one path of a project, readable without a token until the link expires or is revoked.

A link carries the id of its row, signed with a key of this database: an unsigned link costs no look-up, and a revoked
one is worthless at once.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import unquote

from itsdangerous import BadData, URLSafeSerializer
from sqlalchemy import Connection, delete, func, insert, select

from registry.errors import Fault, Invalid, NotFound, Unauthenticated
from registry.operations.auth import Caller
from registry.operations.read import find_owner
from registry.storage.tables import new_id, projects, shares, signing_keys

_GRID = re.compile(r"(?:/api/v1)?/grids/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:[/.].*)?")
_WHOLE = re.compile(r"(/api/v1)?/projects/[^/.]+(?:/grids)?")
"""Path of a whole project, or of the list of all its grids."""
_WORTHLESS = "This link is not valid, has expired or was revoked."


def make_share(connection: Connection, project: Any, path: str, seconds: int) -> tuple[Any, str]:
    """Make a link to a path of the project or of one of its grids; return its row and the link's content.

    The path may be percent-encoded (`%20`); it is stored decoded, the form in which requests are compared with it.
    """
    path = unquote(path)
    grid = _GRID.fullmatch(path)
    owner = find_owner(connection, uuid.UUID(grid[1])) if grid else None
    homes = [f"{base}/projects/{project.slug}" for base in ("/api/v1", "")]
    of_project = any(path == home or path.startswith((f"{home}/", f"{home}.")) for home in homes)
    of_grid = owner is not None and owner.project_id == project.id
    if ".." in path or not path.isprintable() or not (of_project or of_grid):
        raise Invalid([Fault("/path", "is no path of this project: begin with /api/v1/projects/… or /api/v1/grids/…")])
    row = connection.execute(
        insert(shares)
        .values(id=new_id(), project_id=project.id, path=path, expires_at=func.now() + timedelta(seconds=seconds))
        .returning(*shares.c)
    ).one()
    return row, _signer(connection).dumps(row.id.hex)


def _signer(connection: Connection) -> URLSafeSerializer:
    secret = connection.scalar(select(signing_keys.c.secret).where(signing_keys.c.name == "shares"))
    if secret is None:
        raise Unauthenticated(_WORTHLESS)
    return URLSafeSerializer(bytes(secret), salt="registry share")


def authenticate_share(connection: Connection, share: str, path: str) -> Caller:
    """Caller that reads this path by this link; `Unauthenticated` when the link does not open the path."""
    row = find_share(connection, share)
    if not reaches(row.path, path):
        raise Unauthenticated(_WORTHLESS)
    return Caller(None, row.project_id, "reader")


def find_share(connection: Connection, share: str) -> Any:
    """Row of a link, with the visibility of its project; `Unauthenticated` when the link is worthless."""
    try:
        share_id = uuid.UUID(hex=str(_signer(connection).loads(share)))
    except (BadData, ValueError):
        raise Unauthenticated(_WORTHLESS) from None
    query = select(*shares.c, projects.c.visibility).join(projects, projects.c.id == shares.c.project_id)
    row = connection.execute(query.where(shares.c.id == share_id, shares.c.expires_at > func.now())).one_or_none()
    if row is None:
        raise Unauthenticated(_WORTHLESS)
    return row


def reaches(shared: str, path: str) -> bool:
    """Return whether a link to the path `shared` opens `path`: the path itself, its forms, and everything below.

    A link to a whole project opens its grids too, although their paths do not begin with the project's: `authorize`
    checks that a grid belongs to the project, as for every caller.
    """
    if path == shared or path.startswith((f"{shared}/", f"{shared}.")):
        return True
    whole = _WHOLE.fullmatch(shared)
    return whole is not None and path.startswith(f"{whole[1] or ''}/grids/") and _GRID.fullmatch(path) is not None


def list_shares(connection: Connection, project_id: uuid.UUID, after: uuid.UUID | None, limit: int) -> Sequence[Any]:
    """Links of the project that have not expired, oldest first, without their contents."""
    query = select(shares).where(shares.c.project_id == project_id, shares.c.expires_at > func.now())
    if after is not None:
        query = query.where(shares.c.id > after)
    return connection.execute(query.order_by(shares.c.id).limit(limit)).all()


def revoke_share(connection: Connection, project_id: uuid.UUID, share_id: uuid.UUID) -> None:
    """Revoke a link at once; `NotFound` when the project has no such link."""
    here = (shares.c.id == share_id, shares.c.project_id == project_id)
    if connection.execute(delete(shares).where(*here)).rowcount == 0:
        raise NotFound("The project has no such share.")
