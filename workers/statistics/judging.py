"""Judge what is said by what the data leave possible, and adjust many tests at once; claims, gates and statistics do.

A region C of a parameter and a confidence set S for it at level 1 - alpha: S inside C supports what is said, S
outside C contradicts it, and anything else does not decide. Each wrong verdict then has a probability of at most
alpha (three-sided testing: Goeman, Solari and Stijnen 2010, Statistics in Medicine 29:2117). Equivalence is
C = [-m, m] (Schuirmann 1987, J. Pharmacokinetics and Biopharmaceutics 15:657), non-inferiority C = [-m, infinity).

A conjunction of parts, each judged at alpha, is supported at alpha without a correction (intersection-union tests:
Berger 1982, Technometrics 24:295). That it is contradicted because one of many parts is, is not: judge the parts on
simultaneous sets for that.

Many tests at once: Holm (1979) bounds the chance of any error, Benjamini and Hochberg (1995) the share of them, and
Benjamini and Yekutieli (2005), JASA 100, 71-81, the share of intervals that miss among those of what was selected.

One report, one error rate. What a report says of a grid is a family for each axis: the trends of its series, whether
they vary, their steps, their onsets, their common direction, whether the axis matters. By closed testing (Marcus,
Peritz and Gabriel 1976) a family is open where the test that nothing differs along its axis rejects, and the tests of
all hypotheses that imply it: that all cells are equal, and that nothing differs along several axes. The tests are
Simes' (1986): of a family over its own adjusted p, of several families over theirs. Every adjusted p is no less than
the p at which its family opens. On a flat grid anything is then said in at most alpha of all reports, and so along a
flat axis beside one that matters, at next to no cost where several tests see the same thing (Benjamini and Bogomolov
2014 test the families that a first step selects at a share of alpha instead, which costs a lone axis of two half of
it). The test of homogeneity of all cells would open no more: along some axis it is that of the series.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from workers.statistics.terms import FloatArray

Answer = Literal["supported", "contradicted", "not_decidable"]


@dataclass(frozen=True, slots=True)
class Span:
    """The numbers between two ends; an end that is open is not one of them. One number is a span with closed ends."""

    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False

    def __post_init__(self) -> None:
        if math.isnan(self.low) or math.isnan(self.high) or self.low > self.high:
            raise ValueError(f"no span goes from {self.low} to {self.high}")
        if self.low == self.high and (self.low_open or self.high_open):
            raise ValueError(f"an open span from {self.low} to itself is empty")

    def __contains__(self, number: float) -> bool:
        above = number > self.low or (number == self.low and not self.low_open)
        return above and (number < self.high or (number == self.high and not self.high_open))

    def includes(self, other: "Span") -> bool:
        """Tell whether all of the other's numbers are in this one."""
        low = other.low > self.low or (other.low == self.low and (other.low_open or not self.low_open))
        return low and (other.high < self.high or (other.high == self.high and (other.high_open or not self.high_open)))

    def meets(self, other: "Span") -> bool:
        """Tell whether a number is in both."""
        first, second = (self, other) if (self.low, self.low_open) <= (other.low, other.low_open) else (other, self)
        return second.low < first.high or (second.low == first.high and not second.low_open and not first.high_open)


Region = Sequence[Span]
"""Spans of which no two touch: what is said to be true of a parameter."""


def judge(region: Region, found: Span | None) -> Answer:
    """Tell whether a confidence set (or the one exact value) lies within a region, outside of it, or neither.

    No set, because nothing was measured or the noise is not known, decides nothing: it never counts as agreement.
    """
    if found is None:
        return "not_decidable"
    if any(span.includes(found) for span in region):
        return "supported"
    return "not_decidable" if any(span.meets(found) for span in region) else "contradicted"


def opposite(answer: Answer) -> Answer:
    """The verdict on the negation."""
    return {"supported": "contradicted", "contradicted": "supported", "not_decidable": "not_decidable"}[answer]  # type: ignore[return-value]


