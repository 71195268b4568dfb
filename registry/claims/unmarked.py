"""The passages of a Markdown text that have no claims yet, in pieces that the parser takes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from registry.claims.in_files import about_comments
from registry.claims.reading import LONGEST_TEXT

_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,}).*?^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE)
_CODE = re.compile(r"(?<!`)(`+)(?!`)((?:(?!\n[ \t]*\n).)+?)(?<!`)\1(?!`)", re.DOTALL)
_ITEM = re.compile(r"[ ]*(?:[-+*]|[0-9]{1,9}[.)])[ ]+")
_INDENT = 4
"""Columns by which code is further in than the text around it."""
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TABLE = re.compile(r"^[ \t]*\|.*$", re.MULTILINE)
_MARKED = re.compile(r"<!--\s*claim\s*:")
_ENDS = (". ", ".\n", "! ", "!\n", "? ", "?\n", "; ", "\n\n", "\n* ", "\n- ")


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a text, where it begins, and what `claims about` says of it."""

    start: int
    text: str
    about: Mapping[str, Any]


def passages(text: str) -> Iterator[Passage]:
    """The pieces of at most `LONGEST_TEXT` characters, cut between paragraphs; a longer paragraph is left out. Code,
    tables, comments and sentences with a claim behind them are blank in them."""
    plain = _blanked(text)
    abouts = list(about_comments(text))
    starts = [0, *(match.end() for match in re.finditer(r"\n[ \t]*\n", plain)), len(plain)]
    piece, about = (0, 0), _about_at(abouts, 0)
    for start, end in pairwise(starts):
        here = _about_at(abouts, start)
        if here != about or end - piece[0] > LONGEST_TEXT:
            yield from _passage(plain, piece, about)
            piece, about = (start, start), here
        piece = (piece[0] if end - start <= LONGEST_TEXT else end, end)
    yield from _passage(plain, piece, about)


def mostly_code(text: str, start: int, end: int) -> bool:
    """Whether more than half of a part of a text stands in one span of inline code."""
    inside = (min(end, span.end(2)) - max(start, span.start(2)) for span in _CODE.finditer(text))
    return any(2 * length > end - start for length in inside)


def _passage(plain: str, piece: tuple[int, int], about: Mapping[str, Any]) -> Iterator[Passage]:
    said = plain[slice(*piece)]
    if said.strip():
        yield Passage(piece[0], said, about)


def _about_at(abouts: list[tuple[int, Mapping[str, Any]]], place: int) -> Mapping[str, Any]:
    """What the last comment before a place says."""
    return next((about for start, about in reversed(abouts) if start <= place), {})


def _blanked(text: str) -> str:
    """The text with blanks, as many as characters, where no sentence is to be read."""
    found = _without_indented(_FENCE.sub(_blank, text))
    for match in _MARKED.finditer(found):
        before = found[: match.start()].rstrip(" \n.!?;")
        start = max((before.rfind(end) + len(end) for end in _ENDS if end in before), default=0)
        found = found[:start] + _blanks(found[start : match.start()]) + found[match.start() :]
    return _TABLE.sub(_blank, _COMMENT.sub(_blank, found))


def _without_indented(text: str) -> str:
    """The text with blanks for its indented blocks of code. They begin after an empty line; what is no further in than
    the item of a list before it belongs to that."""
    lines, column, is_code, is_apart = [], 0, False, True
    for line in text.splitlines(keepends=True):
        wide = line.expandtabs(4)
        if not wide.strip():
            lines.append(line)
            is_apart = True
            continue
        indent = len(wide) - len(wide.lstrip())
        is_code = indent >= column + _INDENT and (is_code or is_apart)
        if not is_code:
            item = _ITEM.match(wide)
            column = item.end() if item else min(column, indent) if is_apart else column
        lines.append(_blanks(line) if is_code else line)
        is_apart = False
    return "".join(lines)


def _blank(match: re.Match[str]) -> str:
    return _blanks(match[0])


def _blanks(text: str) -> str:
    return "".join(one if one == "\n" else " " for one in text)
