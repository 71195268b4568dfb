"""Input of a ranking: stored grids become a `ScoreMatrix`. Two values are comparable only in the same slot.

A slot is (scale, benchmark, variant, coordinates) when models are ranked; for variants and for the levels of an axis
the roles are exchanged. Aliases are applied here; where they put two grids on the same slots, the one updated last
counts.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from registry.grids.derived_names import looks_derived
from registry.grids.near_duplicates import near_duplicates
from registry.query import RankingQuery
from registry.results.inputs import DerivedGrid, Input, Warning
from workers.rankings.columns import Columns, columns_of
from workers.rankings.scales import Scale, Scales, kind_of, scales
from workers.scope import canonical_names, matches
from workers.statistics import ScoreMatrix

Integers = NDArray[np.int64]
MOST_ALIKE = 10


@dataclass(frozen=True)
class RankingInput:
    """Score matrix of a ranking, the revisions it was made from, warnings, and the derived grids left out of it."""

    scores: ScoreMatrix
    inputs: tuple[Input, ...]
    warnings: tuple[Warning, ...]
    derived: tuple[DerivedGrid, ...]


@dataclass
class Slots:
    """Slots, numbered in the order in which they first occur."""

    places: dict[Hashable, int] = field(default_factory=dict)
    benchmarks: list[str] = field(default_factory=list)

    def number(self, benchmark: str, rest: tuple[Hashable, ...]) -> int:
        place = self.places.setdefault((benchmark, *rest), len(self.places))
        if place == len(self.benchmarks):
            self.benchmarks.append(benchmark)
        return place


@dataclass(frozen=True, slots=True)
class _Block:
    """Cells of one name in some slots."""

    name: str
    slots: Integers
    cells: Columns
    scale: Scale


def build_ranking_input(
    query: RankingQuery, rows: Iterable[Any], aliases: Mapping[tuple[str, str], str]
) -> RankingInput:
    """Ranking input from rows of grids, oldest update first; apart from updates, their order has no effect."""
    meant = [(row, names) for row in rows if matches(query, names := canonical_names(row, aliases))]
    # Stable: of two grids of the same names the one updated last comes last.
    meant.sort(key=lambda one: tuple(one[1].values()))
    derived = tuple(_derived_entry(row, names) for row, names in meant if row.derived is not None)
    counted = [(row, names) for row, names in meant if row.derived is None]
    found = scales(kind_of(row.metric) for row, _ in counted)
    slots, cache = Slots(), dict[tuple[Any, ...], Any]()
    blocks = [
        block
        for row, names in counted
        for block in _blocks(query, row, names, slots, cache, found.of[kind_of(row.metric)])
    ]
    blocks = _with_direction(blocks)
    ordered = _ordered(query, {block.name for block in blocks}, cache)
    inputs = tuple(Input(str(row.id), row.number) for row, _ in counted)
    benchmarks = {names["benchmark"] for _, names in counted}
    warnings = (
        *_overlap_warnings(counted),
        *scale_warnings(found),
        *derived_name_warnings(benchmarks),
        *near_duplicate_warnings(counted, "benchmark", "model"),
        *near_duplicate_warnings(counted, "model", "benchmark"),
    )
    return RankingInput(_score_matrix(ordered, blocks, slots, found.classes), inputs, warnings, derived)


def _derived_entry(row: Any, names: Mapping[str, str]) -> DerivedGrid:
    return DerivedGrid(str(row.id), names["benchmark"], names["model"])


def _overlap_warnings(counted: Sequence[tuple[Any, Mapping[str, str]]]) -> Iterator[Warning]:
    """Warnings about grids that aliases give the same identity."""
    owners = dict[tuple[str, ...], Any]()
    for row, names in counted:
        identity = tuple(names.values())
        if identity in owners:
            both = f"the grids {owners[identity]} and {row.id} are one"
            detail = f"With aliases applied, {both}; where both measured, the second counts."
            yield Warning("same_slots", detail)
        owners[identity] = row.id


def _with_direction(blocks: list[_Block]) -> list[_Block]:
    """The blocks whose metric has a direction; all blocks if none has."""
    directed = [block for block in blocks if block.scale.direction]
    return directed or blocks


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


def _blocks(
    query: RankingQuery,
    row: Any,
    names: Mapping[str, str],
    slots: Slots,
    cache: dict[tuple[Any, ...], Any],
    scale: Scale,
) -> list[_Block]:
    """Cells of one grid, as the block of its model or variant, or as one block for each level of the ranked axis."""
    cells, axis = columns_of(row, scale.factor), query.by.removeprefix("axis:")
    if not query.by.startswith("axis:"):
        other = "variant" if query.by == "model" else "model"
        numbers = slot_numbers(slots, cache, names["benchmark"], (names[other],), row.axes, None, scale)
        return [_Block(names[query.by], numbers, cells.flat(), scale)]
    place = next((i for i, one in enumerate(row.axes) if one["name"] == axis), None)
    if place is None:
        return []
    rest = (names["model"], names["variant"])
    numbers = slot_numbers(slots, cache, names["benchmark"], rest, row.axes, place, scale)
    labels = [_label(level) for level in row.axes[place]["levels"]]
    known = cache.setdefault(("levels",), {})
    for level in labels:
        known.setdefault(level, len(known))
    return [_Block(label, numbers, cells.level(i, place), scale) for i, label in enumerate(labels)]


def slot_numbers(
    slots: Slots,
    cache: dict[tuple[Any, ...], Any],
    benchmark: str,
    rest: tuple[str, ...],
    axes: Sequence[dict[str, Any]],
    left_out: int | None,
    scale: Scale | None = None,
) -> Integers:
    """Slot of each cell, row-major without the axis `left_out`; grids over equal axes share the result."""
    kind = scale.key if scale else None
    key = (benchmark, rest, orjson.dumps(axes), left_out, kind)
    if key not in cache:
        kept = [axis for i, axis in enumerate(axes) if i != left_out]
        order = sorted(range(len(kept)), key=lambda i: kept[i]["name"])
        levels = [[_level(level) for level in axis["levels"]] for axis in kept]
        found = []
        for at in np.ndindex(*[len(each) for each in levels]):
            coordinates = tuple((kept[i]["name"], levels[i][at[i]]) for i in order)
            found.append(slots.number(benchmark, (kind, *rest, *coordinates)))
        cache[key] = np.array(found, dtype=np.int64)
    numbers: Integers = cache[key]
    return numbers


def _level(level: Any) -> str | float:
    """Identity of a level: its number if it has one, else its label."""
    if isinstance(level, dict):
        return float(level["number"])
    return level if isinstance(level, str) else float(level)


def _label(level: Any) -> str:
    return str(level["label"] if isinstance(level, dict) else level)


def _ordered(query: RankingQuery, names: set[str], cache: Mapping[tuple[Any, ...], Any]) -> list[str]:
    """Levels in the order of their axis, models and variants by name."""
    known = cache.get(("levels",), {})
    return sorted(names, key=lambda name: (known.get(name, 0), name))


def _score_matrix(
    names: Sequence[str], blocks: Sequence[_Block], slots: Slots, classes: Sequence[Scale]
) -> ScoreMatrix:
    """Score matrix of all blocks. Over several scales, slots where lower is better are negated, and only wins and ranks
    have a meaning."""
    usable = [one for one in classes if one.direction] or list(classes)
    mixed = len(usable) > 1
    places = {name: i for i, name in enumerate(names)}
    cells = Columns.empty((len(names), len(slots.places)))
    worst = np.full(len(slots.places), np.nan)
    for block in blocks:
        sign = -1 if mixed and block.scale.direction == "lower" else 1
        cells.put(places[block.name], block.slots, block.cells, sign)
        bound = block.scale.upper if block.scale.direction == "lower" else block.scale.lower
        worst[block.slots] = np.nan if bound is None else sign * bound
    benchmarks = sorted(set(slots.benchmarks))
    owner = {name: i for i, name in enumerate(benchmarks)}
    one = usable[0] if len(usable) == 1 else Scale("", None, None, None)
    return ScoreMatrix(
        names=tuple(names),
        benchmarks=np.array([owner[name] for name in slots.benchmarks], dtype=np.int64),
        benchmark_names=tuple(benchmarks),
        direction="higher" if mixed and all(each.direction for each in usable) else one.direction,
        lower=one.lower,
        upper=one.upper,
        mixed=mixed,
        worst=worst,
        places=_places_across_scales(slots) if mixed else None,
        **cells.arrays(),
    )


def _places_across_scales(slots: Slots) -> Integers:
    """Equal numbers for slots that differ in nothing but their scale."""
    known = dict[Hashable, int]()
    found = []
    for key in slots.places:
        benchmark, _, *rest = key if isinstance(key, tuple) else (key, None)
        found.append(known.setdefault((benchmark, *rest), len(known)))
    return np.array(found, dtype=np.int64)
