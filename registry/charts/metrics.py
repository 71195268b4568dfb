"""The one metric that several grids share, or why they have none in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from registry.errors import Fault, Invalid
from registry.grids.grid import Metric


def common_metric(metrics: Iterable[Metric], pointer: str) -> Metric:
    """The metric of all of them: what one leaves open, another says. `Invalid` where units, bounds or directions
    differ, for a mean over them would be of nothing."""
    found = Counter(metrics)
    faults = [
        Fault(pointer, f"the grids differ in its {word}: {_told(values)}; choose benchmarks, models or variants alike")
        for word, values in (
            ("unit", Counter(_given(found, lambda one: one.unit))),
            ("bounds", Counter(_given(found, _bounds))),
            ("better end", Counter(_given(found, lambda one: one.direction))),
        )
        if len(values) > 1
    ]
    if faults:
        raise Invalid(faults)
    first = next(iter(found))
    bounded = next((one for one in found if _bounds(one) is not None), first)
    unit = next((one.unit for one in found if one.unit is not None), None)
    direction = next((one.direction for one in found if one.direction is not None), None)
    return Metric(first.name, unit, direction, bounded.lower, bounded.upper)


def _given(found: Counter[Metric], read: Any) -> dict[Any, int]:
    told: dict[Any, int] = {}
    for metric, count in found.items():
        if (value := read(metric)) is not None:
            told[value] = told.get(value, 0) + count
    return told


def _bounds(metric: Metric) -> tuple[float | None, float | None] | None:
    return None if metric.lower is None and metric.upper is None else (metric.lower, metric.upper)


def _told(values: Counter[Any]) -> str:
    return ", ".join(f"{_word(value)} in {count}" for value, count in values.most_common(6))


def _word(value: Any) -> str:
    if not isinstance(value, tuple):
        return str(value)
    low, high = ("open" if end is None else f"{end:g}" for end in value)
    return f"{low} to {high}"
