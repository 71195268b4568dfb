"""The 95 % interval of a cell as it stands in a document, where its noise is known."""

from __future__ import annotations

from registry.renderings.numbers import around, wilson
from registry.results.grid import PostedMetric


def interval_of(
    value: float, metric: PostedMetric, trials: int | None, stderr: float | None
) -> tuple[float, float] | None:
    """The interval in the metric's unit; None where neither trials nor a standard error is known."""
    if trials and metric["upper"]:
        return wilson(value, trials, metric["upper"])
    return None if stderr is None else around(value, stderr)


def count_of(value: float, metric: PostedMetric, trials: int | None, decimals: int | None) -> int | None:
    """How many of the trials a score with so many decimals is: 437 for 44.1 % of 990. None where it is no share of
    them, or where several counts would be rounded to it."""
    whole = metric["upper"] if metric["lower"] == 0 and metric["upper"] in (1, 100) else None
    if not trials or not whole or decimals is None:
        return None
    count, tick = round(value / whole * trials), 10.0**-decimals
    near = abs(whole * count / trials - value) <= 0.5001 * tick
    return count if near and whole / trials > tick else None
