"""Blocks of a page as lines for a terminal of some width, with or without colours.

A table that is too wide is folded if its rows have keys, else columns are left out and long text is cut.
"""

import itertools
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from registry.renderings.heatmap.colours import DARK_INK, ink_on
from registry.renderings.sheet import Block, Heading, Lines
from registry.renderings.table import Column, Table, aligned, display_width, folds, one_line, right

_CODES = {"bold": "1", "faint": "2"}
_CUBE = (0, 95, 135, 175, 215, 255)
_BLACK, _WHITE = 16, 231
CUT = "…"
_SHORTEST = 12
"""Columns of text are not cut below this width."""


@dataclass(frozen=True, slots=True)
class StyledTable:
    """Table and the styles of its cells, by column and row. `solid`: backgrounds touch, each cell with a blank on
    either side."""

    table: Table
    styles: Sequence[Sequence[str]]
    solid: bool = False


def until(parts: Iterable[Block], ends: Callable[[Heading], bool]) -> Iterator[Block]:
    """Parts before the first heading that ends them."""
    return itertools.takewhile(lambda part: not (isinstance(part, Heading) and ends(part)), parts)


Part = Block | StyledTable


def ink(text: str, style: str) -> str:
    """Text in a style such as `bold`; unchanged where the style is empty."""
    if not style or not text:
        return text
    return f"\x1b[{';'.join(_CODES.get(word, word) for word in style.split())}m{text}\x1b[0m"


def on_number(background: int) -> str:
    """Style with one of the 256 colours that nearly every terminal has, and black or white text on it."""
    return f"48;5;{background} 38;5;{_BLACK if ink_on(colour_of(background)) == DARK_INK else _WHITE}"


def colour_of(number: int) -> str:
    """Colour of xterm for a number from 16 up: a 6 × 6 × 6 cube, then 24 greys."""
    if number >= 232:
        return "#" + 3 * f"{8 + 10 * (number - 232):02x}"
    steps = (number - 16) // 36, (number - 16) // 6 % 6, (number - 16) % 6
    return "#" + "".join(f"{_CUBE[step]:02x}" for step in steps)


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
