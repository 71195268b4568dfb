"""Celery tasks, each one function call. A wake-up carries no data: what is due is in the database."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from structlog.contextvars import bound_contextvars

from registry.broker import ANSWER_TASK, DERIVE_TASK
from registry.tracing import job_span
from workers.app import app, database, settings
from workers.derive import derive_shift
from workers.jobs.worker_process import is_shutting_down
from workers.queries import compute_due


@app.task(name=DERIVE_TASK, bind=True)
def derive(task: Any) -> None:
    """Compute due statistics for one shift; the dispatcher wakes workers again if more are due."""
    with _turn(task):
        derive_shift(database, settings)


@app.task(name=ANSWER_TASK, bind=True)
def answer(task: Any) -> None:
    """Compute one due query; the dispatcher sends a wake-up for each. Statistics of grids come first."""
    with _turn(task):
        derive_shift(database, settings)
        if not is_shutting_down():
            compute_due(database, settings)


@contextmanager
def _turn(task: Any) -> Iterator[None]:
    """Log and trace the requests that woke the dispatcher before it sent this message."""
    origins = task.request.get("origins") or ()
    woken_by = [one["request_id"] for one in origins if "request_id" in one]
    links = [one["traceparent"] for one in origins if "traceparent" in one]
    with bound_contextvars(woken_by=woken_by), job_span(task.name, links, **{"registry.woken_by": woken_by}):
        yield
