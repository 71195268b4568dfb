"""Coverage of a grid, level by level: a part of its statistics in text and on its page."""

from collections.abc import Iterator, Sequence

from registry.renderings.numbers import UNDEFINED
from registry.renderings.sheet import Block, Lines
from registry.renderings.table import Column, Table, tidy
from registry.renderings.words import counted, label
from registry.results.statistics import AxisCoverage, Coverage, LevelCoverage, Statistics
from registry.results.terms import Place

_LISTED = 12


def blocks(document: Statistics) -> Iterator[Block]:
    """Measured of possible, a table for each axis, and whether it hangs together."""
    found = document.coverage
    if found is None:
        yield "No coverage was computed."
        return
    cells, possible = found.cells, found.possible
    share = " (all that it declares)" if cells == possible else f" ({100 * cells / possible:.0f} %)" if possible else ""
    yield f"{cells:,} of {counted(possible, 'cell', 'cells')} measured{share}"
    if cells in (0, possible):
        return
    for name, axis in found.by.items():
        if axis.levels:
            yield _table(name, axis.levels, possible, _other_is_ordered(document, name))
        yield Lines(tuple(_sums(name, axis)))
    yield from _parts(found)


def _other_is_ordered(document: Statistics, name: str) -> bool:
    """Whether the only other axis has an order, so that a first and a last level mean something."""
    kinds = {axis["name"]: axis.get("kind") for axis in document.axes}
    return "nominal" not in {kind for other, kind in kinds.items() if other != name}


def _table(name: str, levels: Sequence[LevelCoverage], possible: int, ranges: bool) -> Table:
    numeric = not isinstance(levels[0].level, str)
    columns = [
        Column(name, [label(level.level) for level in levels], numeric),
        Column("cells", [f"{level.count} of {possible // len(levels)}" for level in levels], True),
    ]
    if ranges and any(level.first is not None for level in levels):
        columns.append(Column("range", [_range(level) for level in levels]))
        columns.append(Column("holes", [listed(level.holes) for level in levels]))
    return Table(columns)


def _range(level: LevelCoverage) -> str:
    if level.first is None:
        return UNDEFINED
    first, last = label(level.first), label(level.last)
    return first if first == last else f"{first} … {last}"


def listed(levels: Sequence[Place]) -> str:
    """Levels with commas, a long list cut with a word about the rest."""
    named = ", ".join(label(level) for level in levels[:_LISTED])
    return named + (f" and {len(levels) - _LISTED} more" if len(levels) > _LISTED else "")


def _sums(name: str, axis: AxisCoverage) -> Iterator[str]:
    complete = axis.complete
    yield f"{name}: complete at {listed(complete)}" if complete else f"{name}: no level is complete"
    if axis.empty:
        yield f"{name}: no cell at {listed(axis.empty)}"


def _parts(found: Coverage) -> Iterator[Block]:
    """A grid that falls into unconnected parts says which."""
    count = found.component_count
    if count < 2:
        return
    lines = [f"The measured cells fall into {counted(count, 'part', 'parts')} that share no level:"]
    for part in found.components or ():
        lines.append("  " + "; ".join(f"{axis} {listed(levels)}" for axis, levels in part.items()))
    yield Lines(tuple(lines))


def csv(document: Statistics) -> str:
    """One row a level of each axis."""
    header = ["grid", "revision", "axis", "level", "count", "first", "last", "holes"]
    rows = (
        [document.grid, document.revision, name, one.level, one.count, one.first, one.last, len(one.holes)]
        for name, axis in (document.coverage.by.items() if document.coverage else ())
        for one in axis.levels
    )
    return tidy(header, rows, only=document.slice)
