"""The 95 % interval of a cell as it stands in a document, where its noise is known."""

from __future__ import annotations

from registry.renderings.interval import around, wilson
from registry.results.grid import PostedMetric


def interval_of(
    value: float, metric: PostedMetric, trials: int | None, stderr: float | None
) -> tuple[float, float] | None:
    """The interval in the metric's unit; None where neither trials nor a standard error is known."""
    if trials and metric["upper"]:
        return wilson(value, trials, metric["upper"])
    return None if stderr is None else around(value, stderr)
