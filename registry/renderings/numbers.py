"""Write numbers: decimals, signs, p-values, and intervals."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Protocol

from registry.results.terms import Interval

MISSING = "·"
"""What nobody measured."""
UNDEFINED = "—"
"""What has no value although it was asked for."""
_NOISE, _SIGNIFICANT = 12, 6
"""Digits of the largest value beyond which a difference is arithmetic, and those shown of machine precision."""
_WIDEST = 15


def decimals_of(values: Iterable[float]) -> int | None:
    """The most decimals that any of the values was posted with; arithmetic noise (0.30000000000000004) has none.

    Values of machine precision keep six significant digits of the largest. `None`: no fixed notation is readable.
    """
    found = [value for value in values if value]
    if not found:
        return 0
    largest = max(map(abs, found))
    magnitude = math.floor(math.log10(largest))
    if not -_NOISE < magnitude < _WIDEST:
        return None
    most = max(0, _NOISE - 1 - magnitude)
    posted = max(_decimals(round(value, most)) for value in found)
    return posted if posted < most else max(0, _SIGNIFICANT - 1 - magnitude)


def _decimals(value: float) -> int:
    written = repr(float(value))
    mantissa, _, exponent = written.partition("e")
    fraction = mantissa.partition(".")[2].rstrip("0")
    return max(0, len(fraction) - int(exponent or 0))


def fixed(value: float | None, decimals: int | None, absent: str = MISSING) -> str:
    """The value with so many decimals, never `-0.0`; six significant digits where `decimals` is `None`."""
    if value is None:
        return absent
    if decimals is None:
        return f"{value:.6g}"
    written = f"{value:.{decimals}f}"
    return written[1:] if written.startswith("-") and not written.strip("-0.") else written


def signed(value: float | None, decimals: int | None) -> str:
    """The same with its sign, also where it is positive."""
    written = fixed(value, decimals, UNDEFINED)
    return f"+{written}" if value is not None and value > 0 else written


def places_of(values: Iterable[float | None]) -> int | None:
    """The decimals to write computed values with: two for percentages, three significant digits of small values."""
    largest = max((abs(value) for value in values if value), default=0.0)
    if largest == 0.0:
        return 0
    magnitude = math.floor(math.log10(largest))
    if not -_NOISE < magnitude < _WIDEST:
        return None
    return 2 - magnitude if magnitude <= 0 else max(0, 3 - magnitude)


def p_value(p: float | None) -> str:
    """A p-value to four decimals; what is smaller says so."""
    if p is None:
        return UNDEFINED
    return "<0.0001" if p < 0.0001 else f"{p:.4f}"


def rough(value: float | None) -> str:
    """The value to two significant digits, without an exponent where that is readable."""
    if not value:
        return UNDEFINED if value is None else "0"
    magnitude = math.floor(math.log10(abs(value)))
    return f"{value:.2g}" if not -_NOISE < magnitude < _WIDEST else f"{value:.{max(0, 1 - magnitude)}f}"


class _Confident(Protocol):
    """An interval, or a set, that holds the truth with a stated probability."""

    @property
    def level(self) -> float: ...


def within(interval: Interval) -> str:
    """An interval in a sentence: `95 % interval -5.2 to -0.8`."""
    places = places_of([interval.low, interval.high])
    return f"{level_of(interval)} interval {fixed(interval.low, places)} to {fixed(interval.high, places)}"


def level_of(found: _Confident) -> str:
    """The level of an interval or a set: `95 %`, `99.74 %`."""
    return f"{100 * found.level:.4g} %"


def intervals(found: Sequence[Interval | None], decimals: int | None) -> list[str]:
    """Intervals as `[low, high]`, their ends padded so that they stand below each other."""
    ends = [(fixed(one.low, decimals), fixed(one.high, decimals)) if one else None for one in found]
    low = max((len(end[0]) for end in ends if end), default=0)
    high = max((len(end[1]) for end in ends if end), default=0)
    return [f"[{end[0]:>{low}}, {end[1]:>{high}}]" if end else UNDEFINED for end in ends]


def rounded(value: float) -> str:
    """Six significant digits, without an exponent where that is readable: `70000000000`, `0.1`, `2.22507e-308`."""
    return plain_number(value) if value == int(value) and abs(value) < 1e15 else f"{value:.6g}"


def plain_number(value: float) -> str:
    """A level's number as it was given: `2000`, `0.1`."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def short(value: float) -> str:
    """A number in few characters: `20k`, `7B`, `1e-12`."""
    for size, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if size <= abs(value) < size * 1000:
            return f"{value / size:.4g}{letter}"
    return f"{value:.4g}"


Z = 1.959963984540054
"""The 97.5 % point of the normal law."""


@lru_cache(maxsize=65_536)
def wilson(value: float, trials: float, whole: float) -> tuple[float, float]:
    """The interval of a proportion that is written on a scale from 0 to `whole` (1 or 100)."""
    share = value / whole
    spread = Z * math.sqrt(share * (1 - share) / trials + (Z / (2 * trials)) ** 2)
    middle, shrink = share + Z * Z / (2 * trials), 1 + Z * Z / trials
    # A proportion of 0 or 1 has that very end; the arithmetic would miss it by a rounding.
    low = 0.0 if value == 0 else whole * (middle - spread) / shrink
    high = float(whole) if value == whole else whole * (middle + spread) / shrink
    return low, high


def around(value: float, stderr: float) -> tuple[float, float]:
    """The interval of a value with a standard error."""
    return value - Z * stderr, value + Z * stderr


def rank_range(low: int | None, high: int | None) -> str:
    """The ranks from the best to the worst."""
    if low is None or high is None:
        return UNDEFINED
    return str(low) if low == high else f"{low}–{high}"
