"""Doors: each task calls one function. A wake-up carries nothing; what is due stands in the database."""

from __future__ import annotations

from registry.broker import ANSWER_TASK, DERIVE_TASK
from workers.app import app, database, settings
from workers.derive import derive_shift
from workers.jobs.shutdown import is_shutting_down
from workers.queries import answer_due


@app.task(name=DERIVE_TASK)
def derive() -> None:
    """Keep promises until none is due, or for one shift; the dispatcher wakes workers again."""
    derive_shift(database, settings)


@app.task(name=ANSWER_TASK)
def answer() -> None:
    """Answer one question; the dispatcher sends one wake-up for each. Grids that wait come first."""
    derive_shift(database, settings)
    if not is_shutting_down():
        answer_due(database, settings)
