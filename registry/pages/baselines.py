"""Baselines that the cells of a grid can be compared with: other grids of the same experiment and metric."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flask import request
from sqlalchemy import Connection

from registry.errors import Fault, Invalid
from registry.operations.find import Filters
from registry.operations.read import find_grid
from registry.operations.scope_options import search_grids
from registry.operations.stored_grids import StoredGrid, stored_grid
from registry.pages.links import to

_LISTED = 100


@dataclass(frozen=True, slots=True)
class Baselines:
    """The grids to choose from: those of the same benchmark, where a difference is one of models or variants, and the
    others; `more` says that not all of them are listed."""

    same: Sequence[Any]
    others: Sequence[Any]
    more: bool


def baselines_of(connection: Connection, project_id: uuid.UUID, stored: StoredGrid) -> Baselines:
    """Baselines that the visitor may choose: none where only this grid is open to them."""
    names = stored.names
    same = Filters(experiment=[names.experiment], metric=[names.metric], benchmark=[names.benchmark])
    every = Filters(experiment=[names.experiment], metric=[names.metric])
    alike = _open(search_grids(connection, project_id, same, _LISTED + 2), stored)
    known = {one.id for one in alike}
    found = _open(search_grids(connection, project_id, every, _LISTED + len(known) + 2), stored)
    rest = [one for one in found if one.id not in known]
    return Baselines(alike[:_LISTED], rest[:_LISTED], len(alike) > _LISTED or len(rest) > _LISTED)


def _open(found: Sequence[Any], stored: StoredGrid) -> list[Any]:
    return [one for one in found if one.id != stored.id and to(f"/grids/{one.id}")]


def baseline_of(connection: Connection, project_id: uuid.UUID, stored: StoredGrid) -> StoredGrid | None:
    """The grid that the address asks to subtract; `Invalid` when it is not one of the same experiment and metric."""
    wanted = request.args.get("baseline")
    if not wanted:
        return None
    try:
        asked = uuid.UUID(wanted)
    except ValueError:
        raise _not_another() from None
    names = stored.names
    scope = Filters(experiment=[names.experiment], metric=[names.metric], id=str(asked))
    if not _open(search_grids(connection, project_id, scope, 1), stored):
        raise _not_another()
    return stored_grid(find_grid(connection, asked))


def _not_another() -> Invalid:
    return Invalid([Fault("/baseline", "is not another grid of the same experiment and metric")])


def differing(stored: StoredGrid, baseline: StoredGrid) -> list[str]:
    """Names in which two grids differ, if there are several: their difference cannot be laid to one of them."""
    kinds = ("benchmark", "model", "variant")
    found = [kind for kind in kinds if getattr(stored.names, kind) != getattr(baseline.names, kind)]
    return found if len(found) > 1 else []
