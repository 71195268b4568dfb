"""Checks of the database: its version, durability, clock, connections, and what to do when it cannot be reached."""

import re
import time
from collections.abc import Iterator

from sqlalchemy import Connection, text

from registry.errors import RegistryError, Unavailable
from registry.operations.doctor_checks import Check
from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.tables import APPEND_ONLY, READ_ONLY

OLDEST_SERVER = 150000
MOST_SKEW = 5.0
"""Seconds between the clocks of this machine and of the database. Only the latter decides, but the logs have the
former."""
OF_WORKER_PROCESS = 2
"""Connections that one process of a worker holds at most: of what it computes, and of the leases it renews."""
OF_DISPATCHER = 3
"""One for the dispatcher and two for the inline worker, which computes when no other worker does."""
OF_COMMANDS = 4
"""For `registry migrate`, which needs two, a backup and the doctor."""

_ADVICE = (
    (
        r"password authentication failed|no password supplied|SASL authentication|auth(entication)? failed",
        "The role or password in REGISTRY_DATABASE_URL is wrong. `registry migrate --grant-web-role NAME` sets that"
        " role's password to REGISTRY_WEB_PASSWORD.",
    ),
    (
        r"too many (clients|connections)|remaining connection slots|no more connections allowed",
        "The server is full: raise max_connections (of a pooler max_client_conn), or lower REGISTRY_POOL_SIZE;"
        " docs/operating.md, Connections, says what each process takes.",
    ),
    (
        r"unsupported startup parameter",
        "This is a pooler: set REGISTRY_POOLER to its pool_mode, session or transaction.",
    ),
    (r"prepared statement", "A pooler in transaction mode is in between: set REGISTRY_POOLER=transaction."),
    (r"query_wait_timeout", "The pooler has no free server connection: raise its default_pool_size."),
    (r"No space left|disk is full", "Its disk is full: make room; nothing that was answered 201 is lost."),
    (
        r"pg_hba\.conf|no encryption|SSL off",
        "The server does not let this role in from here: a line in pg_hba.conf, or another sslmode in"
        " REGISTRY_DATABASE_URL.",
    ),
    (
        r"SSL|certificate|TLS",
        "TLS failed: sslmode and sslrootcert in REGISTRY_DATABASE_URL say what is expected; the certificate must be"
        " valid, for this host name, and of that authority.",
    ),
    (
        r'(role|database) "[^"]*" does not exist',
        "REGISTRY_DATABASE_URL names a role or a database that this server does not have.",
    ),
    (r"could not translate host name|Name or service not known", "No name server knows this host name."),
    (
        r"session is (not )?read-(only|write)|in recovery|hot standby",
        "None of the servers that REGISTRY_DATABASE_URL names takes writes: promote a standby.",
    ),
    (
        r"permission denied",
        "Run `registry migrate --grant-web-role NAME` as the owner of the tables: this role lacks rights, as after a"
        " restore.",
    ),
    (r"starting up|shutting down|recovery mode", "The server starts or stops: wait."),
)
_REACH = "Is PostgreSQL running? REGISTRY_DATABASE_URL says where it is looked for."


def check_unreachable(error: Exception) -> Check:
    """The check of a database that cannot be used, with the driver's reason and what to do about it."""
    reason = error.cause if isinstance(error, Unavailable) and error.cause else str(error)
    advice = next((advice for pattern, advice in _ADVICE if re.search(pattern, reason)), _REACH)
    return Check("database", "bad", reason, advice)


