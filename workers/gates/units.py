"""Units of a gate: judge the gap over all benchmarks, of each benchmark, or of each cell, as the policy asks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from registry.grids.grid import Direction, Metric
from registry.plans import closed_forms as forms
from registry.plans.closed_forms import Goal
from registry.plans.noise import repeats_factor
from registry.results.gates import GateUnit, Policy, Verdict
from registry.results.parameters import POWER
from registry.results.plans import Needed
from workers.statistics.judging import Answer, Span, adjusted, all_of
from workers.statistics.margins import (
    CellNoise,
    Counts,
    Estimate,
    OneSample,
    answer_of,
    gap_of,
    limit_of,
    overall_gap,
    p_allowed,
    paired_gap,
    spans,
    to_floor,
    verdict_of,
)
from workers.statistics.matching import Matched, Pairs
from workers.statistics.table import place_of

WORST: tuple[Verdict, ...] = (
    "regressed", "missed", "inconclusive", "worse_within_margin", "non_inferior", "equivalent", "improved", "reached"
)  # fmt: skip


@dataclass(frozen=True)
class Side:
    """One benchmark: the common cells of both sides with their noise and items, and the trials of a cell where all have
    as many."""

    benchmark: str
    found: Matched
    noisy: CellNoise
    trials: float | None
    pairs: Pairs


@dataclass(frozen=True, slots=True)
class Unit:
    """An estimate with what it is of. It is turned so that positive is better; `margin` is in the metric's unit."""

    estimate: Estimate
    margin: float
    trials: float | None
    names: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Judgement:
    """All units with their verdicts, and what follows for the policy."""

    units: tuple[GateUnit, ...]
    verdict: Verdict
    passes: bool | None
    failed: int
    undecided: int
    needed: Needed | None
    more: str
    """What is multiplied by as much: trials, repeats, items."""


class ZeroBaseline(Exception):
    """A margin is percent of a baseline that is 0."""


def with_margin(policy: Policy, side: Side) -> Side:
    """The side with the noise of the margin too: r of a baseline b that is itself measured makes the question one of
    (1 + r) b, or of (1 - r) b, which is then judged as strictly."""
    if policy.margin_unit == "points" or policy.kind == "floor":
        return side
    noisy, more = side.noisy, np.array([[1.0], [(1 + policy.margin / 100) ** 2]])
    scaled = replace(noisy, k=noisy.k / more, n=noisy.n / more, variance=noisy.variance * more)
    return replace(side, noisy=scaled)


def overall_unit(policy: Policy, sides: Sequence[Side], metric: Metric, direction: Direction | None) -> Unit:
    """The gap over all benchmarks."""
    trials = {side.trials for side in sides}
    value = sum(float(side.found.values[1].mean()) for side in sides) / len(sides)
    if policy.kind == "floor":
        found = [(side.found, side.noisy) for side in sides]
        estimate = to_floor(found, policy.margin, metric.proportion_of, slice(None))
    else:
        parts = [on_benchmark(side, metric) for side in sides]
        if not all(part.paired for part in parts):  # as comparisons take them: all by their items, or none
            parts = [gap_of(side.found, side.noisy, metric.proportion_of, range(side.found.count)) for side in sides]
        estimate = overall_gap(parts)
    return Unit(_turned(estimate, direction), margin_of(policy, value), trials.pop() if len(trials) == 1 else None, {})


def units_of(policy: Policy, sides: Sequence[Side], metric: Metric, direction: Direction | None) -> list[Unit]:
    """What the policy judges one by one."""
    if policy.per == "overall":
        return [overall_unit(policy, sides, metric, direction)]
    if policy.per == "benchmark":
        return [_benchmark_unit(policy, side, metric, direction) for side in sides]
    return [_cell_unit(policy, side, metric, direction, i) for side in sides for i in range(side.found.count)]


