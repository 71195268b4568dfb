"""The steps between neighbouring cells, on a grid's page and in its text: which are sharp, and which is the largest."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from registry.renderings.numbers import (
    UNDEFINED,
    decimals_of,
    ends,
    fixed,
    intervals,
    level_at,
    p_value,
    places_by_row,
    rough,
    signed,
)
from registry.renderings.precision import places_posted
from registry.renderings.sheet import Block, Lines
from registry.renderings.table import Column, Table, members, tidy
from registry.renderings.trends import named
from registry.renderings.words import counted, isolated, label, measure, place, places
from registry.results.courses import Change, LargestStep, LevelSpan, Series
from registry.results.statistics import Statistics
from registry.results.terms import Interval

Step = tuple[Series, Change]
_MOST_STEPS = 40
"""Steps up to which text lists them all; of more, the sharp ones and the largest of each series."""
_MOST_SILENT = 6
"""The same where none of them is sharp."""
_MOST_ROWS = 100
"""Rows of a table of steps; what is beyond them is counted."""
_REASONS = {
    "noise_unknown": (
        "no step{of} is called sharp where the noise of cells is not known: publish trials, a stderr above 0, or"
        " repeats that differ"
    ),
    "no_margin": "no step{of} is called sharp: no margin is set for a metric without two bounds",
}


def blocks(document: Statistics) -> Iterator[Block]:
    """A table of steps for each axis with series."""
    series = document.series
    if not any(one.changes for one in series):
        alike = (
            "no two neighbours differ" if any(one.count > 1 for one in series) else "no series has two measured cells"
        )
        yield f"No steps: {document.series_reason or alike}."
        return
    for along, found in itertools.groupby(series, key=lambda one: one.along):
        yield from _along(document, along, [one for one in found if one.changes])


def _along(document: Statistics, along: str, series: Sequence[Series]) -> Iterator[Block]:
    steps = [(one, step) for one in series for step in one.changes]
    if not steps:
        return
    if not any(step.size for _, step in steps):
        yield f"{isolated(measure(document.metric))} along {isolated(along)}: no two neighbours differ."
        return
    decided = any(step.sharp is not None for _, step in steps)
    sharp = f"{sum(bool(step.sharp) for _, step in steps)} of " if decided else ""
    every = len(steps) + sum(one.changes_left_out for one in series)
    counts = f"{sharp}{counted(every, 'step', 'steps')}{' sharp' if decided else ''}"
    yield f"{isolated(measure(document.metric))} along {isolated(along)}: {counts}"
    silent = decided and not any(step.sharp for _, step in steps)
    shown = steps if len(steps) <= (_MOST_SILENT if silent else _MOST_STEPS) else _outstanding(steps)
    shown = shown[:_MOST_ROWS]
    yield _table(shown, places_posted(document, [step.size for _, step in steps]), document.params.alpha)
    yield Lines(tuple(_legend(document, along, steps, len(steps) - len(shown))))


def _outstanding(steps: Sequence[Step]) -> list[Step]:
    """The sharp steps, and the largest of each series with its ties; the sharp ones first where there are many."""
    series = {id(one): one for one, _ in steps}
    largest = {key: max(abs(step.size) for step in one.changes) for key, one in series.items()}
    found = [(one, step) for one, step in steps if step.sharp or abs(step.size) == (largest[id(one)] or None)]
    return sorted(found, key=lambda each: not each[1].sharp) if len(found) > _MOST_ROWS else found


def _table(steps: Sequence[Step], places: int | None, alpha: float) -> Table:
    found = [_agreeing(step, step.interval, alpha) for _, step in steps]
    # Where posted values have no decimals in common, a step and its intervals have those of their row.
    rows = [(step.size if places is None else None, *ends(one)) for one, (_, step) in zip(found, steps, strict=True)]
    own = places_by_row(rows, 0.0 if places is None else 1e-12)
    sizes = zip(steps, own if places is None else [places] * len(steps), strict=True)
    columns = [
        *named([series for series, _ in steps]),
        Column("from", [label(step.from_) for _, step in steps], _numeric(steps)),
        Column("to", [label(step.to) for _, step in steps], _numeric(steps)),
        Column("step", [signed(step.size, d) for (_, step), d in sizes], True),
    ]
    if any(found):
        columns.append(Column(f"{level_at(alpha)} interval", intervals(found, own)))
    if any(step.p_holm is not None for _, step in steps):
        columns.append(Column("Holm p", [p_value(step.p_holm) for _, step in steps], True))
    if any(step.detectable is not None for _, step in steps):
        columns.append(Column("could show", [rough(step.detectable) for _, step in steps], True))
    marks = [_mark(one, step) for one, step in steps]
    return Table([*columns, *([Column("", marks)] if any(marks) else ()), *_picked(steps, alpha, own)])


def _agreeing(step: Change, within: Interval | None, alpha: float) -> Interval | None:
    """An interval of a step as it stands beside Holm's p: one question, so it holds 0 where that leaves 0 open."""
    return within.with_0() if within and step.p_holm is not None and step.p_holm >= alpha else within


