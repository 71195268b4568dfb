"""Names that a ranking leaves out where a slot must be common to all, with the benchmarks and levels that they lack."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import numpy as np
import orjson

from registry.query import RankingQuery
from registry.results.policies import common_to_all
from registry.results.set_aside import SetAside
from workers.rankings.slots import Slots, coordinates
from workers.statistics.score_matrix import ScoreMatrix, of
from workers.statistics.set_aside import of_names, usual_slots
from workers.statistics.terms import BoolArray


def without_costly(
    query: RankingQuery, standings: ScoreMatrix, slots: Slots
) -> tuple[ScoreMatrix, tuple[SetAside, ...]]:
    """The standings of those that are not set aside, and the others; the same standings where nobody is."""
    if not common_to_all(query.method, query.missing):
        return standings, ()
    aside = of_names(standings, query.set_aside)
    if not aside.size:
        return standings, ()
    usual, kept = usual_slots(standings.present), np.setdiff1d(np.arange(len(standings.names)), aside)
    told = tuple(
        SetAside(
            standings.names[i],
            tuple(chain(_benchmarks(standings, own, usual), _levels(slots, own, usual))),
            int(np.count_nonzero(usual & ~own)),
            int(np.count_nonzero(usual)),
        )
        for i, own in zip(aside.tolist(), standings.present[aside], strict=True)
    )
    return of(standings, kept.tolist()), told


def _benchmarks(standings: ScoreMatrix, own: BoolArray, usual: BoolArray) -> Iterator[str]:
    lacking = np.setdiff1d(standings.benchmarks[usual], standings.benchmarks[usual & own])
    return (standings.benchmark_names[one] for one in lacking.tolist())


def _levels(slots: Slots, own: BoolArray, usual: BoolArray) -> Iterator[str]:
    """The levels of axes that are usual, and of which a name has no slot."""
    has, wanted = set[tuple[str, str | float]](), set[tuple[str, str | float]]()
    for shapes in slots.rooms.values():
        for shape, numbers in shapes.items():
            for at, number in zip(coordinates(orjson.loads(shape)), numbers.tolist(), strict=True):
                if usual[number]:
                    wanted |= at
                    has |= at if own[number] else set()
    numbers_first = sorted(wanted - has, key=lambda one: (one[0], isinstance(one[1], str), one[1]))
    return (f"{level:.15g}" if isinstance(level, float) else level for _, level in numbers_first)
