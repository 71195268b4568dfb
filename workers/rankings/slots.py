"""Cells of stored grids in the slots of a score matrix, and the scales of their metrics.

Proportions (bounds 0 and 1, or 0 and 100) with the units "", "%" or none share one scale. Other closed ranges must be
equal. An open range joins the closed range of its unit if there is exactly one, and a missing direction becomes that of
the others if they agree.

Slots of a score matrix: two values are comparable only in the same one.

A slot is (scale, benchmark, variant, coordinates) when models are ranked; for variants, benchmarks and the levels of an
axis the roles are exchanged. Slots of one group weigh together: a group is a benchmark, or a model where benchmarks are
ranked.
"""

import itertools
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple, cast

import numpy as np
import orjson
from numpy.typing import NDArray

from registry.grids.grid import Direction, Metric
from registry.results.ranking import RankedScale
from workers.statistics import ScoreMatrix
from workers.statistics.noise import Repeats, Scores, known_effect, repeats_of
from workers.statistics.score_matrix import UNSAID

Kind = tuple[str | None, Direction | None, float | None, float | None]
"""Unit, direction, lower and upper bound of a metric as it was posted."""


@dataclass(frozen=True, slots=True)
class Scale:
    """A class of comparable metrics. Multiplying by `factor` converts a value of the metric to this scale."""

    unit: str
    direction: Direction | None
    lower: float | None
    upper: float | None
    factor: float = 1.0

    @property
    def key(self) -> tuple[str, Direction | None, float | None, float | None]:
        """Equal for metrics with comparable values."""
        return self.unit, self.direction, self.lower, self.upper


@dataclass(frozen=True, slots=True)
class Scales:
    """Scale of every kind of metric, and whether a missing direction was assumed."""

    of: Mapping[Kind, Scale]
    assumed: bool

    @property
    def one(self) -> RankedScale | None:
        """The scale of all values as answers say it; None where there are several."""
        known = [scale for scale in self.classes if scale.direction] or self.classes
        if len(known) != 1:
            return None
        [scale] = known
        # Shares of 1 have no unit: they are no percentages.
        unit = None if scale.unit == "%" and scale.upper == 1 else scale.unit or None
        return RankedScale(unit, scale.direction, scale.lower, scale.upper)

    @property
    def classes(self) -> list[Scale]:
        """The different scales, in a fixed order."""
        found = {scale.key: replace(scale, factor=1.0) for scale in self.of.values()}
        return [found[key] for key in sorted(found, key=repr)]


def kind_of(metric: Mapping[str, Any]) -> Kind:
    """Properties of a metric that decide its scale."""
    return metric["unit"] or None, metric["direction"], metric["lower"], metric["upper"]


def scales(kinds: Iterable[Kind]) -> Scales:
    """Scales of the metrics in a ranking; the order of `kinds` has no effect."""
    posted = sorted(set(kinds), key=repr)
    directions = {direction for _, direction, _, _ in posted if direction}
    only = next(iter(directions)) if len(directions) == 1 else None
    whole = max((part for kind in posted if (part := _whole(kind))), default=None)
    found = {kind: _closed(kind, kind[1] or only, whole) for kind in posted}
    ranges = [scale for scale in found.values() if scale.lower is not None and scale.upper is not None]
    of = {kind: _joined(kind, scale, found, ranges) for kind, scale in found.items()}
    return Scales(of, only is not None and any(kind[1] is None for kind in posted))


def factor_to(scale: RankedScale | None, other: RankedScale | None) -> float:
    """What a difference on a scale is multiplied by to be one on the other: not 1 for shares of 1 and of 100."""
    wholes = [_whole((one.unit, one.direction, one.lower, one.upper)) for one in (scale, other) if one]
    return wholes[1] / wholes[0] if len(wholes) == 2 and wholes[0] and wholes[1] else 1.0


def _whole(kind: Kind) -> float | None:
    """1 or 100 if a metric is a proportion with one of the units of proportions, else None."""
    whole = Metric("", None, None, kind[2], kind[3]).proportion_of
    return float(whole) if whole and kind[0] in (None, "%") else None


