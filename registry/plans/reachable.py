"""Find out if a policy can pass at all: the margin that a contender with the baseline's own scores and trials would
show.

With equal scores and trials on both sides the gap has twice the variance of the baseline alone, and a loss of z(1 -
alpha) standard errors is excluded when the gap comes out as 0; a margin in percent of the baseline adds its noise, as
gates do. One cell with trials alone, cells in which every trial came out the same, and benchmarks of such: by the score
test itself.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from registry.grids.grid import Grid
from registry.plans import closed_forms as forms
from registry.plans.closed_forms import Goal, Slots, TwoSamples, score_factor, score_interval
from registry.plans.noise import binomial_stderr, sd_of, stderr_of, trials_of, with_effect
from registry.results.gates import Policy, Reachable
from registry.results.terms import Warning, run_warnings

POWER = 0.8


@dataclass(frozen=True, slots=True)
class _Unit:
    """One thing that is judged: the baseline's value, the standard error of a gap of 0, the margin shown and trials of
    a cell; None where noise, or trials, are not known. With a `sample` at equal rates, as shares of `whole`, the score
    test is what judges."""

    value: float
    stderr: float | None
    shown: float | None
    trials: float | None
    sample: TwoSamples | Slots | None = None
    whole: float = 1.0


def reachable(policy: Policy, grids: Sequence[tuple[str, Grid]]) -> Reachable:
    """Find what the policy can do with these grids of the baseline, each with its benchmark."""
    grids = [(benchmark, with_effect(grid)) for benchmark, grid in grids]
    units = list(_units(policy, grids))
    if not units:
        return Reachable(False, warnings=(Warning("no_cells", "The baseline has no measured cell."),))
    blind = sum(unit.stderr is None for unit in units)
    if blind:
        told = f"{blind} of {len(units)} that are judged have no known noise: nothing can be shown of them."
        return Reachable(False, warnings=(Warning("unknown_noise", told),))
    if policy.kind in ("floor", "improves"):
        benchmarks = len({benchmark for benchmark, _ in grids})
        possible = all(_has_room(policy, grid, unit, benchmarks) for (_, grid), unit in _paired(policy, grids, units))
        return Reachable(possible, warnings=_warnings(policy, grids, units, possible))
    worst = max(unit.shown or 0.0 for unit in units)
    possible = all((unit.shown or 0.0) <= allowed(policy, unit.value) for unit in units)
    return Reachable(possible, worst, _trials(policy, units), _warnings(policy, grids, units, possible))


def allowed(policy: Policy, value: float) -> float:
    """The margin in the metric's unit, for a baseline of this value."""
    return policy.margin if policy.margin_unit == "points" else abs(value) * policy.margin / 100


def zero_baselines(policy: Policy, grids: Sequence[tuple[str, Grid]]) -> int:
    """Count those that are judged by a baseline of 0, of which there is no percentage."""
    return sum(unit.value == 0 for unit in _units(policy, grids)) if policy.margin_unit == "percent" else 0


def _paired(
    policy: Policy, grids: Sequence[tuple[str, Grid]], units: Sequence[_Unit]
) -> Iterator[tuple[tuple[str, Grid], _Unit]]:
    """Each unit with a grid that it is of."""
    if policy.per == "cell":
        owners: Sequence[tuple[str, Grid]] = [one for one in grids for _ in range(one[1].cell_count)]
    else:
        owners = [next(same) for _, same in itertools.groupby(grids, key=lambda one: one[0])]
    return zip(owners, units, strict=False)


def _units(policy: Policy, grids: Sequence[tuple[str, Grid]]) -> Iterator[_Unit]:
    """List what is judged; `grids` are sorted by their benchmarks."""
    if policy.per == "cell":
        for _, grid in grids:
            yield from (_cell(policy, grid, place) for place, value in enumerate(grid.values) if value is not None)
        return
    benchmarks = [
        _benchmark(policy, [grid for _, grid in same]) for _, same in itertools.groupby(grids, lambda one: one[0])
    ]
    measured = [one for one in benchmarks if one is not None]
    if policy.per == "benchmark" or not measured:
        yield from measured
    else:
        yield _overall(policy, measured)


