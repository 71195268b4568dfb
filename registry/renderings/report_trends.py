"""The trends and breaks of a grid in sentences."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from registry.renderings.numbers import decimals_of, fixed, p_value, places_of, signed
from registry.renderings.sheet import Block, Lines
from registry.renderings.words import counted, label, place

Document = Mapping[str, Any]
_MOVES = {
    "decreasing": "falls",
    "increasing": "rises",
    "slightly_decreasing": "falls slightly (less than the margin of equivalence)",
    "slightly_increasing": "rises slightly (less than the margin of equivalence)",
}
_STILL = {
    "varies_without_trend": "varies by more than noise, without a trend",
    "flat_within_noise": "is level as far as noise can tell",
    "flat": "is level within the margin of equivalence",
    "constant": "has one value throughout",
    "single_point": "has a single cell",
    "two_points": "has two cells, too few for a trend",
    "insufficient_points": "has too few cells for any trend to be significant",
    "inconclusive": "is inconclusive: a trend is neither shown nor ruled out",
}
_MOST = 40


def blocks(statistics: Document) -> Iterator[Block]:
    """A sentence for each series that moves, and one for each way of not moving."""
    series = statistics.get("series") or []
    if not series:
        yield "No axis with an order has a series."
        return
    alpha = (statistics.get("params") or {}).get("alpha") or 0.05
    for along, group in itertools.groupby(series, key=lambda one: one["along"]):
        found = list(group)
        yield f"Along {along}:"
        moving = [one for one in found if one.get("direction") in _MOVES]
        lines = [_moves(one, len(found), alpha) for one in moving[:_MOST]]
        if len(moving) > _MOST:
            lines.append(f"{len(moving) - _MOST} more series move; /trends has all.")
        lines += _stay(found)
        lines += _whole((statistics.get("grid_trend") or {}).get(along), alpha)
        yield Lines(tuple(lines))
    if statistics.get("series_left_out"):
        yield f"{statistics['series_left_out']} series beyond the limits were left out."


def _name(one: Document) -> str:
    return place(one.get("at") or {}) or "The grid"


def _moves(one: Document, count: int, alpha: float) -> str:
    ends = decimals_of([one["first"], one["last"]])
    course = f"{fixed(one['first'], ends)} at {label(one['from'])} to {fixed(one['last'], ends)} at {label(one['to'])}"
    sentence = f"{_name(one)} {_MOVES[one['direction']]}, from {course} ({counted(one['count'], 'cell', 'cells')})"
    interval = one.get("slope_interval")
    if one.get("slope") is not None and interval:
        places = places_of([one["slope"], interval["low"], interval["high"]])
        per = "a factor of ten" if one.get("x_scale") == "log10" else f"unit of {one['along']}"
        ends_text = f"{fixed(interval['low'], places)} to {fixed(interval['high'], places)}"
        sentence += (
            f"; slope {signed(one['slope'], places)} per {per}, {100 * interval['level']:g} % interval {ends_text}"
        )
    p = one.get("trend_p") if one.get("trend_p") is not None else (one.get("mann_kendall") or {}).get("p")
    if p is not None:
        sentence += f"; p {p_value(p)}"
    q = one.get("q")
    if q is not None and count > 1:
        sentence += f", q {p_value(q)} among {count} series"
        if q >= alpha:
            sentence += " (as one of so many this may be chance)"
    return sentence + "."


def _stay(series: Sequence[Document]) -> Iterator[str]:
    """The series that show no trend, together by what can be said of them."""
    for direction, said in _STILL.items():
        found = [one for one in series if one.get("direction") == direction]
        if found:
            named = "; ".join(_name(one) for one in found[:_MOST])
            more = f"; and {len(found) - _MOST} more" if len(found) > _MOST else ""
            yield f"{named}{more}: {said if len(found) == 1 else 'each ' + said}."


def _whole(trend: Document | None, alpha: float) -> Iterator[str]:
    if not trend or trend.get("p") is None or trend.get("rows", 0) < 2:
        return
    direction = "fall" if trend["s"] < 0 else "rise"
    if trend["p"] < alpha:
        yield f"All series together {direction}: p {p_value(trend['p'])}."
    else:
        yield f"All series together show no common direction: p {p_value(trend['p'])}."


def breaks(statistics: Document) -> Iterator[Block]:
    """The sharp steps, and the series whose shape is a step or a hinge."""
    lines = [line for one in statistics.get("series") or () for line in _breaks(one)]
    if not lines:
        yield "No step is sharp, and no series needs a step or a bend to be described."
        return
    yield Lines(tuple(lines[:_MOST]))
    if len(lines) > _MOST:
        yield f"{len(lines) - _MOST} more; /changes has all."


def _breaks(one: Document) -> Iterator[str]:
    along = one["along"]
    for step in one.get("changes") or ():
        if step.get("sharp"):
            places = decimals_of([step["size"]])
            sentence = (
                f"{_name(one)}: {signed(step['size'], places)} from {along} {label(step['from'])} to "
                f"{label(step['to'])}"
            )
            interval = step.get("interval")
            if interval:
                finer = places_of([interval["low"], interval["high"]])
                low, high = fixed(interval["low"], finer), fixed(interval["high"], finer)
                sentence += f", {100 * interval['level']:g} % interval {low} to {high}"
            if step.get("p_holm") is not None:
                sentence += f", p {p_value(step['p_holm'])} after Holm"
            else:
                sentence += " (by its size alone: the noise is not known)"
            yield sentence + "."
    shape = one.get("shape") or {}
    if shape.get("kind") in ("step", "hinge") and shape.get("at") is not None:
        what = "a step" if shape["kind"] == "step" else "a bend"
        why = (
            "a constant and a line do not" if shape.get("criterion") == "chi2" else "by BIC, for the noise is not known"
        )
        yield f"{_name(one)}: {what} at {along} {label(shape['at'])} describes it; {why}."