def on_benchmark(side: Side, metric: Metric) -> Estimate:
    """The gap on a benchmark, contender less baseline: by its items where they are paired."""
    cells = range(side.found.count)
    return paired_gap(side.pairs, side.noisy, cells) or gap_of(side.found, side.noisy, metric.proportion_of, cells)


def _benchmark_unit(policy: Policy, side: Side, metric: Metric, direction: Direction | None) -> Unit:
    if policy.kind == "floor":
        estimate = to_floor([(side.found, side.noisy)], policy.margin, metric.proportion_of, slice(None))
    else:
        estimate = on_benchmark(side, metric)
    margin = margin_of(policy, float(side.found.values[1].mean()))
    return Unit(_turned(estimate, direction), margin, side.trials, {"benchmark": side.benchmark})


def _cell_unit(policy: Policy, side: Side, metric: Metric, direction: Direction | None, i: int) -> Unit:
    found, whole = side.found, metric.proportion_of
    if policy.kind == "floor":
        estimate = to_floor([(found, side.noisy)], policy.margin, whole, slice(i, i + 1))
    else:
        estimate = paired_gap(side.pairs, side.noisy, [i]) or gap_of(found, side.noisy, whole, [i])
    places = found.positions[i].tolist()
    at = {axis.name: place_of(axis, place) for axis, place in zip(found.axes, places, strict=True)}
    names = {"benchmark": side.benchmark, "at": at}
    return Unit(_turned(estimate, direction), margin_of(policy, float(found.values[1, i])), side.trials, names)


def _turned(estimate: Estimate, direction: Direction | None) -> Estimate:
    return estimate.turned() if direction == "lower" else estimate


def margin_of(policy: Policy, value: float) -> float:
    """The margin in the metric's unit, against a baseline of this value."""
    if policy.kind == "floor":
        return 0.0
    if policy.margin_unit == "points":
        return policy.margin
    if value == 0:
        raise ZeroBaseline
    return abs(value) * policy.margin / 100


def judged(policy: Policy, units: Sequence[Unit], direction: Direction | None) -> Judgement:
    """The verdicts: all must keep to the policy (each at alpha), and one that does not is enough (after Holm)."""
    left = spans([unit.estimate for unit in units], policy.alpha)
    ps = [p_allowed(policy.kind, unit.margin, unit.estimate) for unit in units]
    tested = len(units) - ps.count(None) if policy.multiplicity == "holm" else 1
    holm = adjusted(ps, "holm") if tested > 1 else ps
    answers = [_answer(policy, unit, span, p) for unit, span, p in zip(units, left, holm, strict=True)]
    told = tuple(
        _told(policy, unit, span, answer, (p, q if len(units) > 1 else None), direction)
        for unit, span, answer, p, q in zip(units, left, answers, ps, holm, strict=True)
    )
    whole = all_of(answers)
    passes: bool | None = None
    verdict: Verdict = told[0].verdict if len(told) == 1 else "inconclusive"
    if whole != "not_decidable":
        decisive = (one.verdict for one, answer in zip(told, answers, strict=True) if answer == whole)
        passes, verdict = whole == "supported", min(decisive, key=WORST.index)
    first = ("contradicted", "not_decidable", "supported")
    open_ = [unit for unit, answer in zip(units, answers, strict=True) if answer == "not_decidable"]
    order = sorted(range(len(told)), key=lambda i: (first.index(answers[i]), 1.0 if ps[i] is None else ps[i]))
    return Judgement(
        tuple(told[i] for i in order),
        verdict,
        passes,
        answers.count("contradicted"),
        answers.count("not_decidable"),
        _needed(policy, open_, tested),
        " or ".join(dict.fromkeys(_source(unit.estimate) for unit in open_)),
    )


def _source(estimate: Estimate) -> str:
    """What more of lessens the noise of a gap."""
    if estimate.paired:
        return "items"
    return "repeats" if estimate.sample is None and math.isfinite(estimate.df) else "trials"


