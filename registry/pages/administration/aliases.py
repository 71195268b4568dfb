"""Aliases: names that count as one. Names that look alike are suggested, and joined in one click."""

from __future__ import annotations

import uuid
from functools import partial
from typing import Any

from flask import Response
from sqlalchemy import Connection

from registry.api.audit_log import actor
from registry.api.context import parts
from registry.api.schemas import KINDS, AliasIn
from registry.operations import acts
from registry.operations.names import list_aliases, look_alikes
from registry.pages.administration.blueprint import administration
from registry.pages.administration.layout import ROWS, after, cut, path_of, show_section
from registry.pages.administration.submitting import Typed, asked, home, read_form, submitted

_SUGGESTED = 20


@administration.get("/projects/<project>/settings/aliases")
def aliases(project: str) -> Response:
    """The aliases, names that may be joined, and a form for any others."""
    return _aliases(project, asked(), 200)


def _aliases(project: str, typed: Typed, status: int) -> Response:
    with parts().database.reading() as connection:
        row = home(connection, project)
        rows, more = cut(list_aliases(connection, row.id, after(), ROWS + 1))
        alike = [(kind, *pair) for kind in KINDS for pair in look_alikes(connection, row.id, kind)]
    context: dict[str, Any] = {
        "rows": rows,
        "more": more,
        "alike": alike[:_SUGGESTED],
        "found": len(alike),
        "kinds": KINDS,
    }
    return show_section(row, "aliases", typed, status, **context)


@administration.post("/projects/<project>/settings/aliases")
def make_alias(project: str) -> Response:
    """Make one name stand for another."""

    def act(connection: Connection, row: Any) -> str:
        acts.create_alias(connection, actor(connection), row.id, **read_form(AliasIn()))
        return path_of(project, "aliases")

    return submitted(project, partial(_aliases, project), act, conflict_at="alias")


@administration.post("/projects/<project>/settings/aliases/<uuid:alias>/delete")
def delete_alias(project: str, alias: uuid.UUID) -> Response:
    """Take an alias back."""

    def act(connection: Connection, row: Any) -> str:
        acts.delete_alias(connection, actor(connection), row.id, alias)
        return path_of(project, "aliases")

    return submitted(project, partial(_aliases, project), act)
