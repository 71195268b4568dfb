"""Write tables of renderings, pages and commands: text, Markdown, LaTeX and CSV that spreadsheets read as text."""

import csv
import io
import itertools
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from registry.grids.slices import slice_of, slice_text
from registry.renderings.numbers import MISSING, UNDEFINED

WIDTH = 120
"""Columns of a terminal that a table tries to stay within."""
_SPECIAL = re.compile(
    r"([\\|`*]"  # an escape, a cell, code, emphasis
    r"|(?<![^\W_])_|_(?![^\W_])|~(?=~)"  # emphasis, which inside a word an underscore is not
    r"|<(?=[A-Za-z/!?])|&(?=[#A-Za-z])"  # a tag, a comment, an address; an entity
    r"|\](?=[(\[:]))"  # a link, an image, the definition of one
)
_OPENING = re.compile(r"^(#{1,6}(?=\s|$)|>|[-+](?=\s|$|-)|=+$|\d{1,9}(?=[.)](?:\s|$)))")
"""What makes a heading, a quotation, a list or a rule of a line."""
_CLOSING = re.compile(r"(^|\s)(#+\s*)$")
_LATEX = str.maketrans(
    {sign: rf"\{sign}" for sign in "&%$#_{}"}
    | {sign: f"{{{sign}}}" for sign in "[*"}  # which behind the end of a row would be its argument
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}"}
)
_SIGNS = str.maketrans({MISSING: r"$\cdot$", UNDEFINED: "---", "–": "--"})
"""What is written in place of signs that not every font of LaTeX has, once hyphens beside each other are parted."""
_DASH = re.compile("-(?=-)")
_MINUS = re.compile(r"(?<![\w)])-(?=[\d.])")
_BREAK = re.compile(r"[\r\n\v\f\x1c-\x1e\x85\u2028\u2029]+")


