"""Settings of names: aliases, which make names count as one and are suggested for those that look alike, and suites,
which are benchmarks that are ranked together."""

import uuid
from typing import Any

from flask import request
from marshmallow import Schema
from sqlalchemy import Connection

from registry.api.context import actor
from registry.api.fields import Name
from registry.api.paging import read_text, write_text
from registry.api.schemas import KINDS, AliasIn, SuiteIn
from registry.operations import acts
from registry.operations import suites as of_suites
from registry.operations.names import list_aliases, look_alikes, names_in_use
from registry.operations.suites import find_suite, list_suites
from registry.pages.administration.layout import ROWS, Section, Typed, after, cut, read_form
from registry.pages.parameters import argument

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


_LISTED = 200


class _SuiteForm(SuiteIn):
    name = Name(required=True)


class _SuiteName(Schema):
    name = Name(required=True)


SUITES = Section("suites")


@SUITES.page
def suites(connection: Connection, row: Any, typed: Typed) -> dict[str, Any]:
    """The suites, and a form that makes or changes one."""
    after, chosen = argument("after", "[0-9a-f]+", "is not a place in this list"), request.args.get("suite", "")
    rows = list_suites(connection, row.id, read_text(after) if after else None, ROWS + 1)
    benchmarks = [one["name"] for one in names_in_use(connection, row.id, "benchmark", limit=_LISTED + 1)]
    if chosen and not typed.faults:
        found = find_suite(connection, row.id, chosen)
        typed.values = {"name": found.name, "benchmarks": "\n".join(found.benchmarks)}
    return {
        "rows": rows[:ROWS],
        "more": write_text(rows[ROWS - 1].name) if len(rows) > ROWS else None,
        "known": benchmarks[:_LISTED],
        "cut": len(benchmarks) > _LISTED,
    }


@SUITES.form()
def set_suite(connection: Connection, row: Any) -> None:
    """Make a suite, or give it other benchmarks."""
    sent = read_form(_SuiteForm(), lists=("benchmarks",))
    of_suites.set_suite(connection, actor(connection), row.id, sent["name"], sent["benchmarks"])


@SUITES.form("/delete")
def delete_suite(connection: Connection, row: Any) -> None:
    """Delete the suite of this name."""
    of_suites.delete_suite(connection, actor(connection), row.id, read_form(_SuiteName())["name"])
