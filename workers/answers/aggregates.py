"""Answer a query for a table of means, bests or counts, from the grids of a scope.

Their cells become one long table: names and levels become codes, metrics are put on one scale.
"""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, cast

import numpy as np
import orjson
from numpy.typing import NDArray

from registry.grids.grid import Axis, Metric
from registry.query import AggregatesQuery, sliced_by
from registry.results.aggregates import Aggregates, Aggregation, DimensionLevels
from registry.results.codec import to_document
from registry.results.ranking import Checksum
from registry.results.terms import DerivedGrid, Input, Place, Reduction, SlotPolicy, Warning
from registry.storage.rows import axis_of
from workers.rankings.direct import suite_warnings
from workers.rankings.pair_sums import fingerprint
from workers.rankings.ranking_input import (
    derived_entry,
    derived_name_warnings,
    level_warnings,
    near_duplicate_warnings,
    overlap_warnings,
    scale_warnings,
)
from workers.rankings.slots import Columns, Kind, Scale, Scales, columns_of, kind_of, scales, scores_of
from workers.scope import Aliases, canonical_names, matches
from workers.statistics import ScoreMatrix
from workers.statistics.aggregates import Question, aggregate
from workers.statistics.cells import noise
from workers.statistics.noise import Printing, Scores
from workers.statistics.set_aside import CellTable, Codes
from workers.statistics.table import place_of

Floats = NDArray[np.float64]
AXIS = "axis:"
NAMES = ("benchmark", "model", "variant")
_AT_ONCE = 100_000
"""Cells whose noise is computed together."""


class GridRead(NamedTuple):
    """A grid that was read, and its current revision."""

    id: Any
    number: int


@dataclass
class _Shape:
    """Grids over equal axes: the code of every cell's level on each axis, row-major. `first` are the alphabetically
    first names of its grids."""

    codes: Mapping[str, Codes]
    levels: Mapping[str, Sequence[Place]]
    first: tuple[str, ...]


@dataclass(frozen=True)
class _Chunk:
    """Measured cells of some grids with metrics of one kind; the columns are those of `CellTable`."""

    kind: Kind
    codes: Mapping[str, Codes]
    columns: Mapping[str, Floats]
    assumes: tuple[str, ...]

    @property
    def size(self) -> int:
        return int(self.columns["values"].size)