@dataclass(frozen=True, slots=True)
class Column:
    """A column's heading and cells. Numbers stand right, on their decimal points; text stands left."""

    name: str
    cells: Sequence[str]
    numeric: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of one length. The first `keys` name the rows; `over` names what the headings of the others are."""

    columns: Sequence[Column]
    keys: int = 0
    over: str = ""

    @property
    def rows(self) -> list[tuple[str, ...]]:
        return list(zip(*(column.cells for column in self.columns), strict=True))


def text(table: Table, width: int = WIDTH) -> str:
    """The table as lines, each ended by a newline.

    Columns stand two spaces apart, or one if the table fits the width only so. A table with keys that is wider
    still is folded into blocks of about equal width that repeat the keys.
    """
    columns = [aligned(column) for column in table.columns]
    widths = [display_width(column[0]) for column in columns]
    gap = "  " if sum(widths) + 2 * (len(widths) - 1) <= width else " "
    blocks = folds(widths, table.keys, len(gap), width) if table.keys else [range(len(widths))]
    return "\n".join(block(table, columns, chosen, gap) for chosen in blocks)


def block(table: Table, columns: Sequence[Sequence[str]], chosen: Sequence[int], gap: str) -> str:
    """The keys and some of the other columns as lines."""
    lines = [gap.join(row).rstrip() for row in zip(*(columns[i] for i in chosen), strict=True)]
    if table.over:
        indent = sum(display_width(columns[i][0]) + len(gap) for i in range(table.keys))
        lines.insert(0, " " * indent + one_line(table.over))
    return "".join(line + "\n" for line in lines)


def folds(widths: Sequence[int], keys: int, gap: int, width: int) -> list[list[int]]:
    """Which columns stand in which block, in as few blocks as the width allows."""
    head, rest = list(range(keys)), list(range(keys, len(widths)))
    room = max(1, width - sum(widths[i] + gap for i in head) + gap)
    total = sum(widths[i] + gap for i in rest)
    for count in range(max(1, -(-total // room)), len(rest) + 1):
        size = -(-len(rest) // count)
        blocks = [rest[start : start + size] for start in range(0, len(rest), size)]
        if size == 1 or all(sum(widths[i] + gap for i in block) <= room for block in blocks):
            return [head + block for block in blocks]
    return [head + rest]


def aligned(column: Column) -> list[str]:
    """The heading and the cells of a column, padded to one display width."""
    cells = [one_line(cell) for cell in column.cells]
    name, pad = one_line(column.name), (right if column.numeric else left)
    if column.numeric:
        cells = on_the_point(cells)
    width = max(map(display_width, [name, *cells]))
    return [pad(cell, width) for cell in [name, *cells]]


def on_the_point(cells: Sequence[str]) -> list[str]:
    """Numbers padded on the right so that their decimal points meet when they stand right.

    What is missing stands where the units are, what is undefined at the edge.
    """
    after = [len(cell) - cell.rfind(".") if "." in cell and "e" not in cell else 0 for cell in cells]
    most = max(after, default=0)
    return [cell if cell == UNDEFINED else cell + " " * (most - own) for cell, own in zip(cells, after, strict=True)]


def markdown(table: Table) -> str:
    """The table as pipe-table lines, each ended by a newline; `over` joins the heading of the last key that is
    text, of the last if none is."""
    rule = ["---:" if column.numeric else "---" for column in table.columns]
    rows = [[escaped(cell) for cell in row] for row in [_names(table), *table.rows]]
    return "".join("| " + " | ".join(row) + " |\n" for row in [rows[0], rule, *rows[1:]])


def latex(table: Table) -> str:
    """The table as a `tabular` with the rules of the package booktabs."""
    rows = [" & ".join(map(_latex, row)) + r" \\" for row in [_names(table), *table.rows]]
    places = "".join("r" if column.numeric else "l" for column in table.columns)
    opened = [rf"\begin{{tabular}}{{{places}}}", r"\toprule", rows[0], r"\midrule"]
    return "\n".join([*opened, *rows[1:], r"\bottomrule", r"\end{tabular}", ""])


def _latex(cell: str) -> str:
    return _MINUS.sub("$-$", _DASH.sub("-{}", one_line(cell).translate(_LATEX))).translate(_SIGNS)


def _names(table: Table) -> list[str]:
    names = [column.name for column in table.columns]
    keys = [place for place, column in enumerate(table.columns[: table.keys]) if not column.numeric]
    if table.over and table.keys:
        names[(keys or [table.keys - 1])[-1]] += f" / {table.over}"
    return names


def escaped(text: str) -> str:
    """Text that Markdown shows as it is: it ends no cell, and makes no link, image, comment, tag or emphasis."""
    return _SPECIAL.sub(r"\\\1", _BREAK.sub(" ", text))


def escaped_line(text: str) -> str:
    """The same where it begins a line: it opens no heading, quotation, list or rule."""
    line = escaped(text).strip()
    return _OPENING.sub(lambda found: found[1] + "\\" if found[1].isdecimal() else "\\" + found[1], line)


def escaped_heading(text: str) -> str:
    """The same for a heading, which number signs at its end would close."""
    return _CLOSING.sub(r"\1\\\2", escaped(text))


_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def tidy(
    header: Sequence[str],
    rows: Iterable[Sequence[Any]],
    axes: Sequence[str] = (),
    after: Sequence[str] = (),
    *,
    only: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """The rows as CSV: the columns of the header, one for each axis, and those after them; and where only a slice is
    meant, it in words as the last column of each row, `slice`.

    The header and what comes after keep their names whatever an axis is called. Numbers are written so that they read
    back as the same double; `None` is an empty cell; text is `harmless`.
    """
    said = {"slice": slice_text(slice_of(only))} if only else {}
    names = (*header, *axis_names(axes, (*header, *after, *said)), *after, *said)
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(
        map(harmless, row) for row in itertools.chain([names], ((*row, *said.values()) for row in rows))
    )
    return out.getvalue()


def members(found: Any, *names: str) -> list[Any]:
    """Members of a value for a row of CSV, None for each of no value."""
    return [None if found is None else getattr(found, name) for name in names]


def harmless(value: Any) -> Any:
    """Text that a spreadsheet will not run as a formula, by a leading apostrophe; truth as JSON writes it; a number
    stays as it is."""
    if isinstance(value, str):
        return "'" + value if value.startswith(_FORMULA) else value
    return str(value).lower() if isinstance(value, bool) else value


def axis_names(axes: Sequence[str], fixed: Iterable[str], suffixes: Sequence[str] = ("",)) -> list[str]:
    """Names of the columns of axes: those of the axes, or `axis_<name>` where a fixed column, or the column of an
    earlier axis, has that name; with suffixes, where any of the names with these is taken."""
    taken, found = set(map(harmless, fixed)), []
    for axis in axes:
        free = axis
        while not taken.isdisjoint(columns := {harmless(free + suffix) for suffix in suffixes}):
            free = f"axis_{free}"
        taken |= columns
        found.append(free)
    return found


_BREAKS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def one_line(text: str) -> str:
    """The text without what would break a line or speak to the terminal."""
    return text if text.isascii() and text.isprintable() else _BREAKS.sub(" ", text)


def display_width(text: str) -> int:
    """Columns of a terminal: two for wide and fullwidth characters, none for combining and invisible ones."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf", "Cc"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def left(text: str, width: int) -> str:
    return text + " " * (width - display_width(text))


def right(text: str, width: int) -> str:
    return " " * (width - display_width(text)) + text
