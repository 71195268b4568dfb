"""Table cells written for people: with marks, per cent signs, spreads, brackets, marks of a gap.

Only `registry push` takes what is read here, with a note of every omission. A table that is the body of a request is
read strictly: a number in other writing is refused, with the plain one that `push` would take.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from registry.grids.intake.faults import number

_TAG = re.compile(r"<[/!]?[a-zA-Z][^<>]*>")
_TAGS = re.compile(rf"(?:{_TAG.pattern})+")
_RAISED = re.compile(r"<(su[bp])\b[^<>]{0,200}>(.{0,200}?)</\1\s*>", re.IGNORECASE | re.DOTALL)
_STRUCK = re.compile(r"</?(?:s|del|strike)>", re.IGNORECASE)
_BRACKETS = str.maketrans("", "", "()[]{}")
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()]*\)")
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
    """Code and description of the part that a number loses."""
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
    """A text without tags, links, emphasis and backslashes before punctuation."""
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
    """Text of a link; one right behind a number is a note at it."""
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
    """Tell whether this is a number between `~~` and `~~`."""
    if not (len(text) > 4 and text.startswith("~~") and text.endswith("~~") and len(text) <= _LONGEST):
        return False
    return _number(text[2:-2].strip("*_` ").replace("−", "-")) is not None


def listed(label: str) -> str:
    """A label without the dash of a list: `- anatomy` belongs to the row above."""
    match = _LISTED.match(label)
    return label[match.end() :] if match and label[match.end() :] else label
