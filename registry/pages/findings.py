"""Findings of a grid's statistics, in a few lines: what falls and rises, where it breaks, what is best, what was never
measured."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from registry.renderings.changes import reasons_of
from registry.renderings.grid import decimals_shown, flat
from registry.renderings.numbers import fixed, level_of, p_value, places_of, places_shown, rough, signed, span, typeset
from registry.renderings.peaks import is_shown
from registry.renderings.precision import places_posted
from registry.renderings.repeat_noise import floor_of_noise
from registry.renderings.trends import has_q, name_of_p
from registry.renderings.verdicts.estimate import Yardstick
from registry.renderings.verdicts.grid import decline
from registry.renderings.words import (
    counted,
    label,
    lasting,
    place,
    places,
    reaches_0,
    spoken,
    told_change,
    unlike_a_line,
)
from registry.results.courses import Series
from registry.results.grid import GridDocument, PostedAxis
from registry.results.statistics import Statistics
from registry.results.terms import Interval

LISTED = 8
_MOST = 12
"""Cells that may be the best, as far as they are named."""
NARROW = "\u00a0"
_COURSES = (
    ("Falls with", ("decreasing",)),
    ("Rises with", ("increasing",)),
    ("Falls slightly with", ("slightly_decreasing",)),
    ("Rises slightly with", ("slightly_increasing",)),
    ("Level within the margin along", ("flat",)),
    ("One value throughout along", ("constant",)),
    ("Varies, falls and then rises along", ("falls_then_rises",)),
    ("Varies, rises and then falls along", ("rises_then_falls",)),
    ("Varies, no trend shown along", ("varies_without_trend",)),
    ("No trend shown along", ("inconclusive",)),
    ("Too few points, or too many ties, along", ("insufficient_points", "two_points", "single_point")),
)

MOVING = ("increasing", "decreasing", "slightly_increasing", "slightly_decreasing")
_DRIFT = "Assumed: the scatter is independent from level to level. A curve that drifts slowly looks like a trend then."
_NO_BREAKS = {
    None: "No step{of} is called sharp.",
    "noise_unknown": "Without the noise of every cell no step{of} is called sharp.",
    "no_margin": "No margin is set for a metric without two bounds, so no step{of} is called sharp.",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """A question's short answer: each entry a name and what is said of it."""

    about: str
    entries: list[tuple[str, str]]
    more: int = 0
    note: str = ""


def findings_of(document: GridDocument, statistics: Statistics) -> list[Finding]:
    """The findings about a grid with its values, from the statistics of the same revision."""
    return [*_trends(statistics), *_breaks(statistics), *_best(document, statistics), *missing_of(document)]


def _limited(about: str, entries: Sequence[tuple[str, str]], note: str = "") -> Finding:
    told = [(name, typeset(said)) for name, said in entries[:LISTED]]
    return Finding(about, told, max(0, len(entries) - LISTED), note)


def _trends(statistics: Statistics) -> Iterator[Finding]:
    """Which series fall and rise along each axis, by how much and how surely; the surest first."""
    single = [axis["name"] for axis in statistics.axes if len(axis.get("levels", ())) == 1]
    for along, found in itertools.groupby(statistics.series, key=lambda one: one.along):
        series = [one for one in found if along not in single]
        sure = "q" if has_q(series) else name_of_p(series)
        for words, directions in _COURSES:
            here = [one for one in series if one.direction in directions]
            here.sort(key=lambda one: 1.0 if one.q is None else one.q)
            if here:
                told = [(_name(statistics, one), _trend(one, sure, statistics)) for one in here]
                drifting = any(one.direction in MOVING and one.noise == "unknown" for one in here)
                yield _limited(f"{words} {along}", told, _DRIFT if drifting else "")


def _name(statistics: Statistics, one: Series) -> str:
    return place(one.at) or ("these cells" if statistics.slice else "the whole grid")


def _trend(one: Series, sure: str, statistics: Statistics) -> str:
    """From where to where, the change of the ends with its interval (without noise along a line), how sure that is, by
    the name of its column, and where a lasting decline begins."""
    ends = [one.first, one.last]
    exact = places_posted(statistics, [end for end in ends if end is not None])
    if one.count == 1:
        return f"1 point, {fixed(one.first, exact)}"
    told = [f"{fixed(ends[0], exact)}\u2009→\u2009{fixed(ends[1], exact)} over {one.count:,} points"]
    change = told_change(one)
    if change and (interval := change.interval):
        decimals = places_of([change.value, interval.low, interval.high])
        what = "change" if one.end_change else "fitted change"
        told.append(
            f"{what} {signed(change.value, decimals)}{_within(interval, decimals, ', widened to 0' * reaches_0(one))}"
        )
    told += unlike_a_line(one)
    if one.direction == "inconclusive":
        if one.detectable is not None:
            told.append(f"a change of {rough(one.detectable)} along a line would have been seen (power 80\u00a0%)")
        elif one.noise != "unknown":
            told.append("even a large change may have been missed (power below 80\u00a0%)")
    elif one.q is not None and one.direction in MOVING:
        told.append(f"{sure}\u00a0{p_value(one.q)}")
    if onset := lasting(one, statistics.metric):
        told.append(decline(one, onset, Yardstick.of(statistics.metric)))
    return ", ".join(told)


