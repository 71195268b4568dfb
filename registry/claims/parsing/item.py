"""The items of a sentence, and the places that some of them are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from registry.claims.dictionary import Entry
from registry.claims.parsing.tokens import Token


@dataclass(frozen=True, slots=True)
class Place:
    """Levels of an axis that a sentence names. `ends`: first and last of a range as it was said, else empty."""

    axis: str
    levels: tuple[str, ...]
    ends: tuple[str, ...] = ()
    lower: float | None = None
    upper: float | None = None
    numbered: bool = False
    """Whether the levels are said to be numbered so, which is about what was measured."""

    def condition(self) -> Any:
        """As `where` has it: a range of numbers, or levels."""
        bounds = {"from": self.lower, "to": self.upper}
        said = {end: bound for end, bound in bounds.items() if bound is not None}
        return said or list(self.levels)


@dataclass(frozen=True, slots=True)
class Item:
    """Part of a sentence, with its first token and the one after it. Kinds: `name`, `place`, `axis`, `number`, those of
    the lexicon, and `unknown`."""

    kind: str
    value: Any
    start: int
    end: int
    phrase: str
    entry: Entry | None = None


def phrase_of(tokens: Sequence[Token]) -> str:
    """Tokens as they stand, with one blank where some were."""
    said = tokens[0].text if tokens else ""
    for before, after in pairwise(tokens):
        said += (" " if after.start > before.end else "") + after.text
    return said
