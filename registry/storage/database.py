"""Engine, transactions and timeouts. The only module that commits, and the only one that knows the driver's errors."""

import json
import math
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from functools import partial
from typing import Any

import orjson
from psycopg2.extensions import ISOLATION_LEVEL_REPEATABLE_READ
from sqlalchemy import Connection, Dialect, create_engine, event, text
from sqlalchemy.engine import Engine
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.pool import NullPool

from registry.errors import Busy, Conflict, Unavailable
from registry.outages import OutageLog
from registry.settings import Settings, driver_url
from registry.storage.circuit_breaker import (
    AWAY,
    CLOSED_SECONDS,
    NODE_AWAY,
    CircuitBreaker,
    ConnectionGate,
    NoCircuitBreaker,
    PatientPool,
)
from registry.storage.statements import PREPARES, WatchedConnection

CONNECT_SECONDS = 3
BEYOND_SERVER = 1.0
"""The server ends a statement after its own timeout; a frozen server is given so many seconds more."""
_DIGITS_OF_64_BITS = 19


def _whole(digits: str) -> int | float:
    # Large ones are floats: JSONB writes 1e22 as digits, and orjson encodes no such int.
    return int(digits) if len(digits) < _DIGITS_OF_64_BITS else float(digits)


_SHORTEST_WAIT = 0.001


class Waits:
    """Times that a thread waited for a connection, from a pool or a new one, and the seconds of all."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.count = 0
        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        """Count a wait; one so short that the connection was there is none."""
        if seconds > _SHORTEST_WAIT:
            with self._lock:
                self.count += 1
                self.seconds += seconds


class Database:
    """One pool of connections, for transactions and for single statements. Threads may share it; a forked child calls
    `after_fork` first.

    A process that serves requests gives a `breaker`, which refuses at once what could only wait. `service` is its name
    in the log of outages.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        name: str,
        statement_timeout: float | None = None,
        breaker: CircuitBreaker | None = None,
        service: str = "database",
    ) -> None:
        self._breaker = breaker or NoCircuitBreaker()
        self.waits = Waits()
        self._gate = ConnectionGate(CLOSED_SECONDS if breaker else 0.0)
        self._outages = OutageLog(service, settings.database_url)
        self._refused_at, self._refusal = -math.inf, ""
        self._longest = statement_timeout or settings.statement_timeout
        parameters = settings.session_parameters(self._longest)
        # A pooler refuses or ignores `options`. One that gives a server connection for a transaction only would hand
        # what is SET on to others too, so there the role has the parameters; only the time zone follows a client.
        kept = {"TimeZone": "UTC"} if settings.pooler == "transaction" else parameters
        self._set = "; ".join(f"SET {name} TO '{value}'" for name, value in kept.items()) if settings.pooler else ""
        options = {"options": " ".join(f"-c {name}={value}" for name, value in parameters.items())}
        self._engine = create_engine(
            driver_url(settings.database_url),
            poolclass=PatientPool,
            pool_size=settings.pool_size,
            max_overflow=0,
            pool_timeout=settings.pool_timeout,
            pool_use_lifo=True,
            json_serializer=lambda value: orjson.dumps(value).decode(),
            json_deserializer=partial(json.loads, parse_int=_whole),
            connect_args={
                "application_name": f"registry-{name}",
                "connect_timeout": CONNECT_SECONDS,
                "client_encoding": "utf8",
                "connection_factory": partial(
                    WatchedConnection,
                    limit=self._longest + BEYOND_SERVER if self._longest else math.inf,
                    on_cut=self._cut,
                    slow=settings.slow_statement or math.inf,
                ),
                **({} if settings.pooler else options),
            },
            execution_options={PREPARES: settings.pooler != "transaction"},
        )
        event.listen(self._engine, "do_connect", self._connect)

    @property
    def engine(self) -> Engine:
        """Engine with connections of its own, for tests; other code uses `transaction` and `reading`."""
        return create_engine(self._engine.url, poolclass=NullPool)

    @contextmanager
    def transaction(self, *, rehearse: bool = False) -> Iterator[Connection]:
        """Connection whose work is committed when the block ends, and rolled back when it raises.

        With `rehearse` it is rolled back in any case, for a dry run.
        """
        with self._connected() as connection, connection.begin() as transaction:
            yield connection
            if rehearse:
                transaction.rollback()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Connection for single statements, each with its own snapshot and committed by itself; nothing is written."""
        with self._connected(autocommit=True) as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Connection whose statements all see the database as it was at the first one."""
        with self._connected() as connection:
            driver = _driver(connection)
            driver.isolation_level, driver.readonly = ISOLATION_LEVEL_REPEATABLE_READ, True
            try:
                with connection.begin():
                    yield connection
            finally:
                if not (connection.invalidated or driver.closed):
                    driver.isolation_level = driver.readonly = None

    @contextmanager
    def _connected(self, *, autocommit: bool = False) -> Iterator[Connection]:
        with self._breaker:
            try:
                with self._waited() as connection:
                    # Known to the driver alone, which then sends no BEGIN: no message, and none to set it back.
                    _driver(connection).autocommit = autocommit
                    yield connection
            except PoolTimeout:
                raise Unavailable("Every database connection is in use; try again.", 1, "pool_timeout") from None
            except DBAPIError as error:
                raise self._translated(error) from error
            self._breaker.answered()
            self._outages.answered()

    def _waited(self) -> Connection:
        began = time.monotonic()
        try:
            return self._engine.connect()
        finally:
            self.waits.add(time.monotonic() - began)

    def _translated(self, error: DBAPIError) -> Exception:
        """The registry's error; an outage is logged, and the idle connections are dropped if this one was lost."""
        translated = translate(error)
        reason = translated.reason if isinstance(translated, Unavailable) else ""
        if error.connection_invalidated or reason == "read_only":
            self._engine.dispose()
        if reason in _REFUSALS:
            self._refused_at, self._refusal = time.monotonic(), reason
        if isinstance(translated, Unavailable) and _tells_of_outage(error):
            translated.cause = self._outages.failed(error.orig)
        return translated

    def _connect(self, dialect: Dialect, _record: object, arguments: list[Any], given: dict[str, Any]) -> Any:
        """Make a connection of the pool, if the gate lets it."""
        self._gate.enter()
        try:
            connection = dialect.connect(*arguments, **given)
            if self._set:
                connection.autocommit = True
                with closing(connection.cursor()) as cursor:
                    cursor.execute(self._set)
        except Exception as error:
            self._gate.refused(self._outages.failed(error))
            raise
        self._gate.accepted()
        return connection

    @property
    def breaker(self) -> CircuitBreaker:
        return self._breaker

    @property
    def refuses_connections(self) -> bool:
        """True if the database refused the last new connection."""
        return self._gate.is_closed

    @property
    def away_since(self) -> datetime | None:
        """When the outage that lasts began, as this process saw it; None while the database answers."""
        return self._outages.since

    @property
    def writes(self) -> str:
        """`taken`, or why the server refused a write lately: `disk_full`, `read_only`."""
        return self._refusal if time.monotonic() - self._refused_at < _REFUSED_SECONDS else "taken"

    def pool(self) -> tuple[int, int]:
        """The connections that the pool may open, and those in use."""
        pool: Any = self._engine.pool
        return pool.size(), pool.checkedout()

    def _cut(self) -> None:
        """Note that a statement was not answered in time. Called by the watchdog."""
        self._outages.failed("A statement was not answered in time; its connection was cut.")
        self._breaker.trip()

    def after_fork(self) -> None:
        """Drop the parent's connections without closing them."""
        self._engine.dispose(close=False)

    def close(self) -> None:
        self._engine.dispose()