@dataclass
class CellReader:
    """Reads grids one after the other, oldest update first; apart from updates, their order has no effect."""

    query: AggregatesQuery
    aliases: Aliases
    table: CellTable = field(init=False)
    """The cells that were read."""
    scales: Scales = field(init=False)
    labels: dict[str, dict[Place, str]] = field(default_factory=dict)
    """Of each axis, the labels of the levels that have both a label and a number."""
    axes: dict[str, Axis] = field(default_factory=dict)
    """Each axis as the grid with the most levels of it has it."""
    grids: list[tuple[GridRead, Mapping[str, str]]] = field(default_factory=list)
    """With their names, oldest update first."""
    axes_of: dict[tuple[str, bytes], Sequence[Any]] = field(default_factory=dict)
    """The axes of grids as they are stored, by benchmark and JSON."""
    derived: list[DerivedGrid] = field(default_factory=list)
    without_axis: int = 0
    """Grids that lack an axis of the question."""
    codes: dict[str, dict[Place, int]] = field(default_factory=lambda: {name: {} for name in NAMES})
    shapes: dict[bytes, _Shape] = field(default_factory=dict)
    chunks: list[_Chunk] = field(default_factory=list)
    waiting: list[tuple[Kind, Mapping[str, Codes], Columns]] = field(default_factory=list)
    kinds: set[Kind] = field(default_factory=set)
    printing: Printing = field(default_factory=Printing)
    mute: list[tuple[Any, Mapping[str, str]]] = field(default_factory=list)
    """Rows whose scores do not show how they were printed; those of all others of their benchmarks are read first."""

    def read(self, rows: Iterable[Any]) -> "CellReader":
        """Read the cells of these rows of revisions, as far as the query matches them."""
        for row in rows:
            names = canonical_names(row, self.aliases)
            if not matches(self.query, names):
                continue
            if row.derived is not None:
                self.derived.append(derived_entry(row, names))
            elif not self._asked_axes() <= {axis["name"] for axis in row.axes}:
                self.without_axis += 1
            else:
                self._add(row, names)
        for row, own in self.mute:
            self._add_cells(row, own, self.printing.beside(own["benchmark"], scores_of(row)))
        self._settle()
        self.derived.sort(key=lambda one: (one.benchmark, one.model, one.grid))
        self.scales = scales(self.kinds)
        self.table = self._table(self.scales)
        return self

    def _asked_axes(self) -> set[str]:
        asked = (*self.query.group_by, *self.query.over)
        return {one.removeprefix(AXIS) for one in asked if one.startswith(AXIS)}

    def _add(self, row: Any, names: Mapping[str, str]) -> None:
        self.grids.append((GridRead(row.id, row.number), names))
        scores = scores_of(row)
        self.printing.see(names["benchmark"], scores)
        if scores.is_mute:
            self.mute.append((row, names))
        else:
            self._add_cells(row, names)

    def _add_cells(self, row: Any, names: Mapping[str, str], beside: Scores | None = None) -> None:
        kind, shape = kind_of(row.metric), self._shape(row.axes, names)
        self.kinds.add(kind)
        of_names = {name: _code(self.codes[name], names[name]) for name in NAMES}
        cells = columns_of(row, 1.0, beside).flat()
        measured = np.isfinite(cells.values)
        codes = {name: np.full(np.count_nonzero(measured), code, dtype=np.int32) for name, code in of_names.items()}
        codes |= {name: column[measured] for name, column in shape.codes.items()}
        if self.waiting and self.waiting[0][0] != kind:
            self._settle()
        columns = Columns(*(getattr(cells, one.name)[measured] for one in fields(Columns)))
        self.waiting.append((kind, codes, columns))
        # A sum over what waits would take quadratic time; grids are small next to the limit.
        if len(self.waiting) * max(1, columns.values.size) > _AT_ONCE:
            self._settle()

    def _shape(self, axes: Sequence[dict[str, Any]], names: Mapping[str, str]) -> _Shape:
        key, whole = orjson.dumps(axes), tuple(names.values())
        self.axes_of[names["benchmark"], key] = axes
        if key not in self.shapes:
            self.shapes[key] = self._new_shape([axis_of(axis) for axis in axes], whole)
        shape = self.shapes[key]
        shape.first = min(shape.first, whole)
        return shape

    def _new_shape(self, axes: Sequence[Axis], names: tuple[str, ...]) -> _Shape:
        levels = {AXIS + axis.name: [place_of(axis, i) for i in range(len(axis.levels))] for axis in axes}
        for axis in axes:
            known = self.labels.setdefault(AXIS + axis.name, {})
            if len(axis.levels) > len(self.axes.get(AXIS + axis.name, _NONE).levels):
                self.axes[AXIS + axis.name] = axis
            for level, place in zip(axis.levels, levels[AXIS + axis.name], strict=True):
                known.setdefault(place, level.label)
        own = [
            np.array([_code(self.codes.setdefault(name, {}), place) for place in places], dtype=np.int32)
            for name, places in levels.items()
        ]
        grids = np.meshgrid(*own, indexing="ij") if own else []
        return _Shape({name: grid.ravel() for name, grid in zip(levels, grids, strict=True)}, levels, names)

    def _settle(self) -> None:
        if not self.waiting:
            return
        kind = self.waiting[0][0]
        joined = Columns(
            *(np.concatenate([getattr(one, f.name) for _, _, one in self.waiting]) for f in fields(Columns))
        )
        columns, assumes = _with_noise(joined, kind)
        sizes = [one.values.size for _, _, one in self.waiting]
        names = dict.fromkeys(name for _, codes, _ in self.waiting for name in codes)
        codes = {
            name: np.concatenate(
                [
                    codes.get(name, np.full(size, -1, dtype=np.int32))
                    for (_, codes, _), size in zip(self.waiting, sizes, strict=True)
                ]
            )
            for name in names
        }
        self.chunks.append(_Chunk(kind, codes, columns, assumes))
        self.waiting = []

    def _table(self, found: Scales) -> CellTable:
        """All chunks together, with the levels of each dimension in their order."""
        levels = {name: self._ordered(name) for name in self.codes}
        order = {name: np.full(len(known) + 1, -1, dtype=np.int32) for name, known in self.codes.items()}
        for name, places in levels.items():
            order[name][[self.codes[name][place] for place in places]] = np.arange(len(places))
        classes = found.classes
        one = classes[0] if len(classes) == 1 else Scale("", None, None, None)
        factors = [found.of[chunk.kind].factor for chunk in self.chunks]

        def joined(name: str, power: int = 0) -> Floats:
            parts = [
                chunk.columns[name] * factor**power if factor != 1 and power else chunk.columns[name]
                for chunk, factor in zip(self.chunks, factors, strict=True)
            ]
            return np.concatenate(parts) if parts else np.empty(0)

        def code(name: str) -> Codes:
            # The last place of `order` is -1, which the code -1 of a grid without the axis stands for.
            parts = [
                order[name][chunk.codes[name]] if name in chunk.codes else np.full(chunk.size, -1, dtype=np.int32)
                for chunk in self.chunks
            ]
            return np.concatenate(parts) if parts else np.empty(0, dtype=np.int32)

        return CellTable(
            levels,
            {name: code(name) for name in levels},
            joined("values", 1),
            joined("variance", 2),
            joined("df"),
            joined("n"),
            joined("k"),
            Metric("", None, one.direction, one.lower, one.upper).proportion_of or 1.0,
            one.direction,
            one.lower,
            one.upper,
            tuple(dict.fromkeys(word for chunk in self.chunks for word in chunk.assumes)),
        )

    def _ordered(self, name: str) -> tuple[Place, ...]:
        """The levels of a dimension: names by the alphabet, numbers by size, others in the order of their axes."""
        known = self.codes[name]
        if name in NAMES:
            return tuple(sorted(known, key=str))
        if all(not isinstance(place, str) for place in known):
            return tuple(sorted(known, key=float))
        shapes = [shape for shape in self.shapes.values() if name in shape.levels]
        shapes.sort(key=lambda shape: (shape.first, repr(shape.levels)))
        return tuple(dict.fromkeys(place for shape in shapes for place in shape.levels[name]))