def _within(interval: Interval, decimals: int | None, how: str) -> str:
    return f" ({level_of(interval).replace(' ', NARROW)}: {span(interval.low, interval.high, decimals)}{how})"


def _breaks(statistics: Statistics) -> Iterator[Finding]:
    """The sharp steps."""
    # Of two cells the step is the trend, which is told already.
    courses = [one for one in statistics.series if one.count > 2]
    steps = [(one, step) for one in courses for step in one.changes if step.sharp]
    decimals = places_shown(step.size for _, step in steps)
    told: list[tuple[str, str]] = []
    for one, step in steps[:LISTED]:
        sure = f", Holm\u00a0p\u00a0{p_value(step.p_holm)}" if step.p_holm is not None else ""
        between = f"from {one.along} {spoken(step.from_)} to {spoken(step.to)}"
        told.append((_name(statistics, one), f"{signed(step.size, decimals)} {between}{sure}"))
    if told:
        yield Finding("Breaks", [(name, typeset(said)) for name, said in told], max(0, len(steps) - LISTED))
    elif any(step.size for one in courses for step in one.changes):
        yield Finding("Breaks", [], note=" ".join(_NO_BREAKS[why].format(of=of) for why, of in reasons_of(courses)))


def _best(document: GridDocument, statistics: Statistics) -> Iterator[Finding]:
    """The best cells, the set that holds the best one, and the floor of noise."""
    peaks = statistics.peaks
    if peaks is None or peaks.best is None:
        if peaks and peaks.reason:
            yield Finding("Best", [], note=_sentence(peaks.reason))
        return
    best, within = peaks.best, peaks.best_set
    values = [value for value in flat(document["values"], len(document["axes"])) if value is not None]
    decimals = decimals_shown(document)
    unit = f"\u00a0{document['metric']['unit']}" if document["metric"]["unit"] else ""
    where = places(best.at, ties=best.ties)
    told = [(typeset(f"{fixed(best.value, decimals)}{unit}"), f"at {where}" if where else "")]
    others = [at for at in within.at if at not in best.at] if within else []
    size = within.size if within else 0
    if within and size > 1 and size == len(values):
        told.append((f"each of the {size:,} cells may be the best", f"with {level_of(within)} confidence"))
    elif within and is_shown(peaks) and len(values) > 1:
        told.append(("no other measured cell is better", f"with {level_of(within)} confidence"))
    elif within and others:
        more = counted(size - len(best.at), "other cell", "other cells")
        sure = f"or {more}, with {level_of(within)} confidence"
        told.append((sure, places(others[:_MOST], ties=size - len(best.at))))
    floor = None if is_shown(peaks) else floor_of_noise(document["metric"], peaks, decimals)
    name = "Best" if len(values) > 1 else "Value"
    yield Finding(name, told, note=_sentence(peaks.noise_reason if floor is None else floor))


def _sentence(text: str | None) -> str:
    return f"{text[0].upper()}{text[1:].rstrip('.')}." if text else ""


def missing_of(document: GridDocument) -> Iterator[Finding]:
    """Gaps among the measured cells: the runs of levels along the last axis, one line for each place on the others."""
    axes = document["axes"]
    values = flat(document["values"], len(axes))
    absent = values.count(None)
    if not absent or not axes:
        if values:
            note = "Its only cell was never measured." if absent else "Every cell that it declares was measured."
            yield Finding("Never measured", [], note=note)
        return
    last = axes[-1]
    width = len(last["levels"])
    lines = []
    combinations = itertools.product(*(axis["levels"] for axis in axes[:-1]))
    for number, at in enumerate(combinations):
        row = values[number * width : (number + 1) * width]
        gaps = [place for place, value in enumerate(row) if value is None]
        if gaps:
            name = place_of(axes, at)
            every = len(gaps) == width
            lines.append((name, f"no {last['name']} at all" if every else f"{last['name']} {_runs(last, gaps)}"))
    share = f"{absent} of {counted(len(values), 'cell', 'cells')} ({100 * absent / len(values):.0f} %)"
    yield Finding("Never measured", lines[:LISTED], max(0, len(lines) - LISTED), share)


def place_of(axes: Sequence[PostedAxis], at: Sequence[Any]) -> str:
    return place(dict(zip((axis["name"] for axis in axes), at, strict=False)))


def _runs(axis: PostedAxis, gaps: Sequence[int]) -> str:
    """Levels with the runs among them as first … last."""
    found = []
    for _, run in itertools.groupby(enumerate(gaps), key=lambda pair: pair[1] - pair[0]):
        levels = [label(axis["levels"][at]) for _, at in run]
        found.append(levels[0] if len(levels) == 1 else f"{levels[0]}\u2009\u2026\u2009{levels[-1]}")
    return ", ".join(found[:6]) + (f" and {len(found) - 6} more runs" if len(found) > 6 else "")
