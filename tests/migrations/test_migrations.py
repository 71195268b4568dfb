"""The migrations and the tables say the same, and two processes may migrate at once."""

import ast
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.pool import NullPool

import migrations.apply
from migrations.apply import migrate
from registry.errors import Misconfigured
from registry.operations.health import SCHEMA
from registry.settings import Settings, driver_url
from registry.storage.database import Database
from registry.storage.tables import metadata


def test_a_database_that_several_migrate_at_once_has_the_tables_of_the_code_whatever_their_locale(
    empty_database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = Database(replace(Settings(), database_url=empty_database_url), name="tests")
    with monkeypatch.context() as patched, ThreadPoolExecutor(4) as pool:
        patched.setenv("PGCLIENTENCODING", "LATIN1")
        for done in [pool.submit(migrate, empty_database_url) for _ in range(4)]:
            done.result(timeout=240)
        with database.reading() as connection:
            assert connection.scalar(text("SELECT '…é'")) == "…é"
            assert connection.scalar(text("SELECT octet_length('…é')")) == 5
    engine = create_engine(driver_url(empty_database_url), poolclass=NullPool)
    with engine.begin() as connection:
        assert compare_metadata(MigrationContext.configure(connection), metadata) == []
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == SCHEMA
        leaky = "relkind = 'v' AND NOT coalesce('security_barrier=true' = ANY (reloptions), false)"
        views = f"SELECT relname FROM pg_class WHERE relnamespace = 'bi'::regnamespace AND {leaky}"
        assert connection.scalars(text(views)).all() == [], (
            "a view that is replaced needs WITH (security_barrier) again"
        )
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    migrate(empty_database_url)
    with engine.begin() as connection:
        newer = connection.scalar(text("SELECT version_num FROM alembic_version"))
        assert newer == "9999", "a release that was gone back to leaves a newer schema alone"


@pytest.mark.parametrize("version", ["0001", "0022"])
def test_a_schema_from_before_the_first_supported_release_is_refused_and_left_alone(
    empty_database_url: str, version: str
) -> None:
    """0001 is that of release 0.1.0, 0022 the last but one of development."""
    engine = create_engine(driver_url(empty_database_url), poolclass=NullPool)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE alembic_version (version_num varchar(32) PRIMARY KEY)"))
        connection.execute(text("INSERT INTO alembic_version VALUES (:version)"), {"version": version})
    with pytest.raises(Misconfigured, match=f"schema {version} of a release before 0.2.0.*upgrading.md"):
        migrate(empty_database_url)
    with engine.begin() as connection:
        tables = "SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
        assert connection.scalars(text(tables)).all() == ["alembic_version"]
        assert connection.scalar(text("SELECT version_num FROM alembic_version")) == version


def test_a_database_of_another_encoding_is_refused_with_a_sentence(empty_database_url: str) -> None:
    """What PostgreSQL makes where no locale is set."""
    url = make_url(driver_url(empty_database_url))
    other = f"{url.database}_ascii"
    engine = create_engine(url, poolclass=NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(
            text(f"CREATE DATABASE {other} ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
        )
        try:
            with pytest.raises(Misconfigured, match="SQL_ASCII, and the registry needs UTF8: CREATE DATABASE"):
                migrate(url.set(database=other).render_as_string(hide_password=False))
        finally:
            connection.execute(text(f"DROP DATABASE {other}"))


def test_a_version_imports_none_of_the_code_that_goes_on_changing(subtests: pytest.Subtests) -> None:
    allowed = {"alembic", "sqlalchemy", "orjson", *sys.stdlib_module_names}
    paths = sorted(Path(migrations.apply.__file__).parent.glob("versions/*.py"))
    assert paths
    for path in paths:
        with subtests.test(path.stem):
            found = [
                one for one in ast.walk(ast.parse(path.read_text())) if isinstance(one, ast.ImportFrom | ast.Import)
            ]
            names = {one.module or "" if isinstance(one, ast.ImportFrom) else one.names[0].name for one in found}
            assert {name.partition(".")[0] for name in names} <= allowed
