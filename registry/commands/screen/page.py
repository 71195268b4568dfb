"""Blocks of a page as lines for a terminal of some width, with or without colours."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Sequence

from registry.commands.screen.colours import ink
from registry.commands.screen.fit import fitted
from registry.commands.screen.styled_table import StyledTable
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Table, aligned, folds
from registry.renderings.width import display_width, one_line, right

Part = Block | StyledTable


def page(parts: Iterable[Part], width: int, *, colour: bool, least: Sequence[str] = ()) -> Iterator[str]:
    """Lines of the page, with an empty one between parts. `least` are the columns that may be left out first."""
    first = True
    for part in parts:
        lines = list(_lines(part, width, least))
        if lines and not first:
            yield ""
        first = first and not lines
        for line in lines:
            yield "".join(ink(text, style if colour else "") for text, style in trimmed(line))


Run = tuple[str, str]
"""A text and its style."""


def trimmed(line: list[Run]) -> list[Run]:
    """Line without blanks at its end, except those that show a background."""
    while line and not line[-1][1].startswith("48;") and line[-1][0] != (text := line[-1][0].rstrip()):
        line = [*line[:-1], (text, line[-1][1])] if text else line[:-1]
    return line


def _lines(part: Part, width: int, least: Sequence[str]) -> Iterator[list[Run]]:
    if isinstance(part, StyledTable):
        if part.flush:
            yield from _rows([aligned(column) for column in part.table.columns], part.styles, "")
        else:
            yield from _table(part.table, part.styles, width, least, solid=part.solid)
    elif isinstance(part, Table):
        yield from _table(part, [[""] * len(column.cells) for column in part.columns], width, least)
    elif isinstance(part, Heading):
        yield from ([(line, "bold")] for line in wrapped(part.text, width))
    elif isinstance(part, Lines):
        yield from ([(line, "faint")] for text in part.lines for line in wrapped(text, width))
    else:
        yield from ([(line, "")] for line in wrapped(part, width))


def _table(
    table: Table, styles: Sequence[Sequence[str]], width: int, least: Sequence[str], *, solid: bool = False
) -> Iterator[list[Run]]:
    if table.keys:
        yield from _folded(table, styles, width, solid=solid)
        return
    fit = fitted(table.columns, width, least)
    yield from _rows([aligned(column) for column in fit.columns], [styles[i] for i in fit.kept], "  ")
    if fit.left_out:
        named = ", ".join(fit.left_out)
        yield from ([(line, "faint")] for line in wrapped(f"left out for want of room: {named}", width))


def _folded(table: Table, styles: Sequence[Sequence[str]], width: int, *, solid: bool) -> Iterator[list[Run]]:
    """Keys and as many of the other columns as fit, block after block."""
    cells = [aligned(column) for column in table.columns]
    if solid:
        cells[table.keys :] = _even(cells[table.keys :])
    widths = [display_width(column[0]) for column in cells]
    gap = "" if solid else "  " if sum(widths) + 2 * (len(widths) - 1) <= width else " "
    for number, chosen in enumerate(folds(widths, table.keys, len(gap), width)):
        if number:
            yield []
        if table.over:
            indent = sum(widths[i] + len(gap) for i in range(table.keys))
            yield [(" " * (indent + solid) + one_line(table.over), "faint")]
        yield from _rows([cells[i] for i in chosen], [styles[i] for i in chosen], gap)


def _even(columns: Sequence[Sequence[str]]) -> list[list[str]]:
    """Aligned columns of one width, with a blank on either side, so that a background has an edge."""
    widest = max((display_width(column[0]) for column in columns), default=0)
    return [[f" {right(cell, widest)} " for cell in column] for column in columns]


def _rows(cells: Sequence[Sequence[str]], styles: Sequence[Sequence[str]], gap: str) -> Iterator[list[Run]]:
    """A heading and rows of aligned cells, each cell with its style."""
    for row, texts in enumerate(zip(*cells, strict=True)):
        if not row and not any(text.strip() for text in texts):
            continue  # columns without names need no heading
        line: list[Run] = []
        for column, text in enumerate(texts):
            if column and gap:
                line.append((gap, ""))
            line.append((text, styles[column][row - 1] if row else "bold"))
        yield line


def wrapped(text: str, width: int) -> list[str]:
    """Text as lines of at most this width, broken between words where possible."""
    shown = one_line(text)
    if display_width(shown) <= width:
        return [shown]
    wide = display_width(shown) - len(shown)
    room = max(20, width - wide)  # a text with wide characters is broken sooner, never too late
    return textwrap.wrap(shown, room, subsequent_indent="  ", break_on_hyphens=False)
