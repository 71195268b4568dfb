"""The Celery application, which `workers.worker` runs."""

from __future__ import annotations

import logging
import os
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

from registry.broker import Notifier, celery_app
from registry.garbage import collect_rarely
from registry.logs import configure_logs
from registry.settings import Settings
from registry.storage.database import Database
from registry.tracing import start_tracing, stop_tracing
from workers.jobs.reports import Reporter
from workers.jobs.worker_process import request_shutdown, wake_through

NICENESS = 10
_reporters: list[Reporter] = []
"""That of this process, once it is a child of the worker."""

settings = Settings.from_environment()
configure_logs(settings.log_level)
logging.captureWarnings(capture=True)
app = celery_app(settings)
app.conf.update(
    imports=("workers.tasks",),
    worker_concurrency=settings.worker_processes,
    worker_consumer="workers.consumer:LastingConsumer",
)
database = Database(settings, name="worker", statement_timeout=settings.worker_statement_timeout)


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
    start_tracing(settings, "worker")
    _reporters.append(Reporter(database, "worker"))
    _reporters[-1].start()


@worker_process_shutdown.connect
def _say_goodbye(**_signal: object) -> None:
    """Tell what was done since the last report."""
    for reporter in _reporters:
        reporter.end()
    stop_tracing()


@worker_shutting_down.connect
def _stop_working(**_signal: object) -> None:
    """Tell the children to release the jobs they have not begun: a shutdown waits for one grid, not for a batch."""
    request_shutdown()