def check_server(connection: Connection) -> Iterator[Check]:
    """Server version, and the settings on which the durability of a 201 rests."""
    number = int(connection.scalar(text("SHOW server_version_num")) or 0)
    version = str(connection.scalar(text("SHOW server_version")))
    new = number >= OLDEST_SERVER
    yield Check("database", "good" if new else "bad", f"PostgreSQL {version}", "" if new else "15 or later is needed.")
    for name in ("fsync", "full_page_writes", "synchronous_commit"):
        value = str(connection.scalar(text(f"SHOW {name}")))
        off = value in ("off", "local")
        advice = f"Set {name} = on in postgresql.conf: what was answered 201 may be lost in a crash of the server."
        yield Check(name, "bad" if off else "good", value, advice if off else "")
    if connection.scalar(text("SHOW transaction_read_only")) == "on":
        advice = (
            "Promote it if it is a standby, else reset default_transaction_read_only; or have the URL name another."
        )
        yield Check("writes", "bad", "the server is read-only", advice)


def clock_difference(connection: Connection) -> float:
    """Seconds by which the database's clock is ahead of this machine's."""
    before = time.time()
    theirs = float(connection.scalar(text("SELECT extract(epoch FROM clock_timestamp())")) or 0.0)
    return theirs - (before + time.time()) / 2


def check_clock(connection: Connection) -> Check:
    """Check the difference between the clocks of this machine and of the database."""
    skew = clock_difference(connection)
    bad = abs(skew) > MOST_SKEW
    return Check("clock", "doubtful" if bad else "good", f"{skew:+.1f} s", "Set this clock by NTP." if bad else "")


_CONNECTIONS = text("""
    SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
               - coalesce(current_setting('reserved_connections', true)::int, 0) AS places,
           count(*) AS taken, count(*) FILTER (WHERE NOT starts_with(application_name, 'registry-')) AS others
    FROM pg_stat_activity WHERE datid IS NOT NULL AND pid <> pg_backend_pid()
""")
_PLACE = text("""
    SELECT CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() END AS place,
        coalesce(extract(epoch FROM now() - pg_last_xact_replay_timestamp()), 0)::float8 AS age
""")


def check_replica(connection: Connection, replica: Database, most: float) -> Check:
    """Whether the replica is one, and how many bytes of the log it has not applied; of late ones, that web processes do
    not read from it while it is more than `most` seconds behind."""
    try:
        with replica.reading() as there:
            place, age = there.execute(_PLACE).one()
    except RegistryError as error:
        found = check_unreachable(error)
        return Check("replica", "bad", found.found, f"Until then everything is read from the primary. {found.advice}")
    if place is None:
        return Check("replica", "bad", "is no standby", "REGISTRY_REPLICA_URL leads to a server that takes writes.")
    query = text("SELECT pg_current_wal_flush_lsn() - CAST(:place AS pg_lsn)")
    behind = max(0, int(connection.scalar(query, {"place": place}) or 0))
    if not behind or age <= most:
        return Check("replica", "good", f"{behind} bytes behind")
    advice = f"Reads go to the primary while it is more than {most:g} s (REGISTRY_REPLICA_LAG); its log says why."
    return Check("replica", "doubtful", f"{behind} bytes and {age:.0f} s behind", advice)


_RIGHTS = text("""
    WITH tables AS (
        SELECT oid, relname, relacl, relowner FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p', 'v') AND NOT relispartition
    ), roles AS (
        SELECT current_user::regrole::oid AS role
        UNION SELECT grantee FROM tables, aclexplode(relacl)
        WHERE privilege_type = 'INSERT' AND grantee NOT IN (0, relowner)
    )
    SELECT pg_get_userbyid(role) || ' lacks ' || string_agg(privilege, ', ') || ' on ' || relname
    FROM roles, tables, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS privilege
    WHERE NOT has_table_privilege(role, tables.oid, privilege) AND (privilege = 'SELECT' OR relname <> ALL(:read_only))
        AND (privilege IN ('SELECT', 'INSERT') OR relname <> ALL(:append_only))
    GROUP BY role, relname ORDER BY 1
""")
_SHOWN_RIGHTS = 5


