"""The steps between neighbouring cells: which are sharp."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from registry.renderings.numbers import UNDEFINED, decimals_of, fixed, intervals, p_value, places_of, signed
from registry.renderings.sheet import Block, Lines
from registry.renderings.table import Column, Table
from registry.renderings.tidy import harmless, tidy
from registry.renderings.trends import named
from registry.renderings.words import counted, label, measure

Document = dict[str, Any]
Step = tuple[Document, Document]
_MOST_STEPS = 40
"""Steps up to which text lists them all; of more, the sharp ones and the largest of each series."""


def blocks(document: Document) -> Iterator[Block]:
    """A table of steps for each axis with series."""
    series = document.get("series") or []
    if not any(one.get("changes") for one in series):
        yield "No steps: no series has two measured cells."
        return
    for along, found in itertools.groupby(series, key=lambda one: one["along"]):
        yield from _along(document, along, [(one, step) for one in found for step in one.get("changes") or ()])


def _along(document: Document, along: str, steps: Sequence[Step]) -> Iterator[Block]:
    if not steps:
        return
    sharp = sum(bool(step.get("sharp")) for _, step in steps)
    yield f"{measure(document.get('metric'))} along {along}: {sharp} of {counted(len(steps), 'step', 'steps')} sharp"
    shown = list(steps) if len(steps) <= _MOST_STEPS else _outstanding(steps)
    yield _table(shown, decimals_of(step["size"] for _, step in steps), sharp > 0)
    yield Lines(tuple(_legend(document, steps, len(steps) - len(shown))))


def _outstanding(steps: Sequence[Step]) -> list[Step]:
    """The sharp steps, and the largest of each series with its ties."""
    largest = {id(one): max(abs(step["size"]) for step in one["changes"]) for one, _ in steps}
    return [(one, step) for one, step in steps if step.get("sharp") or abs(step["size"]) == largest[id(one)]]


def _table(steps: Sequence[Step], places: int | None, marked: bool) -> Table:
    found = [step.get("interval") for _, step in steps]
    columns = [
        *named([series for series, _ in steps]),
        Column("from", [label(step["from"]) for _, step in steps], _numeric(steps)),
        Column("to", [label(step["to"]) for _, step in steps], _numeric(steps)),
        Column("step", [signed(step["size"], places) for _, step in steps], True),
    ]
    if any(found):
        ends = places_of([end for one in found if one for end in (one["low"], one["high"])])
        columns.append(
            Column(f"{100 * next(one for one in found if one)['level']:g} % interval", intervals(found, ends))
        )
    if any(step.get("p_holm") is not None for _, step in steps):
        columns.append(Column("Holm p", [p_value(step.get("p_holm")) for _, step in steps], True))
    if marked:
        columns.append(Column("", ["sharp" if step.get("sharp") else "" for _, step in steps]))
    return Table(columns)


def _numeric(steps: Sequence[Step]) -> bool:
    return not any(isinstance(step["from"], str) for _, step in steps)


def _legend(document: Document, steps: Sequence[Step], left: int) -> Iterator[str]:
    params = document.get("params") or {}
    margin, alpha = params.get("sharp_change"), params.get("alpha")
    tested = any(step.get("p_holm") is not None for _, step in steps)
    if margin is None:
        yield "sharp: not decided, no margin is set for a metric without bounds"
    else:
        size = fixed(margin, decimals_of([margin]), UNDEFINED)
        yield f"sharp: a step of {size} or more" + (f" with Holm p < {alpha:g}" if tested and alpha else "")
    if not tested:
        yield "no tests: neither trials nor standard errors are known"
    if left:
        yield f"{counted(left, 'other step is', 'other steps are')} not shown; CSV and JSON have all"
    dropped = sum({id(one): one.get("changes_left_out") or 0 for one, _ in steps}.values())
    if dropped:
        yield f"{counted(dropped, 'step', 'steps')} of long series were not kept"


def csv(document: Document) -> str:
    """One row a step."""
    series = document.get("series") or []
    axes = list(dict.fromkeys(name for one in series for name in one.get("at") or {}))
    header = ["grid", "revision", "along", *axes, "from", "to", "size", "sharp", "p", "p_holm", "low", "high"]
    head = [str(document.get("grid", "")), document.get("revision")]
    rows = ([*head, *_row(one, step, axes)] for one in series for step in one.get("changes") or ())
    return tidy(header, rows)


def _row(one: Document, step: Document, axes: Sequence[str]) -> list[Any]:
    interval, sharp = step.get("interval") or {}, step.get("sharp")
    cells = [one["along"], *((one.get("at") or {}).get(name) for name in axes), step["from"], step["to"], step["size"]]
    cells += [None if sharp is None else str(sharp).lower(), step.get("p"), step.get("p_holm")]
    return [harmless(cell) for cell in [*cells, interval.get("low"), interval.get("high")]]
