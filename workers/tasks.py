"""Doors: each task calls one function. A doorbell carries nothing; what is due stands in the database."""

from __future__ import annotations

import time

from registry.jobs import DERIVE, RANK
from workers.app import app, database, settings
from workers.derive import derive_due
from workers.rank import rank_due

SHIFT_SECONDS = 3.0
"""How long one doorbell keeps a worker: far from the time limits, and from the patience of who stops it."""


@app.task(name=DERIVE)
def derive() -> None:
    """Keep promises until none is due, for one shift; the dispatcher rings again."""
    until = time.monotonic() + SHIFT_SECONDS
    while time.monotonic() < until and derive_due(database, settings):
        pass


@app.task(name=RANK)
def rank() -> None:
    """Answer one question; the dispatcher rings once for each. Grids that wait come first."""
    derive_due(database, settings)
    rank_due(database, settings)
