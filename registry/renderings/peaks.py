"""The best cells: everywhere, beside their noise floor, and on each level of each axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from registry.renderings.noise_floor import floor_of_noise
from registry.renderings.numbers import UNDEFINED, decimals_of, fixed, level_of, p_value, places_of, signed
from registry.renderings.sheet import Block, Lines
from registry.renderings.table import Column, Table
from registry.renderings.tidy import harmless, tidy
from registry.renderings.words import axis_columns, isolated, label, measure, places

Document = dict[str, Any]
_LISTED = 10
"""Coordinates written out for the runner-up, and rows of the probable cells."""


def blocks(document: Document) -> Iterator[Block]:
    """The best cells with all ties, the runner-up, the noise floor, and the best of each level."""
    peaks = document.get("peaks")
    if not peaks or not peaks.get("best"):
        yield f"No peaks: {(peaks or {}).get('reason') or 'not computed'}."
        return
    decimals = decimals_of(_values(peaks))
    yield from _best(document, peaks, decimals)
    yield Lines(
        (
            *_runner_up(peaks.get("runner_up"), decimals, peaks["best"].get("ties") or 1),
            *_noise(document, peaks, decimals),
        )
    )
    yield from _guaranteed(document, peaks, decimals)
    for axis, levels in (peaks.get("by") or {}).items():
        if levels:
            yield _by(axis, levels, decimals)


def _values(peaks: Document) -> Iterator[float]:
    yield peaks["best"]["value"]
    if peaks.get("runner_up"):
        yield peaks["runner_up"]["value"]
    for levels in (peaks.get("by") or {}).values():
        yield from (level["value"] for level in levels if level.get("value") is not None)


def _best(document: Document, peaks: Document, decimals: int | None) -> Iterator[Block]:
    """The best value and its cells, each with its chance and with how far it stands out of its neighbours."""
    best = peaks["best"]
    ties = best.get("ties") or len(best["at"])
    tied = f", {ties} cells tie" if ties > 1 else ""
    yield f"best {isolated(measure(document.get('metric')))}: {fixed(best['value'], decimals)}{tied}"
    rows = best["at"][:_LISTED]
    if any(rows):
        yield Table([*axis_columns(rows), *_chances(peaks, rows), *_prominence(peaks, rows)])
    if ties > len(rows):
        yield f"and {ties - len(rows)} more"


def _chances(peaks: Document, cells: Sequence[Document]) -> Iterator[Column]:
    """The probability that a cell is the best: after shrinkage, and if cells had nothing in common."""
    known = peaks.get("probability_best")
    if known:
        found: list[Document] = [next((one for one in known if one.get("at") == at), {}) for at in cells]
        yield Column("P(best)", [p_value(one.get("probability")) for one in found], True)
        yield Column("if unrelated", [p_value(one.get("if_unrelated")) for one in found], True)


def _prominence(peaks: Document, cells: Sequence[Document]) -> Iterator[Column]:
    known = peaks.get("prominence")
    if known:
        found: list[Document] = [next((one for one in known if one.get("at") == at), {}) for at in cells]
        decimals = places_of(one.get("neighbour_mean") for one in found)
        yield Column("neighbours", [str(one.get("neighbours", UNDEFINED)) for one in found], True)
        yield Column("their mean", [fixed(one.get("neighbour_mean"), decimals, UNDEFINED) for one in found], True)
        yield Column("better by", [signed(one.get("prominence"), decimals) for one in found], True)


def _runner_up(runner: Document | None, decimals: int | None, ties: int) -> Iterator[str]:
    if runner is None:
        yield "runner-up: none" + (", all cells tie" if ties > 1 else "")
        return
    where = places(runner["at"], ties=runner.get("ties"), most=_LISTED)
    gap = fixed(runner.get("gap"), decimals, UNDEFINED)
    yield f"runner-up: {fixed(runner['value'], decimals)}, gap {gap}" + (f", at {where}" if where else "")


def _noise(document: Document, peaks: Document, decimals: int | None) -> Iterator[str]:
    """What the best of as many equal cells would show by chance, and the peak without its luck."""
    shrunken, finer = peaks.get("shrunken"), None if decimals is None else decimals + 1
    if floor := floor_of_noise(document.get("metric"), peaks, decimals):
        yield f"noise floor: {floor}"
    if shrunken:
        value, mean = fixed(shrunken.get("value"), finer), fixed(shrunken.get("mean"), finer)
        yield f"shrunken for noise: {value} (towards the mean {mean})"
    if peaks.get("noise_reason"):
        yield f"no best set and no floor of noise: {peaks['noise_reason']}"


def _guaranteed(document: Document, peaks: Document, decimals: int | None) -> Iterator[Block]:
    """The set that holds the best cell with a stated confidence, and what its probabilities rest on."""
    within = peaks.get("best_set")
    if not within or (document.get("coverage") or {}).get("cells") == 1:
        return
    size, rows = within.get("size") or len(within["at"]), within["at"][:_LISTED]
    sure = f"with {level_of(within)} confidence the best"
    all_in = ", so none is ruled out" if size == (document.get("coverage") or {}).get("cells") else ""
    yield f"{sure} is this cell (Gupta):" if size == 1 else f"{sure} is among these {size} cells (Gupta){all_in}:"
    values = [_value(peaks, at) for at in rows]
    if any(rows):
        shown = Column("value", [fixed(value, decimals, UNDEFINED) for value in values], True)
        yield Table([*axis_columns(rows), shown, *_chances(peaks, rows)])
    if size > len(rows):
        yield f"and {size - len(rows)} more"
    if peaks.get("probability_best"):
        yield Lines(
            (
                "P(best): after shrinking the cells towards each other; if unrelated: as if they had nothing in common",
                "neither keeps a rate of error by itself; the set does",
            )
        )


def _value(peaks: Document, at: Document) -> float | None:
    """The value of a cell of the set, as far as the document lists it."""
    best = peaks["best"]
    known = [(one.get("at"), one.get("value")) for one in peaks.get("probability_best") or ()]
    known += [(where, best["value"]) for where in best["at"]]
    return next((value for where, value in known if where == at), None)


def _by(axis: str, levels: Sequence[Document], decimals: int | None) -> Table:
    where = [places(level.get("at") or [], axis, level.get("ties")) for level in levels]
    columns = [
        Column(axis, [label(level["level"]) for level in levels], not isinstance(levels[0]["level"], str)),
        Column("best", [fixed(level["value"], decimals) for level in levels], True),
    ]
    return Table([*columns, Column("at", where)] if any(where) else columns)


def csv(document: Document) -> str:
    """One row for each tied cell: everywhere (`of` is `best`), the runner-up, and of each level of each axis."""
    peaks = document.get("peaks") or {}
    found = [("best", None, peaks.get("best")), ("runner_up", None, peaks.get("runner_up"))]
    for axis, levels in (peaks.get("by") or {}).items():
        found += [(axis, level["level"], level) for level in levels]
    axes = list(dict.fromkeys(name for _, _, entry in found if entry for at in entry["at"] for name in at))
    head = [str(document.get("grid", "")), document.get("revision")]
    rows = (
        [harmless(cell) for cell in (*head, of, level, *(at.get(name) for name in axes), entry["value"])]
        for of, level, entry in found
        if entry
        for at in entry["at"]
    )
    return tidy(["grid", "revision", "of", "level"], rows, axes, ["value"])
