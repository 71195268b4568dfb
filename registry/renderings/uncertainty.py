"""The 95 % interval of a cell as it stands in a document, where its noise is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from registry.renderings.interval import around, wilson


def interval_of(
    value: float, metric: Mapping[str, Any], trials: int | None, stderr: float | None
) -> tuple[float, float] | None:
    """The interval in the metric's unit; None where neither trials nor a standard error is known."""
    if trials and metric.get("upper"):
        return wilson(value, trials, metric["upper"])
    return None if stderr is None else around(value, stderr)
