"""Bring a database to this code's schema, one process at a time."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.pool import NullPool

from registry.settings import driver_url

_LOCK = 0x72656769  # "regi"


def migrate(database_url: str) -> None:
    """Apply every migration that the database does not have; a second process waits, then finds nothing to do."""
    engine = create_engine(driver_url(database_url), poolclass=NullPool)
    with engine.connect() as guard:
        guard.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": _LOCK})
        with engine.connect() as connection:
            connection.execute(text("SET lock_timeout = '1s'"))
            upgrade(connection)
            connection.commit()


def upgrade(connection: Connection, target: str = "head") -> None:
    """Apply migrations on an open connection, which the caller commits."""
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    config.attributes["connection"] = connection
    command.upgrade(config, target)
