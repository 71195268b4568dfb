"""The demonstration: the seed heatmaps as grids in a public project, and the sentences of their documents as claims."""

import json
import time
import uuid
from importlib.resources import files
from typing import Any

from registry.claims.grammar import read_claim
from registry.grids.intake import Limits, read_submission
from registry.operations.audit_log import COMMAND
from registry.operations.names import make_alias
from registry.operations.projects import change_project, find_project, make_project
from registry.operations.publish import publish
from registry.operations.read import find_statistics
from registry.operations.stored_claims import add_claims
from registry.storage.database import Database

PROJECT = "demo"
_WAIT_SECONDS = 20.0
_NAME = "Five published heatmaps"
_DESCRIPTION = "Descriptions of five published heatmaps, as grids; each of their sentences is judged by its numbers."
"""Of the project: what its five files are."""


def demo_grids() -> list[dict[str, Any]]:
    """The publications of the demonstration, as they would be POSTed."""
    return [figure["shared"] | grid for figure in _data()["figures"] for grid in figure["grids"]]


def demo_aliases() -> list[dict[str, str]]:
    """The names that are joined in the project of the demonstration."""
    aliases: list[dict[str, str]] = _data()["aliases"]
    return aliases


def demo_claims() -> list[dict[str, Any]]:
    """Claim of the demonstration's documents about its grids, as it would be POSTed; `text` is quoted from them."""
    return [
        {
            **one["claim"],
            "about": {**document["about"], **one["claim"].get("about", {})},
            "text": one["text"],
            "source": {"url": document["name"], "line": one["line"], "digest": document["sha256"]},
        }
        for document in _data("claims.json")["documents"]
        for one in document["sentences"]
    ]


def _data(name: str = "seeds.json") -> dict[str, Any]:
    found: dict[str, Any] = json.loads((files(__package__) / name).read_text(encoding="utf-8"))
    return found


def publish_demo(database: Database) -> list[uuid.UUID]:
    """Publish the demonstration, if it is not there; the ids of its grids, seed 0 first. Safe to run again."""
    with database.transaction() as connection:
        project = find_project(connection, PROJECT)
        if project is None:
            project = make_project(connection, slug=PROJECT, name=_NAME, visibility="public")
            change_project(connection, project.id, {"description": _DESCRIPTION})
            for alias in demo_aliases():
                make_alias(connection, project.id, **alias)
        submissions = [read_submission({"axes": []} | grid, Limits()) for grid in demo_grids()]
        published = [one.stored.id for one in publish(connection, project, submissions)]
        # Those that are there already stay as they are.
        add_claims(connection, COMMAND, project.id, [("", read_claim(one)) for one in demo_claims()])
        return published


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
