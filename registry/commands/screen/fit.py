"""Fit a table into a terminal: fold it if its rows have keys, else leave out columns and cut long text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from registry.renderings.table import Column, aligned
from registry.renderings.width import display_width

CUT = "…"
_SHORTEST = 12
"""Columns of text are not cut below this width."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """Columns that stay, possibly cut, and the names of those left out."""

    kept: Sequence[int]
    columns: Sequence[Column]
    left_out: Sequence[str]


def fitted(columns: Sequence[Column], width: int, least: Sequence[str], gap: int = 2) -> Fitted:
    """Columns that fit: `least` are left out first, in this order; then long text is cut; then the last ones go."""
    kept, left_out = list(range(len(columns))), []
    widths = [display_width(aligned(column)[0]) for column in columns]

    def wide() -> int:
        return sum(widths[i] for i in kept) + gap * (len(kept) - 1) - width

    for name in least:
        place = next((i for i in kept if columns[i].name == name), None)
        if wide() > 0 and place is not None:
            kept.remove(place)
            left_out.append(name)
    narrowed = dict(zip(kept, _narrowed([columns[i] for i in kept], [widths[i] for i in kept], wide()), strict=True))
    for i, column in narrowed.items():
        widths[i] = display_width(aligned(column)[0])
    while wide() > 0 and len(kept) > 1:
        left_out.append(columns[kept.pop()].name)
    return Fitted(kept, [narrowed[i] for i in kept], [name for name in left_out if name])


def _narrowed(columns: Sequence[Column], widths: Sequence[int], excess: int) -> list[Column]:
    """Columns, with those of text cut by as much as the table is too wide, the widest first."""
    wanted = list(widths)
    while excess > 0:
        long = [i for i, column in enumerate(columns) if not column.numeric and wanted[i] > _SHORTEST]
        if not long:
            break
        widest = max(long, key=lambda i: wanted[i])
        wanted[widest] -= 1
        excess -= 1
    return [
        replace(column, name=cut(column.name, most), cells=[cut(cell, most) for cell in column.cells])
        if most < width
        else column
        for column, width, most in zip(columns, widths, wanted, strict=True)
    ]


def cut(text: str, most: int) -> str:
    """Text in at most so many columns of the terminal, with `…` where something is missing."""
    if display_width(text) <= most:
        return text
    shown, used = "", 1
    for character in text:
        used += display_width(character)
        if used > most:
            break
        shown += character
    return shown.rstrip() + CUT
