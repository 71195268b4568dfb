"""HTTP in, JSON out: one blueprint a resource. No SQL and no arithmetic here."""

from __future__ import annotations

from flask import Flask

from registry.api import (
    audit,
    batch,
    cells,
    comparisons,
    document,
    experiments,
    feeds,
    grids,
    identity,
    naming,
    pictures,
    problems,
    projects,
    rankings,
    service,
    shares,
    statistics,
)
from registry.api.platform import Api
from registry.api.waiting import note_preference


def register(app: Flask) -> None:
    """Add every resource, the OpenAPI document and the answers to errors."""
    api = Api(app)
    problems.register(app)
    shares.take_links(app)
    app.after_request(note_preference)
    answers = (statistics, pictures, rankings, comparisons, experiments)
    for module in (projects, grids, batch, cells, feeds, *answers, naming, identity, audit, shares, service):
        api.register_blueprint(module.blp)
    document.register(app, api)
