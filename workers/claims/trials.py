"""The trials that would decide a claim which is within the noise: `answer.py` plans them.

One sum of cells: the claim is judged again with more trials, and with the sum off by more and more of its standard
errors to either side; the normal law says how probable it is that the sum is no further off. With posted standard
errors that is the closed form, factor = ((z(1 - alpha/2) + z(power)) x stderr / distance)^2. Several intervals: judged
with more trials, where the posted numbers come out again and every limit is further out by
z(1 - (1 - power) / intervals) standard errors: by Bonferroni's inequality the probability is at least the power.
Tests of trends are judged in worlds that are drawn with the posted numbers as truths (`draws.py`).
"""

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

import numpy as np
from scipy.special import ndtr, ndtri

from registry.claims.claim import Stable, Trend
from registry.plans.closed_forms import MOST_TRIALS, smallest_factor, whole
from registry.results.judgement import TrialsNeeded
from registry.results.plans import Impossible, Needed
from workers.claims.draws import drawn_answers, scatters
from workers.claims.facts import CellErrors, Facts, Terms, trials_of
from workers.claims.judgement import Group, Judged, found_again, judge_again, scene_of, work_of
from workers.claims.worlds import Found, Log
from workers.statistics.judging import Answer
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
_DRAWS, _NEAR, _TRIED = 400, 1.3, 12
"""Worlds that are drawn with one number of trials; how far apart these numbers are, and how many are tried."""
_LEAST_DF = 0.5
"""Degrees of freedom that are left at least where a plan tries fewer than two repeats."""


def trials_needed(judged: Judged, power: float = POWER) -> TrialsNeeded | None:
    """Plan what decides the claim beyond noise; None where it is decided, or open for another reason than noise."""
    plan = noisy_claim(judged, power)
    if plan is None:
        return None
    if plan.is_too_large:
        return _impossible(power, "too_large", "it is about more cells than trials are planned for")
    if not plan.is_noisy:
        return _impossible(power, "unknown_noise", "the cells have no trials or errors, and more points may decide it")
    if not plan.tests and plan.answer(MOST_TRIALS) == "not_decidable":
        return _impossible(power, *_hopeless(plan))
    total = plan.total
    if plan.tests:
        factor = plan.factor_by_draws()
    else:
        factor = plan.factor_at_least() if total is None else _smallest(lambda one: plan.is_enough(total, one))
    if factor is None and plan.tests:
        return _impossible(power, *_hopeless(plan))
    return _told(plan, factor)


def noisy_claim(judged: Judged, power: float) -> "NoisyClaim | None":
    """The claim with what noise leaves open of it; None where it is decided, or open for another reason."""
    open_ones = [one for one in judged.groups if one.found["noise"].reason == "within_noise"]
    undecided = judged.answers["noise"] == "not_decidable" and open_ones
    return NoisyClaim(judged, open_ones, power) if undecided else None


