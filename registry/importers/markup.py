"""Text for people: blocks of a Markdown document, and table cells with marks, per cent signs, spreads, brackets, gaps.

Blocks stand in their order: headings, pipe tables, bullets, paragraphs, each with its line. What is read of a cell
beside a plain number only `registry push` takes, with a note of every omission. A table that is the body of a request
is read strictly: a number in other writing is refused, with the plain one that `push` would take.
"""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from registry.errors import Fault, Invalid
from registry.grids.intake.faults import number

_TAG = re.compile(r"<[/!]?[a-zA-Z][^<>]*>")
_TAGS = re.compile(rf"(?:{_TAG.pattern})+")
_RAISED = re.compile(r"<(su[bp])\b[^<>]{0,200}>(.{0,200}?)</\1\s*>", re.IGNORECASE | re.DOTALL)
_STRUCK = re.compile(r"</?(?:s|del|strike)>", re.IGNORECASE)
_BRACKETS = str.maketrans("", "", "()[]{}")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\((?:[^()]|\([^()]*\))*+\)")
_ESCAPED = re.compile(r"\\([-*_`~#+.!<>|\\(){}\[\]])")
_MARKS = ("***", "___", "**", "__", "~~", "*", "_", "`")
_LISTED = re.compile(r"[-–—•]\s+")
_GAPS = frozenset("tbd tba ⏳ nan none null na n.a. ? ?? -- --- … ... ✗ ❌ pending oom".split())  # noqa: SIM905
_NUMBER = r"[+-]?(?:[1-9]\d{0,2}(?:,\d{3})++(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_MEASURED = re.compile(
    rf"(?P<about>[~≈]\s?)?(?P<value>{_NUMBER})\s?(?P<percent>%)?"
    rf"(?:\s?(?:±|\+/-|\+-)\s?(?P<spread>{_NUMBER})\s?(?P<percent_too>%)?)?"
    r"(?:\s?(?P<brackets>(?:\([^()]*\)|\[[^\[\]]*\])(?:\s?\[[^\[\]]*\])?))?\s?(?P<mark>[*†‡§^]*)",
    re.ASCII,
)
_LONGEST = 80
_LONG = 10_000
"""A longer cell is neither a name nor a number, and left unchanged."""


class Measured(NamedTuple):
    """Number of a cell, None for a gap; whether it is in per cent; a note on what was omitted or changed."""

    value: float | None
    percent: bool = False
    code: str = ""
    said: str = ""


def measured(cell: str) -> Measured | None:
    """Content of a cell such as `**70.1**`, `1,354`, `88 %`, `70.1±0.3` or `99.3 (84.4)`; None if it is no number."""
    text = plain(cell).replace("−", "-")
    if text.casefold() in _GAPS or (text and not text.strip("-–—·")) or _is_struck(text):
        return Measured(None)
    match = _number(text)
    value = match and number(float(match["value"].replace(",", "")))
    if match is None or value is None:
        return None
    percent = bool(match["percent"] or match["percent_too"])
    return Measured(value, percent, *_left_out(match, percent=percent))


def _left_out(match: re.Match[str], *, percent: bool) -> tuple[str, str]:
    if match["spread"]:
        return "spread_left_out", f"what ±{match['spread']} is, the table does not say: it is left out"
    if match["brackets"]:
        return "brackets_left_out", f"{match['brackets']} is left out"
    if match["about"] or match["mark"]:
        return "mark_left_out", "the mark at the number is left out"
    if "," in match["value"]:
        return "thousands_read", "the comma was read as one between thousands"
    return ("percent_read", "in per cent") if percent else ("", "")


def plain(cell: str) -> str:
    """Text of a cell without tags, links, emphasis and backslashes before punctuation.

    Raised or lowered text at a number is put in brackets behind it, and no two numbers are joined. A number that is
    struck out keeps its `~~`.
    """
    if len(cell) > _LONG:
        return cell
    text = _STRUCK.sub("~~", _BREAK.sub(" ", cell))
    if raised := [one for match in _RAISED.finditer(text) if (one := _bare(match[2]).translate(_BRACKETS).strip())]:
        number = " ".join(_bare(_RAISED.sub(" ", text)).split())
        if _is_struck(number):
            return number
        if _number(number):
            return f"{number} [{', '.join(raised)}]"
    return _bare(text)


def _bare(text: str) -> str:
    text = apart(_TAGS, _LINK.sub(_linked, text)).strip()
    changed = True
    while changed:
        changed = False
        for mark in _MARKS:
            if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
                if mark == "~~" and _is_struck(text):
                    continue
                text, changed = text[len(mark) : -len(mark)].strip(), True
    return _ESCAPED.sub(r"\1", text)


def _linked(match: re.Match[str]) -> str:
    return f" [{match[1]}]" if match.string[: match.start()].rstrip("*_`")[-1:].isdigit() else match[1]


def apart(pattern: re.Pattern[str], text: str) -> str:
    """A text without the matches of the pattern; digits on both sides of a match stay apart."""
    return pattern.sub(lambda match: " " if _joins(match.string, match.start(), match.end()) else "", text)


def _joins(text: str, start: int, end: int) -> bool:
    before, after = text[max(start - 1, 0) : start], text[end : end + 1]
    return (before.isdigit() or before == ".") and (after.isdigit() or after == ".")


