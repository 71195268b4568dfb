"""The trends and breaks of a grid in sentences; what was not shown is said with what would have been seen."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from registry.renderings.directions import differs
from registry.renderings.numbers import decimals_of, fixed, level_of, p_value, places_of, rough, signed, within
from registry.renderings.sheet import Block, Lines
from registry.renderings.words import counted, place, slope_per, spoken
from registry.results.parameters import Parameters
from registry.results.series import Series
from registry.results.statistics import Statistics
from registry.results.steps import Change
from registry.results.terms import Interval
from registry.results.trend_tests import GridTrend

_MOVES = {
    "decreasing": "falls",
    "increasing": "rises",
    "slightly_decreasing": "falls slightly (by less than the margin of equivalence)",
    "slightly_increasing": "rises slightly (by less than the margin of equivalence)",
}
_TOO_FEW = {
    "constant": "one value throughout",
    "single_point": "a single cell",
    "two_points": "two cells, too few for a trend",
    "insufficient_points": "too few cells for any trend to be significant",
}
_MOST = 40
"""Series, and lines about breaks, as far as a report writes them out."""


def blocks(statistics: Statistics) -> Iterator[Block]:
    """A sentence for each series that moves, and for each that was not shown to."""
    series = statistics.series
    if not series:
        yield "No axis with an order has a series."
        return
    for along, group in itertools.groupby(series, key=lambda one: one.along):
        found = list(group)
        yield f"Along {along}:"
        moving = [one for one in found if one.direction in _MOVES]
        lines = [_moves(one, len(found), statistics.axes) for one in moving[:_MOST]]
        if len(moving) > _MOST:
            lines.append(f"{len(moving) - _MOST} more series move; /trends has all.")
        lines += _stay(found, statistics.params)
        lines += _whole(statistics.grid_trend.get(along), statistics.params)
        yield Lines(tuple(lines))
    if statistics.series_left_out:
        yield f"{statistics.series_left_out} series beyond the limits were left out."


def _name(one: Series) -> str:
    return place(one.at) or "The grid"


def _moves(one: Series, count: int, axes: Sequence[Mapping[str, Any]]) -> str:
    ends = decimals_of([one.first, one.last])
    course = f"{fixed(one.first, ends)} at {spoken(one.from_)} to {fixed(one.last, ends)} at {spoken(one.to)}"
    sentence = f"{_name(one)} {_MOVES[one.direction]}, from {course} ({counted(one.count, 'cell', 'cells')})"
    change = one.fitted_change
    if change and change.interval:
        sentence += f"; fitted change {_estimate(change.value, change.interval)}"
    interval = one.slope_interval
    if one.slope is not None and interval and not (change and change.interval):
        # Beside a fitted change it would be a second method, whose interval may say otherwise.
        per = slope_per(axes, one.along, one.x_scale)
        sentence += f"; slope {_estimate(one.slope, interval)} per {per}"
    p = one.trend_p if one.trend_p is not None else one.mann_kendall.p
    sentence += f"; p {p_value(p)}" if p is not None else ""
    if one.q is not None and count > 1:
        sentence += f", q {p_value(one.q)} among {count} series"
    return sentence + "."


def _estimate(value: float, interval: Interval) -> str:
    places = places_of([value, interval.low, interval.high])
    return f"{signed(value, places)} ({within(interval)})"


def _stay(series: Sequence[Series], params: Parameters) -> Iterator[str]:
    """The series that show no trend: level, varying, undecided, or too short to say."""
    groups = {name: [one for one in series if one.direction == name] for name in ("flat", "inconclusive")}
    yield from _each(groups["flat"], lambda one: _level(one, params))
    yield from _varying([one for one in series if one.direction == "varies_without_trend"])
    yield from _each(groups["inconclusive"], lambda one: _undecided(one, params))
    for direction, said in _TOO_FEW.items():
        found = [one for one in series if one.direction == direction]
        if found:
            yield f"{_names(found)}: {said}."


def _each(found: Sequence[Series], told: Any) -> Iterator[str]:
    yield from (f"{_name(one)}{told(one)}" for one in found[:_MOST])
    if len(found) > _MOST:
        yield f"{len(found) - _MOST} more series like these; /trends has all."


def _names(found: Sequence[Series]) -> str:
    more = f"; and {len(found) - _MOST} more" if len(found) > _MOST else ""
    return "; ".join(_name(one) for one in found[:_MOST]) + more


def _level(one: Series, params: Parameters) -> str:
    """Sentence about series that are shown to be flat: an interval within the margin."""
    margin, interval = params.equivalence, one.fitted_change.interval if one.fitted_change else None
    if margin is None or not interval:
        return " is level: the change lies within the margin of equivalence."
    size, places = fixed(margin, decimals_of([margin])), places_of([interval.low, interval.high])
    ends = f"{fixed(interval.low, places)} to {fixed(interval.high, places)}"
    return f" is level: the change lies within ± {size} with {level_of(interval)} confidence ({ends})."


def _varying(found: Sequence[Series]) -> Iterator[str]:
    if found:
        each = "the cells differ" if len(found) == 1 else "in each the cells differ"
        yield f"{_names(found)}: {each} by more than their noise; no rise or fall was shown."


def _undecided(one: Series, params: Parameters) -> str:
    """Absence of evidence with what would have been evidence."""
    interval, seen = one.fitted_change.interval if one.fitted_change else None, one.detectable
    p = one.q if one.q is not None else one.trend_p
    known = [f"change: {within(interval)}"] if interval else []
    known += [f"q {p_value(p)}"] if p is not None else []
    told = f" ({'; '.join(known)})" if known else ""
    if seen is None:
        return f": no trend was shown{told}; the noise is not known, so nobody can say what would have been seen."
    power = 100 * params.power
    return f": no trend was shown{told}; a change of {rough(seen)} or more would have been seen with power {power:g} %."


def _whole(trend: GridTrend | None, params: Parameters) -> Iterator[str]:
    if trend is None or trend.p is None or trend.rows < 2:
        return
    if trend.p < params.alpha:
        yield f"Taken together the series {'fall' if trend.s < 0 else 'rise'}, though a single one may not " + (
            f"(if they are independent): p {p_value(trend.p)}."
        )
    else:
        yield f"No direction common to all series was shown: p {p_value(trend.p)}."


def breaks(statistics: Statistics) -> Iterator[Block]:
    """The sharp steps, and the series whose shape is a step or a hinge."""
    series = statistics.series
    lines = [line for one in series for line in _breaks(one)]
    reasons = {one.sharp_reason for one in series}
    if "noise_unknown" in reasons:
        yield "No step is called sharp where the noise of the cells is not known; " + _largest(series)
    elif "no_margin" in reasons:
        yield "No step is called sharp, for no margin is set where a metric has no bounds; " + _largest(series)
    elif not any(step.sharp for one in series for step in one.changes):
        yield "No step was shown to be sharp."
    if lines:
        yield Lines(tuple(lines[:_MOST]))
    if len(lines) > _MOST:
        yield f"{len(lines) - _MOST} more; /changes has all."


def _largest(series: Sequence[Series]) -> str:
    """The largest step of all, which is a number and no verdict."""
    steps = [(one, step) for one in series for step in one.changes]
    if not steps:
        return "there is none to look at."
    one, step = max(steps, key=lambda each: abs(each[1].size))
    return f"the largest is {_step(one, step)}."


def _step(one: Series, step: Change) -> str:
    size = signed(step.size, decimals_of([step.size]))
    where = f" at {_name(one)}" if one.at else ""
    return f"{size}{where} from {one.along} {spoken(step.from_)} to {spoken(step.to)}"


def _breaks(one: Series) -> Iterator[str]:
    for step in one.changes:
        if step.sharp:
            interval = f", {within(step.interval)}" if step.interval else ""
            yield f"Sharp: {_step(one, step)}{interval}, p {p_value(step.p_holm)} after Holm over the grid."
    shape = one.shape
    # By an information criterion alone flat series have bends too: the tables show them, no sentence does.
    if shape.kind in ("step", "hinge") and shape.criterion == "chi2" and differs(one):
        what = "a step" if shape.kind == "step" else "a bend"
        where = f"{one.along} {spoken(shape.at)}"
        yield f"{_name(one)}: {what} at {where} describes it; a constant and a line do not fit."
    yield from _onset(one)


def _onset(one: Series) -> Iterator[str]:
    onset = one.onset
    if onset is not None and onset.level is not None:
        where = f"{one.along} {spoken(onset.level)}"
        yield f"{_name(one)}: the decline begins at {where}, p {p_value(onset.p_holm)} after Holm."
