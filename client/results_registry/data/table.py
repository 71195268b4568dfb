"""The table that `blocks.py` and `records.py` make of a caller's data, and that becomes a publication: cells at
coordinates, in their order.

Axes are declared by names, by levels, or in the registry's own form.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from results_registry.data.values import INFINITE, Level, level
from results_registry.errors import BadData


class Cell(NamedTuple):
    """A value, a gap (`None`) or `INFINITE` at one coordinate, in the order of the axes."""

    at: tuple[Level, ...]
    value: float | int | str | None
    trials: int | None = None
    stderr: float | None = None
    reason: str | None = None


class Table(NamedTuple):
    """Cells over named axes; `levels` are those that the data itself gives an axis, in order."""

    names: tuple[str, ...]
    cells: Sequence[Cell]
    levels: tuple[Sequence[Level] | None, ...]


def table(names: Sequence[str], cells: Iterable[Cell], levels: Sequence[Sequence[Level] | None] | None = None) -> Table:
    return Table(tuple(names), list(cells), tuple(levels if levels is not None else [None] * len(names)))


def content(found: Table, axes: "Sequence[Declared]") -> dict[str, Any]:
    """`axes` with `values` (and `trials`, `stderr`), or with `cells` where those say it shorter or better.

    Levels that were declared come first, then those of the data in their order.
    """
    described = [_described(found, place, axes) for place in range(len(found.names))]
    spanned = math.prod(len(axis["levels"]) for axis in described)
    twice = len({cell.at for cell in found.cells}) < len(found.cells)
    reasons = any(cell.reason is not None or cell.value == INFINITE for cell in found.cells)
    if twice or reasons or spanned > 4 * len(found.cells) + 64:
        return {"axes": described, "cells": cell_documents(found)}
    return {"axes": described, **_blocks(found, described)}


def _described(found: Table, place: int, axes: "Sequence[Declared]") -> "Declared":
    name = found.names[place]
    axis = next((one for one in axes if one["name"] == name), {"name": name})
    levels = list(axis.get("levels", ()))
    met = {label_of(one) for one in levels} | {
        one["number"] for one in levels if isinstance(one, dict) and "number" in one
    }
    own = found.levels[place]
    for one in own if own is not None else dict.fromkeys(cell.at[place] for cell in found.cells):
        if one not in met:
            met.add(one)
            levels.append(one)
    if {type(one) for one in levels} >= {str, int} or {type(one) for one in levels} >= {str, float}:
        levels = [one if isinstance(one, dict) else str(one) for one in levels]
    return axis | {"levels": levels}


def cell_documents(found: Table) -> list[dict[str, Any]]:
    """The cells as the registry reads them; an infinite value is a cell that failed. Gaps are left out."""
    documents = []
    for cell in found.cells:
        document: dict[str, Any] = {"at": dict(zip(found.names, cell.at, strict=True)), "value": cell.value}
        if cell.value == INFINITE:
            document |= {"value": None, "reason": INFINITE}
        elif cell.value is None:
            if cell.reason is None:
                continue
            document["reason"] = cell.reason
        else:
            document |= {name: one for name in ("trials", "stderr") if (one := getattr(cell, name)) is not None}
        documents.append(document)
    return documents


def _blocks(found: Table, axes: "Sequence[Declared]") -> dict[str, Any]:
    places = [_places(axis["levels"]) for axis in axes]
    shape = [len(axis["levels"]) for axis in axes]
    flat: dict[str, list[Any]] = {name: [None] * math.prod(shape) for name in ("values", "trials", "stderr")}
    for cell in found.cells:
        if cell.value is None:
            continue
        index = 0
        for size, place, at in zip(shape, places, cell.at, strict=True):
            index = index * size + place[at]
        flat["values"][index], flat["trials"][index], flat["stderr"][index] = cell.value, cell.trials, cell.stderr
    blocks: dict[str, Any] = {"values": _nested(flat["values"], shape)}
    for name in ("trials", "stderr"):
        given = {one for one, value in zip(flat[name], flat["values"], strict=True) if value is not None}
        if given - {None}:
            blocks[name] = given.pop() if len(given) == 1 else _nested(flat[name], shape)
    return blocks


def _places(levels: Sequence[Any]) -> dict[Any, int]:
    places: dict[Any, int] = {}
    for place, one in enumerate(levels):
        if isinstance(one, dict):
            places[one["label"]] = place
            if one.get("number") is not None:
                places.setdefault(one["number"], place)
        else:
            places[one] = place
    return _Places(places)


class _Places(dict[Any, int]):
    """Positions by level; a level that became text because others are text is found by its text."""

    def __missing__(self, one: Any) -> int:
        found = self.get(str(one))
        if found is None:
            raise BadData(f"The level {one!r} stands on the axis twice, or not at all.")
        return found


def _nested(flat: list[Any], shape: Sequence[int]) -> Any:
    if not shape:
        return flat[0]
    if len(shape) == 1:
        return flat
    step = len(flat) // shape[0] if shape[0] else 0
    return [_nested(flat[place * step : (place + 1) * step], shape[1:]) for place in range(shape[0])]


KINDS = ("numeric", "ordinal", "nominal")
Declared = dict[str, Any]


def declared_axes(given: Any) -> list[Declared]:
    """Each axis as `{"name", …}`.

    A list holds names or `{"name", "kind", "levels", "unit", "scale"}`; a mapping goes from a name to the levels, a
    kind, or such fields.
    """
    if given is None:
        return []
    if isinstance(given, str):
        return [{"name": given}]
    if isinstance(given, Mapping):
        return [_named(str(name), about) for name, about in given.items()]
    axes = [_one(axis) for axis in given]
    names = [axis["name"] for axis in axes]
    if len(set(names)) < len(names):
        raise BadData(f"Two axes have the same name: {', '.join(names)}.")
    return axes


def _one(axis: Any) -> Declared:
    if isinstance(axis, Mapping):
        if "name" not in axis:
            raise BadData("An axis needs a name.")
        return _with_levels({"name": str(axis["name"])} | {key: axis[key] for key in axis if key != "name"})
    return {"name": str(axis)}


def _named(name: str, about: Any) -> Declared:
    if about is None:
        return {"name": name}
    if isinstance(about, str):
        if about not in KINDS:
            raise BadData(f'The axis "{name}" is {", ".join(KINDS)}, or has a list of levels; not "{about}".')
        return {"name": name, "kind": about}
    if isinstance(about, Mapping):
        return _with_levels({"name": name, **about})
    return _with_levels({"name": name, "levels": about})


def _with_levels(axis: Declared) -> Declared:
    if axis.get("levels") is None:
        return {key: value for key, value in axis.items() if key != "levels"}
    return axis | {"levels": [one if isinstance(one, Mapping) else level(one) for one in _listed(axis["levels"])]}


def _listed(levels: Any) -> Sequence[Any]:
    if hasattr(levels, "tolist"):
        levels = levels.tolist()
    if isinstance(levels, (str, bytes)):
        raise BadData("The levels of an axis are a list.")
    return list(levels)


def label_of(one: Any) -> Any:
    """The text by which a coordinate names a declared level."""
    return one["label"] if isinstance(one, Mapping) else one
