"""The role of the web process in the database: it serves and publishes, but changes no table and no revision.

Whoever owns the tables grants; only making a role needs more (CREATEROLE). Run again after each migration, so that new
tables are included: `registry migrate --grant-web-role NAME` does both.
"""

from collections.abc import Mapping

import psycopg2
from psycopg2 import sql
from sqlalchemy import make_url

from registry.errors import Misconfigured
from registry.settings import WEB_ROLE, driver_url
from registry.storage.tables import APPEND_ONLY, READ_ONLY


def grant_web_role(
    database_url: str, role: str, password: str | None = None, parameters: Mapping[str, str] | None = None
) -> None:
    """Make the role if there is none, and give it what the web process needs and no more.

    `parameters` hold in all of its sessions in this database; whoever may not set them leaves that to an administrator,
    whom `registry doctor` tells so where it matters, behind a pooler.

    Raises `Misconfigured` when the role is missing and may not be made, or has rights that cannot be taken away.
    """
    owner = make_url(driver_url(database_url)).set(drivername="postgresql").render_as_string(hide_password=False)
    connection = psycopg2.connect(owner)
    try:
        with connection, connection.cursor() as cursor:
            _make(cursor, role, password)
            _grant(cursor, sql.Identifier(role))
            _set_parameters(cursor, role, parameters or {})
            _check(cursor, role)
    finally:
        connection.close()


def regrant(database_url: str) -> None:
    """Grant the usual role its rights again, if this server knows it and the tables are ours: a restore has none."""
    owner = make_url(driver_url(database_url)).set(drivername="postgresql").render_as_string(hide_password=False)
    connection = psycopg2.connect(owner)
    try:
        with connection, connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (WEB_ROLE,))
            if cursor.fetchone() is not None:
                _grant(cursor, sql.Identifier(WEB_ROLE))
    finally:
        connection.close()


def _make(cursor: psycopg2.extensions.cursor, role: str, password: str | None) -> None:
    cursor.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (role,))
    there = cursor.fetchone() is not None
    if there and password is None:
        return
    verb = sql.SQL("ALTER" if there else "CREATE")
    secret = sql.SQL("PASSWORD {}").format(sql.Literal(password)) if password else sql.SQL("")
    try:
        cursor.execute(sql.SQL("{} ROLE {} LOGIN {}").format(verb, sql.Identifier(role), secret))
    except psycopg2.errors.InsufficientPrivilege:
        raise Misconfigured(
            f"The role {role} cannot be made or changed by this one; have an administrator of the database run"
            f" CREATE ROLE {role} LOGIN PASSWORD \u2026, and then repeat this without a password."
        ) from None


def _grant(cursor: psycopg2.extensions.cursor, role: sql.Identifier) -> None:
    tables = sql.SQL(", ")
    for statement in (
        "REVOKE ALL ON ALL TABLES IN SCHEMA public FROM {role}",
        "REVOKE CREATE ON SCHEMA public FROM {role}",
        "GRANT USAGE ON SCHEMA public TO {role}",
        "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {role}",
        "GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {role}",  # which Citus asks for, of identities too
        "REVOKE UPDATE, DELETE ON {append_only} FROM {role}",
        "REVOKE INSERT, UPDATE, DELETE ON {read_only} FROM {role}",
    ):
        cursor.execute(
            sql.SQL(statement).format(
                role=role,
                append_only=tables.join(map(sql.Identifier, APPEND_ONLY)),
                read_only=tables.join(map(sql.Identifier, READ_ONLY)),
            )
        )
    _revoke_partitions(cursor, role)


_PARTITIONS = """
    SELECT relname FROM pg_class WHERE relispartition AND relkind IN ('r', 'p')
    AND relnamespace = 'public'::regnamespace ORDER BY relname"""


def _revoke_partitions(cursor: psycopg2.extensions.cursor, role: sql.Identifier) -> None:
    """Leave the role no right to partitions: what it may do, it does by their tables, whose rights may be less."""
    cursor.execute(_PARTITIONS)
    for (name,) in cursor.fetchall():
        cursor.execute(sql.SQL("REVOKE ALL ON {} FROM {}").format(sql.Identifier(name), role))


def _set_parameters(cursor: psycopg2.extensions.cursor, role: str, parameters: Mapping[str, str]) -> None:
    cursor.execute("SELECT current_database()")
    [database] = cursor.fetchone() or [""]
    cursor.execute("SAVEPOINT parameters")
    try:
        for name, value in parameters.items():
            statement = sql.SQL("ALTER ROLE {} IN DATABASE {} SET {} TO {}")
            names = (sql.Identifier(one) for one in (role, database, name))
            cursor.execute(statement.format(*names, sql.Literal(value)))
    except psycopg2.errors.InsufficientPrivilege:
        cursor.execute("ROLLBACK TO SAVEPOINT parameters")


def _check(cursor: psycopg2.extensions.cursor, role: str) -> None:
    """A superuser, an owner or an old database's PUBLIC may do what was not granted."""
    cursor.execute(
        "SELECT rolsuper OR has_schema_privilege(rolname, 'public', 'CREATE')"
        " OR has_table_privilege(rolname, 'stored_revisions', 'UPDATE, DELETE, TRUNCATE')"
        " OR EXISTS (SELECT FROM pg_class WHERE relispartition AND relkind IN ('r', 'p')"
        " AND relnamespace = 'public'::regnamespace AND has_table_privilege(rolname, pg_class.oid,"
        " 'INSERT, UPDATE, DELETE, TRUNCATE'))"
        " FROM pg_roles WHERE rolname = %s",
        (role,),
    )
    if cursor.fetchone() != (False,):
        raise Misconfigured(
            f"{role} may change tables or revisions by other means: it is a superuser, owns the tables, or PUBLIC may"
            " create in the schema public (REVOKE CREATE ON SCHEMA public FROM PUBLIC)."
        )
