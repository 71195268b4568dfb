"""Conversion of a Grid to the columns of a revision, and back: `operations/revisions.py` writes these rows, API and
workers read them.

Values of cells as whole numbers over a power of ten: half the bytes of doubles, and exactly the same values. Most
results are given with few decimals: 72.3 is stored as 723 over 10. A quotient of a whole number and a power of ten
below 2**53 is the double nearest to the decimal number (IEEE 754 rounds a division correctly), so nothing is lost.
"""

import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import fields
from functools import lru_cache
from hashlib import sha256
from types import SimpleNamespace
from typing import Any

import orjson

from registry.grids.grid import Axis, Grid, Level, Metric, plain_label
from registry.grids.slices import Slice, sliced
from registry.results.codec import to_document

MOST = 2**31 - 1
_MOST_DECIMALS = 6
_DECIMALS = re.compile(rb"\.([0-9]*[1-9])")
_UNPACKABLE = re.compile(rb"e|-0\.0(?![0-9])")
"""An exponent, or a negative zero, which no whole number is."""
MEMBERS = ("questions", "design_effect", "derived", "protocol")
"""Statements about a whole grid besides its values and labels."""


def packed(values: Sequence[float | None]) -> tuple[list[int | None], int] | None:
    """The whole numbers and the power of ten by which they are divided; None where some value is no such quotient."""
    text = orjson.dumps(values)  # the shortest decimals that stand for these doubles
    decimals = max(map(len, _DECIMALS.findall(text)), default=0)
    if decimals > _MOST_DECIMALS or _UNPACKABLE.search(text):
        return None
    scale = 10**decimals
    numbers = [None if value is None else round(value * scale) for value in values]
    measured = [number for number in numbers if number is not None]
    if measured and not -MOST <= min(measured) <= max(measured) <= MOST:
        return None
    return numbers, scale


_OF_METRIC = [field.name for field in fields(Metric)]


def metric_document(metric: Metric) -> dict[str, Any]:
    """Metric as it is stored and sent."""
    return {name: getattr(metric, name) for name in _OF_METRIC}  # a tenth of the time of `asdict`


def level_document(level: Level) -> Any:
    """Level as it is stored and sent: a number, a label, or both where they differ."""
    if level.number is None:
        return level.label
    if level.label == plain_label(level.number):
        return int(level.number) if abs(level.number) < 1e15 and level.number.is_integer() else level.number
    return {"label": level.label, "number": level.number}


@lru_cache(maxsize=256)
def axis_document(axis: Axis) -> dict[str, Any]:
    """Axis as it is stored and sent. Cached and shared by the grids of an experiment: do not modify it."""
    return {
        "name": axis.name,
        "kind": axis.kind,
        "unit": axis.unit,
        "scale": axis.scale,
        "levels": [level_document(level) for level in axis.levels],
    }


def level_of(document: Any, *, numeric: bool) -> Level:
    if isinstance(document, dict):
        return Level(document["label"], float(document["number"]))
    if numeric:
        return Level(plain_label(float(document)), float(document))
    return Level(document)


def axis_of(document: dict[str, Any]) -> Axis:
    numeric = document["kind"] == "numeric"
    levels = tuple(level_of(level, numeric=numeric) for level in document["levels"])
    return Axis(document["name"], document["kind"], levels, document["unit"], document["scale"])


def metric_of(document: dict[str, Any]) -> Metric:
    lower, upper = document["lower"], document["upper"]
    return Metric(
        document["name"],
        document["unit"],
        document["direction"],
        None if lower is None else float(lower),
        None if upper is None else float(upper),
    )


def shape_of(grid: Grid) -> dict[str, Any]:
    """Row of `shapes` for the grid: the same id exactly for an equal metric and equal axes. Cached and shared by the
    grids of an experiment: do not modify it."""
    return _shape(grid.metric, grid.axes)


@lru_cache(maxsize=256)
def _shape(metric_: Metric, axes_: tuple[Axis, ...]) -> dict[str, Any]:
    metric, axes = metric_document(metric_), [axis_document(axis) for axis in axes_]
    digest = sha256(orjson.dumps([metric, axes])).digest()
    return {"id": uuid.UUID(bytes=digest[:16]), "metric": metric, "axes": axes}


def columns_of(grid: Grid) -> dict[str, Any]:
    """Columns of `stored_revisions` that hold the grid's content; its metric and axes are those of `shape_of`."""
    each = isinstance(grid.trials, tuple)
    numbers, scale = packed(grid.values) or (None, None)
    return {
        "digest": bytes.fromhex(grid.digest.removeprefix("sha256:")),
        "shape_id": shape_of(grid)["id"],
        "cell_count": grid.cell_count,
        "values": grid.values if numbers is None else None,
        "numbers": numbers,
        "scale": scale,
        "trials": None if each else grid.trials,
        "cell_trials": grid.trials if each else None,
        "stderr": grid.stderr,
        "repeats": grid.repeats,
        "sd": grid.sd,
        "reasons": {str(index): reason for index, reason in grid.reasons.items()} or None,
        "labels": dict(grid.labels),
        **dict.fromkeys(MEMBERS),
        **grid.members,
    }


def grid_of(row: Any) -> Grid:
    """Grid in a row that has the columns of `revisions`."""
    return Grid(
        metric=metric_of(row.metric),
        axes=tuple(axis_of(axis) for axis in row.axes),
        values=tuple(row.values),
        trials=row.trials if row.cell_trials is None else tuple(row.cell_trials),
        stderr=_tuple(row.stderr),
        repeats=_tuple(row.repeats),
        sd=_tuple(row.sd),
        reasons={int(index): reason for index, reason in (row.reasons or {}).items()},
        labels=row.labels,
        questions=row.questions,
        design_effect=row.design_effect,
        derived=tuple(row.derived) if isinstance(row.derived, list) else bool(row.derived),
        protocol=row.protocol,
    )


def sliced_row(row: Any, wanted: Slice) -> Any:
    """The row of a revision, with what else it has, cut to a slice; None when the grid has nothing of it.

    The digest stays that of the whole revision.
    """
    if not wanted:
        return row
    found = sliced(grid_of(row), wanted)
    if found is None:
        return None
    return SimpleNamespace(**{**row._mapping, **_columns_read(found), "digest": row.digest})


def content_of(grid: Grid, names: Mapping[str, str]) -> dict[str, Any]:
    """A grid that is not stored, with its names, as a question about it carries it to the workers."""
    found: dict[str, Any] = to_document({**names, **_columns_read(grid), "digest": grid.digest})
    return found


def unpublished_row(content: Mapping[str, Any]) -> Any:
    """The grid of `content_of` as the row of a revision, of no grid's id and of number 0."""
    nobody: dict[str, Any] = {"id": None, "grid_id": None, "number": 0, "labels": {}, "reasons": None}
    digest = bytes.fromhex(str(content["digest"]).removeprefix("sha256:"))
    return SimpleNamespace(**nobody | dict(content) | {"digest": digest})


def _columns_read(grid: Grid) -> dict[str, Any]:
    """Columns as a revision is read, whose values are not packed."""
    columns = columns_of(grid) | shape_of(grid) | {"values": grid.values}
    for stored in ("id", "shape_id", "numbers", "scale"):
        del columns[stored]
    return columns


def _tuple(column: Sequence[Any] | None) -> tuple[Any, ...] | None:
    return None if column is None else tuple(column)
