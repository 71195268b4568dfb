"""HTTP in, JSON out: one blueprint a resource. No SQL and no arithmetic here."""

from __future__ import annotations

from flask import Flask

from registry.api import (
    batch,
    cells,
    document,
    experiments,
    grids,
    naming,
    problems,
    projects,
    rankings,
    service,
    statistics,
)
from registry.api.platform import Api


def register(app: Flask) -> None:
    """Add every resource, the OpenAPI document and the answers to errors."""
    api = Api(app)
    problems.register(app)
    for module in (projects, grids, batch, cells, statistics, rankings, experiments, naming, service):
        api.register_blueprint(module.blp)
    app.register_blueprint(service.front)
    document.register(app, api)
