"""Markdown as blocks in order: headings, pipe tables, bullets, paragraphs, each with its line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

_RULED = frozenset("|:- \t")
_DASHES = re.compile(r":?-+:?")
_LONG = 10_000
"""A line longer than this is no heading, no title and no bullet."""
_HEADING = re.compile(r"(#{1,6})[ \t]+(.*)")
_BULLET = re.compile(r"\s*[*+-]\s+(.*)")
_BOLD_LINE = re.compile(r"\*\*(.+?)\*\*\s*:?\s*")
_CELLS = re.compile(r"(?:\\.|[^|\\])*")
_ESCAPED = re.compile(r"\\([\\|<])")
_MARKS = ("***", "**", "*", "`")


@dataclass(frozen=True, slots=True)
class Block:
    """`title` is a line that is bold as a whole. `level` is that of a heading."""

    kind: Literal["heading", "title", "bullet", "paragraph", "table"]
    line: int
    text: str
    level: int = 0
    rows: tuple[tuple[int, tuple[str, ...]], ...] = ()


def blocks(lines: Sequence[str], *, emphasis: bool = True) -> Iterator[Block]:
    """The blocks of a document. `emphasis`: marks around a table's whole cell are not part of it."""
    at = 0
    while at < len(lines):
        line = lines[at]
        if "|" in line and at + 1 < len(lines) and is_rule(lines[at + 1]):
            end = at + 2
            while end < len(lines) and "|" in lines[end]:
                end += 1
            numbers = [at, *range(at + 2, end)]
            rows = tuple((number + 1, tuple(cells(lines[number], emphasis=emphasis))) for number in numbers)
            yield Block("table", at + 1, "", rows=rows)
            at = end
            continue
        if line.strip():
            yield _line(line, at + 1)
        at += 1


def is_rule(line: str) -> bool:
    """Whether a line is the one below a table's heading: dashes between pipes."""
    if "-" not in line or not _RULED.issuperset(line):
        return False
    parts = line.strip().removeprefix("|").removesuffix("|").split("|")
    return all(_DASHES.fullmatch(part.strip()) for part in parts)


def _line(line: str, number: int) -> Block:
    if len(line) > _LONG:
        return Block("paragraph", number, line.strip())
    if match := _HEADING.fullmatch(line):
        return Block("heading", number, match[2].strip().rstrip("#").rstrip(), len(match[1]))
    if match := _BOLD_LINE.fullmatch(line.strip()):
        return Block("title", number, match[1].rstrip(": "))
    if match := _BULLET.fullmatch(line):
        return Block("bullet", number, match[1].strip())
    return Block("paragraph", number, line.strip())


def cells(line: str, *, emphasis: bool = True) -> list[str]:
    """The cells of a table's line, unescaped."""
    inner = line.strip().removeprefix("|")
    parts: list[str] = []
    at = 0
    while at <= len(inner):
        match = _CELLS.match(inner, at)
        end = match.end() if match else at
        parts.append(inner[at:end])
        at = end + 1
    if len(parts) > 1 and not parts[-1].strip():
        parts.pop()  # what stands behind the last pipe
    return [_cell(part, emphasis) for part in parts]


def _cell(part: str, emphasis: bool) -> str:
    text = part.strip(" ")
    if emphasis:
        for mark in _MARKS:
            if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
                text = text.removeprefix(mark).removesuffix(mark).strip()
    return unescaped(text)


def unescaped(text: str) -> str:
    r"""A text without the backslashes before `\`, `|` and `<`."""
    return _ESCAPED.sub(r"\1", text)
