"""What events were about, as far as it is still there."""

from __future__ import annotations

import uuid
from collections.abc import Collection

from sqlalchemy import Connection, select, union_all

from registry.storage.tables import claims, grids


def still_there(connection: Connection, project_id: uuid.UUID, ids: Collection[uuid.UUID]) -> set[str]:
    """Those of the ids that are grids or claims of the project and not deleted, as text."""
    if not ids:
        return set()
    of_grids = select(grids.c.id).where(
        grids.c.id.in_(ids), grids.c.project_id == project_id, grids.c.deleted_at.is_(None)
    )
    of_claims = select(claims.c.id).where(
        claims.c.id.in_(ids), claims.c.project_id == project_id, claims.c.archived_at.is_(None)
    )
    return {str(one) for one in connection.scalars(union_all(of_grids, of_claims))}
