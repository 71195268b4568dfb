"""The selection in the parameters of a request: read once, for every view."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from registry.api.context import enter, parts
from registry.errors import Fault, Invalid
from registry.grids.slices import Slice
from registry.operations.suites import members_of
from registry.selection import KINDS


def selected(query: Mapping[str, Any], project: str, at: Slice = ()) -> dict[str, Any]:
    """The fields of `Selection` in parameters that a schema has read; those that it lacks are left out. A suite brings
    its benchmarks; `Invalid` when there is none of its name, and where benchmarks are named beside it."""
    found: dict[str, Any] = {kind: tuple(sorted(set(query[kind]))) for kind in KINDS if kind in query}
    found |= {name: query[name] for name in ("experiment", "metric", "suite", "as_of") if name in query} | {"at": at}
    if found.get("suite"):
        if found["benchmark"]:
            raise Invalid([Fault("/suite", "stands in place of benchmarks; give one or the other")])
        with parts().database.reading() as connection:
            row = enter(connection, project, "reader")
            found |= members_of(connection, row.id, found["suite"])
    return found
