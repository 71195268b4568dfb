"""Worlds, or what may be true of cells: the posted numbers, the same with every missing cell free, what noise leaves
possible.

A statement is evaluated in the same way in each of them: a world says which cells there are, and gives the span of the
values of a cell and of a sum of cells. The interval of a sum is made of those of its cells by the method of variance
estimates recovery (Zou and Donner 2008, Statistics in Medicine 27, 1693-1702), which for the difference of two
proportions is Newcombe's construction, and for means of repeats Banerjee's (1960, Sankhya 22, 357-364): that covers at
least as often as it states, however the variances differ, where Satterthwaite's degrees of freedom miss up to seven
times as often far out in the tails. One counted cell less another has the interval of comparisons of grids, that of the
score test. `family` is the number of spans that have to hold together: single cells share alpha by Sidak's formula
(1967, they are independent), sums by Bonferroni's.

Limits that hold at every revision at once, with one alpha for all of them: look k has the share 6 / (pi^2 k^2) of
alpha. These add up to alpha, so by Bonferroni's inequality all looks together miss with at most alpha, whatever a
revision does: adds trials, measures again or corrects. Only the present revision and its number are needed.

One group of cells in one world, and what is found of a statement there.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.special import ndtri

from registry.claims.claim import Ends, Looks, Number, exact
from workers.claims.facts import Facts, Terms
from workers.statistics.judging import Answer, Span, judge
from workers.statistics.score_test import Strata
from workers.statistics.terms import FloatArray, IntArray


@dataclass(frozen=True)
class Look:
    """Look at a claim, by its number from 1."""

    kind: Looks = "fixed"
    number: int = 1

    def share_of(self, alpha: float) -> float:
        """Share of alpha of this look."""
        return alpha if self.kind == "fixed" else 6 * alpha / (math.pi * self.number) ** 2


FIXED = Look()


@dataclass(frozen=True)
class Exact:
    """Exact decimals: the measured cells as they were posted (`posted`), or all declared ones, of which one that was
    not measured may have any value within the bounds of the metric."""

    facts: Facts
    name: Literal["posted", "declared"] = "posted"
    left_out: list[str] = field(default_factory=list, compare=False)
    """Notes of the coordinates that it has and that were not compared, as not all have them: `12 of 28 coordinates`."""

    def cells(self, of: IntArray) -> IntArray:
        """Those of the declared cells that exist in this world."""
        return of if self.name == "declared" else of[self.facts.present[of]]

    def spans(self, cells: Sequence[int], family: int = 1) -> list[Span] | None:
        """Points, and all that the metric allows."""
        known = self.facts.present
        return [point(self.facts.value(cell)) if known[cell] else allowed(self.facts, cell) for cell in cells]

    def linear(self, terms: Terms, family: int = 1) -> Span | None:
        """The sum of the spans; the measured cells are added exactly."""
        sure = sum((factor * self.facts.value(cell) for cell, factor in terms if self.facts.present[cell]), Fraction(0))
        free = unmeasured(self.facts, terms)
        return Span(float(sure) + free.low, float(sure) + free.high) if family else None

    def gap(self, terms: Terms, family: int = 1) -> Span | None:
        """The same."""
        return self.linear(terms, family)

    def shared(self, parts: int) -> "Exact":
        """Itself: numbers have no noise."""
        return self


@dataclass(frozen=True)
class Log:
    """The different sums of cells (a cell alone is one) that were asked for, and for how many intervals in all."""

    sums: set[tuple[tuple[int, float], ...]] = field(default_factory=set)
    intervals: list[int] = field(default_factory=list)

    def add(self, sums: Iterable[Terms]) -> None:
        """Note intervals that hold together; a sum and the same with the other sign are one."""
        written = [sorted((cell, float(factor)) for cell, factor in terms if factor) for terms in sums]
        self.intervals.append(len(written))
        for one in written:
            sign = 1.0 if not one or one[0][1] > 0 else -1.0
            self.sums.add(tuple((cell, sign * factor) for cell, factor in one))


@dataclass(frozen=True)
class Noisy:
    """The measured cells, each within its confidence limits; everything it is asked for holds together with a
    probability of 1 - `alpha`."""

    facts: Facts
    alpha: float
    group: IntArray
    """The cells that may be asked for, in their order."""
    look: Look = FIXED
    beyond: float = 0.0
    """Standard errors that all limits are moved further out."""
    asked: Log | None = None
    """Where it notes what it is asked for."""
    name: Literal["noise"] = "noise"
    known: dict[float, tuple[FloatArray, FloatArray]] = field(default_factory=dict)

    def cells(self, of: IntArray) -> IntArray:
        """The measured ones."""
        return of[self.facts.present[of]]

    def spans(self, cells: Sequence[int], family: int = 1) -> list[Span] | None:
        """The intervals of these cells, all at once, as one of `family` such sets; None where some are unknown."""
        if self.asked is not None:
            self.asked.add([(cell, Fraction(1))] for cell in cells)
        low, high = self._limits((1 - self.alpha) ** (1 / max(1, len(cells) * family)))
        at = np.searchsorted(self.group, np.asarray(cells, dtype=np.int64))
        if not np.all(np.isfinite(low[at])):
            return None
        return [Span(*ends) for ends in zip(low[at].tolist(), high[at].tolist(), strict=True)]

    def linear(self, terms: Terms, family: int = 1) -> Span | None:
        """The interval of a sum, one of `family` sums that are looked at together; None where unknown."""
        if self.asked is not None:
            self.asked.add([terms])
        low, high = self._limits(1 - self.alpha / family)
        cells = np.array([cell for cell, _ in terms], dtype=np.int64)
        at = np.searchsorted(self.group, cells)
        factor = np.array([float(factor) for _, factor in terms])
        values = self.facts.errors.values[cells]
        below, above = values - low[at], high[at] - values
        if not np.all(np.isfinite(below)):
            return None
        middle = float(factor @ values)
        down, up = self._reach(cells, factor, below, above, 1 - self.alpha / family)
        if not down and not up:
            return point(sum((times * exact(value) for (_, times), value in zip(terms, values.tolist(), strict=True)),
                             Fraction(0)))  # fmt: skip
        return Span(middle - down, middle + up)

    def gap(self, terms: Terms, family: int = 1) -> Span | None:
        """The interval of one side less another. Of two counted cells that of the score test, by which comparisons of
        grids judge the same cell (`workers.statistics.score_test`); else that of their sum."""
        cells = [cell for cell, factor in terms if factor]
        mine = self.facts.errors.at(np.array(cells, dtype=np.int64))
        if len(cells) != 2 or sum(factor for _, factor in terms) != 0 or not np.all(mine.n > 0):
            return self.linear(terms, family)
        if self.asked is not None:
            self.asked.add([terms])
        first, second = (0, 1) if terms[0][1] > 0 else (1, 0)
        strata = Strata.of(*(column[[place]] for place in (first, second) for column in (mine.k, mine.n)))
        apart = (mine.values[[first]] - mine.values[[second]]) / mine.whole[0]
        critical = -float(ndtri((1 - self._own(1 - self.alpha / family)) / 2)) + self.beyond
        low, high = replace(strata, difference=apart).ends(np.array([critical]))
        size = float(mine.whole[0]) * float(max(factor for _, factor in terms))
        return Span(float(low[0]) * size, float(high[0]) * size)

    def _reach(
        self, cells: IntArray, factor: FloatArray, below: FloatArray, above: FloatArray, level: float
    ) -> tuple[float, float]:
        """How far a sum may be below and above what was observed. Counted cells of one sign, those first whose trials
        weigh most, are together no nearer than one share is: near an end of the scale, those that came out there alone
        say nothing of their noise."""
        squares = [(factor * np.where(factor > 0, *ends)) ** 2 for ends in ((below, above), (above, below))]
        totals = [float(one.sum()) for one in squares]
        n = self.facts.errors.n[cells]
        for sign in (1, -1):
            mine = np.flatnonzero((sign * factor > 0) & (n > 0))
            if mine.size < 2:
                continue
            mine = mine[np.argsort(-np.abs(factor[mine]) / n[mine], kind="stable")]
            sizes, *reaches = self.facts.errors.at(cells[mine]).pooled(
                np.abs(factor[mine]), self._own(level), self.beyond
            )
            for place, reach in enumerate(reaches[::sign]):
                more = reach**2 - np.cumsum(squares[place][mine])[sizes - 1]
                totals[place] += max(0.0, float(more.max()))
        return math.sqrt(totals[0]), math.sqrt(totals[1])

    def shared(self, parts: int) -> "Noisy":
        """With a part of alpha."""
        return replace(self, alpha=self.alpha / parts, known={})

    def _limits(self, level: float) -> tuple[FloatArray, FloatArray]:
        if level not in self.known:
            self.known[level] = self.facts.errors.at(self.group).limits(self._own(level), self.beyond)
        return self.known[level]

    def _own(self, level: float) -> float:
        """The level of this look."""
        return 1 - self.look.share_of(1 - level)


World = Exact | Noisy


def allowed(facts: Facts, cell: int) -> Span:
    """The values that the metric of a cell allows."""
    metric = facts.metric(cell)
    low = -math.inf if metric.lower is None else metric.lower
    return Span(low, math.inf if metric.upper is None else metric.upper)


def unmeasured(facts: Facts, terms: Terms) -> Span:
    """Range that the cells of a sum which were not measured can add to it."""
    low = high = 0.0
    for cell, factor in terms:
        if factor and not facts.present[cell]:
            span = allowed(facts, cell)
            ends = sorted((float(factor) * span.low, float(factor) * span.high))
            low, high = low + ends[0], high + ends[1]
    return Span(low, high)


def added(terms: Terms) -> Terms:
    """The same sum with every cell once."""
    total: dict[int, Fraction] = {}
    for cell, factor in terms:
        total[cell] = total.get(cell, Fraction(0)) + factor
    return list(total.items())


def point(value: Fraction) -> Span:
    """One number; equal numbers are equal floats, whatever they were computed from."""
    return Span(float(value), float(value))


Reason = Literal[
    "missing_cells",
    "within_noise",
    "noise_unknown",
    "too_few_points",
    "confounded",
    "not_comparable",
    "no_direction",
    "vague",
    "not_published",
    "too_large",
    "failed",
]
POSITIVE = (Span(0, low_open=True),)


@dataclass(frozen=True)
class Found:
    """Result of a statement: the span of the number that it is about, and the cells that decide it. `reason` says why
    it is not decided, `detail` in words that are those of this case. `over` says over which cells means are taken, in
    words, and `total` of how many things the span counts some."""

    answer: Answer
    span: Span | None = None
    reason: Reason | None = None
    cells: tuple[int, ...] = ()
    detail: str = ""
    over: str = ""
    total: int | None = None


def undecided(reason: Reason, detail: str = "") -> Found:
    """Not decided, for this reason."""
    return Found("not_decidable", reason=reason, detail=detail)


@dataclass(frozen=True)
class Scene:
    """The declared cells of a group, in row-major order. `rounded`: how ranges of numbers are read. `alpha` is the
    group's share of that of the claim."""

    facts: Facts
    world: World
    declared: IntArray
    alpha: float
    rounded: bool = True

    @cached_property
    def cells(self) -> IntArray:
        """Those that exist in the world."""
        return self.world.cells(self.declared)

    def region(self, said: Number) -> tuple[Span, ...]:
        """The values that a stated number allows."""
        return (Span(*self.ends(said)),)

    def ends(self, said: Number) -> Ends:
        """Both ends of these values."""
        posted = self.facts.decimals(self.declared) if said.op in ("<=", ">=") else 0
        return said.ends(rounded=self.rounded, posted=posted)

    def judged(self, region: tuple[Span, ...], span: Span | None, cells: tuple[int, ...] = ()) -> Found:
        """Tell whether a span lies within a region; where it is unknown, so is the noise."""
        answer = judge(region, span)
        reason: Reason | None = None
        if answer == "not_decidable":
            reason = self.why if span is not None else "noise_unknown"
        return Found(answer, span, reason, cells)

    @property
    def why(self) -> Reason:
        """The reason of what a span does not decide."""
        return "within_noise" if self.noisy else "missing_cells"

    @property
    def noisy(self) -> bool:
        """True if measured cells may have other values than those that were posted."""
        return self.world.name == "noise"

    def series(self, along: str) -> list[int] | None:
        """The cells in the order of an axis; None where they are more than one series."""
        if along not in self.facts.axes or any(name != along for name in self.facts.varying(self.declared)):
            return None
        column = self.facts.column(along)[self.cells]
        found: list[int] = self.cells[np.argsort(column, kind="stable")].tolist()
        return found

    def along(self, given: str) -> str:
        """The axis that a series runs along: the one that is named, or the only one with several levels."""
        varying = self.facts.varying(self.declared)
        return given or (varying[0] if len(varying) == 1 else "")

    def shared(self, parts: int) -> "Scene":
        """The same for one of several parts, which share alpha."""
        return Scene(self.facts, self.world.shared(parts), self.declared, self.alpha / parts, self.rounded)

    def restricted(self, declared: IntArray) -> "Scene":
        """The same of other cells."""
        return Scene(self.facts, self.world, declared, self.alpha, self.rounded)


def all_found(parts: list[Found], answer: Answer, scene: Scene) -> Found:
    """Several findings under one answer: with the span, if there is one, and the reason of the first undecided."""
    first = next((one.reason for one in parts if one.reason), scene.why)
    span = parts[0].span if len(parts) == 1 else None
    cells = tuple(dict.fromkeys(cell for one in parts for cell in one.cells))
    return Found(answer, span, first if answer == "not_decidable" else None, cells)
