"""Words, numbers and marks of a text with their places, in one pass without backtracking."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_TOKEN = re.compile(r"\d+\.\d+[^\W\d_]*|[^\W_]+|\S")
_ATOM = re.compile(r"\d+|[^\W\d_]+")
_MARKS = {
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d", "-"),
    **dict.fromkeys("\u2018\u2019\u201a\u2032\u0060", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u2033", '"'),
    "\uff05": "%", "\u2248": "~", "\u223c": "~", "\u2264": "<=", "\u2265": ">=", "\u00d7": "x",
}  # fmt: skip
_ENDS = frozenset(".!?;")
_MARKERS = frozenset("*-+#|>")
"""What begins an item of a list, a heading, a row or a quotation."""
_SILENT_MARKERS = frozenset("-+>")
"""Those of them that mean something elsewhere in a sentence."""


@dataclass(frozen=True, slots=True)
class Token:
    """A word, a number or a mark. `text` has plain dashes and quotes; `start` and `end` are places in the text as it
    was sent, in characters."""

    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        return self.text.casefold()

    @property
    def is_number(self) -> bool:
        return self.text.isascii() and self.text.replace(".", "", 1).isdigit()


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text in their order."""
    return [Token(_MARKS.get(one[0], one[0]), one.start(), one.end()) for one in _TOKEN.finditer(text)]


def atoms_of(text: str) -> list[str]:
    """The runs of letters and of digits in a name, without marks and case: `AIME'24` has those of `AIME24`."""
    return [one[0].casefold() for one in _ATOM.finditer(text)]


def sentences(text: str, tokens: Sequence[Token]) -> Iterator[list[Token]]:
    """The tokens sentence by sentence. As in Markdown, an empty line or the mark of a list, a heading or a table ends
    one, and a line by itself does not. The mark of a list is in none."""
    found: list[Token] = []
    for place, token in enumerate(tokens):
        if found and _breaks(text, found[-1], token):
            yield found
            found = []
        if not found and _is_marker(text, token):
            continue
        found.append(token)
        if token.text in _ENDS and _is_end(text, token, tokens[place + 1 : place + 2]):
            yield found
            found = []
    if found:
        yield found


def _is_end(text: str, token: Token, following: Sequence[Token]) -> bool:
    """Whether a mark ends a sentence: a point within a name such as `v1.a` does not."""
    return not following or token.text in ";!?" or text[token.end : token.end + 1].isspace()


def _is_marker(text: str, token: Token) -> bool:
    """Whether a mark begins an item of a list: it stands at the beginning of a line, before a blank."""
    line = text[text.rfind("\n", 0, token.start) + 1 : token.start]
    return token.text in _SILENT_MARKERS and not line.strip(" \t>") and text[token.end : token.end + 1] in (" ", "\t")


def _breaks(text: str, before: Token, after: Token) -> bool:
    gap = text[before.end : after.start]
    lines = gap.count("\n")
    numbered = after.is_number and text[after.end : after.end + 1] in (".", ")")
    return lines > 1 or (lines == 1 and (after.text in _MARKERS or numbered))
