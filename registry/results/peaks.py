"""Types of three parts of a grid's statistics: its best cells, its coverage, and how exactly values were printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from registry.results.terms import At, Count, LevelName, Noise, Place, Reason, Status


@dataclass(frozen=True, slots=True)
class Best:
    """The best value, and the cells that have it."""

    value: Annotated[float, "In the metric's unit."]
    at: Annotated[tuple[At, ...], "The first hundred, in row-major order."]
    ties: Annotated[Count, "All cells that have it."]


@dataclass(frozen=True, slots=True)
class RunnerUp:
    """The next best distinct value, and the cells that have it."""

    value: Annotated[float, "In the metric's unit."]
    at: Annotated[tuple[At, ...], "The first hundred, in row-major order."]
    ties: Annotated[Count, "All cells that have it."]
    gap: Annotated[float, "Its distance from the best, at least 0, in the metric's unit."]


@dataclass(frozen=True, slots=True)
class LevelBest:
    """The best value on one level of an axis, and the cells that have it."""

    level: LevelName
    value: Annotated[float, "In the metric's unit."]
    at: Annotated[tuple[At, ...], "The first hundred, in row-major order."]
    ties: Annotated[Count, "All cells that have it."]


@dataclass(frozen=True, slots=True)
class CellChance:
    """A cell and its probability of being the best one; errors are taken as independent."""

    at: At
    value: Annotated[float, "In the metric's unit."]
    probability: Annotated[float, "After shrinking the cells towards each other."]
    if_unrelated: Annotated[
        float | None,
        "If the cells had nothing in common: too sure of the peak. Null where too many cells are within reach.",
    ]


@dataclass(frozen=True, slots=True)
class BestSet:
    """Gupta's subset (1965): every cell that noise may hide the best one in. Equal cells are in or out together."""

    level: Annotated[float, "The best cell is in the set with at least this confidence."]
    size: Annotated[Count, "All cells of the set."]
    at: Annotated[tuple[At, ...], "Best value first, at most a hundred."]
    method: Annotated[Literal["gupta"], "Gupta's subset selection."] = "gupta"


@dataclass(frozen=True, slots=True)
class Shrunken:
    """The best cell after shrinking every cell towards the mean (Paule and Mandel)."""

    value: Annotated[float, "In the metric's unit."]
    at: Annotated[tuple[At, ...], "The cells that have it, at most a hundred."]
    mean: Annotated[float, "What the cells are shrunken towards, in the metric's unit."]
    tau2: Annotated[float, "The variance between cells beyond noise."]
    i2: Annotated[float, "Its share of the total variance, 0 to 1."]


@dataclass(frozen=True, slots=True)
class Peaks:
    """The best cells by the metric's direction, all ties included, and what noise leaves of them. Null: the part does
    not apply, for the metric has no better end, no cell was measured, or the noise of some cell is unknown."""

    status: Status
    best: Best | None = None
    runner_up: Annotated[RunnerUp | None, "Null when all cells tie."] = None
    by: Annotated[
        Mapping[str, tuple[LevelBest, ...]] | None,
        "The best cells on each measured level, by the name of the axis; the first thousand levels of each.",
    ] = None
    reason: Reason = None
    noise: Noise = "unknown"
    noise_status: Annotated[Status, "insufficient: some cell has neither trials nor an error."] = "undefined"
    noise_reason: Annotated[str | None, "Why parts that need noise are missing."] = None
    expected_max_if_equal: Annotated[
        float | None,
        "The best of as many cells if all were equal: the floor that a peak must pass. By the binomial law where "
        "trials are known, so that it never leaves the bounds. Null for a single cell.",
    ] = None
    plausible_max_if_equal: Annotated[
        float | None,
        "What the best of as many equal cells does not surpass, at the level of the best set: a peak beyond it is "
        "more than the luck of the best of so many.",
    ] = None
    probability_best: Annotated[
        tuple[CellChance, ...] | None,
        "The probability that a cell is the best, of the cells of `best_set`. They are shrunken by the spread "
        "between all (Paule and Mandel) first; neither number guarantees a rate of error, `best_set` does.",
    ] = None
    best_set: BestSet | None = None
    shrunken: Annotated[Shrunken | None, "Null for a single cell."] = None


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


@dataclass(frozen=True, slots=True)
class OffLattice:
    """A value that no whole number of successes of its trials rounds to."""

    at: At
    value: Annotated[float, "As it was posted, in the metric's unit."]


@dataclass(frozen=True, slots=True)
class Precision:
    """The printed decimals, and the trials that they imply. Implied trials are reported, never adopted."""

    status: Status
    decimals: Annotated[
        int | None, "Of the values as they were posted; negative beyond 10^12, null where no cell was measured."
    ]
    implied_trials: Annotated[
        int | None,
        "The smallest number of trials, below the printed resolution, that explains every value of a proportion; null "
        "where there is none.",
    ] = None
    candidates: Annotated[tuple[Count, ...], "The five smallest such numbers."] = ()
    chance: Annotated[
        float | None, "The probability that a random printed value lies on the lattice of `implied_trials`, 0 to 1."
    ] = None
    off_lattice_count: Annotated[
        int | None, "How many values contradict the given trials; null where none are given."
    ] = None
    off_lattice: Annotated[tuple[OffLattice, ...] | None, "The first hundred of them."] = None
    reason: Reason = None
