"""What was measured, level by level."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from registry.renderings.numbers import UNDEFINED
from registry.renderings.sheet import Block, Lines
from registry.renderings.table import Column, Table
from registry.renderings.tidy import harmless, tidy
from registry.renderings.words import counted, label

Document = dict[str, Any]
_LISTED = 12


def blocks(document: Document) -> Iterator[Block]:
    """Measured of possible, a table for each axis, and whether it hangs together."""
    found = document.get("coverage")
    if not found:
        yield "No coverage was computed."
        return
    cells, possible = found.get("cells", 0), found.get("possible", 0)
    share = f" ({100 * cells / possible:.0f} %)" if possible else ""
    yield f"{cells} of {counted(possible, 'cell', 'cells')} measured{share}"
    for name, axis in (found.get("by") or {}).items():
        if axis.get("levels"):
            yield _table(name, axis["levels"], possible, _other_is_ordered(document, name))
        yield Lines(tuple(_sums(name, axis, found)))
    yield from _parts(found)


def _other_is_ordered(document: Document, name: str) -> bool:
    """Whether the only other axis has an order, so that a first and a last level mean something."""
    kinds = {axis["name"]: axis.get("kind") for axis in document.get("axes") or ()}
    return "nominal" not in {kind for other, kind in kinds.items() if other != name}


def _table(name: str, levels: list[Document], possible: int, ranges: bool) -> Table:
    numeric = not isinstance(levels[0]["level"], str)
    columns = [
        Column(name, [label(level["level"]) for level in levels], numeric),
        Column("cells", [f"{level['count']} of {possible // len(levels)}" for level in levels], True),
    ]
    if ranges and any(level.get("first") is not None for level in levels):
        columns.append(Column("range", [_range(level) for level in levels]))
        columns.append(Column("holes", [listed(level.get("holes") or []) for level in levels]))
    return Table(columns)


def _range(level: Document) -> str:
    if level.get("first") is None:
        return UNDEFINED
    first, last = label(level["first"]), label(level["last"])
    return first if first == last else f"{first} … {last}"


def listed(levels: list[Any]) -> str:
    """Levels with commas, a long list cut with a word about the rest."""
    named = ", ".join(label(level) for level in levels[:_LISTED])
    return named + (f" and {len(levels) - _LISTED} more" if len(levels) > _LISTED else "")


def _sums(name: str, axis: Document, found: Document) -> Iterator[str]:
    complete, empty = axis.get("complete") or [], axis.get("empty") or []
    total = len(axis.get("levels") or [])
    if total and len(complete) == total:
        yield f"{name}: every level is complete"
        return
    yield f"{name}: complete at {listed(complete)}" if complete else f"{name}: no level is complete"
    if empty:
        yield f"{name}: no cell at {listed(empty)}"


def _parts(found: Document) -> Iterator[Block]:
    """A grid that falls into unconnected parts says which."""
    count = found.get("component_count") or 0
    if count < 2:
        return
    lines = [f"The measured cells fall into {counted(count, 'part', 'parts')} that share no level:"]
    for part in found.get("components") or ():
        lines.append("  " + "; ".join(f"{axis} {listed(levels)}" for axis, levels in part.items()))
    yield Lines(tuple(lines))


def csv(document: Document) -> str:
    """One row a level of each axis."""
    head = [str(document.get("grid", "")), document.get("revision")]
    header = ["grid", "revision", "axis", "level", "count", "first", "last", "holes"]
    rows = (
        [*head, harmless(name), *(harmless(level.get(key)) for key in header[3:7]), len(level.get("holes") or ())]
        for name, axis in ((document.get("coverage") or {}).get("by") or {}).items()
        for level in axis.get("levels") or ()
    )
    return tidy(header, rows)