def _driver(connection: Connection) -> Any:
    return connection.connection.driver_connection


_TRY_LATER_CLASSES = ("08", "53", "40")
_TRY_LATER = ("57P01", "57P02", "57P03", "57014", "25P03", "25P04")
_REFUSED = {
    "25006": ("The database takes no writes at the moment, and nothing was written: repeat it.", 2, "read_only"),
    "42501": (
        "The database does not let this process read or write what it needs; `registry migrate` grants it again.",
        10,
        "no_rights",
    ),
    "53100": (
        "The disk of the database is full, and nothing was written: repeat it once there is room.",
        10,
        "disk_full",
    ),
}
_REFUSALS = ("disk_full", "read_only")
_REFUSED_SECONDS = 60.0
"""For which writes count as refused after one was: on a full disk small ones may still find room."""
_NODE_LOST = (
    "connection to the remote node",
    "failure on connection marked as essential",
    "could not commit transaction for shard",
)
_NODE_LOST_MEANWHILE = (
    "SSL SYSCALL error", "SSL connection has been closed", "server closed the connection",
    "no connection to the server", "could not receive data", "could not send data",
)  # fmt: skip
"""What libpq says to the coordinator of a node that was lost in the middle of a statement; Citus passes it on as an
internal error of its own."""
_OWN_LIMITS = ("57014", "25P03", "25P04")
"""The ends of statements and transactions that took too long: the server is well."""


def translate(error: DBAPIError) -> Exception:
    """The registry's error for one of the database: `Busy`, `Conflict` or `Unavailable`; a defect of ours stays as it
    is."""
    code: str | None = getattr(error.orig, "pgcode", None)
    if code == "55P03":
        return Busy("Another writer holds this; try again.", reason="lock_timeout")
    if code == "23505":
        return Conflict("Something with this name was made at the same moment.")
    if code in _REFUSED:
        return Unavailable(*_REFUSED[code])
    lost = _lost_a_node(error)
    if lost or error.connection_invalidated or code is None or code[:2] in _TRY_LATER_CLASSES or code in _TRY_LATER:
        is_outage = isinstance(error, (InterfaceError, OperationalError))
        if code is None and not error.connection_invalidated and not is_outage:
            return error
        said, reason = AWAY, "statement_timeout" if code == "57014" else "database_away"
        if lost:
            said, reason = NODE_AWAY, "node_away"
        return Unavailable(said, 2, reason)
    return error


def _tells_of_outage(error: DBAPIError) -> bool:
    code: str = getattr(error.orig, "pgcode", None) or ""
    return code not in _OWN_LIMITS and not code.startswith("40") and not _lost_a_node(error)


def _lost_a_node(error: DBAPIError) -> bool:
    """Whether the coordinator of a cluster says that a node is away; the connection to itself is well."""
    told, code = str(error.orig), getattr(error.orig, "pgcode", None)
    return told.startswith(_NODE_LOST) or (code == "XX000" and told.startswith(_NODE_LOST_MEANWHILE))


def quietly_committed(connection: Connection) -> None:
    """Commit this transaction without waiting for the disk: a crash of the server may lose it. Only for records that
    will be made again."""
    connection.execute(text("SET LOCAL synchronous_commit = off"))


def try_lock(connection: Connection, space: str, *parts: object) -> bool:
    """Try to take the named advisory lock and return whether this transaction got it; it is released at the end of the
    transaction."""
    name = "\x1f".join([space, *map(str, parts)])
    statement = text("SELECT pg_try_advisory_xact_lock(hashtextextended(:name, 0))")
    return bool(connection.execute(statement, {"name": name}).scalar())