def _closed(kind: Kind, direction: Direction | None, whole: float | None) -> Scale:
    own = _whole(kind)
    if own is None:
        return Scale(kind[0] or "", direction, kind[2], kind[3])
    return Scale("%", direction, 0.0, whole, cast(float, whole) / own)


def _joined(kind: Kind, scale: Scale, found: Mapping[Kind, Scale], ranges: list[Scale]) -> Scale:
    """Scale of an open range: the closed one that it joins, else one for all open ranges of its unit and direction."""
    if scale.lower is not None and scale.upper is not None:
        return scale
    alike = {one.key: one for one in ranges if one.direction == scale.direction and _same_unit(kind, one)}
    if len(alike) == 1:
        [one] = alike.values()
        # A percentage without bounds is no fraction, and where both are posted it is unknown which of them it is.
        posted = {_whole(other) for other, its in found.items() if its.key == one.key} - {None}
        if len(posted) < 2 and not (kind[0] == "%" and posted == {1.0}):
            return replace(one, factor=1.0)
    open_ = [one for one in found.values() if (one.unit, one.direction) == (scale.unit, scale.direction)]
    open_ = [one for one in open_ if one.lower is None or one.upper is None]
    lowers, uppers = {one.lower for one in open_}, {one.upper for one in open_}
    return replace(
        scale,
        lower=scale.lower if len(lowers) == 1 else None,
        upper=scale.upper if len(uppers) == 1 else None,
    )


def _same_unit(kind: Kind, scale: Scale) -> bool:
    return (kind[0] or "") == scale.unit or (scale.unit == "%" and kind[0] is None)


Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


class Roles(NamedTuple):
    """What the names of a grid are in a ranking."""

    name: str
    """What is ranked; "" where it is the levels of an axis."""
    group: str
    rest: tuple[str, ...]
    """Names that tell slots of one group and one coordinate apart."""


def roles_of(by: str, benchmark: str, model: str, variant: str) -> Roles:
    """Roles of a grid's names in a ranking of models, variants, benchmarks or the levels of an axis."""
    if by == "model":
        return Roles(model, benchmark, (variant,))
    if by == "variant":
        return Roles(variant, benchmark, (model,))
    if by == "benchmark":
        return Roles(benchmark, model, (variant,))
    return Roles("", benchmark, (model, variant))


Room = tuple[Hashable, ...]
"""Scale, group and the other names of grids whose slots differ in nothing but coordinates."""


@dataclass
class Slots:
    """Slots, numbered in the order in which they first occur.

    Grids of one room over equal axes have equal slots, which are numbered together: no coordinates are looked at, until
    a grid of the room comes over other axes.
    """

    size: int = 0
    rooms: dict[Room, dict[bytes, Integers]] = field(default_factory=dict)
    """The slots of each room by the JSON of the axes of its grids."""
    places: dict[Room, dict[Hashable, int]] = field(default_factory=dict)
    """Slots by their coordinates, of rooms whose grids have different axes."""
    owners: list[tuple[str, int]] = field(default_factory=list)
    """Group of each run of slots, and the length of the run."""

    def numbers(
        self, group: str, rest: tuple[str, ...], axes: Sequence[dict[str, Any]], scale: Scale | None = None
    ) -> Integers:
        """Slot of each cell of a grid over these axes, row-major."""
        room, shape = (scale.key if scale else None, group, *rest), orjson.dumps(axes)
        known = self.rooms.setdefault(room, {})
        if shape not in known:
            before, size = self.size, math.prod(len(axis["levels"]) for axis in axes)
            if not known:
                known[shape] = np.arange(before, before + size)
                self.size += size
            else:
                known[shape] = np.array([self._place(room, at) for at in coordinates(axes)], dtype=np.int64)
            self.owners.append((group, self.size - before))
        return known[shape]

    def _place(self, room: Room, at: Hashable) -> int:
        if room not in self.places:
            self.places[room] = {
                one: number
                for shape, numbers in self.rooms[room].items()
                for one, number in zip(coordinates(orjson.loads(shape)), numbers.tolist(), strict=True)
            }
        found = self.places[room].setdefault(at, self.size)
        self.size = max(self.size, found + 1)
        return found


