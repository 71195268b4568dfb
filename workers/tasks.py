"""Doors: each task calls one function. A doorbell carries nothing; what is due stands in the database."""

from __future__ import annotations

from registry.jobs import DERIVE, RANK
from workers.app import app, database, settings
from workers.derive import derive_shift
from workers.rank import rank_due


@app.task(name=DERIVE)
def derive() -> None:
    """Keep promises until none is due, or for one shift; the dispatcher rings again."""
    derive_shift(database, settings)


@app.task(name=RANK)
def rank() -> None:
    """Answer one question; the dispatcher rings once for each. Grids that wait come first."""
    derive_shift(database, settings)
    rank_due(database, settings)
