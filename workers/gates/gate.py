"""The verdict on a contender of a baseline, from the grids of both; `wording.py` says it in a sentence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
from sqlalchemy import Connection

from registry.grids.grid import Metric
from registry.grids.protocol import Rules
from registry.query import GateQuery, ModelComparisonQuery
from registry.results.codec import from_document
from registry.results.comparison import ModelComparison
from registry.results.gates import Gate, GateInput, NotComparable, Policy
from registry.results.terms import Warning, run_warnings
from registry.storage.item_outcomes import held_items, rows_of_revisions
from registry.storage.rows import grid_of, unpublished_row
from workers.answers.comparisons import framed, revision_row
from workers.answers.repeat_noise import beyond_trials
from workers.gates.units import Side, ZeroBaseline, judged, on_benchmark, overall_unit, units_of, with_margin
from workers.gates.wording import FEWER_CELLS, MOST_NAMED, ONE_BENCHMARK, WEIGHED, first_few, sentence, where_of
from workers.scope import Aliases, canonical_names, matches, scope_rows
from workers.statistics.comparison import item_pairs
from workers.statistics.margins import cell_noise
from workers.statistics.matching import matched
from workers.statistics.noise import effect_of
from workers.statistics.table import Table

_NO_PAIR = "no grid of the one has the benchmark and the variant of a grid of the other"
MOST_LISTED = 1_000
_SIDES: tuple[Literal["baseline"], Literal["contender"]] = ("baseline", "contender")
Grids = Mapping[tuple[str, str], Any]
"""Rows by benchmark and variant."""


@dataclass(frozen=True, slots=True)
class Both:
    """The grids of both sides, under the names that aliases stand for."""

    baseline: Grids
    contender: Grids
    benchmarks: int = 0
    """Of the baseline, where one grid is judged on its own; else 0."""
    items: Mapping[tuple[Any, int], Sequence[Any]] = field(default_factory=dict)
    """Rows of outcomes of items by grid and revision."""
    derived: Sequence[str] = ()
    """The benchmarks on which both have a grid, of which one is derived and so is not judged."""


def read_sides(connection: Connection, project_id: Any, query: GateQuery, joined: Aliases) -> Both:
    """The grids that a gate is about."""
    rows = scope_rows(connection, project_id, query) if query.model else []
    baseline = pinned_rows(connection, project_id, query) or [
        row for row in rows if canonical_names(row, joined)["model"] == query.baseline_model
    ]
    if query.content is not None:
        contender = [unpublished_row(query.content)]
    elif query.contender_grid:
        contender = [_pinned(connection, project_id, query.contender_grid)]
    else:
        contender = [row for row in rows if canonical_names(row, joined)["model"] == query.contender_model]
    one_grid = query.content is not None or bool(query.contender_grid)
    sides = named(query, baseline, joined), named(query, contender, joined)
    # One grid is judged against the baseline on its own benchmark; a model against all of the baseline.
    theirs = {benchmark for benchmark, _ in sides[1]}
    mine = {names: row for names, row in sides[0].items() if not one_grid or names[0] in theirs}
    stored = [(row.grid_id, row.number) for side in (mine, sides[1]) for row in side.values() if row.number]
    benchmarks = len({benchmark for benchmark, _ in sides[0]}) if one_grid else 0
    every = (named(query, rows, joined, measured=False) for rows in (baseline, contender))
    derived = {names[0] for names in set.intersection(*map(set, every)) if any(names not in side for side in sides)}
    return Both(mine, sides[1], benchmarks, rows_of_revisions(connection, stored), sorted(derived))


def pinned_rows(connection: Connection, project_id: Any, query: GateQuery) -> list[Any]:
    """The revisions that are the baseline; none where that is a model."""
    return [_pinned(connection, project_id, one) for one in query.baseline_grids]


def _pinned(connection: Connection, project_id: Any, wanted: str) -> Any:
    grid, _, number = wanted.rpartition("@")
    return revision_row(connection, project_id, grid, int(number))


def named(query: GateQuery, rows: Sequence[Any], joined: Aliases, *, measured: bool = True) -> Grids:
    """The grids of a side, without derived ones if `measured`, by their names, of which the last counts."""
    found = {}
    anyone = replace(query, model=())
    for row in rows:
        names = canonical_names(row, joined)
        if not (measured and row.derived) and matches(anyone, names):
            found[names["benchmark"], names["variant"]] = row
    return found


def too_large(query: GateQuery) -> Gate:
    """The verdict on too many cells."""
    return _without(_frame(query, Both({}, {})), "too_large")


def gate_of(query: GateQuery, both: Both, rules: Rules, project: str) -> Gate:
    """The verdict on the contender, with all that was judged: what failed first, then what is undecided."""
    frame = _frame(query, both)
    pairs = {names: (row, both.contender[names]) for names, row in both.baseline.items() if names in both.contender}
    compared = _compared(query, both, rules)
    warnings = (*compared.warnings, *_one_benchmark(both))
    metric = compared.metric
    frame = replace(frame, warnings=warnings, unit=metric.get("unit"), direction=metric.get("direction"))
    if (obstacle := _obstacle(pairs, rules)) is not None:
        return _without(frame, *obstacle)
    found_of = {names[0]: _side(names[0], *pair, both) for names, pair in sorted(pairs.items())}
    sides = [side for side in found_of.values() if isinstance(side, Side)]
    apart = dict.fromkeys(both.derived, "one of the grids is derived, and measured ones are judged")
    apart |= {benchmark: why for benchmark, why in found_of.items() if isinstance(why, str)}
    cells = sum(row.cell_count for row in both.baseline.values())
    common = sum(side.found.count for side in sides)
    frame = replace(frame, common_share=common / cells if cells else None)
    if not common:
        why = [f"on {benchmark} {one}" for benchmark, one in apart.items()]
        return _without(frame, "no_common_cells", first_few(why) or _NO_PAIR)
    if common < cells:
        lacks = f"the contender lacks {_lacked(both, sides, apart, cells - common)}"
        told = f"Both have {common:,} of the {cells:,} cells of the baseline; {lacks}."
        frame = replace(frame, warnings=(*frame.warnings, Warning(FEWER_CELLS, told)))
    allowed = frame.policy.common_share if frame.policy.missing == "matched" else 1.0
    if common / cells < allowed:
        return _without(frame, "missing_cells")
    metrics = [grid_of(row).metric for pair in pairs.values() for row in pair]
    if len({(one.unit, one.direction, one.proportion_of) for one in metrics}) > 1:
        return _without(frame, "scale")
    if metrics[0].direction is None and frame.policy.kind != "equivalent":
        return _without(frame, "no_direction")
    frame = replace(frame, warnings=(*frame.warnings, *_weighed(frame.policy, sides, metrics[0])))
    found = _measured(frame, [with_margin(frame.policy, side) for side in sides], metrics[0])
    # A posted standard error is not from trials, and neither is a gap of the same items.
    unsure = () if found.paired else tuple(_too_sure([side for side in sides if side.noisy.n.any()], both))
    runs = () if found.paired else run_warnings(frame.policy.per, [_of_repeats(side) for side in sides])
    return replace(found, warnings=(*found.warnings, *unsure, *runs))


def _of_repeats(side: Side) -> int:
    """The cells of one of the grids whose noise repeats alone tell, of the grid that has more of them."""
    told = (side.noisy.n == 0) & np.isfinite(side.noisy.df) & ~side.noisy.exact
    return int(told.sum(axis=1).max())


def _lacked(both: Both, sides: Sequence[Side], apart: Mapping[str, str], count: int) -> str:
    """The cells of the baseline that the contender lacks, `count` in all: the first few by name, and how many more."""
    there = {side.benchmark for side in sides}
    whole = {names[0]: row.cell_count for names, row in sorted(both.baseline.items()) if names[0] not in there}
    why = {benchmark: f" ({one})" for benchmark, one in apart.items()}
    told = [
        ((one if n == 1 else f"both of {one}" if n == 2 else f"all {n:,} of {one}") + why.get(one, ""), n)
        for one, n in whole.items()
    ]
    told += [(where_of(one.benchmark, at), 1) for one in sides for at in one.found.only_in_baseline.at]
    rest = count - sum(cells for _, cells in told[:MOST_NAMED])
    return "; ".join([*(text for text, _ in told[:MOST_NAMED]), *([f"{rest:,} more"] if rest else [])])


def _one_benchmark(both: Both) -> tuple[Warning, ...]:
    """What is said where one grid stands against a part of the baseline."""
    names = {benchmark for benchmark, _ in both.baseline}
    if len(names) != 1 or both.benchmarks < 2:
        return ()
    told = f"It was judged on {names.pop()} alone, 1 of {both.benchmarks:,} benchmarks of the baseline."
    return (Warning(ONE_BENCHMARK, told),)


def _weighed(policy: Policy, sides: Sequence[Side], metric: Metric) -> Iterator[Warning]:
    """What is said of benchmarks whose cells have unequal trials and gaps: their means differ by another number, beyond
    the noise of the gap, than is judged. A floor and single cells are about no such gap."""
    for side in sides if policy.kind != "floor" and policy.per != "cell" else ():
        judged, plain = on_benchmark(side, metric), float(side.found.gaps.mean()) / 10.0**side.found.decimals
        if side.noisy.n.all() and not judged.paired and abs(plain - judged.gap) > (judged.stderr or 0.0):
            told = f"On {side.benchmark} cells weigh by their trials, which gives {judged.gap:+.4g}"
            yield Warning(WEIGHED, f"{told}; the means of its cells differ by {plain:+.4g}.")


def _too_sure(sides: Sequence[Side], both: Both) -> Iterator[Warning]:
    """Doubts about benchmarks whose errors are from trials, and whose repeats vary more than these explain."""
    for benchmark in dict.fromkeys(side.benchmark for side in sides):
        rows = [row for side in (both.baseline, both.contender) for names, row in side.items() if names[0] == benchmark]
        ratio = beyond_trials([grid_of(row) for row in rows])
        if ratio is not None:
            interval = f"variance ratio {ratio.value:.3g}, {ratio.low:.3g} to {ratio.high:.3g}"
            told = f"On {benchmark} repeats vary more than their trials explain ({interval})"
            yield Warning(
                "noise_beyond_trials", f"{told}: errors from trials are taken larger by as much as they show."
            )


def _obstacle(pairs: Mapping[tuple[str, str], tuple[Any, Any]], rules: Rules) -> tuple[NotComparable, str] | None:
    """Why the pairs of grids are not compared, whatever their cells are; of protocols on the first such benchmark."""
    if len({benchmark for benchmark, _ in pairs}) < len(pairs):
        return "ambiguous_variants", ""
    for (benchmark, _), (mine, theirs) in sorted(pairs.items(), key=lambda one: one[0]):
        if (apart := rules.obstacle(mine.protocol, theirs.protocol)) is not None:
            return "protocol", f"on {benchmark} {apart}"
    return None


def _measured(frame: Gate, sides: Sequence[Side], metric: Any) -> Gate:
    policy, direction = frame.policy, metric.direction
    try:
        units = units_of(policy, sides, metric, direction)
        whole = overall_unit(policy, sides, metric, direction)
    except ZeroBaseline:
        return _without(frame, "zero_baseline")
    [together] = judged(policy, [whole], direction).units
    found = judged(policy, units, direction)
    blind = found.passes is None and any(unit.estimate.stderr is None for unit in units)
    gate = replace(
        frame,
        verdict=found.verdict,
        passes=found.passes,
        reason="unknown_noise" if blind else None,
        gap=together.gap,
        low=together.low,
        high=together.high,
        margin=together.margin,
        judged=len(units),
        paired=all(unit.estimate.paired for unit in units),
        failed=found.failed,
        undecided=found.undecided,
        per=found.units if policy.per != "overall" else (),
        trials_needed=found.needed if found.passes is None else None,
    )
    return replace(gate, sentence=sentence(gate, more=found.more))


def _frame(query: GateQuery, both: Both) -> Gate:
    content = query.content or {}
    contender = query.contender_model or query.contender_grid.partition("@")[0] or str(content.get("model", ""))
    inputs = [
        GateInput(str(row.grid_id), row.number, "sha256:" + bytes(row.digest).hex(), benchmark, side)
        for side in _SIDES
        for (benchmark, _), row in sorted(getattr(both, side).items(), key=lambda one: one[0])
        if row.number
    ]
    policy = from_document(Policy, query.policy)
    return Gate(
        query.baseline_name,
        query.policy_version,
        policy,
        contender,
        "not_comparable",
        None,
        "",
        inputs=tuple(inputs),
        level=1 - 2 * policy.alpha,
    )


def _without(frame: Gate, reason: NotComparable, why: str = "") -> Gate:
    found = replace(frame, reason=reason)
    return replace(found, sentence=sentence(found, why))


def _compared(query: GateQuery, both: Both, rules: Rules) -> ModelComparison:
    """What the comparison of both sides as models says before it measures them."""
    rows = [
        SimpleNamespace(**_columns(row) | {"benchmark": benchmark, "variant": variant, "model": side})
        for side in _SIDES
        for (benchmark, variant), row in getattr(both, side).items()
    ]
    asked = ModelComparisonQuery(
        query.experiment,
        query.metric,
        model=_SIDES,
        baseline_model="baseline",
        contender_model="contender",
    )
    return framed(asked, rows, {}, rules)[0]


def _columns(row: Any) -> dict[str, Any]:
    columns = dict(row._mapping) if hasattr(row, "_mapping") else vars(row)
    return columns | {"id": columns.get("grid_id")}


def _side(benchmark: str, baseline: Any, contender: Any, both: Both) -> Side | str:
    """Both sides on a benchmark, or why nothing is judged there."""
    grids = grid_of(baseline), grid_of(contender)
    tables = Table.of(grids[0]), Table.of(grids[1])
    found = matched(*tables, (effect_of(*grids), effect_of(*grids[::-1])))
    if found is None:
        named = (", ".join(axis.name for axis in table.axes) or "none" for table in tables)
        return "the axes of the baseline are {}, those of the contender {}".format(*named)
    if not all(table.computable for table in tables):
        return "there are magnitudes beyond 1e-100 to 1e100"
    if not found.count:
        return "they have no measured cell in common"
    mine, theirs = (
        held_items(grid, both.items.get((row.grid_id, row.number), ()))
        for grid, row in zip(grids, (baseline, contender), strict=True)
    )
    pairs = item_pairs(found, grids[0], (mine, theirs))
    counts = {*found.trials.ravel().tolist()}
    trials = float(counts.pop()) if len(counts) == 1 and 0 not in counts else None
    return Side(benchmark, found, cell_noise(found, grids[0].metric), trials, pairs)
