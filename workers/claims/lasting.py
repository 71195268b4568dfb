"""Where a series begins a change that lasts, and where it is back from one.

A change begins at the first cell from which on no cell comes back to within a margin of the furthest one before it, as
in the statistics of a grid (`workers.statistics.changes`). The distance of the furthest cell before a cut from the
nearest one after it never shrinks as the cut moves on: that it is beyond the margin at a cut and not yet at the one
before is the same as that the change begins there. Its bounds come from those of all pairs, which hold together.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from registry.claims.claim import Step
from workers.claims.scene import Found, Scene, all_found, undecided
from workers.claims.statistic import ONE
from workers.statistics.judging import Span, all_of

MOST_PAIRS = 20_000
Pairs = Mapping[tuple[int, int], Span]
"""How far the first of two places is ahead of the second."""


def judge_onset(says: Step, place: int | None, scene: Scene, order: Sequence[int]) -> Found:
    """Whether the change that lasts begins at a place of the series."""
    if place is None or place == 0:
        return undecided("missing_cells")
    wanted = [(one, other) for one in range(place) for other in range(place, len(order))]
    wanted += [(one, place - 1) for one in range(place - 1)]
    if len(wanted) > MOST_PAIRS:
        return undecided("too_large")
    pairs = _apart(says, wanted, scene, order)
    if pairs is None:
        return undecided("noise_unknown")
    here = _lasting(pairs, place, len(order))
    cells = (order[place - 1], order[place])
    parts = [scene.judged((Span(says.margin, low_open=True),), here, cells)]
    if place > 1:
        parts.append(scene.judged((Span(high=says.margin),), _lasting(pairs, place - 1, len(order))))
    found = all_found(parts, all_of(one.answer for one in parts), scene)
    return Found(found.answer, here, found.reason, cells)


def _apart(
    says: Step, wanted: Sequence[tuple[int, int]], scene: Scene, order: Sequence[int]
) -> dict[tuple[int, int], Span] | None:
    sign = ONE if says.goes == "down" else -ONE
    found = {}
    for one, other in wanted:
        span = scene.world.linear([(order[one], sign), (order[other], -sign)], len(wanted))
        if span is None:
            return None
        found[one, other] = span
    return found


def _lasting(pairs: Pairs, cut: int, count: int) -> Span:
    """How far the furthest place before a cut is ahead of all from it on."""
    rest = [[pairs[one, other] for other in range(cut, count)] for one in range(cut)]
    return Span(max(min(span.low for span in one) for one in rest), max(min(span.high for span in one) for one in rest))


def judge_recovery(says: Step, ends: tuple[int | None, int | None], scene: Scene, order: Sequence[int]) -> Found:
    """Whether a series went away from where it was at one place and is back at another."""
    start, end = ends
    if start is None or end is None or start >= end:
        return undecided("missing_cells")
    between = range(start + 1, end)
    if not between:
        return undecided("too_few_points")
    pairs = _apart(says, [(start, other) for other in (*between, end)], scene, order)
    if pairs is None:
        return undecided("noise_unknown")
    away = Span(max(pairs[start, one].low for one in between), max(pairs[start, one].high for one in between))
    back = pairs[start, end]
    parts = [
        scene.judged((Span(says.margin, low_open=True),), away),
        scene.judged((Span(high=says.margin),), back),
    ]
    found = all_found(parts, all_of(one.answer for one in parts), scene)
    told = Span(0.0 - back.high, 0.0 - back.low) if says.goes == "down" else back
    detail = ""
    if parts[0].answer == "contradicted":
        went = "rose" if says.goes == "up" else "fell"
        detail = f"it never {went} by more than {says.margin:g} in between"
    return Found(found.answer, told, found.reason, (order[start], order[end]), detail=detail)
