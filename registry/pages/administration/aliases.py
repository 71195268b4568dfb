"""Aliases: names that count as one. Names that look alike are suggested, and joined in one click."""

from __future__ import annotations

import uuid
from typing import Any

from sqlalchemy import Connection

from registry.api.audit_log import actor
from registry.api.schemas import KINDS, AliasIn
from registry.operations import acts
from registry.operations.names import list_aliases, look_alikes
from registry.pages.administration.layout import ROWS, Section, Typed, after, cut, read_form

_SUGGESTED = 20


ALIASES = Section("aliases")


@ALIASES.page
def aliases(connection: Connection, row: Any, _typed: Typed) -> dict[str, Any]:
    """The aliases, names that may be joined, and a form for any others."""
    rows, more = cut(list_aliases(connection, row.id, after(), ROWS + 1))
    alike = [(kind, *pair) for kind in KINDS for pair in look_alikes(connection, row.id, kind)]
    return {"rows": rows, "more": more, "alike": alike[:_SUGGESTED], "found": len(alike), "kinds": KINDS}


@ALIASES.form(conflict_at="alias")
def make_alias(connection: Connection, row: Any) -> None:
    """Make one name stand for another."""
    acts.create_alias(connection, actor(connection), row.id, **read_form(AliasIn()))


@ALIASES.form("/<uuid:alias>/delete")
def delete_alias(connection: Connection, row: Any, alias: uuid.UUID) -> None:
    """Take an alias back."""
    acts.delete_alias(connection, actor(connection), row.id, alias)
