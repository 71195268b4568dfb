"""Types of the coverage of a grid, which of its declared cells were measured: a part of `statistics.py`, filled by
`workers/statistics/describe.py` and written by `renderings/coverage.py`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from registry.results.terms import Count, LevelName, Place, Reason, Status


@dataclass(frozen=True, slots=True)
class LevelCoverage:
    """How much of one level was measured. `first`, `last` and `holes` are levels of the other axis of a grid of two
    axes; on other grids they are null and empty."""

    level: LevelName
    count: Annotated[Count, "Its measured cells."]
    first: Annotated[Place | None, "The first measured level of the other axis; null where there is none."]
    last: Annotated[Place | None, "The last measured level of the other axis; null where there is none."]
    holes: Annotated[
        tuple[Place, ...],
        "Unmeasured levels of the other axis between the first and the last, at most a hundred.",
    ]
    hole_count: Annotated[Count, "All of them."]


@dataclass(frozen=True, slots=True)
class AxisCoverage:
    """The levels of an axis: each one's coverage, those without a cell, those without a gap."""

    levels: Annotated[tuple[LevelCoverage, ...], "The first thousand, in the order of the axis."]
    levels_left_out: Annotated[Count, "The others."]
    empty: Annotated[tuple[Place, ...], "Declared, and nowhere measured."]
    complete: Annotated[tuple[Place, ...], "Measured at every combination of the other axes."]


@dataclass(frozen=True, slots=True)
class Coverage:
    """The measured cells among those that were declared. Levels that share a cell are connected; effects of unconnected
    levels cannot be told apart."""

    status: Status
    cells: Annotated[Count, "Measured."]
    possible: Annotated[Count, "Declared: the product of the numbers of levels."]
    fraction: Annotated[float | None, "`cells` of `possible`, 0 to 1; null where no cell is possible."]
    by: Annotated[Mapping[str, AxisCoverage], "By the name of the axis."]
    component_count: Annotated[Count, "The parts of the grid that share no level with each other."]
    components: Annotated[
        tuple[Mapping[str, tuple[Place, ...]], ...] | None,
        "Parts of the grid that share no level with each other: the levels of each, by axis, the largest part first; "
        "null above a thousand levels.",
    ]
    reason: Reason = None