def all_of(answers: Iterable[Answer]) -> Answer:
    """Kleene's conjunction; supported where there is nothing to hold."""
    given = set(answers)
    return "contradicted" if "contradicted" in given else "not_decidable" if "not_decidable" in given else "supported"


def any_of(answers: Iterable[Answer]) -> Answer:
    """Kleene's disjunction."""
    return opposite(all_of(opposite(answer) for answer in answers))


def count_within(answers: Iterable[Answer], least: int, most: int) -> Answer:
    """Tell whether the number of true parts is from `least` to `most`, whatever the undecided ones turn out to be."""
    given = list(answers)
    sure = given.count("supported")
    possible = sure + given.count("not_decidable")
    return judge([Span(least, most)], Span(sure, possible))


def holm(ps: Sequence[float]) -> list[float]:
    """Step-down adjusted p-values in the order given."""
    found: list[float] = holm_array(np.asarray(ps, dtype=np.float64)).tolist()
    return found


def holm_array(values: FloatArray) -> FloatArray:
    """The same of an array."""
    order = np.argsort(values, kind="stable")
    scaled = np.maximum.accumulate(values[order] * np.arange(values.size, 0, -1))
    adjusted = np.empty(values.size)
    adjusted[order] = np.minimum(scaled, 1.0)
    return adjusted


def holm_of_pairs(p: FloatArray) -> FloatArray:
    """The same of a symmetric matrix in which each pair is one test of the family; NaN where there is none."""
    upper = np.triu_indices(len(p), 1)
    known = np.isfinite(p[upper])
    found = np.full(p.shape, np.nan)
    found[upper[0][known], upper[1][known]] = holm_array(p[upper][known])
    return np.asarray(np.fmin(found, found.T), dtype=np.float64)


def benjamini_hochberg(ps: Sequence[float]) -> list[float]:
    """Step-up adjusted p-values (q) in the order given."""
    values = np.asarray(ps, dtype=np.float64)
    order = np.argsort(values, kind="stable")
    scaled = values[order] * values.size / np.arange(1, values.size + 1)
    adjusted = np.empty(values.size)
    adjusted[order] = np.minimum(np.minimum.accumulate(scaled[::-1])[::-1], 1.0)
    return [float(q) for q in adjusted]


def level_of_selected(selected: int, tests: int, alpha: float) -> float:
    """The level at which intervals of what was selected among so many tests miss in a share of alpha at most."""
    return 1 - alpha * max(1, selected) / max(1, tests)


def adjusted(ps: Sequence[float | None], method: str) -> list[float | None]:
    """Adjusts the p-values that exist (`holm` or `bh`) and leaves the others absent."""
    found = [p for p in ps if p is not None]
    results = iter((holm if method == "holm" else benjamini_hochberg)(found))
    return [None if p is None else next(results) for p in ps]


def simes(ps: Iterable[float | None], weights: Sequence[float] | None = None) -> float | None:
    """The p that none of the hypotheses is false (Simes 1986), of those that exist; `None` without any. The weights
    share out the first errors (Hochberg and Liberman 1994); without them all weigh the same."""
    given = list(ps)
    found = sorted((p, w) for p, w in zip(given, weights or [1.0] * len(given), strict=True) if p is not None)
    total, before, least = sum(w for _, w in found), 0.0, 1.0
    for p, w in found:
        before += w
        least = min(least, p * total / before)
    return least if found else None


def opened(families: Sequence[float | None], weights: Sequence[float]) -> tuple[float | None, list[float | None]]:
    """The p at which a report opens, and those at which its families do, one an axis; `None` where nothing is tested.

    That both of two families have nothing is that all cells are equal; of more families, several are tested by Holm's
    steps, whose first has one family less for the same reason (Shaffer 1986).
    """
    report = simes(families, weights)
    known = sorted((p, i) for i, p in enumerate(families) if p is not None)
    found: list[float | None] = [None] * len(families)
    least = report or 0.0
    for rank, (p, i) in enumerate(known):
        least = max(least, p * max(1, min(len(known) - 1, len(known) - rank)))
        found[i] = min(1.0, least)
    return report, found
