"""Input of a ranking: stored grids become a `ScoreMatrix`.

Aliases are applied here; where they put two grids on the same slots, the one updated last counts.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
import orjson

from registry.grids.outcomes import scale_of
from registry.grids.protocol import Rules
from registry.grids.slices import member_text
from registry.grids.suspect_names import looks_derived, near_duplicates
from registry.query import AggregatesQuery, RankingQuery
from registry.results.ranking import RankedScale
from registry.results.terms import (
    OF_REPEATS,
    OF_UNITS,
    DerivedGrid,
    Input,
    SetAside,
    Warning,
    common_to_all,
    set_aside_warnings,
)
from registry.storage.item_outcomes import held_items
from registry.storage.rows import grid_of, metric_of
from workers.rankings.slots import (
    Columns,
    Frame,
    Integers,
    Scale,
    Scales,
    Slots,
    columns_of,
    coordinates,
    kind_of,
    roles_of,
    scales,
    scores_of,
    shown_by_repeats,
)
from workers.scope import canonical_names, matches
from workers.statistics.cells import SlotItems
from workers.statistics.describe import on_lattice
from workers.statistics.noise import beside_each, effect_of_rounding, effects_of_pairs
from workers.statistics.score_matrix import UNSAID, ScoreMatrix, of
from workers.statistics.set_aside import of_names, usual_slots
from workers.statistics.terms import BoolArray, decimals_of

MOST_ALIKE = 10
MOST_CONTRADICTED = 3
"""Models that are named whose values contradict their trials; the rest is counted."""
NO_ITEMS: Mapping[Any, Sequence[Any]] = {}
THEN = "\0"
"""What stands before a name as it was; PostgreSQL has no such text."""
Named = Sequence[tuple[Any, Mapping[str, str]]]
"""Rows of grids, each with the names behind its own."""


@dataclass(frozen=True)
class RankingInput:
    """Score matrix of a ranking, the revisions it was made from, warnings, and the derived grids left out of it."""

    scores: ScoreMatrix
    inputs: tuple[Input, ...]
    warnings: tuple[Warning, ...]
    derived: tuple[DerivedGrid, ...]
    scale: RankedScale | None
    set_aside: tuple[SetAside, ...]


@dataclass(frozen=True, slots=True)
class _Block:
    """Cells of one name in some slots."""

    name: str
    slots: Integers
    cells: Columns
    scale: Scale
    grid: int
    """The place of its grid among those that count."""
    items: Any = None
    """`SlotItems` of the cells, or None where a cell has no outcomes; None where the grid has none."""


def build_ranking_input(
    query: RankingQuery,
    rows: Iterable[Any],
    aliases: Mapping[tuple[str, str], str],
    items: Mapping[Any, Sequence[Any]] = NO_ITEMS,
) -> RankingInput:
    """Ranking input from rows of grids, oldest update first; apart from updates, their order has no effect. `items` are
    the rows of outcomes of items of each grid."""
    meant = _meant(query, rows, aliases)
    derived = tuple(derived_entry(row, names) for row, names in meant if row.derived is not None)
    counted = [(row, names) for row, names in meant if row.derived is None]
    matrix, found, slots = _matrix(query, {"": counted}, items)
    inputs = tuple(Input(str(row.id), row.number) for row, _ in counted)
    benchmarks = {names["benchmark"] for _, names in counted}
    warnings = (
        *overlap_warnings(counted),
        *scale_warnings(found),
        *level_warnings(query, ((names["benchmark"], row.axes) for row, names in counted)),
        *derived_name_warnings(benchmarks),
        *near_duplicate_warnings(counted, "benchmark", "model"),
        *near_duplicate_warnings(counted, "model", "benchmark"),
        *trials_warnings(query, counted),
    )
    matrix, aside = without_costly(query, matrix, slots)
    return RankingInput(matrix, inputs, (*warnings, *set_aside_warnings(aside)), derived, found.one, aside)


def change_input(
    query: RankingQuery, then: Iterable[Any], now: Iterable[Any], aliases: Mapping[tuple[str, str], str], rules: Rules
) -> tuple[ScoreMatrix, RankedScale | None] | None:
    """Score matrix of rows of grids at two instants, in which a name as it was has `THEN` before it, and the scale of
    its values; None where no cell changed, came or went. Grids whose protocols differ between the two in a binding key
    are left out."""
    sides = [[one for one in _meant(query, rows, aliases) if one[0].derived is None] for rows in (then, now)]
    protocols, others = ({tuple(names.values()): row.protocol for row, names in side} for side in sides)
    apart = {key for key in protocols.keys() & others if rules.obstacle(protocols[key], others[key])}
    if not apart and _cells(sides[0]) == _cells(sides[1]):
        return None
    kept = [[one for one in side if tuple(one[1].values()) not in apart] for side in sides]
    matrix, found, _ = _matrix(query, {THEN: kept[0], "": kept[1]}, NO_ITEMS)
    return matrix, found.one


def _cells(side: Named) -> list[Any]:
    """Names and cells of grids, whatever else is said of them."""
    return [(names, replace(grid_of(row), labels={}, reasons={}, protocol=None)) for row, names in side]


def _meant(query: RankingQuery, rows: Iterable[Any], aliases: Mapping[tuple[str, str], str]) -> Named:
    """The rows that the query is about, by names; of two grids of the same names the one updated last comes last."""
    meant = [(row, names) for row in rows if matches(query, names := canonical_names(row, aliases))]
    return sorted(meant, key=lambda one: tuple(one[1].values()))


def _matrix(
    query: RankingQuery, sides: Mapping[str, Named], items: Mapping[Any, Sequence[Any]]
) -> tuple[ScoreMatrix, Scales, Slots]:
    """Score matrix of rows by what stands before their names, the scales of their metrics, and its slots."""
    found = scales(kind_of(row.metric) for counted in sides.values() for row, _ in counted)
    slots, levels = Slots(), dict[str, int]()
    every = [(before, row, names) for before, counted in sides.items() for row, names in counted]
    groups = [roles_of(query.by, **names).group for _, _, names in every]
    beside = beside_each(groups, [scores_of(row) for _, row, _ in every])
    blocks = list[_Block]()
    for place, ((before, row, names), telling) in enumerate(zip(every, beside, strict=True)):
        scale = found.of[kind_of(row.metric)]
        cells = columns_of(row, scale.factor, telling), _held(row, items.get(row.id, ()), scale)
        own = _blocks(query, row.axes, names, slots, levels, scale, cells)
        blocks += [replace(block, name=before + block.name, grid=place) for block in own]
    # Without a direction only where no block has one.
    blocks = [block for block in blocks if block.scale.direction] or blocks
    ordered = sorted({block.name for block in blocks}, key=lambda name: (levels.get(name, 0), name))
    matrix = _score_matrix(query, ordered, blocks, slots, found.classes)
    told = effects_of_pairs(groups, [shown_by_repeats(row) for _, row, _ in every], len(ordered))
    if any(told):
        read = zip(told, every, beside, strict=True)
        effects = [
            (one, effect_of_rounding(*scores_of(row), other)) if one else None for one, (_, row, _), other in read
        ]
        matrix = _with_pair_effects(matrix, blocks, effects)
    return matrix, found, slots


def derived_entry(row: Any, names: Mapping[str, str]) -> DerivedGrid:
    """A derived grid as an answer that leaves it out names it."""
    return DerivedGrid(str(row.id), names["benchmark"], names["model"])


def overlap_warnings(counted: Sequence[tuple[Any, Mapping[str, str]]]) -> Iterator[Warning]:
    """Warnings about grids that aliases give the same identity."""
    owners = dict[tuple[str, ...], Any]()
    for row, names in counted:
        identity = tuple(names.values())
        if identity in owners:
            both = f"the grids {owners[identity]} and {row.id} are one"
            detail = f"With aliases applied, {both}; where both measured, the second counts."
            yield Warning("same_slots", detail)
        owners[identity] = row.id


def scale_warnings(found: Scales) -> tuple[Warning, ...]:
    """Warnings about assumed directions and several scales."""
    warnings = []
    if found.assumed:
        detail = "Some grids say no direction of their metric; that of the others is assumed."
        warnings.append(Warning("direction_assumed", detail))
    if len(found.classes) > 1:
        detail = "The grids are on different scales; values on other scales are not compared within a slot."
        warnings.append(Warning("scale", detail))
    return tuple(warnings)


def level_warnings(
    query: RankingQuery | AggregatesQuery, found: Iterable[tuple[str, Sequence[Any]]]
) -> Iterator[Warning]:
    """Warnings about axes of which some benchmarks of a suite have one level and others several, which may be one that
    is meant and more; `found` is the benchmark and the axes of each grid. None about an axis whose levels are asked."""
    asked = (query.by,) if isinstance(query, RankingQuery) else query.group_by
    levels = dict[str, dict[str, set[str]]]()
    for benchmark, axes in found if query.suite else ():
        for axis in axes:
            levels.setdefault(axis["name"], {}).setdefault(benchmark, set()).update(map(_label, axis["levels"]))
    for axis, known in sorted(levels.items()):
        several = sorted(benchmark for benchmark, own in known.items() if len(own) > 1)
        if several and len(several) < len(known) and f"axis:{axis}" not in asked:
            counted = f"{len(several):,} of {len(known):,} benchmarks of the suite have several levels"
            member = member_text(several[0], ((axis, (min(known[several[0]]),)),))
            detail = f'On the axis "{axis}" {counted} and the others one; a member such as {member} says which count.'
            yield Warning("slots_differ", detail)


def derived_name_warnings(benchmarks: Iterable[str]) -> tuple[Warning, ...]:
    """Warnings about benchmarks whose names suggest an average of others."""
    names = sorted({name for name in benchmarks if looks_derived(name)})
    template = (
        'The benchmark "{}" is counted as one more benchmark; if it was computed from others, publish it as derived.'
    )
    return tuple(Warning("looks_derived", template.format(name)) for name in names)


def near_duplicate_warnings(
    counted: Sequence[tuple[Any, Mapping[str, str]]], kind: str, other: str
) -> Iterator[Warning]:
    """Warnings about similar names of a kind that may be one name spelled twice.

    Names with a common counterpart are different: two benchmarks on which one model was measured, two models on one
    benchmark.
    """
    owners: dict[str, set[str]] = {}
    for _, names in counted:
        owners.setdefault(names[kind], set()).add(names[other])
    twins = near_duplicates(owners, owners)
    pairs = sorted({(min(one), max(one)) for one in twins.items() if not owners[one[0]] & owners[one[1]]})
    template = 'The {}s "{}" and "{}" look alike and no {} has both. If they are one, join them by an alias.'
    for pair in pairs[:MOST_ALIKE]:
        yield Warning("near_duplicate", template.format(kind, *pair, other))
    if len(pairs) > MOST_ALIKE:
        yield Warning("near_duplicate", f"{len(pairs) - MOST_ALIKE} more pairs of {kind}s look alike.")


def trials_warnings(query: RankingQuery, counted: Named) -> Iterator[Warning]:
    """A warning about grids with values that are no whole counts of their trials, where the tests rest on trials."""
    if query.target != "rerun" or query.method not in OF_UNITS:
        return
    models = [names["model"] for row, names in counted if _contradicts_trials(row)]
    if models:
        several = list(dict.fromkeys(models))
        more = f" and {len(several) - MOST_CONTRADICTED:,} more" if len(several) > MOST_CONTRADICTED else ""
        whose = f"{', '.join(several[:MOST_CONTRADICTED])}{more}"
        grids = f"{len(models):,} of {len(counted):,} {'grids' if len(counted) > 1 else 'grid'}"
        detail = f"The tests take the nearest counts: in {grids} values contradict the given trials, of {whose}."
        yield Warning("off_lattice", detail)


def _contradicts_trials(row: Any) -> bool:
    """Whether a value whose noise comes from its trials alone is no whole count of them, as it is printed."""
    whole = metric_of(row.metric).proportion_of
    if whole is None or (row.trials is None and row.cell_trials is None):
        return False
    cells = columns_of(row, 1.0)
    known = np.isfinite(cells.values) & (cells.trials > 0) & np.isnan(cells.stderr)
    fits = on_lattice(cells.values[known], cells.trials[known], whole, decimals_of(cells.values))
    return not bool(fits.all())


def _blocks(
    query: RankingQuery,
    axes: Sequence[dict[str, Any]],
    names: Mapping[str, str],
    slots: Slots,
    levels: dict[str, int],
    scale: Scale,
    read: tuple[Columns, Any],
) -> list[_Block]:
    """Cells of one grid and their outcomes, as the block of its model or variant, or as one block for each level of the
    ranked axis; `levels` numbers those in the order in which they occur."""
    (cells, held), axis, roles = read, query.by.removeprefix("axis:"), roles_of(query.by, **names)
    if not query.by.startswith("axis:"):
        numbers = slots.numbers(roles.group, roles.rest, axes, scale)
        return [_Block(roles.name, numbers, cells.flat(), scale, 0, None if held is None else held.ravel())]
    place = next((i for i, one in enumerate(axes) if one["name"] == axis), None)
    if place is None:
        return []
    numbers = slots.numbers(roles.group, roles.rest, [*axes[:place], *axes[place + 1 :]], scale)
    labels = [_label(level) for level in axes[place]["levels"]]
    for level in labels:
        levels.setdefault(level, len(levels))
    return [
        _Block(label, numbers, cells.level(i, place), scale, 0, None if held is None else held.take([i], place).ravel())
        for i, label in enumerate(labels)
    ]


def _held(row: Any, outcomes: Sequence[Any], scale: Scale) -> Any:
    """Outcomes of items in the shape of the grid; None where it has none."""
    if not outcomes:
        return None
    grid = grid_of(row)
    held = held_items(grid, outcomes)
    if not held:
        return None
    whole = (scale_of(grid.metric) or 1.0) * scale.factor
    found = np.full(len(row.values), None, dtype=object)
    for index, one in ((index, each.by_cluster()) for index, each in held.items()):
        found[index] = SlotItems((one.digest, one.outcomes.count), one.outcomes, whole)
    return found.reshape([len(axis["levels"]) for axis in row.axes])


def _label(level: Any) -> str:
    return str(level["label"] if isinstance(level, dict) else level)


def _score_matrix(
    query: RankingQuery, names: Sequence[str], blocks: Sequence[_Block], slots: Slots, classes: Sequence[Scale]
) -> ScoreMatrix:
    frame, places = Frame.of(classes), {name: i for i, name in enumerate(names)}
    cells = Columns.empty((len(names), slots.size))
    for block in blocks:
        cells.put(places[block.name], block.slots, block.cells, frame.sign(block.scale))
    found = frame.matrix(query.by, names, slots, ((block.slots, block.scale) for block in blocks), cells.arrays())
    return replace(found, items=_items_of(found, places, blocks))


def _with_pair_effects(
    scores: ScoreMatrix, blocks: Sequence[_Block], effects: Sequence[tuple[float, float] | None]
) -> ScoreMatrix:
    """The score matrix with the effects of pairs, by grids: what repeats show, and what rounding adds."""
    places = {name: i for i, name in enumerate(scores.names)}
    found, unsaid = np.full(scores.values.shape, np.nan), np.zeros(scores.values.shape, dtype=np.int64)
    for block in blocks:
        measured, effect = np.isfinite(block.cells.values), effects[block.grid]
        here = places[block.name], block.slots[measured]
        found[here], unsaid[here] = block.cells.design_effect[measured], block.cells.unsaid[measured]
        if effect and sum(effect) > 1:
            found[here] = sum(effect)
            unsaid[here] |= UNSAID[OF_REPEATS] * (effect[0] > 1)
    return replace(scores, pair_effect=found, unsaid=unsaid)


def _items_of(scores: ScoreMatrix, places: Mapping[str, int], blocks: Sequence[_Block]) -> Any:
    """Outcomes of the cells that count: where two grids have one cell, those of the second."""
    if all(block.items is None for block in blocks):
        return None
    found = np.full(scores.values.shape, None, dtype=object)
    for block in blocks:
        measured = np.isfinite(block.cells.values)
        found[places[block.name], block.slots[measured]] = None if block.items is None else block.items[measured]
    return found


def without_costly(
    query: RankingQuery, standings: ScoreMatrix, slots: Slots
) -> tuple[ScoreMatrix, tuple[SetAside, ...]]:
    """The standings of those that are not set aside where a slot must be common to all, and the others with what they
    lack; the same standings where nobody is."""
    if not common_to_all(query.method, query.missing):
        return standings, ()
    aside = of_names(standings, query.set_aside)
    if not aside.size:
        return standings, ()
    usual, kept = usual_slots(standings.present), np.setdiff1d(np.arange(len(standings.names)), aside)
    told = tuple(
        SetAside(
            standings.names[i],
            tuple(chain(_lacking_benchmarks(standings, own, usual), _lacking_levels(slots, own, usual))),
            int(np.count_nonzero(usual & ~own)),
            int(np.count_nonzero(usual)),
        )
        for i, own in zip(aside.tolist(), standings.present[aside], strict=True)
    )
    return of(standings, kept.tolist()), told


def _lacking_benchmarks(standings: ScoreMatrix, own: BoolArray, usual: BoolArray) -> Iterator[str]:
    lacking = np.setdiff1d(standings.benchmarks[usual], standings.benchmarks[usual & own])
    return (standings.benchmark_names[one] for one in lacking.tolist())


def _lacking_levels(slots: Slots, own: BoolArray, usual: BoolArray) -> Iterator[str]:
    """The levels of axes that are usual, and of which a name has no slot."""
    has, wanted = set[tuple[str, str | float]](), set[tuple[str, str | float]]()
    for shapes in slots.rooms.values():
        for shape, numbers in shapes.items():
            for at, number in zip(coordinates(orjson.loads(shape)), numbers.tolist(), strict=True):
                if usual[number]:
                    wanted |= at
                    has |= at if own[number] else set()
    numbers_first = sorted(wanted - has, key=lambda one: (one[0], isinstance(one[1], str), one[1]))
    return (f"{level:.15g}" if isinstance(level, float) else level for _, level in numbers_first)
