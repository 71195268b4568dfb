"""Who the visitor is, what they may do, and until when."""

from __future__ import annotations

from flask import Response, g

from registry.api.context import parts
from registry.operations.projects import list_roles
from registry.pages.administration.blueprint import administration, settings_page


@administration.get("/account")
def account() -> Response:
    """Name, roles and end of the session."""
    with parts().database.reading() as connection:
        roles = list_roles(connection, g.visitor.caller)
    return settings_page("account.html", {"roles": roles})
