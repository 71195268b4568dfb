"""Share links: one path of a project, readable without a token until the link expires or is revoked.

A link carries the id of its row, signed with a key of this database: an unsigned link costs no look-up, and a revoked
one is worthless at once.
"""

import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import quote, unquote

from itsdangerous import BadData, URLSafeSerializer
from sqlalchemy import Connection, delete, func, insert, select

from registry.errors import Fault, Invalid, NotFound, Unauthenticated
from registry.operations.audit_log import Actor, record
from registry.operations.auth import Caller
from registry.operations.find_claims import find_claim_owner
from registry.operations.read import find_owner
from registry.storage.tables import new_id, projects, shares, signing_keys

_OWNED = re.compile(r"(?:/api/v1)?/(grids|claims)/([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:[/.].*)?")
_WHOLE = re.compile(r"(/api/v1)?/projects/[^/.]+(?:/(grids|claims))?")
"""Path of a whole project, or of the list of all its grids or claims."""
_RESULTS = re.compile(r"(/projects/[^/.]+)/results")
_VIEWS = ("rankings", "aggregates", "lines", "experiments", "trade-offs", "comparisons")
"""Paths of what the views of all results of a project show."""
_NAMED = re.compile(
    r"(?:/api/v1)?/projects/[^/]+/(?:experiments|benchmarks|models|variants|metrics|baselines|suites)/.+"
)
_OF_NAMED = re.compile(r"/(?:gate|verdicts)(?:\.[a-z]+)?$")
"""What there is below a name; another name may go on behind it with a dot or a slash."""
_OWNERS: Mapping[str, Callable[..., Any]] = {"grids": find_owner, "claims": find_claim_owner}
_API = "/api/v1"
_WORTHLESS = "This link is not valid, has expired or was revoked."


def make_share(connection: Connection, actor: Actor, project: Any, path: str, seconds: int) -> Any:
    """Make a link to a path of the project or of one of its grids or claims, which the audit log has; return its row.

    The path may be percent-encoded (`%20`); it is stored decoded, the form in which requests are compared with it.
    """
    path = unquote(path)
    owned = _OWNED.fullmatch(path)
    owner = _OWNERS[owned[1]](connection, uuid.UUID(owned[2])) if owned else None
    homes = [f"{base}/projects/{project.slug}" for base in ("/api/v1", "")]
    of_project = any(path == home or path.startswith((f"{home}/", f"{home}.")) for home in homes)
    is_owned = owner is not None and owner.project_id == project.id
    if ".." in path or not path.isprintable() or not (of_project or is_owned):
        raise Invalid(
            [
                Fault(
                    "/path",
                    f"is no path of this project: it begins with /projects/{project.slug}, or with /grids/ or /claims/ "
                    "and the id of one of its own; the path of data with /api/v1 before that",
                )
            ]
        )
    row = connection.execute(
        insert(shares)
        .values(id=new_id(), project_id=project.id, path=path, expires_at=func.now() + timedelta(seconds=seconds))
        .returning(*shares.c)
    ).one()
    told = {"path": row.path, "expires_at": row.expires_at.isoformat()}
    record(connection, actor, "share.created", row.id, project_id=project.id, **told)
    return row


def share_address(connection: Connection, row: Any, query: str = "") -> str:
    """Path and query of a link, for who has the row: a link is made of its id and the key, and stored nowhere.

    A link opens its path with any query; this one asks for `query`, which is encoded.
    """
    asked = f"{query}&" if query else ""
    return f"{quote(row.path)}?{asked}share={_signer(connection).dumps(row.id.hex)}"


def _signer(connection: Connection) -> URLSafeSerializer:
    secret = connection.scalar(select(signing_keys.c.secret).where(signing_keys.c.name == "shares"))
    if secret is None:
        raise Unauthenticated(_WORTHLESS)
    return URLSafeSerializer(bytes(secret), salt="registry share")


def authenticate_share(connection: Connection, share: str, path: str) -> Caller:
    """Caller that reads this path by this link; `Unauthenticated` when the link does not open the path.

    A link to a page opens the data of that page at the API too.
    """
    row = find_share(connection, share)
    if not (reaches(row.path, path) or reaches(row.path, path.removeprefix(_API))):
        raise Unauthenticated(_WORTHLESS)
    return Caller(None, {row.project_id: "reader"})


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

    A link to all results opens what their views show; one to a whole project its grids and claims too, although their
    paths do not begin with the project's, and one to the list of either opens these: `authorize` checks that they are
    the project's, as for every caller.
    """
    if path == shared:
        return True
    if path.startswith((f"{shared}/", f"{shared}.")):
        return not _NAMED.fullmatch(shared) or _OF_NAMED.sub("", path) == _OF_NAMED.sub("", shared)
    if results := _RESULTS.fullmatch(shared):
        return any(reaches(f"{results[1]}/{view}", path) for view in _VIEWS)
    whole = _WHOLE.fullmatch(shared)
    owned = _OWNED.fullmatch(path)
    if whole is None or owned is None or whole[2] not in (None, owned[1]):
        return False
    return path.startswith(f"{whole[1] or ''}/{owned[1]}/")


def list_shares(connection: Connection, project_id: uuid.UUID, after: uuid.UUID | None, limit: int) -> Sequence[Any]:
    """Links of the project that have not expired, oldest first, without their contents."""
    query = select(shares).where(shares.c.project_id == project_id, shares.c.expires_at > func.now())
    if after is not None:
        query = query.where(shares.c.id > after)
    return connection.execute(query.order_by(shares.c.id).limit(limit)).all()


def share_with_id(connection: Connection, project_id: uuid.UUID, share_id: uuid.UUID) -> Any:
    """Row of a link of the project that has not expired; None if there is none."""
    query = select(shares).where(
        shares.c.id == share_id, shares.c.project_id == project_id, shares.c.expires_at > func.now()
    )
    return connection.execute(query).one_or_none()


def revoke_share(connection: Connection, actor: Actor, project_id: uuid.UUID, share_id: uuid.UUID) -> None:
    """Revoke a link at once, which the audit log has; `NotFound` when the project has no such link."""
    here = (shares.c.id == share_id, shares.c.project_id == project_id)
    if connection.execute(delete(shares).where(*here)).rowcount == 0:
        raise NotFound("The project has no such share.")
    record(connection, actor, "share.revoked", share_id, project_id=project_id)
