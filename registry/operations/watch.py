"""How the registry fares: is it migrated, which promises are not kept."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, text

SCHEMA = "0001"
"""The migration that this code needs, or a later one."""


@dataclass(frozen=True, slots=True)
class Health:
    migrated: bool
    pending: int = 0
    failed: int = 0
    oldest_seconds: float = 0.0


_PROMISES = text("""
    SELECT count(*) AS pending,
           coalesce(extract(epoch FROM now() - min(due_at)), 0) AS oldest,
           (SELECT count(*) FROM derivations WHERE state = 'failed') AS failed
    FROM derivations WHERE state = 'pending'
""")


def health_of(connection: Connection) -> Health:
    """One look at the promises; a database without tables is not migrated."""
    there = connection.scalar(text("SELECT to_regclass('alembic_version') IS NOT NULL"))
    version = connection.scalar(text("SELECT max(version_num) FROM alembic_version")) if there else None
    if version is None or version < SCHEMA:
        return Health(False)
    row = connection.execute(_PROMISES).one()
    return Health(True, row.pending, row.failed, max(0.0, float(row.oldest)))