_NONE = Axis("", "nominal", ())


def _code(known: dict[Place, int], level: Place) -> int:
    return known.setdefault(level, len(known))


def _with_noise(cells: Columns, kind: Kind) -> tuple[dict[str, Floats], tuple[str, ...]]:
    """The columns of a table in the unit of their metric, and what is assumed of trials."""
    _, direction, lower, upper = kind
    known: dict[str, Any] = {name: None if array is None else array[None, :] for name, array in cells.arrays().items()}
    row = ScoreMatrix(
        names=("",),
        benchmarks=np.zeros(cells.values.size, dtype=np.int64),
        benchmark_names=("",),
        direction=direction,
        lower=lower,
        upper=upper,
        **known,
    )
    n, k, variance, df, independent = noise(row)
    found = {"values": cells.values, "variance": variance[0], "df": df[0], "n": n[0], "k": k[0]}
    return found, (*(["independent_trials"] if independent.any() else []), *row.assumed)


MOST_INPUTS = 1_000
_MIXED = "the grids are on different scales, whose values cannot be averaged; ask about grids of one scale"


def aggregates_of(query: AggregatesQuery, found: CellReader) -> dict[str, Any]:
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
        derived=tuple(found.derived),
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


def _tabulated(query: AggregatesQuery, found: CellReader) -> Aggregation:
    if len(found.scales.classes) > 1 and query.value != "count":
        return Aggregation("not_comparable", reason=_MIXED)
    value, missing = cast(Reduction, query.value), cast(SlotPolicy, query.missing)
    rest = query.alpha, query.sort, query.set_aside
    return aggregate(found.table, Question(query.group_by, query.over, value, missing, *rest))


def _asked(query: AggregatesQuery) -> dict[str, Any]:
    """The question, as the answer repeats it."""
    names = ("experiment", "metric", "group_by", "over", "value", "missing", "alpha", "sort")
    return {name: getattr(query, name) for name in names} | {"suite": query.suite or None, **sliced_by(query)}


def _described(dimension: DimensionLevels, found: CellReader) -> DimensionLevels:
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


def _inputs(found: CellReader) -> dict[str, Any]:
    """The grids in the order of their names, or, where they are too many to be listed, their number and checksum."""
    grids = [(tuple(names.values()), grid) for grid, names in found.grids]
    if len(grids) <= MOST_INPUTS:
        ordered = sorted(grids, key=lambda one: (one[0], str(one[1].id)))
        return {"inputs": tuple(Input(str(grid.id), grid.number) for _, grid in ordered)}
    total = sum(fingerprint(grid.id, grid.number) for _, grid in grids)
    return {"inputs_left_out": Checksum(len(grids), uuid.UUID(int=total % (1 << 128)).hex)}


def _warnings(query: AggregatesQuery, found: CellReader) -> Iterator[Warning]:
    benchmarks = sorted({names["benchmark"] for _, names in found.grids})
    yield from suite_warnings(query, benchmarks, "tabulated")
    ordered = sorted(found.grids, key=lambda one: tuple(one[1].values()))
    yield from overlap_warnings(ordered)
    yield from scale_warnings(found.scales)
    yield from level_warnings(query, ((benchmark, axes) for (benchmark, _), axes in found.axes_of.items()))
    yield from derived_name_warnings(benchmarks)
    yield from near_duplicate_warnings(ordered, "benchmark", "model")
    yield from near_duplicate_warnings(ordered, "model", "benchmark")
