"""The part of a form with which a slice is chosen: from which level to which, or which level of an axis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from flask import request

from registry.errors import Fault, Invalid
from registry.grids.grid import Axis, Level
from registry.grids.slices import PARAMETER, Slice, pointer_to, read_slice, slice_faults, sliced
from registry.operations.stored_grids import StoredGrid
from registry.pages.choices import Field, Option
from registry.renderings.numbers import plain_number

MOST_LEVELS = 200


def slice_of_page() -> Slice:
    """The slice in the address. `Invalid` for what can be no slice."""
    return read_slice(given())


def given() -> list[tuple[str, list[str]]]:
    """The parameters of the address; fields that were left empty ask for nothing."""
    kept = [(name, [text for text in texts if text]) for name, texts in request.args.lists()]
    return [(name, texts) for name, texts in kept if texts]


def in_slice(stored: StoredGrid, wanted: Slice) -> StoredGrid | None:
    """The grid with the cells of the slice alone; None where it has none of its levels."""
    grid = sliced(stored.grid, wanted)
    return None if grid is None else replace(stored, grid=grid, axes=grid.axes, cell_count=grid.cell_count)


def cut(stored: StoredGrid, wanted: Slice, whose: str = "the grid") -> StoredGrid:
    """The grid with the cells of the slice alone; `Invalid` where it has no such axis or level."""
    found = in_slice(stored, wanted)
    if found is None:
        nothing = [Fault(pointer_to(wanted[0][0]), f"{whose} has no level that fulfils all of it")]
        raise Invalid(slice_faults(stored.axes, wanted, whose) or nothing)
    return found


def slice_lists(axes: Iterable[Axis], wanted: Slice) -> list[Field]:
    """The lists for each axis with two levels or more: two where all levels have numbers, else one."""
    conditions, levels = dict(wanted), dict[str, dict[str, Level]]()
    for axis in axes:
        levels.setdefault(axis.name, {}).update({level.label: level for level in axis.levels})
    return [
        one
        for name, known in levels.items()
        if len(known) > 1 or name in conditions
        for one in _lists(name, list(known.values()), conditions.get(name, ()))
    ]


def _lists(axis: str, levels: Sequence[Level], chosen: Sequence[str]) -> Iterator[Field]:
    parameter = PARAMETER + axis
    if len(levels) > MOST_LEVELS:
        yield Field(axis, parameter, (), " ".join(chosen))
        return
    numbered = sorted((level.number, level.label) for level in levels if level.number is not None)
    if len(numbered) < len(levels):
        offered = [Option(level.label, level.label, level.label in chosen) for level in levels]
        yield Field(axis, parameter, [*offered, *_others(chosen, offered)])
        return
    first, last = (
        [Option(value, label, value in chosen) for n, label in numbered for value in [f"{sign}{plain_number(n)}"]]
        for sign in (">=", "<=")
    )
    yield Field(f"{axis} from", parameter, [*first, *_others(chosen, [*first, *last])])
    yield Field("to", parameter, last)


def _others(chosen: Sequence[str], offered: Sequence[Option]) -> list[Option]:
    """What is in the address and is none of the options: it stays asked for."""
    known = {option.value for option in offered}
    return [Option(one, one if one[0] in "<>=" else f"only {one}", True) for one in chosen if one not in known]
