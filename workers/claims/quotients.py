"""The quotient of two sums of cells, as far as a world knows it."""

from __future__ import annotations

import math

from workers.claims.scene import Scene
from workers.claims.worlds import Posted, Terms
from workers.statistics.judging import Span


def quotient(above: Terms, below: Terms, family: int, scene: Scene) -> Span | None:
    """`above` by `below`, both of which are above 0 as posted; None where it is unknown, or both have noisy cells in
    common, or cells may be missing as well. On noise it has the factors r for which 0 is within the interval of `above`
    - r `below`, by which claims of a factor are judged; without an end where `below` may be 0."""
    one, other = scene.world.linear(above, family), scene.world.linear(below, family)
    if one is None or other is None:
        return None
    if not scene.noisy:
        return _of_spans(one, other)
    if scene.world.name == "joint" or {cell for cell, _ in above} & {cell for cell, _ in below}:
        return None
    posted = Posted(scene.facts)
    a, b = (span.low for terms in (above, below) if (span := posted.linear(terms)) is not None)
    # Both ends are zeros of (a - r b)² = (a - end of above)² + r² (b - end of below)².
    low_c, low_a = one.low * (2 * a - one.low), other.high * (2 * b - other.high)
    high_c, high_a = one.high * (2 * a - one.high), other.low * (2 * b - other.low)
    # Rounding may put an end beyond the quotient itself, where there is next to no noise.
    low = min(a / b, low_c / (a * b + math.sqrt(max(0.0, (a * b) ** 2 - low_a * low_c))))
    if other.low <= 0:
        return Span(low)
    return Span(low, max(a / b, (a * b + math.sqrt(max(0.0, (a * b) ** 2 - high_a * high_c))) / high_a))


def _of_spans(one: Span, other: Span) -> Span:
    """The quotient of any two numbers of these."""
    if other.low <= 0:
        return Span()
    ends = [first / second for first in (one.low, one.high) for second in (other.low, other.high)]
    return Span(min(ends), max(ends))
