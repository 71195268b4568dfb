"""The tables that grow with the grids in hash partitions by project: `registry partition`.

In one transaction each table is made anew, its rows are copied, and its key, indices, references, triggers and rights
follow, with the project in every key. Views go on by their names. What the code asks stays the same.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, create_engine, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool

from migrations.apply import changing, head_of, version_of
from registry.errors import Conflict
from registry.settings import driver_url

NUMBERS = {"stored_revisions": "number", "derivations": "revision", "statistics": "revision"}
"""The tables, and what each calls the number of a revision."""
LONGEST_WAIT = "30s"
_SERVICE = ("web", "worker", "inline-worker", "dispatcher")
"""What processes of the service call their connections, after `registry-`."""


@dataclass(frozen=True)
class Whole:
    """What a table is besides its columns and rows, as statements that make it again."""

    name: str
    owner: str
    comment: str | None
    rights: Sequence[str]
    indices: Sequence[str]
    triggers: Sequence[Any]


@dataclass(frozen=True)
class Reference:
    """A foreign key from or to one of the tables."""

    table: str
    name: str
    target: str
    definition: str

    def with_project(self) -> str:
        """The statement that makes it again, with the project in the key of what it is to."""
        definition = self.definition
        if self.target in NUMBERS:
            # FOREIGN KEY (grid_id, revision) REFERENCES stored_revisions(grid_id, number)
            definition = definition.replace("(grid_id, ", "(project_id, grid_id, ")
        return f'ALTER TABLE {self.table} ADD CONSTRAINT "{self.name}" {definition}'


def partition(
    database_url: str, parts: int, said: Callable[[str], None] = lambda _: None, *, beside_service: bool = False
) -> None:
    """Bring the tables into `parts` partitions each; `said` is told what is being done.

    Nobody else reads or writes them meanwhile. Raises `Conflict` as `check_partitioning`, and if processes of the
    service are connected, unless it may run beside.
    """
    with changing(database_url, lock_timeout=LONGEST_WAIT) as connection:
        _check(connection)
        if not beside_service:
            check_stopped(connection)
        _lock(connection)
        _make_anew(connection, parts, said)
    said("planner's statistics")
    with changing(database_url, lock_timeout=LONGEST_WAIT) as connection:
        connection.execute(text(f"ANALYZE {', '.join(NUMBERS)}"))


def _lock(connection: Connection) -> None:
    try:
        connection.execute(text(f"LOCK TABLE {', '.join(NUMBERS)} IN ACCESS EXCLUSIVE MODE"))
    except OperationalError as error:
        raise Conflict("Others use the tables: stop web processes, dispatchers and workers first.") from error


def largest_share(database_url: str) -> float:
    """The share of all grids that the largest project has, from 0 to 1; 0 without any."""
    query = "SELECT coalesce(max(count) / sum(count), 0) FROM (SELECT count(*) FROM grids GROUP BY project_id) c"
    with create_engine(driver_url(database_url), poolclass=NullPool).connect() as connection:
        return float(connection.scalar(text(query)) or 0)


def check_partitioning(database_url: str) -> None:
    """Raise `Conflict` if the tables are in partitions already, or the database is not at this code's schema."""
    with create_engine(driver_url(database_url), poolclass=NullPool).connect() as connection:
        _check(connection)


def _check(connection: Connection) -> None:
    check_ready(connection)
    if has_citus(connection):
        raise Conflict("This database has Citus, whose shards are partitions on many machines: give --citus.")


def has_citus(connection: Connection) -> bool:
    """Whether this is a database of a Citus cluster."""
    return bool(connection.scalar(text("SELECT count(*) FROM pg_extension WHERE extname = 'citus'")))


def check_stopped(connection: Connection) -> None:
    """Refuse while the service is connected: its requests would wait for all of this, and fail."""
    query = """
        SELECT substr(application_name, 10) AS role, count(*) AS sessions FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = ANY(:names) GROUP BY role ORDER BY role"""
    rows = connection.execute(text(query), {"names": [f"registry-{role}" for role in _SERVICE]}).all()
    if rows:
        found = ", ".join(f"{row.role} ({row.sessions})" for row in rows)
        raise Conflict(
            f"The service uses the database; its connections are of: {found}. Stop web processes, dispatchers and"
            " workers first. Nothing was changed."
        )


def check_ready(connection: Connection) -> None:
    """Raise `Conflict` if the database is not at this code's schema, or the tables are in partitions."""
    version = version_of(connection)
    if version != head_of():
        raise Conflict(f"The schema is {version or 'missing'}, not {head_of()}: run `registry migrate` first.")
    kinds = "SELECT relkind FROM pg_class WHERE oid = ANY(CAST(:tables AS regclass[]))"
    if "p" in set(connection.scalars(text(kinds), {"tables": [*NUMBERS]})):
        raise Conflict("The tables are in partitions already; their number stays as it was chosen.")


def _make_anew(connection: Connection, parts: int, said: Callable[[str], None]) -> None:
    wholes, views = [_whole(connection, table) for table in NUMBERS], _views(connection)
    references = references_of(connection, NUMBERS)
    _run(connection, (f'ALTER TABLE {one.table} DROP CONSTRAINT "{one.name}"' for one in references))
    for whole in wholes:
        said(f"rows of {whole.name}")
        _run(connection, _copy(whole, parts))
    _run(connection, views)
    for whole in wholes:
        connection.execute(text(f"DROP TABLE {whole.name}_whole"))
    for whole in wholes:
        said(f"indices of {whole.name}")
        _run(connection, _finish(whole, parts))
    said("references")
    _run(connection, (one.with_project() for one in references))
    _withdraw_rights(connection)


