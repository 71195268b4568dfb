"""Estimates with their intervals as dots and whiskers, all in one scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from registry.pages.blocks import typeset
from registry.renderings.numbers import fixed, places_of
from registry.results.terms import Interval

WIDTH, _EDGE = 160, 6
Estimates = Sequence[tuple[float | None, Interval | None]]


@dataclass(frozen=True, slots=True)
class Whisker:
    """An estimate within a box `WIDTH` wide, and what is told about it; without an interval its ends are at its dot."""

    x: str
    low: str
    high: str
    told: str


@dataclass(frozen=True, slots=True)
class Whiskers:
    """Estimates, None where there is none, and the places of zero, "" where that is no matter, and of margins."""

    rows: Sequence[Whisker | None]
    zero: str = ""
    margins: Sequence[str] = ()


def whiskers_of(found: Estimates, *, around_zero: bool = False, margins: Sequence[float] = ()) -> Whiskers | None:
    """The whiskers of these estimates, with the margins in their scale; None where there are none."""
    known = [(value, (one.low, one.high) if one else (value, value)) for value, one in found if value is not None]
    ends = [end for _, both in known for end in both] + [0.0] * around_zero + [*margins]
    if not known:
        return None
    low, span, places = min(ends), max(ends) - min(ends) or 1.0, places_of(ends)

    def at(value: float) -> str:
        return f"{_EDGE + (WIDTH - 2 * _EDGE) * (value - low) / span:.1f}"

    def whisker(value: float, one: Interval | None) -> Whisker:
        ends = (one.low, one.high) if one else (value, value)
        told = f"{fixed(value, places)}, {fixed(ends[0], places)} to {fixed(ends[1], places)}"
        return Whisker(at(value), at(ends[0]), at(ends[1]), typeset(told) if one else fixed(value, places))

    rows = [None if value is None else whisker(value, one) for value, one in found]
    return Whiskers(rows, at(0.0) if around_zero else "", [at(one) for one in margins])
