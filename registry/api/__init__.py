"""HTTP in, JSON out: one blueprint a resource. No SQL and no arithmetic here."""

from __future__ import annotations

from flask import Flask

from registry.api import (
    audit_log,
    batch,
    cells,
    comparisons,
    experiments,
    feeds,
    grids,
    names,
    openapi,
    pictures,
    problems,
    projects,
    rankings,
    service,
    shares,
    statistics,
    whoami,
)
from registry.api.long_poll import note_preference
from registry.api.smorest import Api


def register(app: Flask) -> None:
    """Add every resource, the OpenAPI document and the answers to errors."""
    api = Api(app)
    problems.register(app)
    shares.take_links(app)
    app.after_request(note_preference)
    answers = (statistics, pictures, rankings, comparisons, experiments)
    for module in (projects, grids, batch, cells, feeds, *answers, names, whoami, audit_log, shares, service):
        api.register_blueprint(module.blp)
    openapi.register(app, api)