def coordinates(axes: Sequence[dict[str, Any]]) -> Iterator[frozenset[tuple[str, str | float]]]:
    """Coordinates of each cell of a grid, row-major; the order of its axes does not tell them apart."""
    levels = [[(axis["name"], _level(level)) for level in axis["levels"]] for axis in axes]
    return (frozenset(at) for at in itertools.product(*levels))


def _level(level: Any) -> str | float:
    """Identity of a level: its number if it has one, else its label."""
    if isinstance(level, dict):
        return float(level["number"])
    return level if isinstance(level, str) else float(level)


Placed = tuple[Integers, Scale]
"""Slots, and the scale of their values."""


@dataclass(frozen=True, slots=True)
class Frame:
    """What a score matrix says besides its cells: one scale, or several. Over several, slots where lower is better are
    negated, and only wins and ranks have a meaning."""

    scale: Scale
    mixed: bool
    direction: Direction | None

    @classmethod
    def of(cls, classes: Sequence[Scale]) -> "Frame":
        """Frame of these scales; those without a direction count only where there is no other."""
        usable = [one for one in classes if one.direction] or list(classes)
        one = usable[0] if len(usable) == 1 else Scale("", None, None, None)
        mixed = len(usable) > 1
        return cls(one, mixed, "higher" if mixed and all(each.direction for each in usable) else one.direction)

    def sign(self, scale: Scale) -> int:
        """-1 where values on this scale are negated, else 1."""
        return -1 if self.mixed and scale.direction == "lower" else 1

    def matrix(
        self, by: str, names: Sequence[str], slots: Slots, placed: Iterable[Placed], cells: Mapping[str, Any]
    ) -> ScoreMatrix:
        """Score matrix of these cells, to rank what `by` says."""
        worst = np.full(slots.size, np.nan)
        for numbers, scale in placed:
            bound = scale.upper if scale.direction == "lower" else scale.lower
            worst[numbers] = np.nan if bound is None else self.sign(scale) * bound
        groups = sorted({group for group, _ in slots.owners})
        owner = {name: i for i, name in enumerate(groups)}
        runs = np.array([(owner[group], length) for group, length in slots.owners], dtype=np.int64).reshape(-1, 2)
        return ScoreMatrix(
            names=tuple(names),
            benchmarks=np.repeat(runs[:, 0], runs[:, 1]),
            benchmark_names=tuple(groups),
            direction=self.direction,
            lower=self.scale.lower,
            upper=self.scale.upper,
            mixed=self.mixed,
            worst=worst,
            places=_places_across_scales(slots) if self.mixed else None,
            group="model" if by == "benchmark" else "benchmark",
            **cells,
        )


def _places_across_scales(slots: Slots) -> Integers:
    """Equal numbers for slots that differ in nothing but their scale."""
    known, found = dict[Hashable, int](), np.empty(slots.size, dtype=np.int64)
    for (_, *names), shapes in slots.rooms.items():
        for shape, numbers in shapes.items():
            found[numbers] = [known.setdefault((*names, at), len(known)) for at in coordinates(orjson.loads(shape))]
    return found


