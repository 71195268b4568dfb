"""Score matrix: the names that are compared, and the slots over which. `workers/rankings/ranking_input.py` makes it of
stored grids; rankings and comparisons of models begin from it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from registry.grids.grid import Direction, Metric
from registry.results.ranking import Slots
from registry.results.terms import OF_REPEATS, ROUNDED
from workers.statistics.noise import successes_of
from workers.statistics.terms import BoolArray, FloatArray, IntArray, decimals_by_column

UNSAID = {OF_REPEATS: 1, ROUNDED: 2}
"""Reasons for a design effect that nobody posted."""


@dataclass(frozen=True)
class ScoreMatrix:
    """Values of names (rows) in slots (columns); NaN where a name has no cell.

    `benchmarks` gives each slot's benchmark as an index into `benchmark_names`. Arrays of the shape of `values`:
    `trials` (0 = unknown), `stderr` (NaN = unknown), the `repeats` that an error was estimated from (0 = posted),
    the `questions` behind the trials (0 = unknown), the `design_effect` (NaN = none), the sum of the `UNSAID` reasons
    for one that nobody posted, the `pair_effect` in its place where pairs are compared, outcomes of `items`
    (`item_variances.SlotItems`, or None). Bounds and direction are the metric's. `mixed` says that the slots do not
    share a scale: then only orders made of wins and ranks have a meaning, and the caller turns every slot so that
    `direction` holds for it.

    `group` is the word for what takes the place of `benchmarks`: where benchmarks are ranked these are models.

    By slot: `worst`, the worst value that there could be (NaN where that end is open; default: the metric's bound),
    and `places`, equal for slots that would be one if their scales were.
    """

    names: tuple[str, ...]
    values: FloatArray
    benchmarks: IntArray
    benchmark_names: tuple[str, ...]
    trials: IntArray | None = None
    direction: Direction | None = None
    lower: float | None = None
    upper: float | None = None
    mixed: bool = False
    stderr: FloatArray | None = None
    repeats: IntArray | None = None
    questions: IntArray | None = None
    design_effect: FloatArray | None = None
    unsaid: IntArray | None = None
    pair_effect: FloatArray | None = None
    items: Any = None
    worst: FloatArray | None = None
    places: IntArray | None = None
    group: str = "benchmark"

    @property
    def proportion_of(self) -> float | None:
        """1.0 or 100.0 when the values are proportions on that scale, else `None`."""
        return None if self.mixed else Metric("", None, self.direction, self.lower, self.upper).proportion_of

    @property
    def span(self) -> float | None:
        """From one end of the metric to the other; `None` unless it has two."""
        return None if self.mixed or self.lower is None or self.upper is None else self.upper - self.lower

    @property
    def bounded(self) -> bool:
        """True if the metric has two ends."""
        return self.span is not None

    @property
    def assumed(self) -> tuple[str, ...]:
        """What is assumed of the trials of cells whose design effect nobody posted, unless their error was; and that
        the repeats of a name say nothing of each other from cell to cell."""
        repeated = np.zeros(self.values.shape, dtype=np.bool_) if self.repeats is None else self.repeats > 1
        apart = ("independent_cells",) if ((self.present & repeated).sum(axis=1) > 1).any() else ()
        if self.unsaid is None:
            return apart
        by_trials = self.present
        if self.stderr is not None:
            by_trials = by_trials & ~((self.stderr > 0) & ((0 if self.repeats is None else self.repeats) == 0))
        bits = int(np.bitwise_or.reduce(self.unsaid[by_trials], axis=None))
        return (*(word for word, bit in UNSAID.items() if bits & bit), *apart)

    @cached_property
    def present(self) -> BoolArray:
        """Mask of the cells, names x slots."""
        return np.isfinite(self.values)

    @cached_property
    def has_uneven_trials(self) -> bool:
        """Whether a name has cells of one benchmark with unequal trials."""
        if self.trials is None or not self.benchmarks.size:
            return False
        order = np.argsort(self.benchmarks, kind="stable")
        owners, known = self.benchmarks[order], (self.present & (self.trials > 0))[:, order]
        starts, n = np.flatnonzero(np.append(True, owners[1:] != owners[:-1])), self.trials[:, order]
        most = np.maximum.reduceat(np.where(known, n, 0), starts, axis=1)
        return bool(np.any(most > np.minimum.reduceat(np.where(known, n, n.max()), starts, axis=1)))

    @property
    def slots(self) -> Slots:
        """How many slots any name has, and how many two have."""
        held = self.present.sum(axis=0)
        return Slots(int(np.count_nonzero(held)), int(np.count_nonzero(held > 1)))

    @cached_property
    def decimals(self) -> IntArray:
        """The submitted decimals of each slot."""
        return decimals_by_column(self.values)

    @cached_property
    def ticks(self) -> IntArray:
        """The values as integers of their slot's 10^-decimals, 0 where absent; ties are ties of these."""
        scale = np.power(10.0, self.decimals)
        return np.asarray(np.rint(np.where(self.present, self.values, 0.0) * scale), dtype=np.int64)

    @property
    def sign(self) -> int:
        """1 where higher is better, -1 where lower is."""
        return -1 if self.direction == "lower" else 1

    @cached_property
    def successes(self) -> FloatArray | None:
        """The successes that the values say (see `successes_of`), each by its own decimals, whoever else is in its
        slot; 0 where trials are unknown. `None` without any."""
        if self.trials is None or not self.proportion_of:
            return None
        values = np.where(self.present, self.values, 0.0)
        decimals = decimals_by_column(values.reshape(1, -1)).reshape(values.shape)
        return successes_of(values, self.trials, self.proportion_of, decimals)

    def weights(self, slots: IntArray) -> FloatArray:
        """Weights of the slots that sum to 1: equal for slots of a benchmark, equal for benchmarks."""
        owners = self.benchmarks[slots]
        counts = np.bincount(owners, minlength=len(self.benchmark_names))
        return np.asarray(1.0 / (counts[owners] * np.count_nonzero(counts)), dtype=np.float64)


OF_CELLS = ("trials", "stderr", "repeats", "questions", "design_effect", "unsaid", "pair_effect", "items")
OF_SLOTS = ("worst", "places")


def only(standings: ScoreMatrix, slots: IntArray) -> ScoreMatrix:
    """The standings on some of the slots; the same standings where these are all of them."""
    if np.array_equal(slots, np.arange(standings.values.shape[1])):
        return standings
    changed: dict[str, Any] = {
        name: array[:, slots] for name in OF_CELLS if (array := getattr(standings, name)) is not None
    }
    changed |= {name: array[slots] for name in OF_SLOTS if (array := getattr(standings, name)) is not None}
    return replace(standings, values=standings.values[:, slots], benchmarks=standings.benchmarks[slots], **changed)


def of(standings: ScoreMatrix, members: Sequence[int]) -> ScoreMatrix:
    """The standings of some of the names, on the slots that any of them has."""
    rows = np.asarray(members, dtype=np.int64)
    kept = standings
    if not np.array_equal(rows, np.arange(len(standings.names))):
        changed: dict[str, Any] = {
            name: array[rows] for name in OF_CELLS if (array := getattr(standings, name)) is not None
        }
        names = tuple(standings.names[i] for i in members)
        kept = replace(standings, names=names, values=standings.values[rows], **changed)
    return only(kept, np.flatnonzero(kept.present.any(axis=0)))


def filled(standings: ScoreMatrix) -> ScoreMatrix:
    """Gaps replaced by the worst value that there could be, or by the slot's worst where that end is open; what is
    filled has no noise that is known. The same standings where there are no gaps."""
    if standings.present.all():
        return standings
    bound = standings.upper if standings.direction == "lower" else standings.lower
    bounds = np.full(standings.values.shape[1], np.nan if bound is None else bound)
    bounds = bounds if standings.worst is None else standings.worst
    turned = np.where(standings.present, standings.sign * standings.values, np.inf)
    seen = standings.sign * turned.min(axis=0, initial=np.inf)
    # A slot in which nobody has a cell stays empty.
    usable = np.where(standings.present.any(axis=0), np.where(np.isfinite(bounds), bounds, seen), np.nan)
    nothing: dict[str, Any] = {
        "trials": 0, "stderr": np.nan, "repeats": 0, "questions": 0, "design_effect": np.nan, "unsaid": 0,
        "pair_effect": np.nan, "items": None,
    }  # fmt: skip
    changed: dict[str, Any] = {
        name: np.where(standings.present, array, nothing[name])
        for name in OF_CELLS
        if (array := getattr(standings, name)) is not None
    }
    return replace(standings, values=np.where(standings.present, standings.values, usable), **changed)
