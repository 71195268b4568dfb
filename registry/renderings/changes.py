"""The steps between neighbouring cells: which are sharp, and which is the largest."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from registry.renderings.numbers import (
    UNDEFINED,
    decimals_of,
    fixed,
    intervals,
    level_of,
    p_value,
    places_of,
    rough,
    signed,
)
from registry.renderings.sheet import Block, Lines
from registry.renderings.table import Column, Table
from registry.renderings.tidy import harmless, tidy
from registry.renderings.trends import named
from registry.renderings.words import counted, isolated, label, measure

Document = dict[str, Any]
Step = tuple[Document, Document]
_MOST_STEPS = 40
"""Steps up to which text lists them all; of more, the sharp ones and the largest of each series."""
_MOST_SILENT = 6
"""The same where none of them is sharp."""
_MOST_ROWS = 100
"""Rows of a table of steps; what is beyond them is counted."""
_REASONS = {
    "noise_unknown": "no noise is known, so no step is called sharp: publish trials, stderr, or repeats with sd",
    "no_margin": "no step is called sharp: no margin is set for a metric without bounds",
}


def blocks(document: Document) -> Iterator[Block]:
    """A table of steps for each axis with series."""
    series = document.get("series") or []
    if not any(one.get("changes") for one in series):
        yield "No steps: no series has two measured cells."
        return
    for along, found in itertools.groupby(series, key=lambda one: one["along"]):
        yield from _along(document, along, [one for one in found if one.get("changes")])


def _along(document: Document, along: str, series: Sequence[Document]) -> Iterator[Block]:
    steps = [(one, step) for one in series for step in one["changes"]]
    if not steps:
        return
    decided = any(step.get("sharp") is not None for _, step in steps)
    sharp = f"{sum(bool(step.get('sharp')) for _, step in steps)} of " if decided else ""
    counts = f"{sharp}{counted(len(steps), 'step', 'steps')}{' sharp' if decided else ''}"
    yield f"{isolated(measure(document.get('metric')))} along {isolated(along)}: {counts}"
    silent = decided and not any(step.get("sharp") for _, step in steps)
    shown = steps if len(steps) <= (_MOST_SILENT if silent else _MOST_STEPS) else _outstanding(steps)
    shown = shown[:_MOST_ROWS]
    yield _table(shown, decimals_of(step["size"] for _, step in steps))
    yield Lines(tuple(_legend(document, along, steps, len(steps) - len(shown))))


def _outstanding(steps: Sequence[Step]) -> list[Step]:
    """The sharp steps, and the largest of each series with its ties; the sharp ones first where there are many."""
    largest = {id(one): max(abs(step["size"]) for step in one["changes"]) for one, _ in steps}
    found = [(one, step) for one, step in steps if step.get("sharp") or abs(step["size"]) == largest[id(one)]]
    return sorted(found, key=lambda each: not each[1].get("sharp")) if len(found) > _MOST_ROWS else found


def _table(steps: Sequence[Step], places: int | None) -> Table:
    found = [step.get("interval") for _, step in steps]
    columns = [
        *named([series for series, _ in steps]),
        Column("from", [label(step["from"]) for _, step in steps], _numeric(steps)),
        Column("to", [label(step["to"]) for _, step in steps], _numeric(steps)),
        Column("step", [signed(step["size"], places) for _, step in steps], True),
    ]
    if any(found):
        columns.append(_within(found))
    if any(step.get("p_holm") is not None for _, step in steps):
        columns.append(Column("Holm p", [p_value(step.get("p_holm")) for _, step in steps], True))
    if any(step.get("detectable") is not None for _, step in steps):
        columns.append(Column("could show", [rough(step.get("detectable")) for _, step in steps], True))
    marks = [_mark(one, step) for one, step in steps]
    return Table([*columns, *([Column("", marks)] if any(marks) else ()), *_picked(steps)])


def _within(found: Sequence[Any]) -> Column:
    ends = places_of([end for one in found if one for end in (one["low"], one["high"])])
    levels = {level_of(one) for one in found if one}
    return Column(f"{levels.pop()} interval" if len(levels) == 1 else "interval", intervals(found, ends))


def _mark(one: Document, step: Document) -> str:
    """Whether a step is sharp, and whether it is the largest of its series."""
    largest = [f"largest {_KINDS[kind]}" for kind, _ in _extremes(one, step)]
    return ", ".join((["sharp"] if step.get("sharp") else []) + largest)


_KINDS = {"drop": "fall", "rise": "rise"}


def _extremes(one: Document, step: Document) -> list[tuple[str, Document]]:
    """As what the step is the largest of its series; nothing where that has one step."""
    ends = {"from": step["from"], "to": step["to"]}
    extremes = (one.get("largest") or {}).items() if len(one["changes"]) > 1 else ()
    return [(kind, found) for kind, found in extremes if found and ends in found["at"]]


def _picked(steps: Sequence[Step]) -> Iterator[Column]:
    """The intervals that allow for having picked the largest steps, each at its level."""
    found = [next((f.get("interval") for _, f in _extremes(one, step)), None) for one, step in steps]
    if any(found):
        ends = places_of([end for one in found if one for end in (one["low"], one["high"])])
        written = intervals(found, ends)
        cells = [f"{text} at {level_of(one)}" if one else "" for text, one in zip(written, found, strict=True)]
        yield Column("picked, interval", cells)


def _numeric(steps: Sequence[Step]) -> bool:
    return not any(isinstance(step["from"], str) for _, step in steps)


def _legend(document: Document, along: str, steps: Sequence[Step], left: int) -> Iterator[str]:
    params = document.get("params") or {}
    margin, alpha = params.get("sharp_change"), params.get("alpha")
    reasons = dict.fromkeys(one.get("sharp_reason") for one, _ in steps)
    yield from (_REASONS[reason] for reason in reasons if reason)
    if any(step.get("sharp") is not None for _, step in steps) and margin is not None:
        size = fixed(margin, decimals_of([margin]), UNDEFINED)
        yield f"sharp: a step of {size} or more" + (f" with Holm p < {alpha:g}" if alpha else "")
    if any(step.get("p_holm") is not None for _, step in steps):
        yield f"Holm p: over all steps of the grid along {along}"
    if any(step.get("detectable") is not None for _, step in steps):
        power = 100 * (params.get("power") or 0.8)
        yield f"could show: a step of this size would have had p < alpha with power {power:g} %, before Holm"
    if any(_picked(steps)):
        yield "picked: allows for having been picked as the largest (Bonferroni over the steps of its series)"
    yield from _left_out(steps, left)


def _left_out(steps: Sequence[Step], left: int) -> Iterator[str]:
    dropped = sum({id(one): one.get("changes_left_out") or 0 for one, _ in steps}.values())
    if left and dropped:
        stand = "is" if left == 1 else "are"
        yield f"{left} of the kept steps {stand} not shown here; CSV and JSON have the {len(steps)} kept"
    elif left:
        yield f"{counted(left, 'other step is', 'other steps are')} not shown; CSV and JSON have all"
    if dropped:
        yield f"{counted(dropped, 'step', 'steps')} of long series were not kept"


def csv(document: Document) -> str:
    """One row a step."""
    series = document.get("series") or []
    axes = list(dict.fromkeys(name for one in series for name in one.get("at") or {}))
    after = ["from", "to", "size", "sharp", "largest", "p", "p_holm", "low", "high", "detectable"]
    head = [str(document.get("grid", "")), document.get("revision")]
    rows = ([*head, *_row(one, step, axes)] for one in series for step in one.get("changes") or ())
    return tidy(["grid", "revision", "along"], rows, axes, after)


def _row(one: Document, step: Document, axes: Sequence[str]) -> list[Any]:
    interval = step.get("interval") or {}
    ends = {"from": step["from"], "to": step["to"]}
    largest = [kind for kind, found in (one.get("largest") or {}).items() if found and ends in found["at"]]
    cells = [one["along"], *((one.get("at") or {}).get(name) for name in axes), step["from"], step["to"], step["size"]]
    cells += [step.get("sharp"), " ".join(largest) or None, step.get("p")]
    cells += [step.get("p_holm"), interval.get("low"), interval.get("high"), step.get("detectable")]
    return [harmless(cell) for cell in cells]
