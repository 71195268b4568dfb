"""Statements about one number, about each cell, and about where cells lie."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from registry.claims.claim import Cells, Lie, Quantifier, Value
from workers.claims.scene import Found, Scene, undecided
from workers.claims.statistic import pairwise_move, statistic
from workers.statistics.judging import Answer, Span, all_of, count_within, judge

_ORDERED = ("first", "last", "change", "drawdown")
MOVES = ("range", "drawdown")
MOST_NAMED = 12
"""Cells that an answer names."""


def judge_value(says: Value, scene: Scene) -> Found:
    """A cell, or a statistic of all cells."""
    if says.of == "count":
        sure = int(scene.facts.present[scene.declared].sum())
        return scene.judged(scene.region(says.is_), Span(sure, int(scene.cells.size)))
    order: Sequence[int] | None = scene.cells.tolist()
    if says.of in _ORDERED:
        order = scene.series(scene.along(says.along)) if scene.declared.size != 1 else order
    if order is None or (says.of == "cell" and scene.declared.size > 1):
        return undecided("vague")
    if not order:
        return undecided("missing_cells")
    if says.of == "sd" and len(order) < 2:
        return undecided("too_few_points")
    if says.of in MOVES and scene.noisy:
        found = pairwise_move(scene.region(says.is_), order, scene, falls=says.of == "drawdown")
        if found is not None:
            return found
    span = statistic(says.of, scene, order)
    return scene.judged(scene.region(says.is_), span, tuple(_deciding(says.of, order, span, scene)))


def _deciding(of: str, order: Sequence[int], span: Span | None, scene: Scene) -> Iterator[int]:
    """The cells that make the number."""
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
    """Tell whether each cell matches."""
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
