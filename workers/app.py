"""The Celery application, which `workers.worker` runs, and its tasks, each one function call.

A wake-up carries no data: what is due is in the database.
"""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import structlog
from celery.signals import (
    setup_logging,
    worker_before_create_process,
    worker_init,
    worker_process_init,
    worker_process_shutdown,
    worker_shutting_down,
)
from celery.worker.consumer import Consumer
from structlog.contextvars import bound_contextvars

from registry.broker import ANSWER_TASK, DERIVE_TASK, Notifier, celery_app
from registry.garbage import collect_rarely
from registry.logs import configure_logs
from registry.settings import Settings
from registry.storage.database import Database
from workers.derive import derive_shift
from workers.jobs.worker_process import NICENESS, Reporter, request_shutdown, wake_through
from workers.queries import Turns

_reporters: list[Reporter] = []
"""That of this process, once it is a child of the worker."""

settings = Settings.from_environment()
configure_logs(settings.log_level)
logging.captureWarnings(capture=True)
app = celery_app(settings)
app.conf.update(
    worker_concurrency=settings.worker_processes,
    worker_consumer="workers.app:LastingConsumer",
)
database = Database(settings, name="worker", statement_timeout=settings.worker_statement_timeout)
turns = Turns(database, settings)


@setup_logging.connect
def _keep_logs(**_signal: object) -> None:
    """Leave the logs as they are: with a receiver of this signal, Celery sets up none of its own."""


@worker_init.connect
def _log_what_is_printed(**_signal: object) -> None:
    """Have Celery log that it stops; it would print that, and has no setting for it."""
    from celery.apps import worker

    def log(message: str, _stream: Any = None) -> None:
        structlog.get_logger().info(message.strip())

    worker.safe_say = log


@worker_before_create_process.connect
def _keep_shared(**_signal: object) -> None:
    """Never look for cycles among what is loaded before a fork: that writes into it, and each process gets a copy."""
    collect_rarely()


@worker_process_init.connect
def _own_connections(**_signal: object) -> None:
    """Drop the connections shared with the parent, and leave the processor to the web processes first."""
    database.after_fork()
    wake_through(Notifier(settings))
    collect_rarely()
    os.nice(NICENESS)
    _reporters.append(Reporter(database, "worker"))
    _reporters[-1].start()


@worker_process_shutdown.connect
def _say_goodbye(**_signal: object) -> None:
    """Tell what was done since the last report."""
    for reporter in _reporters:
        reporter.end()


@worker_shutting_down.connect
def _stop_working(**_signal: object) -> None:
    """Tell the children to release the jobs they have not begun: a shutdown waits for one grid, not for a batch."""
    request_shutdown()


@app.task(name=DERIVE_TASK, bind=True)
def derive(task: Any) -> None:
    """Compute due statistics for one shift; the dispatcher wakes workers again if more are due."""
    with _turn(task):
        derive_shift(database, settings)


@app.task(name=ANSWER_TASK, bind=True)
def answer(task: Any) -> None:
    """Compute one due query; the dispatcher sends a wake-up for each. Statistics of grids come first."""
    with _turn(task):
        turns.take()


@contextmanager
def _turn(task: Any) -> Iterator[None]:
    """Log the requests that woke the dispatcher before it sent this message."""
    with bound_contextvars(woken_by=task.request.get("origins") or []):
        yield


class LastingConsumer(Consumer):  # type: ignore[misc]
    """Celery's, which a broker that goes away while a task runs does not end.

    Celery 5.7.0 closes a lost connection twice. The first time, the channel of kombu 5.7.0 may give up at the reply
    that will not come, and stays open; the second time it puts back unfinished messages through a connection that has
    forgotten its address, which is an AttributeError. A channel that gave up once before is closed by the first.
    """

    def on_connection_error_after_connected(self, exc: Exception) -> None:
        """Close the channel, then do as Celery does."""
        if self.task_consumer:
            self.connection.maybe_close_channel(self.task_consumer.channel)
        super().on_connection_error_after_connected(exc)
