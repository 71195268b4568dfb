"""The migrations and the tables say the same, and two processes may migrate at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from migrations.apply import migrate
from registry.operations.health import SCHEMA
from registry.settings import driver_url
from registry.storage.tables import metadata


def test_a_migrated_database_has_the_tables_of_the_code(empty_database_url: str) -> None:
    migrate(empty_database_url)
    engine = create_engine(driver_url(empty_database_url), poolclass=NullPool)
    with engine.connect() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == SCHEMA


def test_processes_that_migrate_at_once_wait_for_each_other(empty_database_url: str) -> None:
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(migrate, empty_database_url) for _ in range(4)]:
            done.result(timeout=60)
