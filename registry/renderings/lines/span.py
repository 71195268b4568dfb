"""The range of an axis of a chart, where a value lies in it, and the numbers that stand beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from sys import float_info

from registry.renderings.heatmap.scale import share_of
from registry.renderings.numbers import short

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
_PAD = 0.04


@dataclass(frozen=True, slots=True)
class Span:
    """From the lower to the higher end of an axis, which differ; `ticks` with their texts."""

    low: float
    high: float
    ticks: Sequence[tuple[float, str]]
    log: bool = False

    def share(self, value: float) -> float:
        """Where a value lies, 0 to 1."""
        if self.log:
            return share_of(math.log10(value), math.log10(self.low), math.log10(self.high))
        return share_of(value, self.low, self.high)


def span_of(values: Iterable[float], lower: float | None = None, upper: float | None = None, most: int = 6) -> Span:
    """The range of these values, a little wider but within the bounds."""
    found = list(values) or [0.0]
    least, largest = min(found), max(found)
    pad = (largest / 2 - least / 2) * 2 * _PAD
    if largest == least:
        pad = abs(least) * 0.1 or 1.0
    elif math.isinf(pad):
        pad = 0.0
    low, high = max(least - pad, -float_info.max), min(largest + pad, float_info.max)
    # What is never negative has no room below zero, and the other way round.
    low, high = (max(low, 0.0) if least >= 0 else low), (min(high, 0.0) if largest <= 0 else high)
    low = low if lower is None or least < lower else max(low, lower)
    high = high if upper is None or largest > upper else min(high, upper)
    if low == high:
        low, high = (low - pad, high) if high == upper else (low, high + pad)
    return Span(low, high, ticks(low, high, most))


def log_span(values: Iterable[float], most: int = 6) -> Span:
    """The range of positive values on a logarithmic axis."""
    found = list(values)
    low, high = math.log10(min(found)), math.log10(max(found))
    pad = (high - low) * _PAD or 0.15
    ends = 10 ** max(low - pad, -307.6), 10 ** min(high + pad, 308.2)
    return Span(*ends, _decades(*ends, most), log=True)


def ticks(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """At most so many round numbers between two different ends, evenly spaced."""
    width = high - low
    if math.isinf(width) or width < float_info.min * 1e3:
        return [(one, f"{one:.3g}") for one in (low, high)]
    raw = width / most
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = next((each * magnitude for each in _STEPS if each * magnitude >= raw * 0.999), raw)
    first = math.ceil(low / step - 1e-9)
    found = [number * step for number in range(first, first + most + 2) if number * step <= high + step * 1e-9]
    return [(one, text) for one, text in zip(found, texts(found, step), strict=True)]


def texts(values: Sequence[float], step: float) -> list[str]:
    """Numbers that are a step apart, with as many decimals as tell them apart."""
    largest = max(map(abs, values), default=0.0)
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    if round(step * 10**decimals, 6) != round(step * 10**decimals):
        decimals += 1
    if 1e5 <= largest < 1e15 and all(math.isclose(float(f"{value:.4g}"), value, rel_tol=1e-12) for value in values):
        return [short(value + 0.0) for value in values]
    if largest < 1e9 and decimals <= 6:
        return [f"{value + 0.0:.{decimals}f}" for value in values]
    digits = max(1, min(17, math.floor(math.log10(largest or step)) - math.floor(math.log10(step)) + 2))
    return [f"{value + 0.0:.{digits}g}" for value in values]


def _decades(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Powers of ten, every so many of them; 1, 2 and 5 of each where there are few."""
    if high / low < 10:
        return ticks(low, high, most)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    every = max(1, math.ceil((last - first) / most))
    heads = (1, 2, 5) if last - first <= 3 else (1,)
    found = [
        float(f"{head}e{power}")
        for power in range(first, last + 1, every)
        for head in heads
        if -308 < power < 309 and math.isfinite(float(f"{head}e{power}"))
    ]
    inside = [one for one in found if low <= one <= high] or [low, high]
    return [(one, short(one)) for one in inside]
