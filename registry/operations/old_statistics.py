"""Readers of statistics that other methods computed have them computed again."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from typing import Any

from registry.errors import Unavailable
from registry.methods_version import METHODS_VERSION
from registry.storage.database import Database
from registry.storage.statistics_jobs import requeue_statistics
from registry.storage.tables import grids


def requeue_old(database: Database, rows: Iterable[Any]) -> bool:
    """Make the jobs due of those rows of `find_statistics` that other methods than this release's computed, or that
    somebody has deleted, if nobody has done so yet; return whether some are due now. A row may be None.

    Whoever reads goes on with what is stored, also where nothing can be written.
    """
    old = [row for row in rows if row is not None and _is_old(row)]
    if not old:
        return False
    projects: set[uuid.UUID] = {row.project_id for row in old}
    which = (grids.c.project_id.in_(projects), grids.c.id.in_([row.id for row in old]))
    try:
        with database.transaction() as connection:
            return requeue_statistics(connection, *which) > 0
    except Unavailable:
        return False


def _is_old(row: Any) -> bool:
    return bool(row.state == "ready" and row.methods_version != METHODS_VERSION)
