"""Judge statements about a series, for `judgement.py`: where it goes, one of its steps, and how far it moves.

Two lines for a turn: Simonsohn (2018), Advances in Methods and Practices in Psychological Science 1, 538-555.

Where a series begins a change that lasts, and where it is back from one. A change begins at the first cell from which
on no cell comes back to within a margin of the furthest one before it, as in the statistics of a grid
(`workers.statistics.changes`). The distance of the furthest cell before a cut from the nearest one after it never
shrinks as the cut moves on: that it is beyond the margin at a cut and not yet at the one before is the same as that the
change begins there. Its bounds come from those of all pairs, which hold together.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np

from registry.claims.claim import Stable, Step, Trend
from registry.grids.grid import Grid
from registry.grids.slices import kept_levels
from workers.claims.facts import Terms
from workers.claims.statistic import ONE, within_width
from workers.claims.worlds import POSITIVE, Found, Scene, added, all_found, undecided
from workers.statistics.curves import Curves
from workers.statistics.judging import Answer, Span, all_of, any_of, opposite
from workers.statistics.ranks import mann_kendalls
from workers.statistics.table import Curve, Table, abscissa_of
from workers.statistics.terms import FloatArray
from workers.statistics.trend import Trend as GridTrend
from workers.statistics.trend import trends_of

NEGATIVE = (Span(high=0, high_open=True),)
_NO_TURN = (
    "the claim does not say where the turn is, which cannot be tested where the same values chose it; turn says where"
)
NOT_NEGATIVE, NOT_POSITIVE = (Span(low=0),), (Span(high=0),)
MOST_PAIRS = 20_000
Pairs = Mapping[tuple[int, int], Span]
"""Lead of the first of two places over the second."""


def judge_trend(says: Trend, scene: Scene) -> Found:
    """Judge where a series goes."""
    order = scene.series(says.along)
    if order is None or not scene.facts.axes[says.along].ordered:
        return undecided("vague")
    if len(order) < 2:
        return undecided("missing_cells" if not order else "too_few_points")
    if says.goes in ("up_down", "down_up"):
        return _turning(says, scene, order)
    if says.goes == "not_monotone":
        parts = [_monotone(order, scene, upward=upward, strictly=False, moved=False) for upward in (True, False)]
        return all_found(parts, all_of(opposite(one.answer) for one in parts), scene)
    return _straight(says, scene, order)


def _straight(says: Trend, scene: Scene, order: Sequence[int]) -> Found:
    upward = says.goes == "up"
    if says.monotone or says.strictly:
        return _monotone(order, scene, upward=upward, strictly=says.strictly)
    region, cells = region_of(says), (order[0], order[-1])
    if scene.noisy and not bool(np.all(scene.facts.errors.is_exact[list(order)])):
        span, smallest = _tested(says.along, scene, order)
        if span is None:
            return undecided("noise_unknown") if smallest is None else _too_few(len(order), smallest, scene.alpha)
        return scene.judged(region, span, cells)
    spans = scene.world.spans(order)
    if spans is None:
        return undecided("noise_unknown")
    low, high = (np.array([getattr(one, end) for one in spans]) for end in ("low", "high"))
    span = _median_change(says.along, scene, order, low, high)
    if says.goes == "flat" or 0 not in (span.low, span.high):
        return scene.judged(region, span, cells)
    return _by_pairs(span, low, high, scene, cells, upward=upward)


def region_of(says: Trend) -> tuple[Span, ...]:
    """The changes from end to end with which a series goes where it is said to go."""
    if says.goes == "flat":
        return (Span(-(says.margin or 0.0), says.margin or 0.0),)
    return POSITIVE if says.goes == "up" else NEGATIVE


def _too_few(points: int, smallest: float, alpha: float) -> Found:
    tied = 2 / math.factorial(min(points, 20)) < alpha
    few = f"too many ties: with {points} points" if tied else f"too few points: with {points}"
    return undecided("too_few_points", f"there are {few} the smallest p is {smallest:.3g}")


def _monotone(order: Sequence[int], scene: Scene, *, upward: bool, strictly: bool, moved: bool = True) -> Found:
    """No step against the direction and, if it `moved`, a change from end to end; or every step with it."""
    region = POSITIVE if upward else NEGATIVE
    weak = NOT_NEGATIVE if upward else NOT_POSITIVE
    steps = [[(after, ONE), (before, -ONE)] for before, after in pairwise(order)]
    whole = [(order[-1], ONE), (order[0], -ONE)]
    family = len(steps) + (moved and not strictly)
    parts = [scene.judged(region if strictly else weak, scene.world.linear(step, family)) for step in steps]
    against = [cell for step, one in zip(steps, parts, strict=True) for cell, _ in step if one.answer == "contradicted"]
    answers = [one.answer for one in parts]
    unknown = all(one.reason == "noise_unknown" for one in parts)
    count = None if unknown else Span(answers.count("supported"), len(answers) - answers.count("contradicted"))
    if moved and not strictly:
        parts.append(scene.judged(region, scene.world.linear(whole, family)))
    found = all_found(parts, all_of(one.answer for one in parts), scene)
    return Found(found.answer, count, found.reason, tuple(sorted(set(against)))[:12], total=len(steps))


def _turning(says: Trend, scene: Scene, order: Sequence[int]) -> Found:
    """One line to the turn and another from it on; the turn is stated, or the most extreme cell that was posted."""
    rising = says.goes == "up_down"
    turns = _turns(says, scene, order, rising=rising)
    if turns is None:
        return undecided("vague", _NO_TURN) if scene.noisy and says.turn is None else undecided("missing_cells")
    answers: list[Answer] = []
    parts: list[Found] = []
    for turn in turns:
        if not 0 < turn < len(order) - 1:
            answers.append("contradicted")
            continue
        found = [_straight(*half) for half in _halves(says, scene, order, turn)]
        parts += found
        answers.append(all_of(one.answer for one in found))
    return all_found(parts, any_of(answers), scene)


def _halves(says: Trend, scene: Scene, order: Sequence[int], turn: int) -> list[tuple[Trend, Scene, Sequence[int]]]:
    """Both lines that meet at a turn. Both are looked at, so each has half of alpha."""
    ways: tuple[Literal["up", "down"], ...] = ("up", "down") if says.goes == "up_down" else ("down", "up")
    plain = [Trend(says.along, goes, says.monotone, says.strictly) for goes in ways]
    return list(zip(plain, (scene.shared(2),) * 2, (order[: turn + 1], order[turn:]), strict=True))


def lines_of(says: Trend, scene: Scene, order: Sequence[int]) -> list[tuple[Trend, Scene, Sequence[int]]]:
    """The straight courses that a trend, whose turn is stated, consists of: itself, or one to the turn and one from it
    on."""
    if says.turn is None:
        return [(says, scene, order)]
    turns = _turns(says, scene, order, rising=says.goes == "up_down") or []
    return [half for turn in turns if 0 < turn < len(order) - 1 for half in _halves(says, scene, order, turn)]


def _turns(says: Trend, scene: Scene, order: Sequence[int], *, rising: bool) -> list[int] | None:
    if says.turn is not None:
        levels = scene.facts.levels[says.along]
        kept = kept_levels(levels, [says.turn])
        column = scene.facts.column(says.along)
        return [place for place, cell in enumerate(order) if int(column[cell]) in kept] or None
    # Chosen by the values themselves: a test that knows the turn beforehand would not hold.
    if scene.noisy:
        return None
    if scene.world.name == "declared" and not bool(np.all(scene.facts.present[list(order)])):
        return None
    values = [scene.facts.value(cell) for cell in order]
    extreme = max(values) if rising else min(values)
    return [place for place, value in enumerate(values) if value == extreme]


def _by_pairs(
    span: Span, low: FloatArray, high: FloatArray, scene: Scene, cells: tuple[int, int], *, upward: bool
) -> Found:
    """Where the median slope is exactly 0, as ties make it, more rising or falling pairs (Kendall's S) are the
    direction."""
    first, second = np.triu_indices(len(low), 1)
    least, most = np.sign(low[second] - high[first]), np.sign(high[second] - low[first])
    ends = [(span.low, least.sum()), (span.high, most.sum())]
    (low_change, low_score), (high_change, high_score) = ends if upward else [(-one, -s) for one, s in ends[::-1]]
    answer: Answer = "not_decidable"
    if low_change > 0 or (low_change == 0 and low_score > 0):
        answer = "supported"
    elif high_change < 0 or (high_change == 0 and high_score <= 0):
        answer = "contradicted"
    falling, rising = int(np.sum(most < 0)), int(np.sum(least > 0))
    told = f"by {rising} rising pairs of {first.size}, {falling} falling"
    told = told if upward else f"by {falling} falling pairs of {first.size}, {rising} rising"
    reason = scene.why if answer == "not_decidable" else None
    return Found(answer, span, reason, cells, "" if reason else told)


def _median_change(along: str, scene: Scene, order: Sequence[int], low: FloatArray, high: FloatArray) -> Span:
    """The change from end to end by the median slope of values between these ends."""
    axis = scene.facts.axes[along]
    x = abscissa_of(axis)[0][scene.facts.column(along)[list(order)]]
    first, second = np.triu_indices(len(order), 1)
    apart, distance = x[second] - x[first], float(x[-1] - x[0])
    ends = [np.median((one[second] - other[first]) / apart) * distance for one, other in ((low, high), (high, low))]
    # Values are decimal numbers: what differs from 0 by less than their last digits is 0.
    size = max((abs(end) for end in (*low, *high) if np.isfinite(end)), default=0.0)
    plain_low, plain_high = (0.0 if abs(end) <= 1e-12 * size else float(end) for end in ends)
    return Span(plain_low, plain_high)


def _tested(along: str, scene: Scene, order: Sequence[int]) -> tuple[Span | None, float | None]:
    """The change as the trend statistics of grids see it, with an interval that agrees with their test; of too few
    points for that test the smallest p that they can reach."""
    curves = Curves.of([curve_of(along, scene, order)])
    if curves.noise is None:
        test = mann_kendalls(curves.ticks, curves.ties, scene.alpha)[0]
        if test.status == "insufficient":
            return None, test.min_attainable_p
    return tested_spans(curves, scene.alpha)[0], None


def tested_spans(curves: Curves, alpha: float) -> list[Span]:
    """The change of each series by the test of its trend."""
    return [_tested_span(one, alpha) for one in trends_of(curves, alpha)]


def _tested_span(found: GridTrend, alpha: float) -> Span:
    change, p = found.change, found.p
    if change is None or p is None:
        return Span()
    if change.interval is None:
        low, high = (0.0, np.inf) if change.value > 0 else (-np.inf, 0.0)
        return Span(low, high, change.value > 0, change.value < 0) if p < alpha else Span()
    low, high = change.interval.low, change.interval.high
    # The interval agrees with the test: where that rejects no change, 0 is no part of it.
    sure = p < alpha and low < high
    return Span(low, high, sure and low == 0, sure and high == 0)


def curve_of(along: str, scene: Scene, order: Sequence[int]) -> Curve:
    """Some cells as a series of a grid of their own."""
    [curve] = Table.of(_as_grid(along, scene, order)).curves(0)
    return curve


def _as_grid(along: str, scene: Scene, order: Sequence[int]) -> Grid:
    facts = scene.facts
    grid = facts.sources[int(facts.owner[order[0]])].grid
    at = [int(facts.index[cell]) for cell in order]
    levels = facts.levels[along]
    axis = facts.axes[along]
    codes = facts.column(along)[list(order)].tolist()

    def taken(column: Sequence[object] | None) -> tuple[object, ...] | None:
        return None if column is None else tuple(column[place] for place in at)

    return Grid(
        grid.metric,
        (type(axis)(axis.name, axis.kind, tuple(levels[code] for code in codes), axis.unit, axis.scale),),
        taken(grid.values),  # type: ignore[arg-type]
        taken(grid.trials) if isinstance(grid.trials, tuple) else grid.trials,  # type: ignore[arg-type]
        taken(grid.stderr),  # type: ignore[arg-type]
        taken(grid.repeats),  # type: ignore[arg-type]
        taken(grid.sd),  # type: ignore[arg-type]
        design_effect=grid.design_effect,
    )


def judge_step(says: Step, scene: Scene) -> Found:
    """One step: its direction, its size, and whether another is larger; or where a change begins."""
    order = scene.series(says.along)
    if order is None:
        return undecided("vague")
    if says.onset is not None:
        return judge_onset(says, _place(says.onset, says, scene, order), scene, order)
    place = _place(says.to or "", says, scene, order)
    start = _place(says.from_, says, scene, order) if says.from_ else None if place is None else place - 1
    if place is None or start is None or not 0 <= start < place:
        return undecided("missing_cells")
    sign = ONE if says.goes == "up" else -ONE
    mine: Terms = [(order[place], sign), (order[start], -sign)]
    others = [(one, other) for one, other in pairwise(order) if (one, other) != (order[start], order[place])]
    rivals = others if says.largest else []
    family = 1 + (says.size is not None) + len(rivals)
    span = scene.world.linear(mine, family)
    parts = [scene.judged(POSITIVE, span)]
    if says.size is not None:
        parts.append(scene.judged(scene.region(says.size), span))
    for before, after in rivals:
        ahead = added([*mine, (after, -sign), (before, sign)])
        parts.append(scene.judged(NOT_NEGATIVE, scene.world.linear(ahead, family)))
    found = all_found(parts, all_of(one.answer for one in parts), scene)
    return Found(found.answer, span, found.reason, (order[start], order[place]))


def _place(level: str, says: Step, scene: Scene, order: Sequence[int]) -> int | None:
    kept = kept_levels(scene.facts.levels[says.along], [level])
    column = scene.facts.column(says.along)
    return next((place for place, cell in enumerate(order) if int(column[cell]) in kept), None)


def judge_stable(says: Stable, scene: Scene) -> Found:
    """Judge how far a series moves at most."""
    order = scene.series(says.along)
    if order is None:
        return undecided("vague")
    if len(order) < 2:
        return undecided("missing_cells" if not order else "too_few_points")
    return within_width([[(cell, ONE)] for cell in order], says.within, scene)


def judge_onset(says: Step, place: int | None, scene: Scene, order: Sequence[int]) -> Found:
    """Tell whether the change that lasts begins at a place of the series."""
    if place is None or place == 0:
        return undecided("missing_cells")
    wanted = [(one, other) for one in range(place) for other in range(place, len(order))]
    wanted += [(one, place - 1) for one in range(place - 1)]
    if len(wanted) > MOST_PAIRS:
        return undecided("too_large")
    sign, pairs = ONE if says.goes == "down" else -ONE, {}
    for one, other in wanted:
        span = scene.world.linear([(order[one], sign), (order[other], -sign)], len(wanted))
        if span is None:
            return undecided("noise_unknown")
        pairs[one, other] = span
    here = _lasting(pairs, place, len(order))
    cells = (order[place - 1], order[place])
    parts = [scene.judged((Span(says.margin, low_open=True),), here, cells)]
    if place > 1:
        before = _lasting(pairs, place - 1, len(order))
        parts.append(scene.judged((Span(high=says.margin),), before))
        if parts[1].answer == "contradicted":
            return Found("contradicted", before, cells=(order[place - 2], cells[0]), detail="it begins earlier")
    found = all_found(parts, all_of(one.answer for one in parts), scene)
    return Found(found.answer, here, found.reason, cells)


def _lasting(pairs: Pairs, cut: int, count: int) -> Span:
    """Lead of the furthest place before a cut over all from it on."""
    rest = [[pairs[one, other] for other in range(cut, count)] for one in range(cut)]
    return Span(max(min(span.low for span in one) for one in rest), max(min(span.high for span in one) for one in rest))
