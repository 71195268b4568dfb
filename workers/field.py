"""The field of a ranking: stored grids -> Standings. Two values are comparable only in the same slot.

A slot is (benchmark, variant, coordinates) for models, with the roles exchanged for variants and for the levels of an
axis. Aliases are applied here; where they make two grids claim the same slots, the one updated last counts.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from registry.question import Question
from workers.statistics import Standings

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Field:
    """Who is compared over what, from which revisions, and what had to be decided."""

    standings: Standings
    inputs: list[dict[str, Any]]
    warnings: list[dict[str, str]]


@dataclass
class _Slots:
    """Slots numbered as they are met."""

    places: dict[Hashable, int] = field(default_factory=dict)
    benchmarks: list[str] = field(default_factory=list)

    def number(self, benchmark: str, rest: tuple[Hashable, ...]) -> int:
        place = self.places.setdefault((benchmark, *rest), len(self.places))
        if place == len(self.benchmarks):
            self.benchmarks.append(benchmark)
        return place


@dataclass(frozen=True, slots=True)
class _Block:
    """A name's values in some slots."""

    name: str
    slots: Integers
    values: Floats
    trials: Integers | None


def build_field(question: Question, rows: Iterable[Any], aliases: Mapping[tuple[str, str], str]) -> Field:
    """The field of a question from rows of grids, oldest update first."""
    slots, blocks, inputs = _Slots(), [], []
    cache: dict[tuple[Any, ...], Any] = {}
    metrics, owners, warnings = [], dict[tuple[str, ...], Any](), []
    for row in rows:
        named = {
            kind: aliases.get((kind, getattr(row, kind)), getattr(row, kind))
            for kind in ("benchmark", "model", "variant")
        }
        if not _asked(question, named):
            continue
        identity = tuple(named.values())
        if identity in owners:
            warnings.append(_replaced(owners[identity], row))
        owners[identity] = row.id
        inputs.append({"grid": str(row.id), "revision": row.number})
        metrics.append(row.metric)
        blocks += _blocks(question, row, named, slots, cache)
    mixed = len({(metric["unit"], metric["direction"]) for metric in metrics}) > 1
    names = _in_order(question, {block.name for block in blocks}, cache)
    return Field(_standings(names, blocks, slots, metrics, mixed), inputs, warnings)


def _asked(question: Question, named: Mapping[str, str]) -> bool:
    wanted = ((question.benchmark, named["benchmark"]), (question.variant, named["variant"]))
    return all(not asked or name in asked for asked, name in wanted)


def _replaced(older: Any, row: Any) -> dict[str, str]:
    detail = f"The grids {older} and {row.id} have the same names once aliases are applied; the second counts."
    return {"code": "same_slots", "detail": detail}


def _blocks(
    question: Question, row: Any, named: Mapping[str, str], slots: _Slots, cache: dict[tuple[Any, ...], Any]
) -> list[_Block]:
    """The values of one grid: of its model or variant, or of each level of the axis that is ranked."""
    shape = [len(axis["levels"]) for axis in row.axes]
    values = np.array(row.values, dtype=np.float64).reshape(shape)
    trials = None
    if row.cell_trials is not None:
        trials = np.array([n or 0 for n in row.cell_trials], dtype=np.int64).reshape(shape)
    elif row.trials is not None:
        trials = np.where(np.isfinite(values), row.trials, 0)
    if not question.by.startswith("axis:"):
        other = "variant" if question.by == "model" else "model"
        numbers = _numbers(slots, cache, named["benchmark"], (named[other],), row.axes, None)
        return [_Block(named[question.by], numbers, values.ravel(), None if trials is None else trials.ravel())]
    axis = question.by.removeprefix("axis:")
    place = next((i for i, one in enumerate(row.axes) if one["name"] == axis), None)
    if place is None:
        return []
    numbers = _numbers(slots, cache, named["benchmark"], (named["model"], named["variant"]), row.axes, place)
    labels = [_label(level) for level in row.axes[place]["levels"]]
    known = cache.setdefault(("levels",), {})
    for level in labels:
        known.setdefault(level, len(known))
    by_level = np.moveaxis(values, place, 0)
    by_level_trials = None if trials is None else np.moveaxis(trials, place, 0)
    return [
        _Block(label, numbers, by_level[i].ravel(), None if by_level_trials is None else by_level_trials[i].ravel())
        for i, label in enumerate(labels)
    ]


def _numbers(
    slots: _Slots,
    cache: dict[tuple[Any, ...], Any],
    benchmark: str,
    rest: tuple[str, ...],
    axes: Sequence[dict[str, Any]],
    left_out: int | None,
) -> Integers:
    """The slot of each cell, row-major without the axis that is left out; grids over equal axes share the work."""
    key = (benchmark, rest, orjson.dumps(axes), left_out)
    if key not in cache:
        kept = [axis for i, axis in enumerate(axes) if i != left_out]
        order = sorted(range(len(kept)), key=lambda i: kept[i]["name"])
        levels = [[_level(level) for level in axis["levels"]] for axis in kept]
        found = []
        for at in np.ndindex(*[len(each) for each in levels]):
            coordinates = tuple((kept[i]["name"], levels[i][at[i]]) for i in order)
            found.append(slots.number(benchmark, (*rest, *coordinates)))
        cache[key] = np.array(found, dtype=np.int64)
    numbers: Integers = cache[key]
    return numbers


def _level(level: Any) -> str | float:
    """What makes two levels the same: the number where there is one, else the label."""
    if isinstance(level, dict):
        return float(level["number"])
    return level if isinstance(level, str) else float(level)


def _label(level: Any) -> str:
    return str(level["label"] if isinstance(level, dict) else level)


def _in_order(question: Question, names: set[str], cache: Mapping[tuple[Any, ...], Any]) -> list[str]:
    """Levels as on their axis, models and variants by name."""
    known = cache.get(("levels",), {})
    return sorted(names, key=lambda name: (known.get(name, 0), name))


def _standings(
    names: Sequence[str], blocks: Sequence[_Block], slots: _Slots, metrics: Sequence[dict[str, Any]], mixed: bool
) -> Standings:
    places = {name: i for i, name in enumerate(names)}
    values = np.full((len(names), len(slots.places)), np.nan)
    any_trials = any(block.trials is not None for block in blocks)
    trials = np.zeros(values.shape, dtype=np.int64) if any_trials else None
    for block in blocks:
        measured = np.isfinite(block.values)
        where = block.slots[measured]
        values[places[block.name], where] = block.values[measured]
        if trials is not None:
            trials[places[block.name], where] = 0 if block.trials is None else block.trials[measured]
    benchmarks = sorted(set(slots.benchmarks))
    owner = {name: i for i, name in enumerate(benchmarks)}
    metric = metrics[-1] if metrics else {"direction": None, "lower": None, "upper": None}
    return Standings(
        names=tuple(names),
        values=values,
        benchmarks=np.array([owner[name] for name in slots.benchmarks], dtype=np.int64),
        benchmark_names=tuple(benchmarks),
        trials=trials,
        direction=metric["direction"],
        lower=None if mixed else metric["lower"],
        upper=None if mixed else metric["upper"],
        mixed=mixed,
    )
