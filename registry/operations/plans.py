"""What comparisons measured, as `registry/plans/` takes it: gaps, errors and trials, by the noise of their cells."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection

from registry.grids.outcomes import scale_of
from registry.operations.compare import Revision, cell_means
from registry.plans import planning
from registry.plans.closed_forms import Goal
from registry.plans.paired_items import PairedItems
from registry.plans.planning import Means, Measured, Stratum
from registry.results.codec import from_document
from registry.results.comparison import Comparison, GapTest, ItemPairs, ModelComparison, WholeGap
from registry.results.grid import PostedMetric
from registry.results.parameters import error_under_equality
from registry.results.plans import Plan
from registry.storage.rows import metric_of


def plan_of_models(connection: Connection, found: ModelComparison, goal: Goal) -> Plan | None:
    """What shows the measured gap of two models that is not shown yet; None where there is none."""
    measured = measured_of_models(connection, found)
    if isinstance(measured, str) or not measured.gap:
        return None
    return planning.plan_of_gap("separate", replace(measured, near=0.0), goal, Means(), None)


def measured_of_grids(connection: Connection, document: dict[str, Any]) -> Measured | str:
    """What a comparison of two grids measured, or why it has no gap."""
    one = from_document(Comparison, document)
    if one.test is None or one.test.difference is None:
        return one.reason or "the grids have no gap"
    mine, theirs = ((side.grid, side.revision) for side in one.inputs)
    pair = mine, theirs
    trials, repeats, values = cell_means(connection, pair)
    stratum = Stratum(
        one.baseline.benchmark,
        tuple(grid for grid, _ in pair),
        one.n_common,
        _mean(trials, pair),
        one.test.stderr,
        tuple(values.get(side) for side in pair),
    )
    return _measured(one.test, one.items, (stratum,), one.baseline.metric, repeats)


def measured_of_models(connection: Connection, found: ModelComparison) -> Measured | str:
    """What a comparison of two models measured, or why it has no gap."""
    whole = found.whole
    if whole is None or whole.difference is None:
        return found.reason or (whole and whole.reason) or "values of different scales have no gap"
    pairs = {
        one.benchmark: ((one.baseline.grid, one.baseline.revision), (one.contender.grid, one.contender.revision))
        for one in found.by_benchmark
        if one.baseline is not None and one.contender is not None
    }
    revisions = [one for pair in pairs.values() for one in pair]
    trials, repeats, values = cell_means(connection, revisions)
    strata = [
        Stratum(
            one.benchmark,
            tuple(grid for grid, _ in pairs[one.benchmark]),
            one.n_common,
            _mean(trials, pairs[one.benchmark]),
            None if one.test is None else one.test.stderr,
            tuple(values.get(side) for side in pairs[one.benchmark]),
        )
        for one in found.by_benchmark
        if one.n_common
    ]
    items = next((one.items for one in found.by_benchmark if one.n_common), None)
    return _measured(whole, items, tuple(strata), found.metric, repeats)


def _mean(trials: Mapping[Revision, float], pair: Sequence[Revision]) -> float | None:
    known = [trials[one] for one in pair if one in trials]
    return sum(known) / len(known) if known and len(known) == len(pair) else None


def _measured(
    test: GapTest | WholeGap,
    items: ItemPairs | None,
    strata: tuple[Stratum, ...],
    metric: PostedMetric,
    repeats: Mapping[Revision, float],
) -> Measured:
    ends = () if test.interval is None else (test.interval.low, test.interval.high)
    near = min(map(abs, ends)) if ends and ends[0] * ends[1] > 0 else 0.0
    lower, upper = metric.get("lower"), metric.get("upper")
    span = None if lower is None or upper is None else upper - lower
    null, exact = None, None
    name = test.test if isinstance(test, WholeGap) else test.name
    if name == "mcnemar" and items and items.flips:
        exact = PairedItems.of(items.flips, scale_of(metric_of({**metric})) or 1.0)
        span = exact.whole
    if name == "score":
        null = error_under_equality(test.difference or 0.0, test.p) or test.stderr
    gap, seen = test.difference or 0.0, test.detectable
    count = math.fsum(repeats.values()) / len(repeats) if repeats else None
    stderr = None if name == "t_over_cells" else test.stderr  # cells that differ do so however often they are run
    return Measured(gap, stderr, near, strata, span, null, seen, exact, test.df, count)
