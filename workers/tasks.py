"""Celery tasks, each one function call. A wake-up carries no data: what is due is in the database."""

from __future__ import annotations

from registry.broker import ANSWER_TASK, DERIVE_TASK
from workers.app import app, database, settings
from workers.derive import derive_shift
from workers.jobs.shutdown import is_shutting_down
from workers.queries import compute_due


@app.task(name=DERIVE_TASK)
def derive() -> None:
    """Compute due statistics for one shift; the dispatcher wakes workers again if more are due."""
    derive_shift(database, settings)


@app.task(name=ANSWER_TASK)
def answer() -> None:
    """Compute one due query; the dispatcher sends a wake-up for each. Statistics of grids come first."""
    derive_shift(database, settings)
    if not is_shutting_down():
        compute_due(database, settings)
