"""Administration in the pages: projects, members, tokens, shares, aliases, suites, webhooks, deleted grids, the log.

What is done here is done by `registry.operations`, as by the API.
"""

from flask import Flask

from registry.pages.administration import (
    alerts,
    aliases,
    audit,
    deleted,
    members,
    projects,
    shares,
    webhooks,
)
from registry.pages.administration.blueprint import administration

__all__ = ["register"]

VIEWS = (alerts, aliases, audit, deleted, members, projects, shares, webhooks)
"""The modules whose views are on the blueprint: importing them put them there."""


def register(app: Flask) -> None:
    """Add the pages of the settings."""
    app.register_blueprint(administration)
