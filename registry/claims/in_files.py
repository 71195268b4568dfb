"""Claims in files, for `registry check`: beside the sentences of a Markdown text, or in a TOML file of their own.

In Markdown, `<!-- claim: … -->` after a sentence, or a fenced block ```` ```registry-claim ````; either holds TOML, or
JSON in braces. `<!-- claims about: … -->` says what those after it are about. In TOML, `[[claim]]` tables under a
shared `[about]`.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from registry.claims.reading import LONGEST_TEXT
from registry.errors import Fault, Invalid

_COMMENT = re.compile(r"<!--\s*(claim|claims about):((?:(?!<!--).)*?)-->", re.DOTALL)
_MEANT = re.compile(r"<!--\s*claims?(?:\s+about)?\s*(?::|=|\{|kind\b|$)", re.IGNORECASE | re.MULTILINE)
_FENCE_MEANT = re.compile(r"^(?:`{3,}|~{3,})[ \t]*registry[-_ ]?claims?\b", re.IGNORECASE | re.MULTILINE)
"""Comment or block that was meant to have a claim, though it may be none."""
_FENCE = re.compile(r"^(`{3,}|~{3,})[ \t]*registry-claim[ \t]*$(.*?)^\1[ \t]*$", re.DOTALL | re.MULTILINE)
_TABLE = re.compile(r"^[ \t]*\[\[[ \t]*claim[ \t]*\]\]", re.MULTILINE)
_PLACE = re.compile(r"(?: \(at line (\d+), column (\d+)\)|: line (\d+) column (\d+) \(char \d+\))$")
"""Line at which a parser of TOML or JSON says that it stopped."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A claim as a file states it, with the number of its line."""

    line: int
    claim: Mapping[str, Any]


def claims_in(name: str, text: str) -> list[Stated | Fault]:
    """The claims in a file, in its order; where one cannot be read, a fault, with the number of its line."""
    if name.endswith(".toml"):
        return _in_file(text)
    return list(_in_markdown(text))


def _in_file(text: str) -> list[Stated | Fault]:
    try:
        return list(_in_toml(text, 1, {})) if _read(text, 1).keys() - {"about"} else []
    except Invalid as error:
        return list(error.faults)


def _in_markdown(text: str) -> Iterator[Stated | Fault]:
    about: Mapping[str, Any] = {}
    for kind, start, body in _blocks(text):
        line = text.count("\n", 0, start) + 1
        try:
            if kind == "claims about":
                about = _read(body, line)
            elif kind == "fault":
                yield Fault(str(line), body)
            else:
                told = _sentence(text, start) if kind == "claim" else ""
                for one in _in_toml(body, line, about):
                    yield replace(one, claim={"text": told, **one.claim}) if told and isinstance(one, Stated) else one
        except Invalid as error:
            yield from error.faults


def _blocks(text: str) -> list[tuple[str, int, str]]:
    """Find the claims of a text, in its order: for each its kind, where it begins, and its body, which for the kind
    fault says what is wrong."""
    fences = list(_FENCE.finditer(text))
    blocks = [("block", match.start(), match[2]) for match in fences]
    comments = {match.start(): match for match in _COMMENT.finditer(text)}
    starts = {*comments, *(match.start() for match in _MEANT.finditer(text))}
    for start in starts:
        if not any(match.start() <= start < match.end() for match in fences):
            blocks.append((*_comment(text, start, comments.get(start)),))
    known = {match.start() for match in fences}
    unclosed = [match.start() for match in _FENCE_MEANT.finditer(text) if match.start() not in known]
    blocks += [("fault", start, "begins no block registry-claim that is closed") for start in unclosed]
    return sorted(blocks, key=lambda block: block[1])


def _comment(text: str, start: int, match: re.Match[str] | None) -> tuple[str, int, str]:
    end = text.find("-->", start)
    if end < 0 or "<!--" in text[start + 1 : end]:
        return "fault", start, "begins a comment that is not closed by -->"
    if match is None:
        return "fault", start, 'is no claim: a comment with one begins with "<!-- claim:" or "<!-- claims about:"'
    return match[1], start, match[2]


def _sentence(text: str, end: int) -> str:
    return _COMMENT.sub("", text[text.rfind("\n", 0, end) + 1 : end]).strip(" \t-*>#|")[:LONGEST_TEXT]


def _in_toml(body: str, line: int, about: Mapping[str, Any]) -> Iterator[Stated | Fault]:
    """One claim, or those of the `[[claim]]` tables; `Invalid` where the whole cannot be read."""
    document = _read(body, line)
    several = document.get("claim")
    if not isinstance(several, list):
        yield Stated(line, document if _has_about(document) or not about else {"about": about, **document})
        return
    if unknown := document.keys() - {"claim", "about"}:
        raise Invalid([Fault(str(line), f"has {', '.join(sorted(unknown))} beside about and [[claim]]")])
    shared = document.get("about", about)
    lines = [line + body.count("\n", 0, match.start()) for match in _TABLE.finditer(body)]
    for place, one in enumerate(several):
        here = lines[place] if len(lines) == len(several) else line
        if isinstance(one, Mapping):
            yield Stated(here, {"about": shared, **one} if shared and not _has_about(one) else one)
        else:
            yield Fault(str(here), "a claim is a table")


def _has_about(claim: Mapping[str, Any]) -> bool:
    parts = claim.get("claims")
    inner = (
        isinstance(parts, list) and bool(parts) and all(isinstance(one, Mapping) and _has_about(one) for one in parts)
    )
    return "about" in claim or inner


def _read(body: str, line: int) -> Mapping[str, Any]:
    try:
        found = json.loads(body) if body.lstrip().startswith("{") else tomllib.loads(body + "\n")
    except (ValueError, RecursionError) as error:
        raise Invalid([_unreadable(body, line, error)]) from None
    if not isinstance(found, Mapping):
        raise Invalid([Fault(str(line), "is no object")])
    return found


def _unreadable(body: str, line: int, error: Exception) -> Fault:
    """The fault of a text that is no TOML or JSON, with the line of the whole file, not of its part."""
    told = str(error)
    place = _PLACE.search(told)
    if place is None:
        return Fault(str(line), f"cannot be read: {told}")
    at, column = (one for one in place.groups() if one)
    return Fault(str(line + int(at) - 1), f"cannot be read: {told[: place.start()]} (at column {column})")
