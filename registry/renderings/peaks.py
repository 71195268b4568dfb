"""The best cells: everywhere, beside their noise floor, and on each level of each axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from registry.renderings.numbers import UNDEFINED, decimals_of, fixed, p_value, places_of, signed
from registry.renderings.sheet import Block, Lines
from registry.renderings.table import Column, Table
from registry.renderings.tidy import harmless, tidy
from registry.renderings.words import axis_columns, counted, label, measure, places

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
    yield Lines((*_runner_up(peaks.get("runner_up"), decimals), *_noise(document, peaks, decimals)))
    yield from _probable(peaks, decimals)
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
    yield f"best {measure(document.get('metric'))}: {fixed(best['value'], decimals)}{tied}"
    if any(best["at"]):
        yield Table([*axis_columns(best["at"]), *_chances(peaks, best["at"]), *_prominence(peaks, best["at"])])
    if ties > len(best["at"]):
        yield f"and {ties - len(best['at'])} more"


def _chances(peaks: Document, cells: Sequence[Document]) -> Iterator[Column]:
    known = peaks.get("probability_best")
    if known:
        found = [next((one.get("probability") for one in known if one.get("at") == at), None) for at in cells]
        yield Column("P(best)", [p_value(probability) for probability in found], True)


def _prominence(peaks: Document, cells: Sequence[Document]) -> Iterator[Column]:
    known = peaks.get("prominence")
    if known:
        found: list[Document] = [next((one for one in known if one.get("at") == at), {}) for at in cells]
        decimals = places_of(one.get("neighbour_mean") for one in found)
        yield Column("neighbours", [str(one.get("neighbours", UNDEFINED)) for one in found], True)
        yield Column("their mean", [fixed(one.get("neighbour_mean"), decimals, UNDEFINED) for one in found], True)
        yield Column("better by", [signed(one.get("prominence"), decimals) for one in found], True)


def _runner_up(runner: Document | None, decimals: int | None) -> Iterator[str]:
    if runner is None:
        yield "runner-up: none, all cells tie"
        return
    ties = runner.get("ties") or len(runner["at"])
    where = places(runner["at"][:_LISTED], ties=ties)
    gap = fixed(runner.get("gap"), decimals, UNDEFINED)
    yield f"runner-up: {fixed(runner['value'], decimals)}, gap {gap}" + (f", at {where}" if where else "")


def _noise(document: Document, peaks: Document, decimals: int | None) -> Iterator[str]:
    """What the best of as many equal cells would show by chance, and the peak without its luck."""
    floor, shrunken = peaks.get("expected_max_if_equal"), peaks.get("shrunken")
    finer = None if decimals is None else decimals + 1
    if floor is not None:
        sign = -1 if (document.get("metric") or {}).get("direction") == "lower" else 1
        beyond = sign * (peaks["best"]["value"] - floor) > 0
        verdict = "the best cell goes beyond" if beyond else "the best cell does not go beyond"
        yield f"noise floor: the best of as many equal cells would be expected at {fixed(floor, finer)}; {verdict}"
    if shrunken:
        value, mean = fixed(shrunken.get("value"), finer), fixed(shrunken.get("mean"), finer)
        yield f"shrunken for noise: {value} (towards the mean {mean})"
    if peaks.get("noise_reason"):
        yield f"no noise floor and no P(best): {peaks['noise_reason']}"


def _probable(peaks: Document, decimals: int | None) -> Iterator[Block]:
    """The smallest set of cells that holds the best one, by their chance."""
    known, within = peaks.get("probability_best"), peaks.get("best_set") or {}
    if not known:
        return
    size = within.get("size") or len(known)
    tied = f" ({within['tied_out']} more tie at its edge)" if within.get("tied_out") else ""
    if within.get("level"):
        share = f"{100 * within['level']:g} %"
        yield f"{counted(size, 'cell holds', 'cells hold')} the best one with a probability of at least {share}{tied}:"
    rows = known[: min(size, _LISTED)]
    yield Table(
        [
            *axis_columns([one.get("at") or {} for one in rows]),
            Column("value", [fixed(one.get("value"), decimals) for one in rows], True),
            Column("P(best)", [p_value(one.get("probability")) for one in rows], True),
        ]
    )
    if size > len(rows):
        yield f"and {size - len(rows)} more"


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
    return tidy(["grid", "revision", "of", "level", *axes, "value"], rows)
