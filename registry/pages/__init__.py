"""The registry for people who look: pages made on the server, readable without a script.

A page has the path of its JSON without `/api/v1`, reads through the same operations, and shows the same stored
documents; what it adds is their look.
"""

from __future__ import annotations

from flask import Flask

from registry.pages import (
    comparison,
    data,
    docs,
    experiment,
    failures,
    grid,
    palette,
    project,
    ranking,
    revisions,
    sessions,
    status,
)
from registry.pages.front import pages
from registry.pages.line_breaks import IndentedLinesContinue

__all__ = ["register"]

VIEWS = (project, grid, revisions, experiment, ranking, comparison, status, sessions, data, docs, palette)
"""The modules whose views are on the blueprint: importing them put them there."""


def register(app: Flask) -> None:
    """Add every page, and answer browsers' errors with pages."""
    app.jinja_env.add_extension(IndentedLinesContinue)
    app.register_blueprint(pages)
    failures.register(app)
