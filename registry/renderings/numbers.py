"""Write numbers, in every form and on every page: decimals, signs, p-values, and intervals."""

import math
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Protocol

from registry.grids.intake.sent_cells import decimals
from registry.results.grid import PostedMetric
from registry.results.terms import Interval

MINUS = "\u2212"
MISSING = "·"
"""What nobody measured."""
UNDEFINED = "—"
"""What has no value although it was asked for."""
_NOISE, _SIGNIFICANT, _COMPUTED = 12, 6, 5
"""Digits of the largest value beyond which a difference is arithmetic, those shown of machine precision, and decimals
from which on values were computed rather than written by somebody."""
_WIDEST = 15
_DUST = 5e-16
"""Share of the largest value that its own rounding may be."""


def decimals_of(values: Iterable[float]) -> int | None:
    """The most decimals that any of the values was posted with; arithmetic noise (0.30000000000000004) has none.

    Values of machine precision keep six significant digits of the largest. `None`: no fixed notation is readable, or it
    would write a small value, which no rounding of the largest explains, as 0.
    """
    found = [value for value in values if value]
    if not found:
        return 0
    largest = max(map(abs, found))
    magnitude = math.floor(math.log10(largest))
    if not -_NOISE < magnitude < _WIDEST:
        return None
    most = max(0, _NOISE - 1 - magnitude)
    posted = decimals([round(value, most) for value in found])
    places = posted if posted < most else max(0, _SIGNIFICANT - 1 - magnitude)
    return None if any(_DUST * largest < abs(value) < 0.5 * 10.0**-places for value in found) else places


def places_shown(values: Iterable[float | None], step: float | None = None) -> int | None:
    """The decimals to write posted values with: theirs; of values with more than four only as many as tell scores apart
    that differ by `step`, which is one trial, else four significant digits and three of their range."""
    found = [value for value in values if value is not None]
    posted = decimals_of(found)
    if posted is None or (posted < _COMPUTED and all(abs(value - round(value, posted)) < 1e-10 for value in found)):
        return posted
    if step:
        fewer = max(1, math.ceil(-math.log10(step)))
    else:
        span = max(found) / 2 - min(found) / 2
        fewer = max(0, 3 - math.floor(math.log10(max(map(abs, found)))))
        fewer = max(fewer, 2 - math.floor(math.log10(2 * span))) if span else fewer
    # A small value keeps its digits: rounded to nothing it would read as 0.
    return posted if any(0 < abs(value) < 0.5 * 10.0**-fewer for value in found) else min(posted, fewer)


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


def places_of_means(means: Iterable[tuple[float | None, int]]) -> int | None:
    """The decimals to write means with, each beside its number of cells: of lone cells those that these were posted
    with."""
    found = [(mean, cells) for mean, cells in means if mean is not None]
    rule = places_shown if all(cells == 1 for _, cells in found) else places_of
    return rule(mean for mean, _ in found)


def places_by_row(rows: Sequence[Sequence[float | None]], least: float = 1e-12) -> list[int | None]:
    """The decimals to write the computed values of each row with: those of all rows, or its own where it is a thousand
    times smaller than the largest; not below the share `least` of that, where it may be arithmetic."""
    sizes = [max((abs(value) for value in row if value), default=0.0) for row in rows]
    largest, common = max(sizes, default=0.0), places_of(value for row in rows for value in row)
    return [
        places_of(row) if least * largest < size < 1e-3 * largest else common
        for row, size in zip(rows, sizes, strict=True)
    ]


_SIGN = re.compile(r"(?<![^\W_])-(?=\d)")


def typeset(text: str) -> str:
    """Hyphens before digits as minus signs, for pages and pictures: they are as wide as plus signs."""
    return _SIGN.sub(MINUS, text) if "-" in text else text


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
    short_of = f"{value:.2g}"
    return f"{float(short_of):.{max(0, 1 - magnitude)}f}" if -_NOISE < magnitude < _WIDEST else short_of


class _Confident(Protocol):
    """An interval, or a set, that holds the truth with a stated probability."""

    @property
    def level(self) -> float: ...


def within(interval: Interval) -> str:
    """An interval in a sentence: `95 % interval -5.2 to -0.8`."""
    return (
        f"{level_of(interval)} interval {span(interval.low, interval.high, places_of([interval.low, interval.high]))}"
    )


def span(low: float, high: float, decimals: int | None) -> str:
    """The ends of an interval in a sentence: `-5.2 to -0.8`."""
    places = places_between((low, high), decimals)
    return f"{fixed(low, places)} to {fixed(high, places)}"


def places_between(between: tuple[float, float] | tuple[None, None], decimals: int | None) -> int | None:
    """The decimals of the ends of an interval, and of the estimate in it: so many, or a few more where the ends would
    be written alike, or one of them as 0."""
    low, high = between
    if decimals is None or low is None or high is None:
        return decimals
    for places in range(decimals, decimals + 12):
        first, last = fixed(low, places), fixed(high, places)
        zero = (low and not float(first)) or (high and not float(last))
        if not zero and (low == high or first != last):
            return places
    return decimals


