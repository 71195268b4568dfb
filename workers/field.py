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

from registry.question import RankingQuestion
from workers.scope import is_asked_for, named
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
class Slots:
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
    """A name's values in some slots: NaN where there is none, 0 trials and NaN errors where those are unknown."""

    name: str
    slots: Integers
    values: Floats
    trials: Integers
    stderr: Floats


def build_field(question: RankingQuestion, rows: Iterable[Any], aliases: Mapping[tuple[str, str], str]) -> Field:
    """The field of a question from rows of grids, oldest update first."""
    slots, blocks, inputs = Slots(), [], []
    cache: dict[tuple[Any, ...], Any] = {}
    turned: list[bool] = []
    metrics, owners, warnings = [], dict[tuple[str, ...], Any](), []
    for row in rows:
        names = named(row, aliases)
        if not is_asked_for(question, names):
            continue
        identity = tuple(names.values())
        if identity in owners:
            warnings.append(_replaced(owners[identity], row))
        owners[identity] = row.id
        inputs.append({"grid": str(row.id), "revision": row.number})
        found = _blocks(question, row, names, slots, cache)
        blocks += found
        metrics.append(row.metric)
        turned += [row.metric["direction"] == "lower"] * len(found)
    mixed = _mixed(metrics)
    ordered = _in_order(question, {block.name for block in blocks}, cache)
    return Field(_standings(ordered, blocks, slots, metrics, [mixed and turn for turn in turned]), inputs, warnings)


def _mixed(metrics: Sequence[dict[str, Any]]) -> bool:
    return len({(metric["unit"], metric["direction"]) for metric in metrics}) > 1


def _replaced(older: Any, row: Any) -> dict[str, str]:
    detail = f"With aliases applied, the grids {older} and {row.id} are one; where both measured, the second counts."
    return {"code": "same_slots", "detail": detail}


def _blocks(
    question: RankingQuestion, row: Any, names: Mapping[str, str], slots: Slots, cache: dict[tuple[Any, ...], Any]
) -> list[_Block]:
    """The values of one grid: of its model or variant, or of each level of the axis that is ranked."""
    values, trials, stderr = _columns(row)
    if not question.by.startswith("axis:"):
        other = "variant" if question.by == "model" else "model"
        numbers = slot_numbers(slots, cache, names["benchmark"], (names[other],), row.axes, None)
        return [_Block(names[question.by], numbers, values.ravel(), trials.ravel(), stderr.ravel())]
    axis = question.by.removeprefix("axis:")
    place = next((i for i, one in enumerate(row.axes) if one["name"] == axis), None)
    if place is None:
        return []
    numbers = slot_numbers(slots, cache, names["benchmark"], (names["model"], names["variant"]), row.axes, place)
    labels = [_label(level) for level in row.axes[place]["levels"]]
    known = cache.setdefault(("levels",), {})
    for level in labels:
        known.setdefault(level, len(known))
    return [
        _Block(label, numbers, *(np.take(column, i, place).ravel() for column in (values, trials, stderr)))
        for i, label in enumerate(labels)
    ]


def _columns(row: Any) -> tuple[Floats, Integers, Floats]:
    """Values, trials and standard errors of a grid in its shape; repeats give their own standard error."""
    shape = [len(axis["levels"]) for axis in row.axes]
    values = np.array(row.values, dtype=np.float64).reshape(shape)
    trials = np.where(np.isfinite(values), row.trials or 0, 0)
    if row.cell_trials is not None:
        trials = np.array([n or 0 for n in row.cell_trials], dtype=np.int64).reshape(shape)
    stderr = np.full(shape, np.nan)
    if row.stderr is not None:
        stderr = np.array(row.stderr, dtype=np.float64).reshape(shape)
    elif row.repeats is not None and row.sd is not None:
        counts = np.array([n or 1 for n in row.repeats], dtype=np.float64)
        stderr = (np.array(row.sd, dtype=np.float64) / np.sqrt(counts)).reshape(shape)
    return values, trials, stderr


def slot_numbers(
    slots: Slots,
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


def _in_order(question: RankingQuestion, names: set[str], cache: Mapping[tuple[Any, ...], Any]) -> list[str]:
    """Levels as on their axis, models and variants by name."""
    known = cache.get(("levels",), {})
    return sorted(names, key=lambda name: (known.get(name, 0), name))


def _standings(
    names: Sequence[str],
    blocks: Sequence[_Block],
    slots: Slots,
    metrics: Sequence[dict[str, Any]],
    turned: Sequence[bool],
) -> Standings:
    """Over mixed units or directions only wins and ranks have a meaning: slots where lower is better are turned."""
    mixed = _mixed(metrics)
    places = {name: i for i, name in enumerate(names)}
    values = np.full((len(names), len(slots.places)), np.nan)
    trials, stderr = np.zeros(values.shape, dtype=np.int64), values.copy()
    for block, turn in zip(blocks, turned, strict=True):
        measured = np.isfinite(block.values)
        here = (places[block.name], block.slots[measured])
        values[here] = block.values[measured] * (-1 if turn else 1)
        trials[here] = block.trials[measured]
        stderr[here] = block.stderr[measured]
    benchmarks = sorted(set(slots.benchmarks))
    owner = {name: i for i, name in enumerate(benchmarks)}
    last = metrics[-1] if metrics else {"direction": None, "lower": None, "upper": None}
    return Standings(
        names=tuple(names),
        values=values,
        benchmarks=np.array([owner[name] for name in slots.benchmarks], dtype=np.int64),
        benchmark_names=tuple(benchmarks),
        trials=trials if trials.any() else None,
        direction="higher" if mixed and all(one["direction"] for one in metrics) else last["direction"],
        lower=None if mixed else last["lower"],
        upper=None if mixed else last["upper"],
        mixed=mixed,
        stderr=stderr if np.isfinite(stderr).any() else None,
    )
