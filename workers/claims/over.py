"""Over which cells means are taken, in words: the same names in other cells may have another order."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from workers.claims.scene import Scene
from workers.statistics.terms import IntArray

_MOST_LISTED = 4


def over_shared(apart: Collection[str], used: IntArray, declared: IntArray, scene: Scene, whose: str = "all") -> str:
    """The coordinates, apart from some dimensions, that the cells used have, of those that are declared: `over the 3 of
    20 levels of Length that all have (7, 8, 9)`; "" where there is only one."""
    facts = scene.facts
    names = [name for name in facts.varying(declared) if name not in apart]
    places = [facts.dimensions.index(name) for name in names]
    here, every = (np.unique(facts.codes[cells][:, places], axis=0) for cells in (used, declared))
    if len(every) < 2:
        return ""
    what = f"levels of {names[0]}" if len(names) == 1 else "coordinates"
    if len(here) == len(every):
        return f"over all {len(every):,} {what}"
    listed = ""
    if len(names) == 1 and len(here) <= _MOST_LISTED:
        listed = f" ({', '.join(facts.levels[names[0]][code].label for code in here[:, 0].tolist())})"
    return f"over the {len(here):,} of {len(every):,} {what} that {whose} have{listed}"


def over_sides(left: Sequence[int], right: Sequence[int]) -> str:
    """The cells of two sides that share no coordinate: `over 14 and 6 cells`; "" where each is one cell."""
    sizes = len(left), len(right)
    return "" if sizes == (1, 1) else f"over {sizes[0]:,} and {sizes[1]:,} cells"


def each_over_its_own(named: Mapping[str, int], others: Sequence[int]) -> str:
    """How many cells each has: `each over its own cells (19 of Type 6, 10 to 20 of the others)`."""
    low, high = min(others), max(others)
    span = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    told = [f"{count:,} of {name}" for name, count in named.items()]
    return f"each over its own cells ({', '.join([*told, f'{span} of the others' if told else span])})"
