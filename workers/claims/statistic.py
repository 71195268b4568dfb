"""Statistics of cells of which only spans are known: bounds that hold whatever the values within the spans are."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from workers.claims.scene import Scene
from workers.claims.worlds import Terms
from workers.statistics.judging import Span

ONE = Fraction(1)
_HALVINGS = 60


def statistic(of: str, scene: Scene, order: Sequence[int], family: int = 1) -> Span | None:
    """The span of a statistic of the cells in this order; None where the noise of a cell is unknown. There is at least
    one cell, and two for sd."""
    terms = sum_of(of, order)
    if terms is not None:
        return scene.world.linear(terms, family)
    spans = scene.world.spans(order, family)
    return None if spans is None else _OF_SPANS[of](spans)


def sum_of(of: str, order: Sequence[int]) -> Terms | None:
    """A statistic that is a sum of cells, as one."""
    if of == "mean":
        return [(cell, Fraction(1, len(order))) for cell in order]
    if of in ("cell", "first", "last"):
        return [(order[-1 if of == "last" else 0], ONE)]
    if of == "change":
        return [(order[-1], ONE), (order[0], -ONE)] if len(order) > 1 else [(order[0], Fraction(0))]
    return None


def least(spans: Sequence[Span]) -> Span:
    """The smallest value."""
    return Span(min(one.low for one in spans), min(one.high for one in spans))


def greatest(spans: Sequence[Span]) -> Span:
    """The largest value."""
    return Span(max(one.low for one in spans), max(one.high for one in spans))


def spread(spans: Sequence[Span]) -> Span:
    """The largest less the smallest value."""
    low = max(0.0, max(one.low for one in spans) - min(one.high for one in spans))
    return rounded(low, max(one.high for one in spans) - min(one.low for one in spans))


def drawdown(spans: Sequence[Span]) -> Span:
    """The deepest fall from a value to a later one, 0 where there is none."""
    low = high = 0.0
    top_low = top_high = -math.inf
    for one in spans:
        low, high = max(low, top_low - one.high), max(high, top_high - one.low)
        top_low, top_high = max(top_low, one.low), max(top_high, one.high)
    return rounded(low, high)


def deviation(spans: Sequence[Span]) -> Span:
    """The standard deviation (ddof 1)."""
    df = len(spans) - 1
    if all(one.low == one.high for one in spans):
        values = [Fraction(repr(one.low)) for one in spans]
        mean = sum(values, Fraction(0)) / len(values)
        size = math.sqrt(sum((value - mean) ** 2 for value in values) / df)
        return Span(size, size)
    # A sum of squares is the smallest about the mean: over the values as well as over the centre.
    touch = max(one.low for one in spans) <= min(one.high for one in spans)
    nearest = 0.0 if touch else _smallest(spans, _nearest)
    if any(math.isinf(one.low) or math.isinf(one.high) for one in spans):
        return Span(math.sqrt(nearest / df), math.inf)
    furthest = _smallest(spans, _furthest)
    return Span(math.sqrt(nearest / df) * (1 - 1e-9), math.sqrt(furthest / df) * (1 + 1e-9))


def _nearest(one: Span, centre: float) -> float:
    """From the centre to the nearest value of a span."""
    return centre - min(max(centre, one.low), one.high)


def _furthest(one: Span, centre: float) -> float:
    """From the centre to the furthest value of a span."""
    return max(centre - one.low, centre - one.high, key=abs)


def _smallest(spans: Sequence[Span], off: Callable[[Span, float], float]) -> float:
    """The smallest sum of squares over all centres: it is convex in the centre, and the sum is half of its slope."""
    ends = [end for one in spans for end in (one.low, one.high) if math.isfinite(end)]
    low, high = min(ends, default=0.0), max(ends, default=0.0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if sum([off(one, middle) for one in spans]) > 0:
            high = middle
        else:
            low = middle
    centre = (low + high) / 2
    return sum(off(one, centre) ** 2 for one in spans)


def rounded(low: float, high: float) -> Span:
    """A difference of decimal numbers as it is written: 5.6 and not 5.600000000000001."""
    return Span(_plain(low), _plain(high))


def _plain(value: float) -> float:
    return float(f"{value:.12g}") if math.isfinite(value) else value


_OF_SPANS = {"min": least, "max": greatest, "range": spread, "drawdown": drawdown, "sd": deviation}