def _run(connection: Connection, statements: Iterable[str]) -> None:
    for statement in statements:
        connection.exec_driver_sql(statement.replace("%", "%%"))


def _whole(connection: Connection, table: str) -> Whole:
    given = {"table": table}
    row = connection.execute(text(_TABLE), given).one()
    indices, rights = connection.scalars(text(_INDICES), given), connection.scalars(text(_RIGHTS), given)
    return Whole(table, row.owner, row.comment, rights.all(), indices.all(), triggers_of(connection, table))


def triggers_of(connection: Connection, table: str) -> Sequence[Any]:
    """The triggers of a table: name, table, definition, and whether each is of whole statements."""
    return connection.execute(text(_TRIGGERS), {"table": table}).all()


_TABLE = """SELECT quote_ident(pg_get_userbyid(relowner)) AS owner,
    quote_literal(obj_description(oid, 'pg_class')) AS comment FROM pg_class WHERE oid = CAST(:table AS regclass)"""
_INDICES = """SELECT pg_get_indexdef(indexrelid) FROM pg_index
    WHERE indrelid = CAST(:table AS regclass) AND NOT indisprimary ORDER BY indexrelid"""
_TRIGGERS = """SELECT tgname AS name, CAST(:table AS text) AS "table", pg_get_triggerdef(oid) AS definition,
    tgtype & 1 = 0 AS of_statement FROM pg_trigger
    WHERE tgrelid = CAST(:table AS regclass) AND NOT tgisinternal ORDER BY tgname"""
_RIGHTS = """SELECT format('GRANT %s ON %s TO %s', privilege_type, CAST(:table AS text),
        CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END)
    FROM pg_class, aclexplode(relacl) WHERE oid = CAST(:table AS regclass) AND grantee <> relowner"""


def _views(connection: Connection) -> Sequence[str]:
    """Statements that make each view over the tables again: it follows a table, not its name."""
    query = """
        SELECT DISTINCT v.oid::regclass::text AS name, pg_get_viewdef(v.oid) AS definition,
            coalesce('WITH (' || array_to_string(v.reloptions, ', ') || ')', '') AS options
        FROM pg_depend d JOIN pg_rewrite r ON r.oid = d.objid JOIN pg_class v ON v.oid = r.ev_class
        WHERE d.classid = 'pg_rewrite'::regclass AND v.relkind = 'v'
            AND d.refobjid = ANY(CAST(:tables AS regclass[]))"""
    rows = connection.execute(text(query), {"tables": [*NUMBERS]}).all()
    return [f"CREATE OR REPLACE VIEW {row.name} {row.options} AS {row.definition}" for row in rows]


def references_of(connection: Connection, tables: Iterable[str]) -> Sequence[Reference]:
    """The foreign keys from and to these tables."""
    query = """
        SELECT conrelid::regclass::text AS "table", conname AS name, confrelid::regclass::text AS target,
            pg_get_constraintdef(oid) AS definition FROM pg_constraint
        WHERE contype = 'f' AND CAST(:tables AS regclass[]) && ARRAY[conrelid::regclass, confrelid::regclass]
        ORDER BY confrelid = 'stored_revisions'::regclass, conname"""
    rows = connection.execute(text(query), {"tables": [*tables]})
    return [Reference(row.table, row.name, row.target, row.definition) for row in rows]


def _copy(whole: Whole, parts: int) -> Iterator[str]:
    """Another table by the name, in partitions, with the rows of the one that was."""
    table = whole.name
    yield f"ALTER TABLE {table} RENAME TO {table}_whole"
    yield (
        f"CREATE TABLE {table} (LIKE {table}_whole INCLUDING ALL EXCLUDING INDEXES EXCLUDING IDENTITY)"
        " PARTITION BY HASH (project_id)"
    )
    yield f"ALTER TABLE {table} OWNER TO {whole.owner}"
    for part in range(parts):
        values = f"WITH (MODULUS {parts}, REMAINDER {part})"
        yield f"CREATE TABLE {table}_{part} PARTITION OF {table} FOR VALUES {values}"
        yield f"ALTER TABLE {table}_{part} OWNER TO {whole.owner}"
    yield f"INSERT INTO {table} SELECT * FROM {table}_whole"


def _finish(whole: Whole, parts: int) -> Iterator[str]:
    """Key, indices, comment, triggers and rights of the table, which has its rows."""
    table, number = whole.name, NUMBERS[whole.name]
    yield f"ALTER TABLE {table} ADD CONSTRAINT pk_{table} PRIMARY KEY (project_id, grid_id, {number})"
    # For `registry verify`, which reads all grids in their order, and for whoever asks by hand without a project.
    yield f"CREATE INDEX ix_{table}_grid_id_{number} ON {table} (grid_id, {number})"
    yield from whole.indices
    if whole.comment is not None:
        yield f"COMMENT ON TABLE {table} IS {whole.comment}"
    for trigger in whole.triggers:
        yield trigger.definition
        if trigger.of_statement:  # PostgreSQL gives partitions the triggers of rows only
            for part in range(parts):
                yield trigger.definition.replace(f" ON public.{table} ", f" ON public.{table}_{part} ")
    yield from whole.rights


def _withdraw_rights(connection: Connection) -> None:
    """Leave nobody a right to a partition that default privileges gave: rights are those of the table."""
    query = """
        SELECT DISTINCT format('REVOKE ALL ON %s FROM %s', c.oid::regclass,
            CASE grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(grantee)) END)
        FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid, aclexplode(relacl)
        WHERE inhparent = ANY(CAST(:tables AS regclass[])) AND grantee <> relowner"""
    _run(connection, connection.scalars(text(query), {"tables": [*NUMBERS]}).all())
