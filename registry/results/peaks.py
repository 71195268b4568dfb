"""Types of the best cells of a grid: a part of `statistics.py`, filled by `workers/statistics/best_cells.py` and
written by `renderings/peaks.py`; pictures mark these cells."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from registry.results.terms import At, Count, LevelName, Noise, Reason, Status


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
    """The best cell after shrinking every cell towards their random-effects mean (Paule and Mandel)."""

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
