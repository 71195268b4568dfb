"""How many of several parts must hold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from registry.claims.number import exact


@dataclass(frozen=True, slots=True)
class Quantifier:
    """`all`, `any`, `none`, `most` (more than half), or `at_least`, `exactly` or `share` with its number."""

    word: Literal["all", "any", "none", "most", "at_least", "exactly", "share"]
    number: float = 0.0

    def bounds(self, parts: int) -> tuple[int, int]:
        """The smallest and the largest number of so many parts that may hold; the smallest may exceed `parts`."""
        if self.word == "none":
            return 0, 0
        if self.word == "exactly":
            return int(self.number), int(self.number)
        least = {
            "all": parts,
            "any": 1,
            "most": parts // 2 + 1,
            "at_least": int(self.number),
            "share": math.ceil(exact(self.number) * parts),
        }[self.word]
        return least, max(least, parts)

    @property
    def text(self) -> str:
        """The quantifier in words: `all of`, `at least 3 of`."""
        if self.word in ("at_least", "exactly"):
            return f"{self.word.replace('_', ' ')} {self.number:g} of"
        return f"at least {self.number:.0%} of" if self.word == "share" else f"{self.word} of"


ALL, ANY, MOST = Quantifier("all"), Quantifier("any"), Quantifier("most")