def _work_of(group: Group) -> int:
    """Work of judging a group once more: of stability that of all pairs, of trends that of many draws; and ten for
    itself."""
    if isinstance(group.atom.says, Stable):
        return 3 * int(group.cells.size) ** 2 + 10
    return work_of(group.atom, [group.cells]) * (5 if _tested(group) else 1) + 10


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
    def tests(self) -> Sequence[tuple[Group, Trend]]:
        """The groups that are tested as trends of grids are, which ask no world for intervals."""
        return [(one, says) for one in self.groups if (says := _tested(one)) is not None]

    @cached_property
    def log(self) -> Log:
        """Assumptions of the plan."""
        log = Log()
        judge_again(self.judged, lambda one: found_again(self.judged, one, self.judged.facts, asked=log))
        return log

    @cached_property
    def total(self) -> Terms | None:
        """The one sum of cells that it hangs on."""
        if self.tests or len(self.log.sums) != 1:
            return None
        [found] = self.log.sums
        return [(cell, Fraction(factor)) for cell, factor in found] if 0 < len(found) <= MOST_SUMMED else None

    def answer(self, factor: float, beyond: float = 0.0) -> Answer:
        """The answer with so many times the trials, if the posted numbers come out again."""
        facts = with_more_trials(self.judged.facts, factor)
        return judge_again(self.judged, lambda one: found_again(self.judged, one, facts, beyond))

    def factor_at_least(self) -> float | None:
        """The smallest factor with at least the power."""
        beyond = _beyond(1 - self.power, sum(self.log.intervals))
        return _smallest(lambda factor: self.answer(factor, beyond) != "not_decidable")

    def factor_by_draws(self) -> float | None:
        """The first factor that is found with at least the power; None where none is. If more and more trials decide it
        where the posted numbers come out again, the least that do so is where it begins."""
        first = _smallest(lambda factor: self.decided(factor, 0) > 0) if self.decided(MOST_TRIALS, 0) else None
        tried = (first * _NEAR**place if first else 2.0**place for place in range(1, _TRIED + 1))
        return next((one for one in tried if one <= MOST_TRIALS and self.is_drawn_enough(one)), None)

    def is_drawn_enough(self, factor: float) -> bool:
        """Tell whether so many times the trials decide it in as many worlds, by one Monte Carlo error and more; few
        worlds tell where they are far from enough."""
        error = math.sqrt(self.power * (1 - self.power) / _DRAWS)
        if self.decided(factor, _DRAWS // 4) < self.power - 2 * error:
            return False
        return self.decided(factor, _DRAWS) >= self.power + error

    def decided(self, factor: float, draws: int) -> float:
        """The share of drawn worlds that decide it with so many times the trials; with no draws, 1 if the posted
        numbers do. Limits of what is no test are so far out that they hold in all but a part of the rest."""
        facts, others = with_more_trials(self.judged.facts, factor), sum(self.log.intervals)
        part = (1 - self.power) * others / (others + len(self.tests))
        beyond = _beyond(part, others) if others and draws else 0.0
        drawn = [drawn_answers(says, scene_of(self.judged, one, facts), factor, draws) for one, says in self.tests]
        mine = [id(one) for one, _ in self.tests]
        found = {id(one): found_again(self.judged, one, facts, beyond) for one in self.groups if id(one) not in mine}
        count = 0
        for world, times in Counter(zip(*drawn, strict=True)).items():
            found.update(zip(mine, map(Found, world), strict=True))
            count += times * (judge_again(self.judged, lambda one: found[id(one)]) != "not_decidable")
        return count / max(1, draws) - (part if draws else 0.0)

    def is_enough(self, total: Terms, factor: float) -> bool:
        """Tell whether so many times the trials decide it with at least the power as they do where the posted numbers
        come out again."""
        facts = with_more_trials(self.judged.facts, factor)
        moved = Sum.of(total, facts.errors)

        def answer(off: float) -> Answer:
            there = moved.moved(facts, off)
            return judge_again(self.judged, lambda one: found_again(self.judged, one, there))

        meant = answer(0.0)
        if meant == "not_decidable":
            return False
        return _is_probable(lambda off: answer(off) == meant, self.power)


def _beyond(missed: float, intervals: int) -> float:
    """Standard errors further out that limits are for so many intervals to hold together but for this probability."""
    return float(ndtri(1 - missed / max(1, intervals)))


def _tested(group: Group) -> Trend | None:
    """What it says where it is tested as the trend of a grid is."""
    says = group.atom.says
    is_tested = isinstance(says, Trend) and not (says.monotone or says.strictly or says.goes == "not_monotone")
    return says if is_tested and isinstance(says, Trend) else None


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
    found = smallest_factor(is_enough, _PRECISE)
    return found if math.isfinite(found) else None


def _hopeless(plan: NoisyClaim) -> tuple[Impossible, str]:
    """Why no number of trials decides it, though the noise is what leaves it open."""
    if any(one.found["noise"].reason not in ("within_noise", None) for one in plan.judged.groups):
        return "not_noise", "with any number of trials it would stay open, as it is not noise alone that leaves it so"
    if any(scatters(says, scene_of(plan.judged, one, plan.judged.facts)) for one, says in plan.tests):
        return "not_noise", "if the posted numbers are true, they scatter about a line, which more trials do not lessen"
    return (
        "on_boundary",
        "if the posted numbers are true, one lies on the boundary of the claim, or nearer to it than trials can tell",
    )


def _told(plan: NoisyClaim, factor: float | None) -> TrialsNeeded:
    if factor is None:
        return _impossible(
            plan.power, "not_worth", "if the posted numbers are true, 10^9 times the trials are not enough"
        )
    facts = plan.judged.facts
    alike = trials_alike(facts, plan.cells)
    needed = Needed(factor=factor, trials=None if alike is None else whole(factor * alike))
    told = TrialsNeeded(plan.power, plan.total is not None, needed)
    items = items_of(facts, plan.cells)
    if items is None or needed.trials is None or needed.trials <= items:
        return told
    why = f"it takes {needed.trials:,} trials of a cell and there are {items:,} items: more trials are samples of the"
    return replace(told, impossible="item_limit", why=f"{why} same items")


def _impossible(power: float, code: Impossible, why: str) -> TrialsNeeded:
    return TrialsNeeded(power, impossible=code, why=why)


def with_more_trials(facts: Facts, factor: float) -> Facts:
    """The facts with so many times the trials or repeats of every cell, of which the posted numbers come out again."""
    given = facts.errors
    n, stderr = given.n * factor, given.stderr / factor**0.5
    # Each cell has its own r - 1 degrees of freedom.
    df = np.maximum((given.df + 1) * factor - 1, _LEAST_DF)
    # The posted number itself, and not the whole successes that it was rounded from.
    k = np.where(n > 0, given.values / given.whole * n, given.k)
    return replace(facts, errors=replace(given, k=k, n=n, stderr=stderr, df=df))


@dataclass(frozen=True)
class Sum:
    """A sum of noisy cells: the cells, and how far each moves with the sum when that is one standard error off and the
    rest is as probable as it can be."""

    cells: IntArray
    moves: FloatArray
    size: float
    """The standard error of the sum."""

    @classmethod
    def of(cls, terms: Terms, errors: CellErrors) -> "Sum":
        cells = np.array([cell for cell, _ in terms], dtype=np.int64)
        factors = np.array([float(factor) for _, factor in terms])
        variances = _variances_of(errors, cells)
        size = float(np.sqrt(np.sum(factors**2 * variances)))
        return cls(cells, factors * variances / size if size else np.zeros(cells.size), size)

    def moved(self, facts: Facts, errors: float) -> Facts:
        """The facts with the sum so many of its standard errors off."""
        given = facts.errors
        values = given.values.copy()
        values[self.cells] += errors * self.moves
        counted = given.n > 0
        values[counted] = np.clip(values, 0.0, given.whole)[counted]
        k = np.where(counted, values / given.whole * given.n, given.k)
        return replace(facts, errors=replace(given, values=values, k=k))


def _variances_of(errors: CellErrors, cells: IntArray) -> FloatArray:
    """Variances of cells whose posted numbers are true."""
    mine = errors.at(cells)
    counted = mine.n > 0
    share = np.clip(mine.values / mine.whole, 0.0, 1.0)
    binomial = share * (1 - share) / np.where(counted, mine.n, 1.0) * mine.whole**2
    return np.where(counted, binomial, np.nan_to_num(mine.stderr) ** 2)


def trials_alike(facts: Facts, cells: IntArray) -> int | None:
    """The trials of a cell where all of these have the same."""
    found = {trials_of(facts, cell) for cell in cells.tolist()}
    return found.pop() if len(found) == 1 else None


def items_of(facts: Facts, cells: IntArray) -> int | None:
    """The fewest items of these cells where each of their trials is an item of its own; None where they are not known,
    or are sampled more than once."""
    found = []
    for cell in cells.tolist():
        questions, trials = facts.sources[int(facts.owner[cell])].grid.questions, trials_of(facts, cell)
        if questions is None or trials is None or trials > questions:
            return None
        found.append(questions)
    return min(found, default=None)
