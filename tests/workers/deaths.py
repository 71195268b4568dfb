"""A process that ends without a word, played in this one: from some moment on nothing that it does is written."""

import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import event, func, text, update

from registry.storage.database import Database
from registry.storage.tables import cached_results, derivations

_MOMENTS = ("before_cursor_execute", "commit")


class Died(BaseException):
    """What ends a process; no code catches it."""


def die(*_sent: Any, **_named: Any) -> Any:
    raise Died


def then_die(function: Callable[..., Any]) -> Callable[..., Any]:
    """Do what the function does, and die."""
    return lambda *sent, **named: die(function(*sent, **named))


def dies_at(database: Database, step: int, work: Callable[[Database], Any]) -> bool:
    """Do the work and die at this step, before a statement or a commit; whether it came so far."""
    left = step

    def count(*_more: Any) -> None:
        nonlocal left
        left -= 1
        if left <= 0:
            raise Died

    for moment in _MOMENTS:
        event.listen(database._engine, moment, count)
    try:
        work(database)
    except Died:
        died = True
    else:
        died = False
    finally:
        for moment in _MOMENTS:
            event.remove(database._engine, moment, count)
    if died:
        _await_rollback(database)
    return died


_LEFT_OPEN = text(
    "select exists(select from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
    " and backend_xid is not null)"
)


def _await_rollback(database: Database) -> None:
    """The server learns of the end of a process from its closed connection, and gives its locks back a moment later."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with database.reading() as connection:
            if not connection.scalar(_LEFT_OPEN):
                return
    raise AssertionError("a transaction of the process that died is still open")


def let_leases_run_out(database: Database) -> None:
    """As time does; nothing is given up for it."""
    over = {"leased_until": func.now() - text("interval '1 second'"), "attempts": 0, "due_at": func.now()}
    with database.transaction() as connection:
        for table in (derivations, cached_results):
            connection.execute(update(table).where(table.c.state == "pending").values(over))
