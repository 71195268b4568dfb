"""The HTTP API: one blueprint a resource, which `create_app` registers. No SQL and no arithmetic here."""

from flask import Flask

from registry.api import (
    aggregates,
    baselines,
    claims,
    comparisons,
    events,
    feeds,
    gates,
    grids,
    items,
    lines,
    names,
    openapi,
    pictures,
    plans,
    problems,
    projects,
    publication,
    rankings,
    request_body,
    service,
    shares,
    statistics,
    stored_claims,
    webhooks,
)
from registry.api.context import take_share
from registry.api.long_poll import note_preference
from registry.api.smorest import Api, Blueprint


def register(app: Flask) -> None:
    """Add every resource, the OpenAPI document and the answers to errors."""
    api = Api(app)
    problems.register(app)
    request_body.register(app)
    app.before_request(take_share)
    app.after_request(note_preference)
    stored = (projects, grids, publication, items, feeds)
    answers = (statistics, pictures, rankings, comparisons, aggregates, lines, plans)
    judged = (claims, stored_claims, baselines, gates)
    others = (events, webhooks, names, shares, service)
    for module in (*stored, *answers, *judged, *others):
        for blueprint in vars(module).values():
            if isinstance(blueprint, Blueprint) and blueprint.name not in app.blueprints:
                api.register_blueprint(blueprint)
    openapi.register(app, api)
