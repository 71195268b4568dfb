"""Blocks: numbers nested to the axes' depth, read into one flat row-major tuple and sorted into numeric order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isfinite
from types import NoneType
from typing import Any, TypeVar

from registry.grids.grid import Axis, Grid
from registry.grids.intake.faults import Report, is_rounded, number

T = TypeVar("T")


def flatten(block: Any, shape: Sequence[int], pointer: str, report: Report) -> list[Any] | None:
    """Leaves of `block` in row-major order; `None` after a fault about its shape."""
    if not shape:
        if isinstance(block, (list, dict)):
            report.fault(pointer, "with no axes this is one number")
            return None
        return [block]
    return _rows(block, shape, pointer, report)


def _rows(block: Any, shape: Sequence[int], pointer: str, report: Report) -> list[Any] | None:
    if not isinstance(block, list):
        report.fault(pointer, f"expected a list of {shape[0]}, nested to the depth of the axes")
        return None
    if len(block) != shape[0]:
        report.fault(pointer, f"has {len(block)} entries, but its axis has {shape[0]} levels")
        return None
    if len(shape) == 1:
        return block
    leaves: list[Any] = []
    is_whole = True
    for place, row in enumerate(block):
        found = _rows(row, shape[1:], f"{pointer}/{place}", report)
        is_whole = is_whole and found is not None
        leaves += found or ()
    return leaves if is_whole else None


def leaf_pointer(pointer: str, index: int, shape: Sequence[int]) -> str:
    """JSON pointer of a leaf of a nested block."""
    parts = []
    for size in reversed(shape):
        index, place = divmod(index, size)
        parts.append(str(place))
    return "/".join([pointer, *reversed(parts)])


def read_leaves(
    leaves: Sequence[Any],
    read: Callable[[Any], T | None],
    wanted: str,
    at: Callable[[int], str],
    report: Report,
) -> tuple[T | None, ...]:
    """Leaves converted by `read`. null stays `None`; a leaf that `read` refuses is a fault, a rounded one a warning."""
    if read is number and set(map(type, leaves)) <= {float, NoneType} and all(map(isfinite, filter(None, leaves))):
        return tuple(leaves)
    values = tuple(None if leaf is None else read(leaf) for leaf in leaves)
    if values.count(None) != list(leaves).count(None):
        for index, (leaf, value) in enumerate(zip(leaves, values, strict=True)):
            if leaf is not None and value is None:
                report.fault(
                    at(index), "is a list: nested deeper than there are axes" if type(leaf) is list else wanted
                )
    elif values != tuple(leaves):
        for index, leaf in enumerate(leaves):
            if is_rounded(leaf):
                report.rounded(leaf, at(index))
    return values


def in_numeric_order(grid: Grid) -> Grid:
    """The same grid with the levels of every numeric axis in ascending order."""
    orders = [_order(axis) for axis in grid.axes]
    if all(order == sorted(order) for order in orders):
        return grid
    sources = [grid.index(at) for at in itertools.product(*orders)]
    axes = tuple(
        replace(axis, levels=tuple(axis.levels[place] for place in order))
        for axis, order in zip(grid.axes, orders, strict=True)
    )
    moved: dict[str, Any] = {
        name: tuple(given[source] for source in sources)
        for name in ("values", "trials", "stderr", "repeats", "sd")
        if isinstance(given := getattr(grid, name), tuple)
    }
    target = {source: index for index, source in enumerate(sources)} if grid.reasons else {}
    return replace(grid, axes=axes, reasons={target[index]: reason for index, reason in grid.reasons.items()}, **moved)


def _order(axis: Axis) -> list[int]:
    places = list(range(len(axis.levels)))
    return sorted(places, key=axis.numbers.__getitem__) if axis.kind == "numeric" else places


def size_of(axes: Sequence[Axis]) -> int:
    """Number of cells that a grid over these axes can hold."""
    return math.prod(len(axis.levels) for axis in axes)
