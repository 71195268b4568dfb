"""Tables of means, bests and counts, computed from the grids of a scope."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import fields, replace
from typing import Any, cast

from registry.query import AggregatesQuery, sliced_by
from registry.results.aggregates import Aggregates, Aggregation, DimensionLevels
from registry.results.codec import to_document
from registry.results.inputs import Input, Warning
from registry.results.policies import Reduction, SlotPolicy
from registry.results.ranking import Checksum
from registry.results.terms import Place
from workers.cell_reader import CellReader, CellsRead
from workers.rankings.direct import suite_warnings
from workers.rankings.pair_sums.update import fingerprint
from workers.rankings.ranking_input import (
    derived_name_warnings,
    level_warnings,
    near_duplicate_warnings,
    overlap_warnings,
    scale_warnings,
)
from workers.statistics.aggregates import Question, aggregate

MOST_INPUTS = 1_000
_MIXED = "the grids are on different scales, whose values cannot be averaged; ask about grids of one scale"


def aggregates_document(
    query: AggregatesQuery, rows: Iterable[Any], aliases: Mapping[tuple[str, str], str]
) -> dict[str, Any]:
    """Table of all grids among these rows that the query matches."""
    return aggregates_of(query, CellReader(query, aliases).read(rows))


def aggregates_of(query: AggregatesQuery, found: CellsRead) -> dict[str, Any]:
    """Table of the cells that were read, with its inputs; derived grids are listed but not counted. Equal inputs give
    equal bytes."""
    table = _tabulated(query, found)
    scale = found.scales.one if len(found.scales.classes) == 1 else None
    document = Aggregates(
        **{one.name: getattr(table, one.name) for one in fields(Aggregation)},
        **_asked(query),
        unit=scale.unit if scale else None,
        direction=found.table.direction,
        lower=found.table.lower,
        upper=found.table.upper,
        derived=found.derived,
        **_inputs(found),
    )
    whole = replace(
        document,
        dimensions=tuple(_described(one, found) for one in table.dimensions),
        left_out=replace(table.left_out, grids=found.without_axis),
        warnings=(*_warnings(query, found), *table.warnings),
    )
    return cast(dict[str, Any], to_document(whole))


def refused_aggregates(query: AggregatesQuery, reason: str) -> dict[str, Any]:
    """Table that says why a query gets none."""
    return cast(dict[str, Any], to_document(Aggregates("undefined", reason=reason, **_asked(query))))


def _tabulated(query: AggregatesQuery, found: CellsRead) -> Aggregation:
    if len(found.scales.classes) > 1 and query.value != "count":
        return Aggregation("not_comparable", reason=_MIXED)
    value, missing = cast(Reduction, query.value), cast(SlotPolicy, query.missing)
    rest = query.alpha, query.sort, query.set_aside
    return aggregate(found.table, Question(query.group_by, query.over, value, missing, *rest))


def _asked(query: AggregatesQuery) -> dict[str, Any]:
    """The question, as the answer repeats it."""
    names = ("experiment", "metric", "group_by", "over", "value", "missing", "alpha", "sort")
    return {name: getattr(query, name) for name in names} | {"suite": query.suite or None, **sliced_by(query)}


def _described(dimension: DimensionLevels, found: CellsRead) -> DimensionLevels:
    """The dimension with what was posted of it, where it is an axis."""
    axis, known = found.axes.get(dimension.dimension), found.labels.get(dimension.dimension, {})
    labels = tuple(known.get(level, str(level)) for level in dimension.levels)
    posted: dict[str, Any] = {} if axis is None else {"kind": axis.kind, "unit": axis.unit, "scale": axis.scale}
    return replace(dimension, labels=labels if any(map(_differs, labels, dimension.levels)) else None, **posted)


def _differs(label: str, level: Place) -> bool:
    if isinstance(level, str):
        return label != level
    try:
        return float(label) != level
    except ValueError:
        return True


def _inputs(found: CellsRead) -> dict[str, Any]:
    """The grids in the order of their names, or, where they are too many to be listed, their number and checksum."""
    grids = [(tuple(names.values()), grid) for grid, names in found.grids]
    if len(grids) <= MOST_INPUTS:
        ordered = sorted(grids, key=lambda one: (one[0], str(one[1].id)))
        return {"inputs": tuple(Input(str(grid.id), grid.number) for _, grid in ordered)}
    total = sum(fingerprint(grid.id, grid.number) for _, grid in grids)
    return {"inputs_left_out": Checksum(len(grids), uuid.UUID(int=total % (1 << 128)).hex)}


def _warnings(query: AggregatesQuery, found: CellsRead) -> Iterator[Warning]:
    benchmarks = sorted({names["benchmark"] for _, names in found.grids})
    yield from suite_warnings(query, benchmarks, "tabulated")
    ordered = sorted(found.grids, key=lambda one: tuple(one[1].values()))
    yield from overlap_warnings(ordered)
    yield from scale_warnings(found.scales)
    yield from level_warnings(query, found.axes_of)
    yield from derived_name_warnings(benchmarks)
    yield from near_duplicate_warnings(ordered, "benchmark", "model")
    yield from near_duplicate_warnings(ordered, "model", "benchmark")
