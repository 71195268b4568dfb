"""Doors: each task calls one function. A doorbell carries nothing; what is due stands in the database."""

from __future__ import annotations

from registry.broker import ANSWER, DERIVE
from workers.app import app, database, settings
from workers.derive import derive_shift
from workers.jobs.shutdown import leaving
from workers.queries import answer_due


@app.task(name=DERIVE)
def derive() -> None:
    """Keep promises until none is due, or for one shift; the dispatcher rings again."""
    derive_shift(database, settings)


@app.task(name=ANSWER)
def answer() -> None:
    """Answer one question; the dispatcher rings once for each. Grids that wait come first."""
    derive_shift(database, settings)
    if not leaving():
        answer_due(database, settings)
