"""Protocols of the grids that a statement puts together: what forbids it, and what is doubted all the same.

Statements about each cell by itself, about one series or about what was measured put nothing together. As in rankings,
only grids of one benchmark are looked at, and derived grids are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from registry.claims.claim import Atom, Compare, Effect, Extreme, Lie, Rank, SweetSpot, Value
from registry.results.inputs import Warning
from workers.claims.facts import Facts, Source
from workers.protocols import doubts
from workers.statistics.terms import IntArray

_POOLED = ("mean", "sd", "min", "max", "range")


def put_together(atom: Atom, facts: Facts, cells: IntArray) -> list[tuple[int, ...]]:
    """The grids of each benchmark that a statement puts together, as positions in the sources; no benchmark with only
    one."""
    says = atom.says
    if isinstance(says, Compare):
        sides = [facts.select(cells, side) for side in (says.left, says.right)]
        if says.of == "gap":
            sides = [facts.select(side, one) for side in sides for one in (says.ahead, says.behind)]
        cells = np.concatenate(sides)
    elif not _relates(says):
        return []
    found: dict[str, list[int]] = {}
    for owner in np.unique(facts.owner[cells]).tolist():
        source = facts.sources[owner]
        if not source.grid.derived:
            found.setdefault(source.names["benchmark"], []).append(owner)
    return [tuple(owners) for owners in found.values() if len(owners) > 1]


def _relates(says: Any) -> bool:
    if isinstance(says, Lie):
        return says.matching is None
    return says.of in _POOLED if isinstance(says, Value) else isinstance(says, Rank | Extreme | Effect | SweetSpot)


def obstacle(facts: Facts, together: Iterable[Sequence[int]]) -> str | None:
    """Why some of these grids are not put together; None where all are."""
    if not facts.rules:
        return None
    return next((why for owners in together if (why := _between(facts, owners))), None)


def _between(facts: Facts, owners: Sequence[int]) -> str | None:
    """The obstacle between two of the grids of one benchmark.

    Where two have other values of a key, at least one of them differs from the first grid that says it; and a grid that
    does not say what is required has an obstacle with every other. So the pairs with these first ones are enough.
    """
    rules = facts.rules
    first: dict[str, int] = {}
    for owner in owners:
        for key in rules.binding:
            if key in (facts.sources[owner].grid.protocol or {}):
                first.setdefault(key, owner)
    for one in dict.fromkeys([*first.values(), owners[0]]):
        mine = facts.sources[one]
        for theirs in (facts.sources[owner] for owner in owners if owner != one):
            if why := rules.obstacle(mine.grid.protocol, theirs.grid.protocol, (_name(mine), _name(theirs))):
                return why
    return None


def _name(source: Source) -> str:
    return " ".join(filter(None, (source.names["model"], source.names["variant"])))


def warnings_of(facts: Facts, together: Iterable[Sequence[int]]) -> Iterator[Warning]:
    """Doubts about grids that are put together."""
    each_once = dict.fromkeys(map(tuple, together))
    return doubts(facts.rules, ([(facts.sources[owner].grid.protocol, 1) for owner in owners] for owners in each_once))
