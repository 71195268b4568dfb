"""The selection in the parameters of a request: read once, for every view."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection

from registry.api.context import enter, parts
from registry.errors import Fault, Invalid
from registry.grids.slices import Slice
from registry.operations.suites import members_of
from registry.selection import KINDS

AUTO = ("auto",)
"""How the usual names that are set aside are asked for."""


def selected(query: Mapping[str, Any], project: str, at: Slice = ()) -> dict[str, Any]:
    """The fields of `Selection` in parameters that a schema has read; those that it lacks are left out. A suite brings
    its benchmarks; `Invalid` when there is none of its name, and where benchmarks are named beside it."""
    found: dict[str, Any] = {kind: tuple(sorted(set(query[kind]))) for kind in KINDS if kind in query}
    if "set_aside" in query:
        given = tuple(sorted(set(query["set_aside"])))
        found["set_aside"] = () if given == AUTO else given
    found |= {name: query[name] for name in ("experiment", "metric", "suite", "as_of") if name in query} | {"at": at}
    if found.get("suite"):
        with parts().database.reading() as connection:
            found |= of_suite(connection, enter(connection, project, "reader").id, found)
    return found


def of_suite(connection: Connection, project_id: uuid.UUID, query: Mapping[str, Any]) -> dict[str, Any]:
    """What the suite that parameters name brings to them; `Invalid` where benchmarks are named beside it."""
    if query["benchmark"]:
        raise Invalid([Fault("/suite", "stands in place of benchmarks; give one or the other")])
    return members_of(connection, project_id, query["suite"])
