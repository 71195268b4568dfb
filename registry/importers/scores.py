"""Parts shared by importers of evaluation logs: single scores, and JSON that may hold text instead of numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from registry.errors import Fault, Invalid
from registry.grids.intake.faults import number
from registry.importers.imported_grid import ImportedGrid, Note
from registry.importers.metrics import bounded, meaning_of


def single(
    names: Mapping[str, str],
    metric: Mapping[str, Any],
    value: float,
    *,
    trials: int | None = None,
    stderr: float | None = None,
    labels: Mapping[str, str] | None = None,
    notes: Sequence[Note] = (),
) -> ImportedGrid:
    """A grid without axes. Trials are kept only where the metric is a proportion; each answers its own question."""
    checked, more = bounded(dict(metric), [value])
    sent: dict[str, Any] = {**names, "metric": checked, "axes": [], "values": value, "labels": dict(labels or {})}
    if trials is not None and checked.get("lower") == 0 and checked.get("upper") in (1, 100):
        sent["trials"] = sent["questions"] = trials
    if stderr is not None:
        sent["stderr"] = stderr
    return ImportedGrid(sent, (*notes, *more))


def known_metric(name: str, key: str | None = None) -> tuple[dict[str, Any], list[Note]]:
    """A metric as its name explains it, as a fraction where it is a share; noted, because the source does not tell."""
    meaning = meaning_of(key or name)
    if meaning is None:
        return {"name": name}, [unknown_direction(name)]
    metric: dict[str, Any] = {"name": name, "direction": meaning.direction}
    metric |= {"lower": 0.0, "upper": 1.0} if meaning.share else {"lower": meaning.lower, "upper": meaning.upper}
    return metric, [Note("metric_read", f'"{name}" was read as: {meaning.direction} is better')]


def mapping(value: Any, where: str) -> Mapping[str, Any]:
    """An object of the source; `Invalid` with the place if it is none."""
    if not isinstance(value, Mapping):
        raise Invalid([Fault(where, "is not an object")])
    return value


def listed(value: Any, where: str) -> Sequence[Any]:
    if not isinstance(value, list):
        raise Invalid([Fault(where, "is not a list")])
    return value


def text(value: Any, default: str = "") -> str:
    return value if isinstance(value, str) else default if value is None else str(value)


def found_number(value: Any) -> float | None:
    """A finite number; None for a tool's substitute ("N/A", NaN, null)."""
    return number(value)


def count(value: Any) -> int | None:
    found = number(value)
    return int(found) if found is not None and found == int(found) and found > 0 else None


def left_out(names: Sequence[str], why: str) -> list[Note]:
    """One note for metrics that are not taken, with their names."""
    if not names:
        return []
    distinct = list(dict.fromkeys(names))
    shown = ", ".join(distinct[:8]) + (f" and {len(distinct) - 8} more" if len(distinct) > 8 else "")
    return [Note("left_out", f"{why}: {shown}")]


def put(
    values: dict[str, dict[tuple[str, ...], float]], metric: str, at: tuple[str, ...], value: float, notes: list[Note]
) -> None:
    """Add a metric's value at a coordinate; of one that the source gives twice the last counts, with a note."""
    cells = values.setdefault(metric, {})
    if at in cells:
        both = f"first {cells[at]:.17g}, then {value:.17g}, which counts"
        notes.append(Note("given_twice", f'"{metric}" at {", ".join(at)} is given twice: {both}'))
    cells[at] = value


def over(names: Sequence[str], cells: Mapping[tuple[str, ...], float]) -> dict[str, Any]:
    """Values at coordinates, over all of the names.

    An axis stays even if it has one level: two files often differ in just that level, and files with more levels share
    those that both have.
    """
    levels = [list(dict.fromkeys(key[place] for key in cells)) for place in range(len(names))]
    axes = [{"name": name, "kind": "nominal", "levels": found} for name, found in zip(names, levels, strict=True)]
    tidy = [{"at": dict(zip(names, key, strict=True)), "value": value} for key, value in cells.items()]
    return {"axes": axes, "cells": tidy}


def unknown_direction(name: str) -> Note:
    return Note("direction_unknown", f'whether more or less of "{name}" is better is not known')
