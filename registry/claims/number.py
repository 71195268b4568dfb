"""Numbers as a sentence states them, and the values that each allows.

A number that is printed with some decimals stands for every value that rounds to it: half a unit of its last decimal to
either side (the rule of statcheck, Nuijten et al. 2016, Behavior Research Methods 48, 1205-1226). A range has two
readings in English: "91 to 92" may mean the rounded ends, or the bare ones.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

Comparison = Literal["=", "<", ">", "<=", ">="]
Unit = Literal["points", "percent", "factor"]
Ends = tuple[float, float, bool, bool]
"""Low and high end, and whether each is open: no value itself."""


@dataclass(frozen=True, slots=True)
class Number:
    """A statement about one number. `op` "between" has `low` and `high`, "about" has `number` and `within`, every
    other one `number`. `decimals`: those that the number was printed with."""

    op: Literal["=", "<", ">", "<=", ">=", "between", "about"]
    number: float = 0.0
    low: float = 0.0
    high: float = 0.0
    within: float | None = None
    decimals: int = 0
    unit: Unit = "points"

    def ends(self, *, rounded: bool = True) -> Ends:
        """The values that are allowed; `rounded`: the ends of a range stand for what rounds to them."""
        half = Fraction(1, 2) / 10**self.decimals
        if self.op == "between":
            reach = half if rounded else Fraction(0)
            return float(exact(self.low) - reach), float(exact(self.high) + reach), False, False
        if self.op in ("=", "about"):
            reach = half if self.within is None else exact(self.within)
            return float(exact(self.number) - reach), float(exact(self.number) + reach), False, False
        if self.op in ("<", "<="):
            return -math.inf, self.number, False, self.op == "<"
        return self.number, math.inf, self.op == ">", False

    @property
    def text(self) -> str:
        """The statement in words: `between 91 and 92`, `at least 6`."""
        shown = f"{self.number:.{self.decimals}f}"
        unit = {"points": "", "percent": " percent", "factor": " times"}[self.unit]
        if self.op == "between":
            return f"between {self.low:.{self.decimals}f} and {self.high:.{self.decimals}f}{unit}"
        if self.op == "about":
            return f"about {shown}{unit}" + ("" if self.within is None else f" within {self.within:g}")
        return f"{_WORDS[self.op]} {shown}{unit}".strip()


_WORDS = {"=": "", "<": "below", ">": "above", "<=": "at most", ">=": "at least"}


def exact(value: float) -> Fraction:
    """The decimal number that a float is written as: 0.1 is a tenth."""
    return Fraction(repr(float(value)))


def decimals_of(given: float) -> int:
    """The decimals that a JSON number is written with: 1 for 84.0, none for 84."""
    exponent = Decimal(repr(given)).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
