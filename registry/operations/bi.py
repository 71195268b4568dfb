"""Readers of the schema `bi`, the views for SQL tools such as Superset (decision 12): `registry bi-role`.

Each is a role of the database with the projects that it may see.
"""

import re
from collections.abc import Sequence
from contextlib import closing

from psycopg2 import sql
from sqlalchemy import Connection, delete, insert, text

from registry.errors import Fault, Invalid, NotFound
from registry.operations.projects import find_project
from registry.storage.tables import bi_readers, new_id

_NAME = re.compile(r"[a-z_][a-z0-9_]{0,62}")
_LIMITS = ("default_transaction_read_only = on", "statement_timeout = '60s'", "search_path = bi", "TimeZone = 'UTC'")


def make_reader(connection: Connection, name: str, password: str, projects: Sequence[str]) -> None:
    """Create or change a role: its password and its projects. Without projects it sees all, future ones included.

    The role may read the views of `bi` and has no right to any table.
    """
    if not _NAME.fullmatch(name):
        raise Invalid([Fault("/name", "is 1 to 63 of a-z, 0-9 and _, and begins with a letter")])
    ids = []
    for slug in projects:
        row = find_project(connection, slug)
        if row is None:
            raise NotFound(f'There is no project "{slug}".')
        ids.append(row.id)
    known = connection.execute(
        text("SELECT rolsuper FROM pg_roles WHERE rolname = :name"), {"name": name}
    ).one_or_none()
    mine = connection.execute(bi_readers.select().where(bi_readers.c.role_name == name).limit(1)).first()
    if known is not None and mine is None:
        raise Invalid([Fault("/name", f'the role "{name}" is there already and is no reader of bi')])
    verb = "ALTER" if known is not None else "CREATE"
    limits = "LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOINHERIT CONNECTION LIMIT 20"
    # Utility statements take no parameters. The name is checked above.
    with closing(connection.connection.cursor()) as cursor:
        cursor.execute(sql.SQL(f"{verb} ROLE {name} {limits} PASSWORD {{}}").format(sql.Literal(password)))
    for limit in _LIMITS:
        connection.execute(text(f"ALTER ROLE {name} SET {limit}"))
    connection.execute(text(f"GRANT USAGE ON SCHEMA bi TO {name}"))
    connection.execute(text(f"GRANT SELECT ON ALL TABLES IN SCHEMA bi TO {name}"))
    connection.execute(delete(bi_readers).where(bi_readers.c.role_name == name))
    rows = [{"id": new_id(), "role_name": name, "project_id": one} for one in ids or [None]]
    connection.execute(insert(bi_readers), rows)
