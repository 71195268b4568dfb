"""The demonstration: the seed heatmaps as grids in a public project."""

from __future__ import annotations

import json
import time
import uuid
from importlib.resources import files
from typing import Any

from registry.grids.intake import Limits, read_submission
from registry.operations.aliases import make_alias
from registry.operations.projects import find_project, make_project
from registry.operations.publish import publish
from registry.operations.read import find_statistics
from registry.storage.database import Database

PROJECT = "demo"
_WAIT_SECONDS = 20.0


def demo_grids() -> list[dict[str, Any]]:
    """The publications of the demonstration, as they would be POSTed."""
    grids: list[dict[str, Any]] = _data()["grids"]
    return grids


def _data() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((files(__package__) / "seeds.json").read_text(encoding="utf-8"))
    return found


def publish_demo(database: Database) -> list[uuid.UUID]:
    """Publish the demonstration, if it is not there; the ids of its grids, seed 0 first. Safe to run again."""
    data = _data()
    with database.transaction() as connection:
        project = find_project(connection, PROJECT)
        if project is None:
            project = make_project(connection, slug=PROJECT, name="Seed heatmaps", visibility="public")
            for alias in data["aliases"]:
                make_alias(connection, project.id, **alias)
        submissions = [read_submission({"axes": []} | grid, Limits()) for grid in data["grids"]]
        return [published.stored.id for published in publish(connection, project, submissions)]


def await_statistics(database: Database, grids: list[uuid.UUID]) -> bool:
    """Wait until the statistics of these grids are there; False when they take too long."""
    until = time.monotonic() + _WAIT_SECONDS
    while time.monotonic() < until:
        with database.reading() as connection:
            rows = [find_statistics(connection, grid) for grid in grids]
        if all(row is not None and row.state != "pending" for row in rows):
            return True
        time.sleep(0.05)
    return False
