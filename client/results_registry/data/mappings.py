"""Dictionaries: nested by level, or keyed by coordinates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from results_registry.data.axes import Declared
from results_registry.data.scalars import level, measured, quantity, whole
from results_registry.data.table import Cell, Level, Table, table
from results_registry.errors import BadData

_CARRIED = {"value", "trials", "stderr"}


def from_mapping(data: Mapping[Any, Any], axes: Sequence[Declared], trials: Any, stderr: Any) -> Table:
    """`{("1", 0): 99.3}`, `{"1": {0: 99.3}}` or `{"1": 99.3}`; a leaf may be `{"value", "trials", "stderr"}`."""
    entries = list(_entries(data, ()))
    depths = {len(at) for at, _ in entries}
    if len(depths) > 1:
        raise BadData(f"Some coordinates have {min(depths)} levels, some {max(depths)}.")
    depth = depths.pop() if depths else len(axes)
    if axes and len(axes) != depth:
        raise BadData(f"The coordinates have {depth} levels, but there are {len(axes)} axes.")
    names = [axis["name"] for axis in axes] or [f"dim_{place}" for place in range(depth)]
    counts, errors = _beside(trials), _beside(stderr)
    cells = [_cell(at, leaf, counts, errors) for at, leaf in entries]
    return table(names, cells)


def _entries(data: Mapping[Any, Any], above: tuple[Level, ...]) -> Iterator[tuple[tuple[Level, ...], Any]]:
    for key, leaf in data.items():
        at = (*above, *(level(part) for part in key)) if isinstance(key, tuple) else (*above, level(key))
        if isinstance(leaf, Mapping) and not (leaf.keys() <= _CARRIED and "value" in leaf):
            yield from _entries(leaf, at)
        else:
            yield at, leaf


def _beside(given: Any) -> Any:
    """`trials` or `stderr` by coordinate, where they were given like the data; else the one for all."""
    return dict(_entries(given, ())) if isinstance(given, Mapping) else given


def _cell(at: tuple[Level, ...], leaf: Any, counts: Any, errors: Any) -> Cell:
    carried = leaf if isinstance(leaf, Mapping) else {"value": leaf}
    value = measured(carried["value"])
    if value is None or isinstance(value, str):
        return Cell(at, value)
    trials = carried.get("trials", counts.get(at) if isinstance(counts, dict) else counts)
    stderr = carried.get("stderr", errors.get(at) if isinstance(errors, dict) else errors)
    return Cell(at, value, whole(trials, "trials"), quantity(stderr, "stderr"))
