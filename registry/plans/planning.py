"""Plan the trials that show a gap, the measured or a wished one, within a budget; `registry.api.plans` asks."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from registry.plans import closed_forms as forms
from registry.plans.closed_forms import Goal
from registry.plans.noise import repeats_factor
from registry.plans.paired_items import PairedItems
from registry.results.parameters import POWER
from registry.results.plans import Impossible, Needed, Plan, PlanKind, PlannedShare

_ENUMERATED = "the first n of which the exact test of paired items finds the effect (McNemar 1947; Duffy 1984)"
_ESTIMATED = "the first n of which Student's t finds the effect, by an estimated error (Student 1908)"
_SCALED = "n x ((z(1 - alpha{}) + z(power)) x stderr / effect)^2 (Cohen 1988)"
SCALED = ("independent_cells", "equal_scaling", "normal_law")
"""All cells get the same multiple of their trials, and the error shrinks by its root."""
_MOST_SHARES = 1_000


@dataclass(frozen=True, slots=True)
class Stratum:
    """Cells on one benchmark that two sides have in common: the grids that hold them, the mean trials of a cell, the
    standard error of the gap there, and the mean values of both, the baseline first."""

    benchmark: str
    grids: tuple[str, ...]
    cells: int
    trials: float | None
    stderr: float | None
    values: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Measured:
    """A gap as it was measured. `near` is how far the interval's near end is from no gap, 0 where it holds that;
    `span` the range of the metric, None without bounds; `null`: the error that the score test takes under equality, and
    `detectable` what it finds with the power `POWER`, where these are other ones; `items` those of which one cell alone
    was tested exactly; `df` those of an error that was estimated, from so many `repeats` of a cell, or from items."""

    gap: float
    stderr: float | None
    near: float
    strata: tuple[Stratum, ...]
    span: float | None = None
    null: float | None = None
    detectable: float | None = None
    items: PairedItems | None = None
    df: float | None = None
    repeats: float | None = None


@dataclass(frozen=True, slots=True)
class Means:
    """Budget: trials in all, and items of a benchmark, of each of which a trial is one."""

    budget: int | None = None
    item_limit: int | None = None


def plan_of_gap(kind: PlanKind, found: Measured, goal: Goal, means: Means, effect: float | None) -> Plan:
    """The plan that finds the effect, by default the gap that was measured, which is then not 0."""
    plan = replace(
        blank(kind, goal, _formula(found, goal)),
        decidable_now=found.near > 0,
        observed=found.gap,
        stderr=found.stderr,
        assumptions=_assumed(found),
    )
    wanted = abs(found.gap if effect is None else effect)
    if not found.stderr and not found.items:
        return impossible(plan, "unknown_noise", "the noise of some cells is not known")
    if found.span is not None and wanted > found.span:
        told = f"the metric has a range of {found.span:g}, and the effect is {wanted:g}"
        return impossible(plan, "beyond_scale", told)
    plan = replace(plan, detectable=_detectable(found, goal))
    trials = _trials_alike(found.strata)
    wished = found if effect is None else _at_rates(found, effect)
    plan = replace(
        plan,
        needed=_scaled(wished, wanted, goal, trials),
        cautious=_scaled(found, found.near, goal, trials) if found.near > 0 else None,
    )
    return _allocated(_limited(plan, means), wished.strata, means)


def _at_rates(found: Measured, effect: float) -> Measured:
    """What would be measured of shares, had they the error of the baseline's and of those that lie the effect from it;
    or on its other side, where the scale ends."""
    if found.null is None or not found.span:
        return found
    errors, nulls = list[float](), list[float]()
    for one in found.strata:
        if None in (*one.values, one.stderr, one.trials):
            return found
        base, seen = ((value or 0.0) / found.span for value in one.values)
        other = base + effect / found.span
        other = other if 0 <= other <= 1 else min(max(base - effect / found.span, 0.0), 1.0)
        variance = base * (1 - base) + seen * (1 - seen)
        of_all = found.span / math.sqrt((one.trials or 1.0) * one.cells)
        trial = (one.stderr or 0.0) / math.sqrt(variance) if variance else of_all
        errors.append(trial * math.sqrt(base * (1 - base) + other * (1 - other)))
        nulls.append(trial * math.sqrt((base + other) * (2 - base - other) / 2))
    if not all(errors):
        return found
    strata = tuple(replace(one, stderr=error) for one, error in zip(found.strata, errors, strict=True))
    scale = (found.stderr or 0.0) / math.hypot(*(one.stderr or 0.0 for one in found.strata))
    return replace(found, strata=strata, stderr=scale * math.hypot(*errors), null=scale * math.hypot(*nulls))


def _formula(found: Measured, goal: Goal) -> str:
    return _ENUMERATED if found.items else _ESTIMATED if found.df else _SCALED.format("/2" * (not goal.one_sided))


def _assumed(found: Measured) -> tuple[str, ...]:
    if found.items or (found.df and not found.repeats):
        return ("independent_items",) if found.items else ("independent_items", "equal_scaling")
    return SCALED[:-1] if found.df else SCALED


def _detectable(found: Measured, goal: Goal) -> float | None:
    if found.items:
        return found.items.detectable(goal)
    stderr = found.stderr or 0.0
    if found.detectable is None:
        return forms.detectable(stderr, goal, found.null)
    return found.detectable + (forms.quantile(goal.power) - forms.quantile(POWER)) * stderr


def _scaled(found: Measured, effect: float, goal: Goal, trials: float | None) -> Needed:
    if found.items:
        items = found.items.needed(effect, goal)
        return Needed(effect, None if items is None else items / found.items.count, items)
    if found.df:
        factor = repeats_factor(found.stderr or 0.0, effect, goal, found.df, found.repeats)
    else:
        factor = forms.factor(found.stderr or 0.0, effect, goal, found.null)
    if math.isinf(factor):
        return Needed(effect)
    return Needed(effect, factor, None if trials is None else forms.whole(factor * trials))


def _trials_alike(strata: Sequence[Stratum]) -> float | None:
    trials = {one.trials for one in strata}
    return trials.pop() if len(trials) == 1 else None


def _limited(plan: Plan, means: Means) -> Plan:
    """The plan, impossible where it takes more than there is."""
    needed = plan.needed
    if needed is None or plan.impossible is not None:
        return plan
    if needed.factor is not None and needed.factor > forms.MOST_TRIALS:
        return impossible(plan, "not_worth", "a thousand million times the trials are not enough")
    if needed.factor is None and needed.trials is None:
        return impossible(plan, "not_worth", "it takes more than a thousand million trials")
    if means.item_limit is not None and needed.trials is not None and needed.trials > means.item_limit:
        told = f"it takes {needed.trials:,} trials of a cell and there are {means.item_limit:,} items: more trials are"
        return impossible(plan, "item_limit", f"{told} samples of the same items")
    return plan


def _allocated(plan: Plan, strata: Sequence[Stratum], means: Means) -> Plan:
    """The plan with what is added on each benchmark: the fewest trials for the effect, or those of a budget that is
    another one."""
    known = [one for one in strata if one.stderr is not None and one.trials and one.cells]
    if plan.needed is None or plan.needed.factor is None or len(known) < len(strata) or not known:
        return plan
    cells = [one.cells * len(one.grids) for one in known]
    held = [(one.trials or 0.0) * count for one, count in zip(known, cells, strict=True)]
    deviations = [(one.stderr or 0.0) * math.sqrt(count) for one, count in zip(known, held, strict=True)]
    # The equal scaling that is enough has this variance of the sum over benchmarks.
    enough = math.fsum((one.stderr or 0.0) ** 2 for one in known) / plan.needed.factor
    fewest = [
        forms.whole(one / count)
        for one, count in zip(forms.added_trials(held, deviations, variance=enough), cells, strict=True)
    ]
    found = [one for one in fewest if one is not None]
    total = None
    if len(found) == len(fewest):
        total = forms.whole(sum(each * count for each, count in zip(found, cells, strict=True)))
    if means.budget is not None and means.budget != total:
        spent = forms.added_trials(held, deviations, spent=means.budget)
        fewest = [int(one / count) for one, count in zip(spent, cells, strict=True)]
    all_ = sum((each or 0) * count for each, count in zip(fewest, cells, strict=True)) or 1
    planned = [
        PlannedShare((each or 0) * count / all_, count, one.grids, one.benchmark, one.trials, each)
        for one, count, each in zip(known, cells, fewest, strict=True)
    ]
    return replace(plan, total=total, affordable=_affordable(total, means), allocation=_first(planned))


def within_means(plan: Plan, means: Means) -> Plan:
    """A plan that was made without regard to what there is to spend, by this."""
    if plan.needed is None:
        return plan
    return _limited(replace(plan, affordable=_affordable(plan.total, means)), means)


def _affordable(total: int | None, means: Means) -> bool | None:
    return None if means.budget is None else total is not None and total <= means.budget


def _first(planned: Sequence[PlannedShare]) -> tuple[PlannedShare, ...]:
    return tuple(sorted(planned, key=lambda one: -one.share)[:_MOST_SHARES])


def impossible(plan: Plan, code: Impossible, reason: str) -> Plan:
    """The plan that cannot be."""
    return replace(plan, impossible=code, reason=reason)


def blank(kind: PlanKind, goal: Goal, formula: str) -> Plan:
    """A plan without numbers."""
    return Plan(kind, goal.power, goal.alpha, goal.one_sided, formula)
