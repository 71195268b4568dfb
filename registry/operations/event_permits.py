"""What lets a reader listen, and whether it still does."""

from __future__ import annotations

import uuid
from collections.abc import Collection

from sqlalchemy import Connection, func, select, union_all

from registry.storage.tables import projects, shares, tokens


def lasting(connection: Connection, permits: Collection[uuid.UUID]) -> set[uuid.UUID]:
    """Those of these ids that still admit: a token or a share that is not over, a project that is public."""
    if not permits:
        return set()
    now = func.now()
    found = union_all(
        select(tokens.c.id).where(tokens.c.id.in_(permits), tokens.c.revoked_at.is_(None), tokens.c.expires_at > now),
        select(shares.c.id).where(shares.c.id.in_(permits), shares.c.expires_at > now),
        select(projects.c.id).where(
            projects.c.id.in_(permits), projects.c.visibility == "public", projects.c.deleted_at.is_(None)
        ),
    )
    return set(connection.execute(found).scalars())
