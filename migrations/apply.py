"""Bring a database to this code's schema, one process at a time."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.pool import NullPool

from registry.errors import Misconfigured
from registry.settings import driver_url

_LOCK = 0x72656769  # "regi"
_LOCK_TIMEOUT = "1s"


def migrate(database_url: str) -> None:
    """Apply every migration that the database does not have; a second process waits, then finds nothing to do.

    A release that has been gone back to finds a newer schema, which it works with, and leaves it alone. Raises
    `Misconfigured` for the schema of a release that is too old to be upgraded from.
    """
    engine = create_engine(driver_url(database_url), poolclass=NullPool, connect_args={"client_encoding": "utf8"})
    with engine.connect() as guard:
        # Of the transaction, both the lock and the parameters: a pooler may give each transaction another session.
        _without_limits(guard, lock_timeout="0")
        guard.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        with engine.connect() as connection:
            _without_limits(connection, lock_timeout=_LOCK_TIMEOUT)
            _check_encoding(connection)
            _upgrade(connection)
            connection.commit()


def _check_encoding(connection: Connection) -> None:
    """PostgreSQL makes SQL_ASCII databases where no locale is set; names of models are compared as text here."""
    encoding = connection.scalar(text("SHOW server_encoding"))
    if encoding != "UTF8":
        made = "CREATE DATABASE registry ENCODING 'UTF8' TEMPLATE template0"
        raise Misconfigured(f"The database has the encoding {encoding}, and the registry needs UTF8: {made}")


def _without_limits(connection: Connection, *, lock_timeout: str) -> None:
    """Lift the limits that the role may have for its other sessions: a migration takes the time that it takes."""
    limits = {"statement_timeout": "0", "idle_in_transaction_session_timeout": "0", "lock_timeout": lock_timeout}
    for name, value in limits.items():
        connection.execute(text(f"SET LOCAL {name} = '{value}'"))


@contextmanager
def changing(database_url: str, *, lock_timeout: str) -> Iterator[Connection]:
    """A transaction that changes the schema while no migration does; it is committed at the end of the block."""
    engine = create_engine(driver_url(database_url), poolclass=NullPool, connect_args={"client_encoding": "utf8"})
    with engine.connect() as connection:
        _without_limits(connection, lock_timeout=lock_timeout)
        connection.execute(text("SELECT pg_advisory_xact_lock(:lock)"), {"lock": _LOCK})
        yield connection
        connection.commit()


def _upgrade(connection: Connection) -> None:
    """Apply the migrations that come after the database's, if it is not newer than this code."""
    config = _config()
    scripts = ScriptDirectory.from_config(config)
    version = version_of(connection)
    if version is not None and version < (scripts.get_base() or ""):
        raise Misconfigured(
            f"The database has the schema {version} of a release before 0.2.0, which is not upgraded: write its grids"
            " to files with that release and push them into a new database (docs/upgrading.md). Nothing was changed."
        )
    if version is None or version <= head_of():
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def version_of(connection: Connection) -> str | None:
    """The latest migration that the database has; None before the first."""
    there = connection.scalar(text("SELECT to_regclass('alembic_version') IS NOT NULL"))
    return connection.scalar(text("SELECT max(version_num) FROM alembic_version")) if there else None


def head_of() -> str:
    """The schema that this code brings a database to."""
    return ScriptDirectory.from_config(_config()).get_current_head() or ""


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent))
    return config
