"""The best cells: everywhere, and on each level of each axis."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from registry.renderings.numbers import decimals_of, fixed, p_value
from registry.renderings.outline import outline
from registry.renderings.sheet import Block, Lines
from registry.renderings.table import Column, Table
from registry.renderings.tidy import harmless, tidy
from registry.renderings.words import counted, label, measure, place, places

Document = dict[str, Any]
_LISTED = 10
"""Coordinates written out for the runner-up and rows of the table of probabilities."""
_KNOWN = ("status", "reason", "best", "runner_up", "by", "probability_best", "expected_max_if_equal")


def blocks(document: Document) -> Iterator[Block]:
    """The best cells with all ties, the runner-up, the noise floor, and the best of each level."""
    peaks = document.get("peaks")
    if not peaks or not peaks.get("best"):
        yield f"No peaks: {(peaks or {}).get('reason') or 'not computed'}."
        return
    decimals = decimals_of(_values(peaks))
    yield Lines(tuple(_summary(document, peaks, decimals)))
    yield from _probabilities(peaks.get("probability_best"))
    for axis, levels in (peaks.get("by") or {}).items():
        if levels:
            yield _by(axis, levels, decimals)
    rest = {name: value for name, value in peaks.items() if name not in _KNOWN and value is not None}
    yield from outline(rest)


def _values(peaks: Document) -> Iterator[float]:
    yield peaks["best"]["value"]
    if peaks.get("runner_up"):
        yield peaks["runner_up"]["value"]
    for levels in (peaks.get("by") or {}).values():
        yield from (level["value"] for level in levels if level.get("value") is not None)


def _summary(document: Document, peaks: Document, decimals: int | None) -> Iterator[str]:
    best, runner = peaks["best"], peaks.get("runner_up")
    ties = best.get("ties") or len(best["at"])
    tied = f", {ties} cells tie" if ties > 1 else ""
    yield f"best {measure(document.get('metric'))}: {fixed(best['value'], decimals)}{tied}"
    yield from (f"  at {place(at)}" for at in best["at"] if at)
    if ties > len(best["at"]):
        yield f"  and {ties - len(best['at'])} more"
    if runner:
        yield f"runner-up: {fixed(runner['value'], decimals)}, {fixed(runner.get('gap'), decimals)} behind"
        listed = runner["at"][:_LISTED]
        yield f"  at {places(listed, ties=runner.get('ties') or len(runner['at']))}"
    else:
        yield "runner-up: none, all cells tie"
    yield from _floor(peaks.get("expected_max_if_equal"), best["value"])


def _floor(expected: Any, best: float) -> Iterator[str]:
    """What the best of as many equal cells would show by chance."""
    value = expected.get("value") if isinstance(expected, Mapping) else expected
    if isinstance(value, (int, float)):
        verdict = "the best cell is above it" if best > value else "the best cell does not stand out"
        yield f"expected maximum if all cells were equal: {value:.2f} — {verdict}"


def _probabilities(found: Any) -> Iterator[Block]:
    """The cells by their probability of being the best."""
    if not isinstance(found, list) or not found or not isinstance(found[0], Mapping):
        return
    name = next((key for key in ("probability", "p", "value") if key in found[0]), None)
    if name is None:
        return
    order = sorted(found, key=lambda cell: -(cell[name] or 0))[:_LISTED]
    more = len(found) - len(order)
    yield Table(
        [
            Column("cell", [place(cell.get("at") or {}) for cell in order]),
            Column("P(best)", [p_value(cell[name]) for cell in order], True),
        ]
    )
    if more:
        yield f"{counted(more, 'less probable cell is', 'less probable cells are')} not shown."


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
