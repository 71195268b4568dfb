"""Judge statements about one number, about each cell, and about where cells lie, by statistics of cells.

Of a cell only a span is known: the bounds of a statistic hold whatever the values within the spans are.

How far sums of cells are apart, or from 0, at most. That all of them lie within a width is shown one by one, each at
alpha (intersection-union: Berger 1982, Technometrics 24, 295-300); that they do not, by simultaneous intervals.
"""

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations

from registry.claims.claim import Cells, Lie, Quantifier, Value
from workers.claims.facts import Terms
from workers.claims.worlds import Found, Scene, added, undecided
from workers.statistics.judging import Answer, Span, all_of, count_within, judge

ONE = Fraction(1)
MOST_SUMS = 20_000


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


def deviation(spans: Sequence[Span]) -> Span:
    """The standard deviation (ddof 1)."""
    df = len(spans) - 1
    if all(one.low == one.high for one in spans):
        values = [Fraction(repr(one.low)) for one in spans]
        mean = sum(values, Fraction(0)) / len(values)
        size = math.sqrt(sum((value - mean) ** 2 for value in values) / df)
        return Span(size, size)
    middles, reaches = ([(one.low + sign * one.high) / 2 for one in spans] for sign in (1, -1))
    reach = math.hypot(*reaches) / math.sqrt(df)
    if not math.isfinite(reach):
        return Span(0.0)
    # By the triangle inequality; with what floats may be off.
    middle = math.sqrt(sum((one - sum(middles) / len(middles)) ** 2 for one in middles) / df)
    return Span(max(0.0, (middle - reach) * (1 - 1e-9)), (middle + reach) * (1 + 1e-9))


def rounded(low: float, high: float) -> Span:
    """A difference of decimal numbers as it is written: 5.6 and not 5.600000000000001."""
    return Span(_plain(low), _plain(high))


def _plain(value: float) -> float:
    return float(f"{value:.12g}") if math.isfinite(value) else value


_OF_SPANS = {"min": least, "max": greatest, "range": spread, "sd": deviation}


def within_width(sums: Sequence[Terms], width: float, scene: Scene) -> Found:
    """Tell whether the largest and the smallest of some sums of cells differ by at most a width."""
    if not scene.noisy:
        spans = [scene.world.linear(one) for one in sums]
        return scene.judged((Span(high=width),), spread([one for one in spans if one is not None]))
    if len(sums) * (len(sums) - 1) // 2 > MOST_SUMS:
        return undecided("within_noise")
    pairs = combinations(sums, 2)
    differences = [added([*one, *((cell, -factor) for cell, factor in other)]) for one, other in pairs]
    return within_reach(differences, width, scene)


def within_reach(sums: Sequence[Terms], reach: float, scene: Scene) -> Found:
    """Tell whether all of some sums of cells are at most so far from 0."""
    region = (Span(high=reach),)
    found = scene.judged(region, _reached_by(sums, scene, len(sums)))
    # That all are within is shown one by one at alpha; that one is not, on simultaneous intervals.
    if found.reason != "within_noise" or found.span is None or (each := _reached_by(sums, scene, 1)) is None:
        return found
    # The highest of their own upper ends is one of the largest of them too; the highest lower end is none.
    return found if judge(region, each) != "supported" else Found("supported", Span(found.span.low, each.high))


def _reached_by(sums: Sequence[Terms], scene: Scene, family: int) -> Span | None:
    """Bounds of the largest distance of a sum from 0."""
    low = high = 0.0
    for one in sums:
        span = scene.world.linear(one, family)
        if span is None:
            return None
        low, high = max(low, span.low, -span.high), max(high, span.high, -span.low)
    return Span(low, high)


_ORDERED = ("first", "last", "change")
MOST_NAMED = 12
"""Cells that an answer names."""


def judge_value(says: Value, scene: Scene) -> Found:
    """A cell, or a statistic of all cells."""
    order: Sequence[int] | None = scene.cells.tolist()
    if says.of in _ORDERED:
        order = scene.series(scene.along(says.along)) if scene.declared.size != 1 else order
    if order is None or (says.of == "cell" and scene.declared.size > 1):
        return undecided("vague")
    if not order:
        return undecided("missing_cells")
    if says.of == "sd" and len(order) < 2:
        return undecided("too_few_points")
    span = statistic(says.of, scene, order)
    return scene.judged(scene.region(says.is_), span, tuple(_deciding(says.of, order, span, scene)))