def _overall(policy: Policy, parts: Sequence[_Unit]) -> _Unit:
    if len(parts) == 1:
        return parts[0]
    errors = [one.stderr for one in parts if one.stderr is not None]
    stderr = math.hypot(*errors) / len(parts) if len(errors) == len(parts) else None
    trials = {one.trials for one in parts}
    value = math.fsum(one.value for one in parts) / len(parts)
    unit = _unit(policy, value, stderr, trials.pop() if len(trials) == 1 else None)
    samples = [part for one in parts if one.sample is not None for part in one.sample.parts]
    if len(samples) < len(parts):
        return unit
    return _by_score(policy, unit, parts[0].whole, Slots(tuple((weight / len(parts), one) for weight, one in samples)))


def _unit(policy: Policy, value: float, stderr: float | None, trials: float | None) -> _Unit:
    critical = Goal(policy.alpha, one_sided=True).critical
    return _Unit(value, stderr, None if stderr is None else critical * stderr, trials)


def _benchmark(policy: Policy, grids: Sequence[Grid]) -> _Unit | None:
    """The mean of all cells on a benchmark; cells weigh by their trials, as Mantel and Haenszel weigh them."""
    cells = [(grid, place) for grid in grids for place, value in enumerate(grid.values) if value is not None]
    if len(cells) < 2:
        return _cell(policy, *cells[0]) if cells else None
    trials = [trials_of(grid, place) for grid, place in cells]
    known = [count for count in trials if count is not None]
    weights = known if len(known) == len(cells) else [1.0] * len(cells)
    total = math.fsum(weights)
    errors = [gate_error(grid, place) for grid, place in cells]
    value = math.fsum(w * (grid.values[place] or 0.0) for w, (grid, place) in zip(weights, cells, strict=True)) / total
    parts = [w * error for w, error in zip(weights, errors, strict=True) if error is not None]
    stderr = math.sqrt(1 + _scale(policy)) * math.hypot(*parts) / total if len(parts) == len(cells) else None
    unit = _unit(policy, value, stderr, total / len(cells) if weights is known else None)
    whole = grids[0].metric.proportion_of
    if whole is None or weights is not known or value not in (0.0, whole) or not stderr:
        return unit
    effective = math.fsum(count / (grid.design_effect or 1.0) for count, (grid, _) in zip(known, cells, strict=True))
    return _by_score(policy, unit, whole, _sample(policy, value / whole, effective))


def _cell(policy: Policy, grid: Grid, place: int) -> _Unit:
    error, trials, whole = gate_error(grid, place), trials_of(grid, place), grid.metric.proportion_of
    value = grid.values[place] or 0.0
    unit = _unit(policy, value, None if error is None else math.sqrt(1 + _scale(policy)) * error, trials)
    if not trials or whole is None or not error or _is_posted(grid, place):
        return unit
    effective = trials / (grid.design_effect or 1.0)
    return _by_score(policy, unit, whole, _sample(policy, value / whole, effective))


def _scale(policy: Policy) -> float:
    """By how much the noise of the baseline counts, where the margin is percent of it."""
    return (1 + policy.margin / 100) ** 2 if policy.margin_unit == "percent" and policy.kind != "floor" else 1.0


def _sample(policy: Policy, rate: float, trials: float) -> TwoSamples:
    """Equal rates out of so many trials on both sides."""
    baseline = trials / _scale(policy)
    return TwoSamples(rate * trials, trials, rate * baseline, baseline)


def _by_score(policy: Policy, unit: _Unit, whole: float, sample: TwoSamples | Slots) -> _Unit:
    """The unit with the loss that the score test excludes at equal rates."""
    return replace(unit, shown=-score_interval(sample, policy.alpha)[0] * whole, sample=sample, whole=whole)


def gate_error(grid: Grid, place: int) -> float | None:
    """The standard error of a cell as a gate takes it; 0 of one that is known to have none."""
    if is_exact(grid, place):
        return 0.0
    by_trials = None if _is_posted(grid, place) else binomial_stderr(grid, place)
    return stderr_of(grid, place) if by_trials is None else by_trials