def _mark(one: Series, step: Change) -> str:
    """Whether a step is sharp, and whether it is the largest of its series."""
    largest = [f"largest {_KINDS[kind]}" for kind, _ in _extremes(one, step)]
    return ", ".join((["sharp"] if step.sharp else []) + largest)


_KINDS = {"drop": "fall", "rise": "rise"}


def _extremes(one: Series, step: Change) -> list[tuple[str, LargestStep]]:
    """As what the step is the largest of its series; nothing where all its steps are of one size."""
    found = _largest(one, step)
    return found if found and len({each.size for each in one.changes}) > 1 else []


def _largest(one: Series, step: Change) -> list[tuple[str, LargestStep]]:
    extremes = (("drop", one.largest.drop), ("rise", one.largest.rise))
    return [(kind, found) for kind, found in extremes if found and LevelSpan(step.from_, step.to) in found.at]


def _picked(steps: Sequence[Step], alpha: float, own: Sequence[int | None] | None = None) -> Iterator[Column]:
    """The intervals that allow for having picked the largest steps."""
    found = [next((largest.interval for _, largest in _extremes(one, step)), None) for one, step in steps]
    pairs = zip(found, steps, strict=True)
    found = [None if within == step.interval else _agreeing(step, within, alpha) for within, (_, step) in pairs]
    if any(found):
        yield Column("picked, interval", intervals(found, own))


def _numeric(steps: Sequence[Step]) -> bool:
    return not any(isinstance(step.from_, str) for _, step in steps)


def _legend(document: Statistics, along: str, steps: Sequence[Step], left: int) -> Iterator[str]:
    params, margin = document.params, document.params.sharp_change
    for why, of in reasons_of([one for one, _ in steps]):
        if why:
            # Noise alone would not do where no margin is set either.
            both = "; nor is a margin set" if why == "noise_unknown" and margin is None else ""
            yield _REASONS[why].format(of=of) + both
    if any(step.sharp is not None for _, step in steps) and margin is not None:
        size = fixed(margin, decimals_of([margin]), UNDEFINED)
        shown = f"shown not to be 0 (Holm p < {params.alpha:g})"
        yield f"sharp: a step that was posted as {size} or more and is {shown}; it may truly be smaller"
    if any(step.sharp for _, step in steps):
        yield "interval of a sharp step: allows for so many of all steps having been called sharp (Benjamini–Yekutieli)"
    if tested := [step for _, step in steps if step.p_holm is not None]:
        plain = "" if all(step.sharp for step in tested) else "; the interval of another step is of that step alone"
        if any(_agreeing(step, step.interval, params.alpha) != step.interval for step in tested):
            plain += f"; where this p is {params.alpha:g} or more intervals are widened to 0"
        yield f"Holm p: over all steps of the grid along {along}{plain}"
    if any(step.detectable is not None for _, step in steps):
        power = 100 * params.power
        yield f"could show: a step of this size would have had p < alpha with power {power:g} %, before Holm"
    if any(_picked(steps, params.alpha)):
        yield "picked: allows for having been picked as the largest, and for ties (Bonferroni over all of its series)"
    yield from _left_out(steps, left, full=params.detail == "full")


def reasons_of(series: Sequence[Series]) -> Iterator[tuple[str | None, str]]:
    """Why steps are not called sharp, None where they could be, and of which series, ` of Kind a; Kind b`; nothing
    where it holds for all."""
    found = dict.fromkeys(one.sharp_reason for one in series)
    for why in found:
        at = {place(one.at): one.at for one in series if one.sharp_reason == why}
        yield why, f" of {places(list(at.values()))}" if len(found) > 1 and any(at) else ""


def _left_out(steps: Sequence[Step], left: int, *, full: bool) -> Iterator[str]:
    dropped = sum({id(one): one.changes_left_out for one, _ in steps}.values())
    if left:
        stand = "is" if left == 1 else "are"
        yield f"{left} of these {stand} not shown here; CSV and JSON have the {len(steps)} listed"
    if dropped and full:
        yield f"{counted(dropped, 'step', 'steps')} of long series are not listed"
    elif dropped:
        others = counted(dropped, "other step is", "other steps are")
        yield f"{others} not listed: detail=full has all"


def csv(document: Statistics) -> str:
    """One row a step."""
    series = document.series
    axes = list(dict.fromkeys(name for one in series for name in one.at))
    after = ["from", "to", "size", "sharp", "largest", "p", "p_holm", "low", "high", "level", "detectable"]
    rows = ([document.grid, document.revision, *_row(one, step, axes)] for one in series for step in one.changes)
    return tidy(["grid", "revision", "along"], rows, axes, after, only=document.slice)


def _row(one: Series, step: Change, axes: Sequence[str]) -> list[Any]:
    largest = " ".join(kind for kind, _ in _largest(one, step)) or None
    cells = [one.along, *(one.at.get(name) for name in axes), step.from_, step.to, step.size, step.sharp, largest]
    return [*cells, step.p, step.p_holm, *members(step.interval, "low", "high", "level"), step.detectable]