def _deciding(of: str, order: Sequence[int], span: Span | None, scene: Scene) -> Iterator[int]:
    if of in ("cell", "first", "last", "change"):
        yield from {"cell": order[:1], "first": order[:1], "last": order[-1:]}.get(of, [order[0], order[-1]])
    elif of in ("min", "max") and span is not None and scene.world.name == "posted":
        tied = [cell for cell in order if float(scene.facts.value(cell)) == span.low]
        yield from tied[:MOST_NAMED]


def judge_cells(says: Cells, scene: Scene) -> Found:
    """Each cell by itself, on simultaneous intervals."""
    if not scene.cells.size:
        return undecided("missing_cells")
    spans = scene.world.spans(scene.cells.tolist())
    if spans is None:
        return undecided("noise_unknown")
    region = scene.region(says.is_)
    answers = [judge(region, span) for span in spans]
    answer = quantified(says.cells_hold, answers)
    sure = answers.count("supported")
    odd = "supported" if says.cells_hold.word == "none" else "contradicted"
    named = [int(cell) for cell, one in zip(scene.cells, answers, strict=True) if one == odd]
    return Found(
        answer,
        Span(sure, len(answers) - answers.count("contradicted")),
        scene.why if answer == "not_decidable" else None,
        tuple(named[:MOST_NAMED]),
        total=len(answers),
    )


def quantified(holds: Quantifier, answers: Sequence[Answer]) -> Answer:
    """Tell whether so many of the parts hold; of no part nothing is decided."""
    if not answers:
        return "not_decidable"
    least, most = holds.bounds(len(answers))
    # All of them in words that do not count: the smallest number may exceed what there is.
    return all_of(answers) if holds.word == "all" else count_within(answers, least, most)


def judge_lie(says: Lie, scene: Scene) -> Found:
    """Judge where the cells are that match."""
    if not scene.cells.size:
        return undecided("missing_cells")
    spans = scene.world.spans(scene.cells.tolist())
    if spans is None:
        return undecided("noise_unknown")
    matches = _matching(says, spans, scene)
    regions = [set(scene.facts.select(scene.declared, one).tolist()) for one in says.inside]
    within = [any(int(cell) in region for region in regions) for cell in scene.cells]
    inside = [one for one, where in zip(matches, within, strict=True) if where]
    outside = [one for one, where in zip(matches, within, strict=True) if not where]
    answer = _share(says.cells_hold, _count(inside), _count(outside))
    named = [
        int(cell)
        for cell, one, where in zip(scene.cells, matches, within, strict=True)
        if one == "supported" and not where
    ]
    low, high = _count(inside)
    reason = scene.why if answer == "not_decidable" else None
    every = _count(matches)[0]
    return Found(answer, Span(low, high), reason, tuple(named[:MOST_NAMED]), total=every)


def _count(answers: Sequence[Answer]) -> tuple[int, int]:
    """Bounds on the number that match."""
    return answers.count("supported"), len(answers) - answers.count("contradicted")


def _share(holds: Quantifier, inside: tuple[int, int], outside: tuple[int, int]) -> Answer:
    """Tell whether so many of those that match are inside, for every number that may match."""
    truths = set()
    for here in {*inside, *([int(holds.number)] if inside[0] <= holds.number <= inside[1] else [])}:
        for there in outside:
            least, most = holds.bounds(here + there)
            # Nothing that matches lies nowhere.
            truths.add(least <= here <= most if here + there else None)
    for near in (int(holds.number) - 1, int(holds.number) + 1):
        if holds.word == "exactly" and inside[0] <= near <= inside[1]:
            truths.add(False)
    return "not_decidable" if len(truths) > 1 or None in truths else "supported" if True in truths else "contradicted"


def _matching(says: Lie, spans: Sequence[Span], scene: Scene) -> list[Answer]:
    if says.matching is not None:
        region = scene.region(says.matching)
        return [judge(region, span) for span in spans]
    wanted = says.lowest or says.highest or 1
    turned = spans if says.lowest else [Span(-one.high, -one.low) for one in spans]
    lows, highs = sorted(one.low for one in turned), sorted(one.high for one in turned)
    return [_among(one, wanted, lows, highs) for one in turned]


def _among(one: Span, wanted: int, lows: Sequence[float], highs: Sequence[float]) -> Answer:
    """Tell whether a cell is among the lowest so many; those that tie with the last of them are too."""
    surely_below = bisect_left(highs, one.low)
    possibly_below = bisect_left(lows, one.high) - (1 if one.low < one.high else 0)
    if possibly_below < wanted:
        return "supported"
    return "contradicted" if surely_below >= wanted else "not_decidable"
