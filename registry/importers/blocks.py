"""Blocks of a Markdown document in order: headings, pipe tables, bullets, paragraphs, each with its line."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from registry.errors import Fault, Invalid

_RULED = frozenset("|:- \t")
_DASHES = re.compile(r":?-+:?")
_LONG = 10_000
"""A line longer than this is no heading, no title and no bullet."""
WIDEST = 50_000
"""Cells beyond which a line is no row: an axis has fewer levels, and to cut a longer line takes memory out of
proportion."""
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
_BULLET = re.compile(r"\s*[*+-]\s+(.*)")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_MARKS = ("***", "**", "*", "`")
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
    if len(line) > _LONG:
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
    text = part.strip(" ")
    if text.startswith(_FIRST):
        for mark in _MARKS:
            if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
                text = text.removeprefix(mark).removesuffix(mark).strip()
    return _ESCAPED.sub(r"\1", text) if "\\" in text else text