def level_of(found: _Confident) -> str:
    """The level of an interval or a set: `95 %`, `99.74 %`."""
    return f"{100 * found.level:.4g} %"


def level_at(alpha: float) -> str:
    """The level of intervals at this alpha, however many of them were picked: `95 %`."""
    return f"{100 * (1 - alpha):.4g} %"


def level_of_picked(found: Iterable[_Confident | None], alpha: float) -> str:
    """The level of intervals of which those of what is shown may be wider, and why these have it too."""
    wide = any(one.level - 1 + alpha > 1e-9 for one in found if one)
    more = "; wider where something is shown, so that those picked by this miss no more often (Benjamini–Yekutieli)"
    return f"{level_at(alpha)}{more * wide}"


def ends(interval: Interval | None) -> tuple[float, float] | tuple[None, None]:
    """The ends of an interval, None of none."""
    return (interval.low, interval.high) if interval else (None, None)


def ends_of(found: Iterable[Interval | None]) -> list[float | None]:
    """The ends of several."""
    return [end for one in found for end in ends(one)]


def levels_of(found: Iterable[_Confident | None]) -> str:
    """The levels of several intervals, the lowest first: `95 %`, `95 % or 96.67 %`."""
    return " or ".join(f"{100 * level:.4g} %" for level in sorted({one.level for one in found if one}))


def named_interval(found: Iterable[_Confident | None]) -> str:
    """The heading of intervals: `95 % interval`."""
    return f"{levels_of(found)} interval".lstrip()


def intervals(found: Sequence[Interval | None], decimals: int | Sequence[int | None] | None) -> list[str]:
    """Intervals as `[low, high]`, of so many decimals all or each, their ends padded so that they stand below each
    other."""
    places = decimals if isinstance(decimals, Sequence) else [decimals] * len(found)
    told = [(one, places_between(ends(one), d)) for one, d in zip(found, places, strict=True)]
    low = max((len(fixed(one.low, d)) for one, d in told if one), default=0)
    high = max((len(fixed(one.high, d)) for one, d in told if one), default=0)
    return [f"[{fixed(one.low, d):>{low}}, {fixed(one.high, d):>{high}}]" if one else UNDEFINED for one, d in told]


def rounded(value: float) -> str:
    """Six significant digits, without an exponent where that is readable: `70000000000`, `0.1`, `2.22507e-308`."""
    return plain_number(value) if value == int(value) and abs(value) < 1e15 else f"{value:.6g}"


def plain_number(value: float) -> str:
    """A level's number as it was given: `2000`, `0.1`."""
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))


def short(value: float) -> str:
    """A number in few characters: `20k`, `7B`, `0.00003`, `1e-12`."""
    for size, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if size <= abs(value) < size * 1000:
            return f"{value / size:.4g}{letter}"
    if 1e-8 <= abs(value) < 1e-4:
        return f"{value:.{3 - math.floor(math.log10(abs(value)))}f}".rstrip("0")
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


_STUDENT = (12.70620474, 4.30265273, 3.18244631, 2.77644511, 2.57058184, 2.44691185, 2.36462425, 2.30600414, 2.26215716)


def student(df: int) -> float:
    """The 97.5 % point of Student's law, to 1e-5: a table of the first degrees of freedom, then the expansion around
    the normal one (Abramowitz and Stegun 1964, 26.7.5)."""
    if df <= len(_STUDENT):
        return _STUDENT[df - 1]
    z = Z
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return float(z + sum(term / df**power for power, term in enumerate(terms, start=1)))


Noise = tuple[int | None, float | None, int | None, float | None]
"""Trials, standard error, repeats and their standard deviation of a cell."""


def interval_of(value: float, whole: float | None, noise: Noise) -> tuple[float, float] | None:
    """The 95 % interval of one cell by itself: Wilson's of its trials where it is a proportion of `whole`, Student's of
    its repeats, the wider of both where both are known, else of its standard error; None where nothing is known, or
    the error is 0. That of a proportion stays on its scale."""
    trials, stderr, repeats, sd = noise
    ends = wilson(value, trials, whole) if trials and whole else (value, value)
    reach = 0.0 if trials and whole else Z * (stderr or 0.0)
    if sd and repeats and repeats > 1:
        reach = student(repeats - 1) * sd / math.sqrt(repeats)
    low, high = min(value - reach, *ends), max(value + reach, *ends)
    if low == high:
        return None
    return (low, high) if whole is None else (max(low, 0.0), min(high, whole))


def count_of(value: float, metric: PostedMetric, trials: int | None, decimals: int | None) -> int | None:
    """How many of the trials a score with so many decimals is: 437 for 44.1 % of 990. None where it is no share of
    them, or where several counts would be rounded to it."""
    whole = metric["upper"] if metric["lower"] == 0 and metric["upper"] in (1, 100) else None
    if not trials or not whole or decimals is None:
        return None
    count, tick = round(value / whole * trials), 10.0**-decimals
    near = abs(whole * count / trials - value) <= 0.5001 * tick
    return count if near and whole / trials > tick else None


def rank_range(low: int | None, high: int | None) -> str:
    """The ranks from the best to the worst."""
    if low is None or high is None:
        return UNDEFINED
    return str(low) if low == high else f"{low}–{high}"
