"""The trials that would decide a claim which is within the noise.

One sum of cells: the claim is judged again with more trials, and with the sum off by more and more of its standard
errors to either side; the normal law says how probable it is that the sum is no further off. With posted standard
errors that is the closed form, factor = ((z(1 - alpha/2) + z(power)) x stderr / distance)^2. Several intervals: judged
with more trials, where the posted numbers come out again and every limit is further out by
z(1 - (1 - power) / intervals) standard errors: by Bonferroni's inequality the probability is at least the power.
Tests of trends are judged where the cells lie on their line, and the factor that this takes is multiplied by
((z(1 - alpha/2) + that quantile) / z(1 - alpha/2))^2.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.special import ndtr, ndtri

from registry.claims.claim import Stable, Trend, Value
from registry.grids.slices import kept_levels
from registry.plans.closed_forms import MOST_TRIALS, whole
from registry.results.judgement import Growth, TrialsNeeded
from registry.results.plans import Impossible
from workers.claims.facts import Facts, Sum, Terms, grown, grown_cells, items_of, trials_alike
from workers.claims.judgement import Group, Judged, judge_again, work_of
from workers.claims.statistic import MOVES
from workers.claims.worlds import Joint, Noisy, Posted, Scene, World
from workers.statistics.judging import Answer, Span
from workers.statistics.table import abscissa_of
from workers.statistics.terms import FloatArray, IntArray

POWER = 0.8
MOST_WORK = 10_000
"""Work of judging a claim up to which it is judged again and again for a plan, which takes one to three seconds."""
MOST_SUMMED = 500
"""Cells of a sum up to which its power is followed; above, every limit is moved."""
_FURTHEST = 6.0
"""Standard errors beyond which a sum is not followed."""
_HALVINGS = 11
_PRECISE = 1.004
Sums = set[tuple[tuple[int, float], ...]]
_DECIMALS = 9


def trials_needed(judged: Judged, power: float = POWER) -> TrialsNeeded | None:
    """Plan what decides the claim beyond noise; None where it is decided, or open for another reason than noise."""
    plan = noisy_claim(judged, power)
    if plan is None:
        return None
    if plan.is_too_large:
        return _impossible(power, "too_large", "it is about more cells than trials are planned for")
    if not plan.is_noisy:
        return _impossible(power, "unknown_noise", "the cells have no trials or errors; more points would decide it")
    if plan.answer(MOST_TRIALS) == "not_decidable":
        return _impossible(power, *_hopeless(plan))
    total = plan.total
    if total is None:
        return _told(plan, plan.factor_at_least(), None)
    return _told(plan, _smallest(lambda factor: plan.is_enough(total, factor)), _cautious(plan, total))


def not_planned(judged: Judged, code: Impossible, why: str) -> TrialsNeeded | None:
    """Stands for `trials_needed`, which can take a second for a claim, where that is not there, and says why."""
    return None if noisy_claim(judged, POWER) is None else _impossible(POWER, code, why)


def noisy_claim(judged: Judged, power: float) -> NoisyClaim | None:
    """The claim with what noise leaves open of it; None where it is decided, or open for another reason."""
    open_ones = [one for one in judged.groups if one.found["noise"].reason == "within_noise"]
    undecided = judged.answers["noise"] == "not_decidable" and open_ones
    return NoisyClaim(judged, open_ones, power) if undecided else None


def _work_of(group: Group) -> int:
    """Work of judging a group once more: of a deviation forty times that of another number, of stability, ranges and
    falls that of all pairs; and ten for itself."""
    says, size = group.atom.says, int(group.cells.size)
    if isinstance(says, Stable) or (isinstance(says, Value) and says.of in MOVES):
        return 3 * size**2 + 10
    return work_of(group.atom, [group.cells]) * (40 if isinstance(says, Value) and says.of == "sd" else 1) + 10


@dataclass(frozen=True)
class NoisyClaim:
    """A claim with its groups that noise leaves open."""

    judged: Judged
    groups: Sequence[Group]
    power: float

    @cached_property
    def cells(self) -> IntArray:
        """The measured cells of these groups."""
        found = np.unique(np.concatenate([one.cells for one in self.groups]))
        return np.asarray(found[self.judged.facts.present[found]], dtype=np.int64)

    @property
    def is_too_large(self) -> bool:
        """True if it is about too much to be judged again and again."""
        return sum(map(_work_of, self.groups)) > MOST_WORK

    @property
    def is_noisy(self) -> bool:
        """True if there is a cell of which trials or an error are known."""
        errors = self.judged.facts.errors.at(self.cells)
        return bool(np.any((errors.n > 0) | (errors.stderr > 0)))

    @cached_property
    def tested(self) -> int:
        """Series that are tested as trends of grids are, which ask no world for intervals."""
        return sum(_tests_of(one) for one in self.groups)

    @cached_property
    def log(self) -> Log:
        """Assumptions of the plan."""
        log = Log()
        judge_again(self.judged, self.judged.facts, lambda world: Watched(world, log))
        return log

    @cached_property
    def total(self) -> Terms | None:
        """The one sum of cells that it hangs on."""
        if self.tested or len(self.log.sums) != 1:
            return None
        [found] = self.log.sums
        measured = [(cell, Fraction(factor)) for cell, factor in found if self.judged.facts.present[cell]]
        return measured if 0 < len(measured) <= MOST_SUMMED else None

    @cached_property
    def facts(self) -> Facts:
        """World that is taken as true: the posted numbers, and of series that are tested for a trend their lines."""
        facts = self.judged.facts
        for one in self.groups:
            if _tests_of(one) and isinstance(one.atom.says, Trend):
                facts = on_lines(facts, Scene(facts, Posted(facts), one.cells, 1.0), one.atom.says)
        return facts

    def answer(self, factor: float, turned: Callable[[World], World] = lambda world: world) -> Answer:
        """The answer with so many times the trials, if what is taken as true comes out."""
        return judge_again(self.judged, grown(self.facts, factor, with_grids=self.tested > 0), turned)

    def factor_at_least(self) -> float | None:
        """The smallest factor with at least the power."""
        beyond = float(ndtri(1 - (1 - self.power) / max(1, sum(self.log.intervals) + self.tested)))
        if not self.tested:
            return _smallest(lambda factor: self.answer(factor, _further(beyond)) != "not_decidable")
        critical = -float(ndtri(self.judged.share / 2))
        found = _smallest(lambda factor: self.answer(factor) != "not_decidable")
        return None if found is None else found * ((critical + beyond) / critical) ** 2

    def smallest_split(self, total: Terms, factors: FloatArray) -> float | None:
        """The smallest number by which these factors, one for each cell of the facts, are multiplied to be enough."""
        return _smallest(lambda times: self.is_enough(total, times * factors))

    def is_enough(self, total: Terms, factor: float | FloatArray, truth: Facts | None = None) -> bool:
        """Tell whether so many times the trials (or of each cell its own factor) decide it with at least the power as
        they do where the posted numbers, or those of `truth`, come out again."""
        facts = grown_cells(truth or self.judged.facts, factor)
        moved = Sum.of(total, facts.errors)

        def answer(off: float) -> Answer:
            return judge_again(self.judged, moved.moved(facts, off), lambda world: world)

        meant = answer(0.0)
        if meant == "not_decidable":
            return False
        return _is_probable(lambda off: answer(off) == meant, self.power)


def _tests_of(group: Group) -> int:
    says = group.atom.says
    if not isinstance(says, Trend) or says.monotone or says.strictly or says.goes == "not_monotone" or group.free:
        return 0
    return 1 if says.turn is None else 2


def _further(beyond: float) -> Callable[[World], World]:
    """Moves the limits of a world further out."""

    def moved(world: World) -> World:
        if isinstance(world, Joint):
            return replace(world, noise=replace(world.noise, beyond=beyond, known={}))
        return replace(world, beyond=beyond, known={}) if isinstance(world, Noisy) else world

    return moved


def _is_probable(holds: Callable[[float], bool], power: float) -> bool:
    """Tell whether a standard normal number is with at least this probability between the first and the last number,
    about 0, for which something holds. The ends are followed only as far as that takes."""
    brackets = [[0.0, _FURTHEST], [0.0, _FURTHEST]]
    ways = (1.0, -1.0)
    first, between = (float(ndtri(share)) for share in (power, (1 + power) / 2))
    for off in itertools.chain((first, _FURTHEST, between), itertools.repeat(None, _HALVINGS)):
        for way, bracket in zip(ways, brackets, strict=True):
            at = sum(bracket) / 2 if off is None else off
            if bracket[0] < at <= bracket[1] and bracket[0] < bracket[1]:
                bracket[0 if holds(way * at) else 1] = at
            least, most = (float(ndtr(brackets[0][end]) - ndtr(-brackets[1][end])) for end in (0, 1))
            if least >= power or most < power:
                return least >= power
    return (least + most) / 2 >= power


def _smallest(is_enough: Callable[[float], bool]) -> float | None:
    """The smallest factor that is enough; None beyond `MOST_TRIALS`."""
    low, high = 1 / 64, 1.0
    while not is_enough(high):
        low, high = high, 4 * high
        if high > MOST_TRIALS:
            return None
    while high > _PRECISE * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _cautious(plan: NoisyClaim, total: Terms) -> float | None:
    """The factor if the truth is the end of the sum's own interval that is nearest to what would decide otherwise; None
    where that decides nothing, or otherwise."""
    facts, alpha = plan.judged.facts, plan.judged.claim.alpha
    span = Noisy(facts, alpha, np.array(sorted({cell for cell, _ in total}))).linear(total)
    moved = Sum.of(total, facts.errors)
    size = moved.size
    if span is None or not size:
        return None
    middle = float(sum(float(factor) * facts.errors.values[cell] for cell, factor in total))
    meant, found = plan.answer(MOST_TRIALS), []
    for end in (span.low, span.high):
        truth = moved.moved(facts, (end - middle) / size)
        far = judge_again(plan.judged, grown(truth, MOST_TRIALS, with_grids=False), lambda world: world)
        if far != meant:
            return None
        found.append(_smallest(lambda factor, truth=truth: plan.is_enough(total, factor, truth)))  # type: ignore[misc]
    return None if None in found else max(one for one in found if one is not None)


def _hopeless(plan: NoisyClaim) -> tuple[Impossible, str]:
    """Why no number of trials decides it, though the noise is what leaves it open."""
    if any(one.found["noise"].reason not in ("within_noise", None) for one in plan.judged.groups):
        return "not_noise", "with any number of trials it would stay open, as it is not noise alone that leaves it so"
    return "on_boundary", "a posted value lies on the boundary of what is claimed, or nearer to it than trials can tell"


def _told(plan: NoisyClaim, factor: float | None, cautious: float | None) -> TrialsNeeded:
    if factor is None:
        return _impossible(plan.power, "not_worth", "a thousand million times the trials are not enough")
    if factor <= 1:
        return _impossible(plan.power, "not_noise", "the cells scatter about a line by more than their noise")
    facts, one_sum = plan.judged.facts, plan.total is not None
    alike = trials_alike(facts, plan.cells)
    needed = _growth(factor, alike)
    told = TrialsNeeded(plan.power, one_sum, needed, None if cautious is None else _growth(cautious, alike))
    items = items_of(facts, plan.cells)
    if items is None or needed.trials is None or needed.trials <= items:
        return told
    why = f"it takes {needed.trials:,} trials of a cell and there are {items:,} items: more trials are samples of the"
    return replace(told, impossible="item_limit", why=f"{why} same items")


def _growth(factor: float, trials: int | None) -> Growth:
    return Growth(factor, None if trials is None else whole(factor * trials))


def _impossible(power: float, code: Impossible, why: str) -> TrialsNeeded:
    return TrialsNeeded(power, impossible=code, why=why)


@dataclass(frozen=True)
class Log:
    """The different sums of cells (a cell alone is one) that were asked for, and for how many intervals in all."""

    sums: Sums = field(default_factory=set)
    intervals: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class Watched:
    """Another world, with a log."""

    world: World
    log: Log

    @property
    def name(self) -> Literal["posted", "declared", "noise", "joint"]:
        """That of the other."""
        return self.world.name

    def cells(self, of: IntArray) -> IntArray:
        """Those of the other."""
        return self.world.cells(of)

    def spans(self, cells: Sequence[int], family: int = 1) -> list[Span] | None:
        """Those of the other."""
        self.log.intervals.append(len(cells))
        self.log.sums.update(((cell, 1.0),) for cell in cells)
        return self.world.spans(cells, family)

    def linear(self, terms: Terms, family: int = 1) -> Span | None:
        """That of the other."""
        self.log.intervals.append(1)
        self.log.sums.add(_canonical(terms))
        return self.world.linear(terms, family)

    def shared(self, parts: int) -> Watched:
        """The other's, with the same log."""
        return Watched(self.world.shared(parts), self.log)


