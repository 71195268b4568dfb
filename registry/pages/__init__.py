"""The registry for people who look: pages made on the server, readable without a script.

A page has the path of its JSON without `/api/v1`, reads through the same operations, and shows the same stored
documents; what it adds is their look.
"""

from flask import Flask

from registry.pages import (
    administration,
    claims,
    comparison,
    difference,
    docs,
    embedding,
    events,
    failures,
    gates,
    grid,
    names,
    palette,
    project,
    results,
    search,
    sessions,
    status,
)
from registry.pages.front import pages
from registry.pages.responses import IndentedLinesContinue
from registry.renderings.numbers import typeset

__all__ = ["register"]

VIEWS = (
    project,
    grid,
    difference,
    results,
    comparison,
    claims,
    names,
    search,
    gates,
    events,
    status,
    sessions,
    docs,
    palette,
    embedding,
)
"""The modules whose views are on the blueprint: importing them put them there."""


def register(app: Flask) -> None:
    """Add every page, and answer browsers' errors with pages."""
    app.jinja_env.add_extension(IndentedLinesContinue)
    app.jinja_env.filters["typeset"] = typeset
    app.register_blueprint(pages)
    administration.register(app)
    failures.register(app)
