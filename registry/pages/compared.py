"""The comparisons behind two names of a ranking: one for each benchmark that both were measured on."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection

from registry.grids.slices import PARAMETER, Slice
from registry.operations.find import Filters
from registry.operations.form_options import search_grids
from registry.operations.names import joined_names
from registry.pages.links import carried
from registry.query import RankingQuery

MOST = 100
"""Comparisons that are listed; the rest is counted."""
_MOST_GRIDS = 2_000
MODEL_SIDES = ("contender_model", "baseline_model")
"""The parameters of a comparison of models by name."""
_OTHER = {"model": "variant", "variant": "model"}


@dataclass(frozen=True, slots=True)
class Compared:
    """Where two names meet: the comparisons with their names and addresses, and how many more there are."""

    listed: Sequence[tuple[str, str]]
    more: int = 0


def comparisons_of(
    connection: Connection, project: Any, query: Mapping[str, Any], names: Sequence[str], wanted: Slice
) -> Compared:
    """The comparisons of the grids of two names, the first of them the contender; none for what is no model or variant.

    Aliases join the names, as in the ranking.
    """
    by = query["by"]
    if by not in _OTHER or len(names) != 2:
        return Compared(())
    filters = Filters(
        experiment=[query["experiment"]],
        metric=[query["metric"]],
        benchmark=query["benchmark"],
        **{by: list(names), _OTHER[by]: query[_OTHER[by]]},
    )
    grids = search_grids(connection, project.id, filters, _MOST_GRIDS)
    found = _met(grids, by, {kind: joined_names(connection, project.id, kind) for kind in ("benchmark", *_OTHER)})
    both = [(where, ids) for where, ids in sorted(found.items()) if all(name in ids for name in names)]
    listed = [
        (" · ".join(filter(None, where)), _address(project.slug, ids[names[0]], ids[names[1]], wanted))
        for where, ids in both[:MOST]
    ]
    return Compared(listed, len(both) - len(listed))


def models_page(project: str, question: RankingQuery, names: Sequence[str]) -> str:
    """The address at which two models of a ranking are compared, the first of them the contender; "" for what is no
    model."""
    if question.by != "model":
        return ""
    scope = replace(question.selection, model=()).to_query()
    return carried(f"/projects/{quote(project)}/comparisons", [*scope, *zip(MODEL_SIDES, names, strict=True)])


def _met(
    grids: Sequence[Any], by: str, joined: Mapping[str, Mapping[str, str]]
) -> dict[tuple[str, str], dict[str, uuid.UUID]]:
    """The grids of each name, by the benchmark and the name that is not ranked."""
    found: dict[tuple[str, str], dict[str, uuid.UUID]] = {}
    for one in grids:
        named = {kind: joined[kind].get(getattr(one, kind), getattr(one, kind)) for kind in joined}
        found.setdefault((named["benchmark"], named[_OTHER[by]]), {})[named[by]] = one.id
    return found


def _address(slug: str, contender: uuid.UUID, baseline: uuid.UUID, wanted: Slice) -> str:
    query = [("baseline", str(baseline)), ("contender", str(contender)), *_conditions(wanted)]
    return carried(f"/projects/{quote(slug)}/comparisons", query)


def _conditions(wanted: Slice) -> list[tuple[str, str]]:
    return [(f"{PARAMETER}{axis}", text) for axis, texts in wanted for text in texts]