def _number(text: str) -> re.Match[str] | None:
    return _MEASURED.fullmatch(text) if len(text) <= _LONGEST else None


def _is_struck(text: str) -> bool:
    if not (len(text) > 4 and text.startswith("~~") and text.endswith("~~") and len(text) <= _LONGEST):
        return False
    return _number(text[2:-2].strip("*_` ").replace("−", "-")) is not None


def listed(label: str) -> str:
    """A label without the dash of a list: `- anatomy` belongs to the row above."""
    match = _LISTED.match(label)
    return label[match.end() :] if match and label[match.end() :] else label


_RULED = frozenset("|:- \t")
_DASHES = re.compile(r":?-+:?")
_LONGEST_LINE = 10_000
"""A line longer than this is no heading, no title and no bullet."""
WIDEST = 50_000
"""Cells beyond which a line is no row: an axis has fewer levels, and to cut a longer line takes memory out of
proportion."""
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
_BULLET = re.compile(r"\s*[*+-]\s+(.*)")
_BACKSLASHED = re.compile(r"\\([!-/:-@\[-`{-~])")
_EMPHASIS = ("***", "**", "*", "`")
_FIRST = ("*", "`")


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a document. `title` is a line that is bold as a whole. `level` is that of a heading."""

    kind: Literal["heading", "title", "bullet", "paragraph", "table"]
    line: int
    text: str
    level: int = 0
    rows: tuple[tuple[int, tuple[str, ...]], ...] = ()


def blocks(lines: Sequence[str]) -> Iterator[Block]:
    """Blocks of a document."""
    for part in parts(lines):
        if is_table(part):
            rows = tuple((number, tuple(row)) for number, row in table_rows(lines, part))
            yield Block("table", part[0] + 1, "", rows=rows)
        else:
            yield line_block(lines[part[0]], part[0] + 1)


def parts(lines: Sequence[str]) -> Iterator[range]:
    """Indices of the lines of each block; except for tables, a block is one line."""
    at = 0
    while at < len(lines):
        line = lines[at]
        end = at + 1
        if "|" in line and end < len(lines) and is_rule(lines[end]):
            end += 1
            while end < len(lines) and "|" in lines[end]:
                end += 1
        if line.strip():
            yield range(at, end)
        at = end


def is_table(part: range) -> bool:
    """Tell whether these lines are a table: they have a heading and a rule."""
    return len(part) > 1


def table_rows(lines: Sequence[str], part: range) -> Iterator[tuple[int, list[str]]]:
    """Heading and rows of a table, each with its line; marks around a whole cell are removed."""
    for place in itertools.chain(part[:1], part[2:]):
        if lines[place].count("|") > WIDEST:
            raise Invalid([Fault(f"/line/{place + 1}", f"a row has at most {WIDEST} cells")])
        yield place + 1, cells(lines[place])


def is_rule(line: str) -> bool:
    """Tell whether a line is the one below a table's heading: dashes between pipes."""
    if "-" not in line or line.count("|") > WIDEST or not _RULED.issuperset(line):
        return False
    parts = line.strip().removeprefix("|").removesuffix("|").split("|")
    return all(_DASHES.fullmatch(part.strip()) for part in parts)


def line_block(line: str, number: int) -> Block:
    """Block that a line by itself is."""
    if len(line) > _LONGEST_LINE:
        return Block("paragraph", number, line.strip())
    if match := _HEADING.fullmatch(line):
        return Block("heading", number, match[2].strip().rstrip("#").rstrip(), len(match[1]))
    if (bold := _bold(line.strip())) is not None:
        return Block("title", number, bold.rstrip(": "))
    if match := _BULLET.fullmatch(line):
        return Block("bullet", number, match[1].strip())
    return Block("paragraph", number, line.strip())


def _bold(line: str) -> str | None:
    """Text between the asterisks of a line that is bold as a whole, with or without a colon behind it."""
    bare = line.removesuffix(":").rstrip()
    return bare[2:-2] if len(bare) > 4 and bare.startswith("**") and bare.endswith("**") else None


def cells(line: str) -> list[str]:
    """Cells of a table's line, unescaped."""
    parts = _parted(line.strip().removeprefix("|"))
    if len(parts) > 1 and not parts[-1].strip():
        parts.pop()  # what stands behind the last pipe
    return [_cell(part) for part in parts]


def _parted(line: str) -> list[str]:
    """The line cut at its pipes, except those behind a backslash that is not escaped itself."""
    pieces = line.split("|")
    if "\\" not in line:
        return pieces
    parts: list[str] = []
    held: list[str] = []
    for piece in pieces:
        held.append(piece)
        if (len(piece) - len(piece.rstrip("\\"))) % 2 == 0:
            parts.append("|".join(held))
            held = []
    return [*parts, "|".join(held)] if held else parts


def _cell(part: str) -> str:
    text = part.strip(" \ufeff")  # a mark that pages do not show
    if text.startswith(_FIRST):
        for mark in _EMPHASIS:
            if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
                text = text.removeprefix(mark).removesuffix(mark).strip()
    return _BACKSLASHED.sub(r"\1", text) if "\\" in text else text