def check_rights(connection: Connection) -> Check:
    """Whether every role that writes may do to each table what the web process does; so may this one."""
    known = {"read_only": list(READ_ONLY), "append_only": list(APPEND_ONLY)}
    missing = connection.scalars(_RIGHTS, known).all()
    if not missing:
        return Check("rights", "good", "roles that write have those of the web process")
    more = f" and {len(missing) - _SHOWN_RIGHTS} more" if len(missing) > _SHOWN_RIGHTS else ""
    advice = "Run `registry migrate --grant-web-role NAME` as the owner of the tables."
    return Check("rights", "bad", "; ".join(missing[:_SHOWN_RIGHTS]) + more, advice)


_PARTITIONS = text("""
    SELECT count(DISTINCT inhparent) AS tables, count(*) AS parts,
        array_agg(DISTINCT holder) FILTER (WHERE holder <> '') AS holders
    FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid AND c.relkind = 'r'
        AND c.relnamespace = 'public'::regnamespace
    CROSS JOIN LATERAL (
        SELECT coalesce(max(CASE grantee WHEN 0 THEN 'PUBLIC' ELSE pg_get_userbyid(grantee) END), '') AS holder
        FROM aclexplode(c.relacl) WHERE grantee <> c.relowner AND privilege_type <> 'SELECT') AS held
""")


def check_partitions(connection: Connection) -> Iterator[Check]:
    """Whether rights to partitions are those of their tables; nothing where there are no partitions."""
    row = connection.execute(_PARTITIONS).one()
    if row.tables:
        found = f"{row.tables} tables in {row.parts} partitions"
        if row.holders:
            found += f", which {', '.join(row.holders)} may change past the rights to the tables"
        advice = "Run `registry migrate --grant-web-role NAME` again, or REVOKE ALL ON … FROM the role."
        yield Check("partitions", "bad" if row.holders else "good", found, advice if row.holders else "")


LIMITS = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")


def check_limits(connection: Connection, settings: Settings) -> Check:
    """Whether the limits of statements, locks and idle transactions are in force; a pooler may drop them silently."""
    found = {name: str(connection.scalar(text(f"SHOW {name}"))) for name in (*LIMITS, "TimeZone")}
    wanted = settings.session_parameters()
    missing = [name for name in LIMITS if found[name] == "0" and not wanted[name].startswith("0ms")] + ["TimeZone"] * (
        found["TimeZone"] != "UTC"
    )
    summary = ", ".join(f"{name} {value}" for name, value in found.items())
    if not missing:
        return Check("limits", "good", summary)
    role, database = connection.execute(text("SELECT quote_ident(current_user), quote_ident(current_database())")).one()
    statements = " ".join(
        f"ALTER ROLE {role} IN DATABASE {database} SET {name} TO '{wanted[name]}';" for name in missing
    )
    mode = "" if settings.pooler else " If a pooler is in between, set REGISTRY_POOLER too."
    advice = f"Not in force; what hangs would hang for ever. As an administrator: {statements}{mode}"
    return Check("limits", "bad", summary, advice)


def connections_needed(settings: Settings, web: int, workers: int) -> int:
    """Connections that so many web processes and workers with these settings hold at most, with one dispatcher."""
    of_workers = workers * settings.worker_processes * OF_WORKER_PROCESS
    return web * settings.pool_size + of_workers + OF_DISPATCHER + OF_COMMANDS


def check_connections(connection: Connection, settings: Settings, web: int, workers: int) -> Check:
    """Whether the server has room for all connections of so many web processes and workers, beside other programs'."""
    if settings.pooler:
        found = f"through a pooler in {settings.pooler} mode, whose default_pool_size bounds them"
        return Check("connections", "good", found)
    row = connection.execute(_CONNECTIONS).one()
    needed = connections_needed(settings, web, workers)
    found = (
        f"{web} web and {workers} worker processes need up to {needed} and others have {row.others}"
        f" of {row.places}; {row.taken} are taken"
    )
    if needed + row.others <= row.places:
        return Check("connections", "good", found)
    missing = needed + row.others - row.places
    advice = f"Raise max_connections by {missing}, or lower REGISTRY_POOL_SIZE: beyond it requests are answered 503."
    return Check("connections", "bad", found, advice)