def _is_posted(grid: Grid, place: int) -> bool:
    """Tell whether the standard error of a cell was posted; one of 0 beside trials says nothing."""
    return bool(grid.stderr and grid.stderr[place])


def is_exact(grid: Grid, place: int) -> bool:
    """Tell whether a cell was posted with the standard error 0 and without trials, or with three repeats or more that
    came out the same."""
    if grid.stderr and grid.stderr[place] is not None:
        return grid.stderr[place] == 0 and not trials_of(grid, place)
    repeats = grid.repeats[place] if grid.repeats else None
    return sd_of(grid, place) == 0 and (repeats or 0) >= _SURE_REPEATS


_SURE_REPEATS = 3


def _trials(policy: Policy, units: Sequence[_Unit]) -> int | None:
    """Trials of a cell with which all units pass at equal scores with the chance `POWER`, were they independent; None
    where cells do not have as many."""
    power = POWER ** (1 / len(units))
    # Equal scores leave both ends of an interval within the margins where neither is beyond its own.
    goal = Goal(policy.alpha, (1 + power) / 2 if policy.kind == "equivalent" else power, one_sided=True)
    found = []
    for unit in units:
        margin = allowed(policy, unit.value)
        if unit.trials is None or margin <= 0 or unit.stderr is None:
            return None
        if unit.sample is not None:
            found.append(unit.trials * score_factor(unit.sample, margin / unit.whole, goal))
        else:
            found.append(unit.trials * forms.factor(unit.stderr, margin, goal) if unit.stderr else 1.0)
    return forms.whole(max(found))


def _has_room(policy: Policy, grid: Grid, unit: _Unit, benchmarks: int) -> bool:
    """Tell whether a contender at the better end of the scale would pass."""
    metric = grid.metric
    best = metric.lower if metric.direction == "lower" else metric.upper
    if best is None:
        return True
    if policy.kind == "improves":
        return abs(best - unit.value) > allowed(policy, unit.value) + (unit.shown or 0.0) / math.sqrt(2)
    whole = metric.proportion_of
    if whole is None or unit.trials is None:
        return abs(best - policy.margin) > 0
    share = policy.margin / whole if metric.direction != "lower" else 1 - policy.margin / whole
    goal = Goal(policy.alpha, one_sided=True)
    # One grid of each benchmark is judged.
    cells = 1 if policy.per == "cell" else grid.cell_count * (benchmarks if policy.per == "overall" else 1)
    return share < 1 and unit.trials * cells / (grid.design_effect or 1.0) >= forms.all_pass_trials(share, goal)


def _warnings(
    policy: Policy, grids: Sequence[tuple[str, Grid]], units: Sequence[_Unit], possible: bool
) -> tuple[Warning, ...]:
    found = []
    if not possible:
        best = "the best scores and the same trials"
        wanted = {"floor": (best, "less strict floor"), "improves": (best, "smaller margin")}
        scores, margin = wanted.get(policy.kind, ("the same scores and trials", "larger margin"))
        told = f"Not even a contender with {scores} could be shown to pass"
        pairs = "" if policy.kind == "floor" else ", unless outcomes of the same items pair both"
        found.append(Warning("cannot_pass", f"{told}{pairs}: take more trials, or a {margin}."))
    if len(units) > 1 and policy.multiplicity == "none":
        chance = 1 - (1 - policy.alpha) ** len(units)
        told = f"{len(units)} are judged without a correction: with independent noise alone an alarm is raised with"
        found.append(Warning("uncorrected", f"{told} probability up to {chance:.2g}."))
    found += run_warnings(policy.per, [_of_repeats(grid) for _, grid in grids])
    return tuple(found)


def _of_repeats(grid: Grid) -> int:
    """Count the cells whose noise repeats alone tell."""
    places = (place for place in range(len(grid.values)) if sd_of(grid, place))
    return sum(not trials_of(grid, place) and not _is_posted(grid, place) for place in places)
