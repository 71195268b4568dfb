"""Outcomes of the same items in two grids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from registry.results.terms import Count, Presence, Reason


@dataclass(frozen=True, slots=True)
class Flips:
    """Items by what came out of them in both grids, 1 or 0."""

    both: Annotated[Count, "1 in both."]
    only_contender: Annotated[Count, "1 in the contender alone."]
    only_baseline: Annotated[Count, "1 in the baseline alone."]
    neither: Annotated[Count, "0 in both."]


@dataclass(frozen=True, slots=True)
class McNemar:
    """McNemar's test of the items that came out differently, two-sided (Fagerland, Lydersen and Laake 2013)."""

    p: Annotated[float, "Exact: the binomial law of one half."]
    mid_p: Annotated[float, "The same with half of the probability of what was seen; less cautious."]


@dataclass(frozen=True, slots=True)
class CellItems:
    """Outcomes of the same items in a cell of both grids."""

    items: Annotated[Count, "Different items; one that is in several cells counts once."]
    flips: Annotated[Flips | None, "Over all cells; null where outcomes are scores."] = None
    mcnemar: Annotated[
        McNemar | None, "Null for scores, and where an item is in several cells: these are not independent."
    ] = None


@dataclass(frozen=True, slots=True)
class ItemPairs(CellItems):
    """Whether these cells were compared item by item. If so, `test` is of the differences of the items: McNemar's in
    one cell of bits, else Student's t, with errors clustered by the item (Miller 2024, equation 4)."""

    paired: Annotated[bool, "Whether every cell has outcomes of the same items in both grids."] = False
    cells: Annotated[Count, "Cells that have."] = 0
    caution: Annotated[str | None, "Why the error may be too small; absent without doubts.", Presence.OMITTED] = None
    reason: Reason = None
