"""The parts of a claim as frozen values; `registry.claims.grammar` reads them."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

from registry.grids.slices import Slice

Unit = Literal["points", "percent", "factor"]
Ends = tuple[float, float, bool, bool]
"""Low and high end, and whether each is open: no value itself."""
FACETS = ("benchmark", "model", "variant")
"""Names of a grid that `where`, `for`, `by` and sides use like axes."""
Strength = Literal["numbers", "noise"]
Looks = Literal["fixed", "every_revision"]
Missing = Literal["matched", "available"]
"""Statistics of levels over the coordinates that all of them have, or each over its own."""
OLD_MISSING: Mapping[str, Missing] = {"observed": "available"}
Stat = Literal["mean", "min", "max", "range", "first", "last", "sd"]
Coordinates = tuple[tuple[tuple[str, str], ...], ...]
"""Each an axis and a level by axis."""


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

    def ends(self, *, rounded: bool = True, posted: int = 0) -> Ends:
        """The values that are allowed; `rounded`: the ends of a range, and the least and the most, stand for what
        rounds to them. A least or most of 3 is then read with the decimals of the `posted` values, as 3.0 where these
        have one: nobody would take 2.6 for "at least 3"."""
        decimals = self.decimals or (posted if self.op in ("<=", ">=") else 0)
        half = Fraction(1, 2) / 10**decimals
        low, high = (self.low, self.high) if self.op == "between" else (self.number, self.number)
        if self.op in ("=", "about"):
            reach = half if self.within is None else exact(self.within)
        else:
            reach = half if rounded and self.op not in ("<", ">") else Fraction(0)
        return (
            -math.inf if self.op in ("<", "<=") else float(exact(low) - reach),
            math.inf if self.op in (">", ">=") else float(exact(high) + reach),
            self.op == ">",
            self.op == "<",
        )

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


@dataclass(frozen=True, slots=True)
class About:
    """The grids that a statement is about: one by its id, or those of an experiment and a metric; "" restricts
    nothing."""

    grid: str = ""
    experiment: str = ""
    metric: str = ""
    benchmark: str = ""
    model: str = ""
    variant: str | None = None


@dataclass(frozen=True, slots=True)
class Value:
    """One number of the cells: a cell itself, or a statistic of a series or of all of them."""

    is_: Number
    of: Literal["cell", "first", "last", "min", "max", "mean", "sd", "change"] = "cell"
    along: str = ""


@dataclass(frozen=True, slots=True)
class Cells:
    """Each cell by itself."""

    is_: Number
    cells_hold: Quantifier = ALL


@dataclass(frozen=True, slots=True)
class Extreme:
    """Place of the largest or smallest cell, or level of an axis with the largest or smallest statistic. `alone`: no
    other one ties with those named, and all of those tie. `isolated`: by more than this much, each named cell is beyond
    all of its neighbours, which are one level away on some ordered axes."""

    which: Literal["max", "min"]
    at: Coordinates
    """For levels of an axis each of that axis alone."""
    of: str = "cell"
    stat: Stat = "mean"
    along: str = ""
    alone: bool = True
    missing: Missing = "matched"
    isolated: float | None = None


@dataclass(frozen=True, slots=True)
class Trend:
    """Course of a series. `monotone`: no step against it; `strictly`: every step with it. `margin`: the change that
    counts as flat."""

    along: str
    goes: Literal["up", "down", "flat", "up_down", "down_up", "not_monotone"]
    monotone: bool = False
    strictly: bool = False
    turn: str | None = None
    margin: float | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """The change to a level from the one before it (or from `from_`). `size` is about its amount without a sign.

    In place of `to`: `onset`, the level at which a change of more than `margin` begins that lasts.
    """

    along: str
    goes: Literal["up", "down"]
    to: str | None = None
    from_: str | None = None
    size: Number | None = None
    largest: bool = False
    onset: str | None = None
    margin: float = 0.0


@dataclass(frozen=True, slots=True)
class Lie:
    """Regions in which the cells lie that match. `lowest` or `highest` so many cells match in place of
    `matching`."""

    inside: tuple[Slice, ...]
    matching: Number | None = None
    lowest: int | None = None
    highest: int | None = None
    cells_hold: Quantifier = MOST


@dataclass(frozen=True, slots=True)
class Stable:
    """The largest and the smallest cell of a series differ by at most `within`."""

    along: str
    within: float


@dataclass(frozen=True, slots=True)
class Compare:
    """The mean of one set of cells against that of another, left less right. `by`: the amount of the difference;
    `margin`: that which counts as equal. `everywhere`: the slots in which it holds, instead of the mean over them.

    `of` gap: how far `ahead` is ahead of `behind` on the left, against how far it is on the right.
    """

    left: Slice
    right: Slice
    is_: Literal["higher", "lower", "better", "worse", "equal"]
    by: Number | None = None
    margin: float | None = None
    everywhere: Quantifier | None = None
    of: Literal["mean", "gap"] = "mean"
    ahead: Slice = ()
    behind: Slice = ()


@dataclass(frozen=True, slots=True)
class Rank:
    """The place of one level of an axis, or of one model, benchmark or variant, by a statistic. `top`: this place or a
    better one."""

    by: str
    name: str
    place: int | Literal["last"] = 1
    top: bool = False
    stat: Stat = "mean"
    along: str = ""
    high_first: bool | None = None
    missing: Missing = "matched"
    alone: bool = False


@dataclass(frozen=True, slots=True)
class Effect:
    """Effects of the axes, by how far the means of their levels differ: `present` by more than `within`, `small` and
    `none` by at most that. `interaction`: how far the means by two axes are from a sum of an effect of each."""

    axes: tuple[str, ...]
    is_: Literal["present", "small", "none"]
    within: float = 0.0
    interaction: bool = False


@dataclass(frozen=True, slots=True)
class SweetSpot:
    """The best coordinate for several grids at once, by the mean distance from the best of each, is among those
    named."""

    at: Coordinates


@dataclass(frozen=True, slots=True)
class Coverage:
    """Coverage: what was measured, whatever the values."""

    is_: Literal["levels", "span", "ragged", "most", "last_below", "cells"]
    axis: str = ""
    levels: tuple[str, ...] = ()
    level: str | None = None
    number: float | None = None
    count: Number | None = None


@dataclass(frozen=True, slots=True)
class IllPosed:
    """No results can decide this sentence: it is about causes, methods or advice."""

    because: str = ""


Says = Value | Cells | Extreme | Trend | Step | Lie | Stable | Compare | Rank | Effect | SweetSpot | Coverage | IllPosed


@dataclass(frozen=True, slots=True)
class Atom:
    """One statement. `for_` names the dimensions over whose levels (empty: all) `holds` quantifies."""

    kind: str
    says: Says
    about: About = About()
    where: Slice = ()
    for_: tuple[tuple[str, tuple[str, ...]], ...] = ()
    holds: Quantifier = ALL


@dataclass(frozen=True, slots=True)
class Compound:
    """Statements joined by `all_of` or `any_of`, or one that `not` denies."""

    kind: Literal["all_of", "any_of", "not"]
    claims: "tuple[Part, ...]"


Part = Atom | Compound


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement with how strictly it is taken. `looks`: alpha is that of this revision alone, that of all revisions,
    or that of all where each has the trials of those before it and more. `text` and `source` say where it stands; they
    are not part of what is said."""

    says: Part
    strength: Strength = "numbers"
    alpha: float = 0.05
    looks: Looks = "fixed"
    text: str = ""
    source: tuple[tuple[str, Any], ...] = ()


def atoms_of(part: Part) -> Iterator[tuple[str, Atom]]:
    """Every atom with the JSON pointer to it, in order."""
    if isinstance(part, Atom):
        yield "", part
        return
    for place, one in enumerate(part.claims):
        yield from ((f"/claims/{place}{pointer}", atom) for pointer, atom in atoms_of(one))


def denials_of(part: Part) -> list[bool]:
    """For every atom, in order, whether the claim denies it: whether it stands under an odd number of `not`. Those
    about the whole of the claim are not counted."""
    while isinstance(part, Compound) and len(part.claims) == 1:
        part = part.claims[0]
    return list(_denials(part, denied=False))


def _denials(part: Part, *, denied: bool) -> Iterator[bool]:
    if isinstance(part, Atom):
        yield denied
        return
    for one in part.claims:
        yield from _denials(one, denied=denied ^ (part.kind == "not"))
