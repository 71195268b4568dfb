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
    revisions,
    service,
    shares,
    statistics,
    suites,
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
    stored = (projects, grids, revisions, batch, cells, feeds)
    modules = (*stored, *answers, names, suites, whoami, audit_log, shares, service)
    for blueprint in dict.fromkeys(module.blp for module in modules):
        api.register_blueprint(blueprint)
    openapi.register(app, api)