def _canonical(terms: Terms) -> tuple[tuple[int, float], ...]:
    """A sum, and the same with the other sign, in one way of writing."""
    found = sorted((cell, float(factor)) for cell, factor in terms if factor)
    sign = 1.0 if not found or found[0][1] > 0 else -1.0
    return tuple((cell, sign * factor) for cell, factor in found)


def on_lines(facts: Facts, scene: Scene, says: Trend) -> Facts:
    """The facts with the cells of a series on the least-squares line through them, or on one on each side of the turn.
    Only the values of their grids change."""
    order = scene.series(says.along)
    if not order:
        return facts
    codes = facts.column(says.along)[order]
    x = abscissa_of(facts.axes[says.along])[0][codes]
    turns = set() if says.turn is None else kept_levels(facts.levels[says.along], [says.turn])
    turn = next((place for place, code in enumerate(codes.tolist()) if code in turns), len(order) - 1)
    y = np.array([float(facts.value(cell)) for cell in order])
    fitted = y.copy()
    for part in (slice(0, turn + 1), slice(turn, len(order))):
        if len(y[part]) > 1:
            fitted[part] = np.polyval(np.polyfit(x[part], y[part], 1), x[part])
    metric = facts.metric(order[0])
    fitted = np.clip(np.round(fitted, _DECIMALS), metric.lower, metric.upper)
    return _with_values(facts, order, fitted.tolist())


def _with_values(facts: Facts, cells: Sequence[int], values: Sequence[float]) -> Facts:
    owner = int(facts.owner[cells[0]])
    source = facts.sources[owner]
    given = list(source.grid.values)
    for cell, value in zip(cells, values, strict=True):
        given[int(facts.index[cell])] = value
    sources = list(facts.sources)
    sources[owner] = source._replace(grid=replace(source.grid, values=tuple(given)))
    return replace(facts, sources=sources)