def _answer(policy: Policy, unit: Unit, span: Span | None, p: float | None) -> Answer:
    """The unit's answer; that it does not keep to the policy must be significant among all of them."""
    found = answer_of(policy.kind, unit.margin, span)
    if found == "contradicted" and (p is None or p >= policy.alpha):
        return "not_decidable"
    return found


def _told(
    policy: Policy,
    unit: Unit,
    span: Span | None,
    answer: Answer,
    ps: tuple[float | None, float | None],
    direction: Direction | None,
) -> GateUnit:
    verdict = verdict_of(policy.kind, unit.margin, span)
    if answer == "not_decidable" and verdict in ("regressed", "missed"):
        verdict = "inconclusive"
    low, high = (None, None) if span is None else (span.low, span.high)
    gap = unit.estimate.gap
    if direction == "lower":
        gap, low, high = -gap, None if high is None else -high, None if low is None else -low
    paired = unit.estimate.paired
    return GateUnit(verdict, gap, low, high, unit.margin, ps[0], ps[1], paired, **unit.names)


def _needed(policy: Policy, units: Sequence[Unit], tested: int) -> Needed | None:
    """What decides what is open, if gaps are as they were measured: that one of those which fail is shown to, at the
    level of Holm's first step; where none does, that all are shown to keep to the policy."""
    lost = [unit for unit in units if _is_lost(policy, unit) and unit.estimate.stderr]
    if not lost:
        power = POWER ** (1 / max(1, len(units)))
        found = [_needed_of(policy, unit, policy.alpha, power) for unit in units]
        return None if None in found else max(filter(None, found), key=lambda one: one.factor or 0.0, default=None)
    lost.sort(key=lambda unit: -_distance(policy, unit) / (unit.estimate.stderr or 1.0))
    best: Needed | None = None
    for count, unit in enumerate(lost, start=1):
        # One of so many is found with the power, where each is with this one at least.
        power, alpha = 1 - (1 - POWER) ** (1 / count), policy.alpha / tested
        needed = _needed_of(policy, unit, alpha, power) if power > alpha else None
        if needed is None or (best is not None and (needed.factor or 0.0) >= (best.factor or 0.0)):
            break
        best = needed
    return best


def _limit(policy: Policy, unit: Unit) -> float:
    both = policy.kind == "equivalent"
    return math.copysign(unit.margin, unit.estimate.gap) if both else limit_of(policy.kind, unit.margin)


def _is_lost(policy: Policy, unit: Unit) -> bool:
    """Whether its gap, were it true, does not keep to the policy."""
    gap = unit.estimate.gap
    return abs(gap) > unit.margin if policy.kind == "equivalent" else gap < _limit(policy, unit)


def _distance(policy: Policy, unit: Unit) -> float:
    return abs(unit.estimate.gap - _limit(policy, unit))


def _needed_of(policy: Policy, unit: Unit, alpha: float, power: float) -> Needed | None:
    """What decides one, with this power at this level; None where nothing does."""
    stderr, gap, distance = unit.estimate.stderr, unit.estimate.gap, _distance(policy, unit)
    if not stderr or distance <= 1e-9 * abs(gap):  # on the limit, but for the rounding of its binary digits
        return None
    goal = Goal(alpha, power, one_sided=True)
    if isinstance(sample := unit.estimate.sample, OneSample):
        factor = sample.factor(goal.alpha, power)
    elif policy.kind == "equivalent" and not _is_lost(policy, unit):
        factor = forms.factor_within(stderr, distance, unit.margin + abs(gap), goal)
    elif isinstance(sample, Counts):
        factor = sample.factor(_limit(policy, unit) / unit.estimate.whole, goal.alpha, power)
    elif math.isfinite(unit.estimate.df):
        factor = repeats_factor(stderr, distance, goal, unit.estimate.df, None)
    else:
        factor = forms.factor(stderr, distance, goal)
    if math.isinf(factor):
        return None
    factor = max(1.0, factor)
    return Needed(distance, factor, None if unit.trials is None else forms.whole(factor * unit.trials))
