"""HTTP in, JSON out: one blueprint a resource. No SQL and no arithmetic here."""

from __future__ import annotations

from flask import Flask

from registry.api import (
    aggregates,
    alerts,
    audit_log,
    baselines,
    batch,
    cells,
    claims,
    comparisons,
    deliveries,
    events,
    experiments,
    feeds,
    gates,
    grid_by_names,
    grid_notes,
    grids,
    items,
    lines,
    moved,
    names,
    openapi,
    pictures,
    plans,
    problems,
    projects,
    rankings,
    repeat_noise,
    request_body,
    retry,
    revisions,
    service,
    shares,
    statistics,
    statistics_feeds,
    stored_claims,
    suites,
    trade_offs,
    verdicts,
    webhooks,
    whoami,
    whole_grids,
)
from registry.api.arguments import note_old_words
from registry.api.long_poll import note_preference
from registry.api.smorest import Api


def register(app: Flask) -> None:
    """Add every resource, the OpenAPI document and the answers to errors."""
    api = Api(app)
    problems.register(app)
    request_body.register(app)
    shares.take_links(app)
    app.after_request(note_preference)
    app.after_request(note_old_words)
    answers = (statistics, pictures, rankings, comparisons, aggregates, experiments, lines, trade_offs, plans)
    judged = (claims, stored_claims, baselines, gates, verdicts, alerts, repeat_noise)
    told = (events, webhooks, deliveries)
    stored = (projects, grids, grid_by_names, grid_notes, revisions, batch, cells, items)
    exported = (feeds, whole_grids, statistics_feeds)  # the first two share a blueprint
    others = (names, suites, whoami, audit_log, shares, retry, service)
    modules = (*stored, *exported, *answers, *judged, *told, *others)
    for blueprint in dict.fromkeys(module.blp for module in modules):
        api.register_blueprint(blueprint)
    app.register_blueprint(moved.blp)
    openapi.register(app, api)
