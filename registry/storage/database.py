"""Engine, transactions and timeouts. The only module that commits, and the only one that knows the driver's errors."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import orjson
from sqlalchemy import Connection, create_engine, text
from sqlalchemy.engine import Engine
from sqlalchemy.exc import DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from registry.errors import Busy, Conflict, Unavailable
from registry.settings import Settings, driver_url
from registry.storage.circuit_breaker import AWAY, CircuitBreaker, NoCircuitBreaker
from registry.storage.statement_timeout import WatchedConnection

CONNECT_SECONDS = 3
BEYOND_SERVER = 1.0
"""The server ends a statement after its own timeout; a frozen server is given so many seconds more."""


_DIGITS_OF_64_BITS = 19


def _json(text_: str) -> Any:
    """Parse JSON with large whole numbers as floats: JSONB writes 1e22 as digits, and orjson encodes no such int."""
    return json.loads(text_, parse_int=_whole)


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) < _DIGITS_OF_64_BITS else float(digits)


class Database:
    """Two pools of connections, one for transactions and one for single statements; switching a connection between the
    two would cost more than most reads. Threads may share it; a forked child calls `after_fork` first.

    A process that serves requests gives a `breaker`, which refuses at once what could only wait.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        name: str,
        statement_timeout: float | None = None,
        breaker: CircuitBreaker | None = None,
    ) -> None:
        self._breaker = breaker or NoCircuitBreaker()
        longest = statement_timeout or settings.statement_timeout
        limits = {
            "statement_timeout": int(1000 * longest),
            "lock_timeout": int(1000 * settings.lock_timeout),
            "idle_in_transaction_session_timeout": int(1000 * settings.idle_timeout),
            "synchronous_commit": "on",
            "TimeZone": "UTC",
        }
        options: dict[str, Any] = {
            "pool_size": settings.pool_size,
            "max_overflow": 0,
            "pool_timeout": settings.pool_timeout,
            "pool_use_lifo": True,
            "json_serializer": lambda value: orjson.dumps(value).decode(),
            "json_deserializer": _json,
            "connect_args": {
                "application_name": f"registry-{name}",
                "connect_timeout": CONNECT_SECONDS,
                "connection_factory": partial(
                    WatchedConnection, limit=longest + BEYOND_SERVER if longest else math.inf, on_cut=self._breaker.trip
                ),
                "options": " ".join(f"-c {key}={value}" for key, value in limits.items()),
            },
        }
        url = driver_url(settings.database_url)
        self._engine = create_engine(url, **options)
        self._reading = create_engine(url, isolation_level="AUTOCOMMIT", pool_reset_on_return=None, **options)

    @property
    def engine(self) -> Engine:
        """Engine for migrations and tests; other code uses `transaction` and `reading`."""
        return self._engine

    @contextmanager
    def transaction(self, *, rehearse: bool = False) -> Iterator[Connection]:
        """Connection whose work is committed when the block ends, and rolled back when it raises.

        With `rehearse` it is rolled back in any case, for a dry run.
        """
        with self._connected(self._engine) as connection, connection.begin() as transaction:
            yield connection
            if rehearse:
                transaction.rollback()

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Connection for single statements, each with its own snapshot and committed by itself.

        The only thing written through it is the time of a token's last use, which may be lost.
        """
        with self._connected(self._reading) as connection:
            yield connection

    @contextmanager
    def snapshot(self) -> Iterator[Connection]:
        """Connection whose statements all see the database as it was at the first one."""
        options = {"isolation_level": "REPEATABLE READ", "postgresql_readonly": True}
        with self._connected(self._engine.execution_options(**options)) as connection, connection.begin():
            yield connection

    @contextmanager
    def _connected(self, engine: Engine) -> Iterator[Connection]:
        """Connection of the engine's pool, with errors of the database and the driver translated."""
        with self._breaker:
            try:
                with self._connection(engine) as connection:
                    yield connection
            except PoolTimeout:
                raise Unavailable("Every database connection is in use; try again.", after=1) from None
            except DBAPIError as error:
                if error.connection_invalidated:
                    self._forget()
                raise translate(error) from error
            self._breaker.answered()

    def _connection(self, engine: Engine) -> Connection:
        try:
            return engine.connect()
        except DBAPIError:
            self._breaker.trip()
            raise

    def _forget(self) -> None:
        """Drop the idle connections: after one was lost, they may be dead too."""
        for engine in (self._engine, self._reading):
            engine.dispose()

    def after_fork(self) -> None:
        """Drop the parent's connections without closing them."""
        for engine in (self._engine, self._reading):
            engine.dispose(close=False)

    def close(self) -> None:
        for engine in (self._engine, self._reading):
            engine.dispose()


_TRY_LATER_CLASSES = ("08", "53", "40")
_TRY_LATER = ("57P01", "57P02", "57P03", "57014", "25006", "25P03", "25P04")


def translate(error: DBAPIError) -> Exception:
    """The registry's error for one of the database: `Busy`, `Conflict` or `Unavailable`; a defect of ours stays as it
    is."""
    code: str | None = getattr(error.orig, "pgcode", None)
    if code == "55P03":
        return Busy("Another writer holds this; try again.")
    if code == "23505":
        return Conflict("Something with this name was made at the same moment.")
    if error.connection_invalidated or code is None or code[:2] in _TRY_LATER_CLASSES or code in _TRY_LATER:
        if code is None and not error.connection_invalidated and not _is_outage(error):
            return error
        return Unavailable(AWAY, after=2)
    return error


def _is_outage(error: DBAPIError) -> bool:
    return isinstance(error, (InterfaceError, OperationalError))


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
