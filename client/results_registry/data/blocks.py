"""Arrays: numpy and what behaves like it, xarray, nested lists."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from results_registry.data.scalars import Declared, label_of, level, measured, quantity, whole
from results_registry.data.table import Cell, Level, Table, table
from results_registry.errors import BadData


def is_labelled(data: Any) -> bool:
    """An xarray DataArray, by what it has."""
    return hasattr(data, "dims") and hasattr(data, "coords") and hasattr(data, "values") and not callable(data.values)


def is_array(data: Any) -> bool:
    """numpy, torch, jax and others: something with a shape that turns into lists."""
    return (hasattr(data, "tolist") or hasattr(data, "to_list")) and hasattr(data, "shape")


def from_labelled(data: Any, axes: Sequence[Declared], trials: Any, stderr: Any) -> Table:
    """A DataArray: its dimensions are the axes, its coordinates the levels."""
    names = [str(name) for name in data.dims]
    given = [
        [level(one) for one in data.coords[name].values.tolist()] if name in data.coords else None for name in data.dims
    ]
    if wrong := [axis["name"] for axis in axes if axis["name"] not in names]:
        raise BadData(f"The data has no dimension {wrong[0]!r}; it has {', '.join(names)}.")
    return _block(data.values.tolist(), names, given, trials, stderr)


def from_block(data: Any, axes: Sequence[Declared], trials: Any, stderr: Any) -> Table:
    """An array or nested lists: `axes` name the directions and their levels; without levels they count from 0."""
    block = _lists(data)
    depth = _depth(block)
    if axes and len(axes) != depth:
        raise BadData(f"The data has {depth} dimensions, but there are {len(axes)} axes.")
    names = [axis["name"] for axis in axes] or [f"dim_{place}" for place in range(depth)]
    given = [[label_of(one) for one in axis["levels"]] if "levels" in axis else None for axis in axes]
    return _block(block, names, given or [None] * depth, trials, stderr)


def _block(block: Any, names: Sequence[str], given: Sequence[Any], trials: Any, stderr: Any) -> Table:
    sizes = _sizes(block, len(names))
    levels: list[Sequence[Level]] = []
    for name, own, size in zip(names, given, sizes, strict=True):
        if own is not None and len(own) != size:
            raise BadData(f'The axis "{name}" has {len(own)} levels, but the data has {size} there.')
        levels.append(list(range(size)) if own is None else own)
    leaves = _leaves(block, sizes, "The data")
    if trials is None and stderr is None:
        measurements = map(measured, leaves)
        return table(names, map(Cell, itertools.product(*levels), measurements), levels)
    beside = [_beside(trials, sizes, "trials"), _beside(stderr, sizes, "stderr")]
    cells = []
    for at, leaf, count, error in zip(itertools.product(*levels), leaves, *beside, strict=False):
        value = measured(leaf)
        gap = value is None or isinstance(value, str)
        mine = (None, None) if gap else (whole(count, "trials"), quantity(error, "stderr"))
        cells.append(Cell(tuple(at), value, *mine))
    return table(names, cells, levels)


def _beside(given: Any, sizes: Sequence[int], name: str) -> Iterator[Any]:
    """`trials` or `stderr`: one for all, or as many as there are values, in the same order."""
    block = _lists(given)
    return _leaves(block, sizes, name) if isinstance(block, list) else itertools.repeat(block)


def _lists(data: Any) -> Any:
    if hasattr(data, "detach"):
        data = data.detach()
    for name in ("tolist", "to_list"):
        if hasattr(data, name):
            return getattr(data, name)()
    if isinstance(data, (list, tuple)):
        return [_lists(one) for one in data]
    return data


def _depth(block: Any) -> int:
    depth = 0
    while isinstance(block, list):
        depth += 1
        block = block[0] if block else None
    return depth


def _sizes(block: Any, depth: int) -> list[int]:
    sizes = []
    for _ in range(depth):
        sizes.append(len(block) if isinstance(block, list) else 0)
        block = block[0] if isinstance(block, list) and block else None
    return sizes


def _leaves(block: Any, sizes: Sequence[int], name: str) -> Iterator[Any]:
    if not sizes:
        yield block
        return
    if not isinstance(block, list) or len(block) != sizes[0]:
        raise BadData(f"{name} has rows of different lengths; use None for what was not measured.")
    for row in block:
        yield from _leaves(row, sizes[1:], name)
