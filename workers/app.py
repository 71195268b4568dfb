"""The Celery application: `celery -A workers.app worker`, or `registry worker`."""

from __future__ import annotations

import os

from celery.signals import worker_before_create_process, worker_process_init, worker_shutting_down

from registry.broker import celery_app
from registry.garbage import collect_rarely
from registry.logs import configure_logs
from registry.settings import Settings
from registry.storage.database import Database
from workers.jobs.shutdown import request_shutdown

NICENESS = 10

settings = Settings.from_environment()
configure_logs(settings.log_level)
app = celery_app(settings)
app.conf.update(imports=("workers.tasks",), worker_concurrency=settings.worker_processes)
database = Database(settings, name="worker", statement_timeout=settings.worker_statement_timeout)


@worker_before_create_process.connect
def _keep_shared(**_signal: object) -> None:
    """Never look for cycles among what is loaded before a fork: that writes into it, and each process gets a copy."""
    collect_rarely()


@worker_process_init.connect
def _own_connections(**_signal: object) -> None:
    """Drop the connections shared with the parent, and leave the processor to the web processes first."""
    database.after_fork()
    collect_rarely()
    os.nice(NICENESS)


@worker_shutting_down.connect
def _stop_working(**_signal: object) -> None:
    """Tell the children to release the jobs they have not begun: a shutdown waits for one grid, not for a batch."""
    request_shutdown()