@dataclass(frozen=True, slots=True)
class Columns:
    """Arrays of one shape. NaN: no value, standard error or design effect; 0: no trials, repeats, questions, or design
    effect that nobody posted."""

    values: Floats
    trials: Integers
    stderr: Floats
    repeats: Integers
    questions: Integers
    design_effect: Floats
    unsaid: Integers

    @classmethod
    def empty(cls, shape: tuple[int, ...]) -> "Columns":
        """Arrays in which nothing is known."""
        unknown, none = np.full(shape, np.nan), np.zeros(shape, dtype=np.int64)
        return cls(unknown, none, unknown.copy(), none.copy(), none.copy(), unknown.copy(), none.copy())

    def flat(self) -> "Columns":
        """The arrays flattened in row-major order."""
        return Columns(*(getattr(self, one.name).ravel() for one in fields(self)))

    def level(self, position: int, axis: int) -> "Columns":
        """One level of an axis, flattened in row-major order."""
        return Columns(*(np.take(getattr(self, one.name), position, axis).ravel() for one in fields(self)))

    def put(self, row: int, places: Integers, cells: "Columns", sign: int) -> None:
        """Write the measured cells into the given places of a row; with `sign` -1, values are negated."""
        measured = np.isfinite(cells.values)
        here = (row, places[measured])
        for one in fields(self):
            getattr(self, one.name)[here] = getattr(cells, one.name)[measured]
        self.values[here] *= sign

    def arrays(self) -> dict[str, Any]:
        """The arrays by name, `None` for those without any information."""
        found = {one.name: getattr(self, one.name) for one in fields(self)}
        told = {name: bool(np.any(np.isfinite(array) & (array != 0))) for name, array in found.items()}
        # Errors of 0 say that repeats agree.
        told |= {"values": True, "stderr": told["stderr"] or told["repeats"]}
        return {name: array if told[name] else None for name, array in found.items()}


def columns_of(row: Any, factor: float, beside: Scores | None = None) -> Columns:
    """Cells of a revision, with values and errors multiplied by `factor`. A posted error beats one from repeats.
    `beside` says how mute values were printed."""
    shape = [len(axis["levels"]) for axis in row.axes]
    values = np.array(row.values, dtype=np.float64).reshape(shape) * factor
    measured = np.isfinite(values)
    trials = np.where(measured, row.trials or 0, 0)
    if row.cell_trials is not None:
        trials = np.array([n or 0 for n in row.cell_trials], dtype=np.int64).reshape(shape)
    stderr, repeats = _errors(row, shape)
    effect, unsaid = _effect(row, beside)
    return Columns(
        values=values,
        trials=trials,
        stderr=stderr * factor,
        repeats=repeats,
        questions=np.where(measured, row.questions or 0, 0),
        design_effect=np.where(measured, effect, np.nan),
        unsaid=np.where(measured, unsaid, 0),
    )


def scores_of(row: Any) -> Scores:
    """What shows how a revision was printed."""
    whole = Metric("", None, None, row.metric["lower"], row.metric["upper"]).proportion_of
    return Scores(row.values, row.trials if row.cell_trials is None else row.cell_trials, whole)


def shown_by_repeats(row: Any) -> Repeats | None:
    """What the repeats of a revision show beside its trials, where no design effect was posted."""
    values, trials, whole = scores_of(row)
    return None if row.design_effect else repeats_of(values, trials, row.sd, row.repeats, whole)


def _effect(row: Any, beside: Scores | None) -> tuple[float, int]:
    """The design effect that is known, NaN for none, and the bits of what is assumed of it."""
    values, trials, whole = scores_of(row)
    found, assumed = known_effect(row.design_effect, whole, values, trials, row.sd, row.repeats, beside)
    words = assumed if row.design_effect is None else ()
    return np.nan if found is None else found, sum(UNSAID[word] for word in words)


def _errors(row: Any, shape: list[int]) -> tuple[Floats, Integers]:
    """Standard errors, and the number of repeats behind each (0: the error was posted)."""
    size = len(row.values)
    errors, counts = np.full(size, np.nan), np.zeros(size, dtype=np.int64)
    if row.repeats is not None and row.sd is not None:
        counts = np.array([n or 0 for n in row.repeats], dtype=np.int64)
        sd = np.array(row.sd, dtype=np.float64)
        np.divide(sd, np.sqrt(np.maximum(counts, 1)), out=errors, where=counts > 1)
        counts = np.where(np.isfinite(errors), counts, 0)
    if row.stderr is not None:
        posted = np.array(row.stderr, dtype=np.float64)
        errors = np.where(np.isfinite(posted), posted, errors)
        counts = np.where(np.isfinite(posted), 0, counts)
    return errors.reshape(shape), counts.reshape(shape)
