"""How far sums of cells are apart, or from 0, at most.

That all of them lie within a width is shown one by one, each at alpha (intersection-union: Berger 1982, Technometrics
24, 295-300); that they do not, by simultaneous intervals.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from workers.claims.scene import Found, Scene, undecided
from workers.claims.statistic import ONE, spread
from workers.claims.worlds import Terms, added
from workers.statistics.judging import Answer, Region, Span, judge

MOST_SUMS = 20_000


def within_width(sums: Sequence[Terms], width: float, scene: Scene) -> Found:
    """Whether the largest and the smallest of some sums of cells differ by at most a width."""
    if not scene.noisy:
        spans = [scene.world.linear(one) for one in sums]
        return scene.judged((Span(high=width),), spread([one for one in spans if one is not None]))
    if len(sums) * (len(sums) - 1) // 2 > MOST_SUMS:
        return undecided("within_noise")
    pairs = combinations(sums, 2)
    differences = [added([*one, *((cell, -factor) for cell, factor in other)]) for one, other in pairs]
    return within_reach(differences, width, scene)


def within_reach(sums: Sequence[Terms], reach: float, scene: Scene) -> Found:
    """Whether all of some sums of cells are at most so far from 0."""
    region = (Span(high=reach),)
    return _reached(region, sums, scene) if scene.noisy else scene.judged(region, _furthest(sums, scene, len(sums)))


def pairwise_move(region: Region, order: Sequence[int], scene: Scene, *, falls: bool) -> Found | None:
    """Whether the largest difference of two noisy cells, or the deepest fall from one to a later one, lies within a
    region: by the limits of all pairs, as statements of stability have it. None where the pairs are too many."""
    if len(order) * (len(order) - 1) // 2 > MOST_SUMS:
        return None
    return _reached(region, [[(one, ONE), (other, -ONE)] for one, other in combinations(order, 2)], scene, falls=falls)


def _reached(region: Region, sums: Sequence[Terms], scene: Scene, *, falls: bool = False) -> Found:
    joint = _furthest(sums, scene, len(sums), falls=falls)
    if joint is None:
        return undecided("noise_unknown")
    answer: Answer = judge(region, joint)
    bounds_above = all(one.low < 0 or (one.low == 0 and not one.low_open) for one in region)
    # An upper bound is shown one by one at alpha; everything else on simultaneous intervals.
    if answer == "not_decidable" and bounds_above:
        single = _furthest(sums, scene, 1, falls=falls)
        answer = "supported" if judge(region, single) == "supported" else answer
    return Found(answer, joint, scene.why if answer == "not_decidable" else None)


def _furthest(sums: Sequence[Terms], scene: Scene, family: int, *, falls: bool = False) -> Span | None:
    """Bounds of the largest distance of a sum from 0, with `falls` only above it."""
    low = high = 0.0
    for one in sums:
        span = scene.world.linear(one, family)
        if span is None:
            return None
        low = max(low, span.low, low if falls else -span.high)
        high = max(high, span.high, high if falls else -span.low)
    return Span(low, high)
