"""Sentence about the best of as many equal cells, by chance alone."""

from __future__ import annotations

from registry.renderings.numbers import fixed, level_of
from registry.results.grid import PostedMetric
from registry.results.peaks import Peaks


def floor_of_noise(metric: PostedMetric, peaks: Peaks, decimals: int | None) -> str | None:
    """Where the best of equal cells would lie, and whether this one lies beyond what they show at the level of the
    best set; None where the noise is not known or there is a single cell."""
    expected, most = peaks.expected_max_if_equal, peaks.plausible_max_if_equal
    if peaks.best is None or expected is None or most is None:
        return None
    lower = metric.get("direction") == "lower"
    best, bound = peaks.best.value, metric.get("lower") if lower else metric.get("upper")
    if bound is not None:
        # The noise of a cell at the end of its scale reaches beyond that; no value does.
        expected, most = (max(expected, bound), max(most, bound)) if lower else (min(expected, bound), min(most, bound))
    finer = None if decimals is None else decimals + 1
    beyond = (most - best if lower else best - most) > 1e-9 * abs(most)
    side, word = ("above", "lower") if lower else ("below", "higher")
    verdict = f"this one is {word}" if beyond else f"this one is not {word}, so it proves nothing by itself"
    share = level_of(peaks.best_set) if peaks.best_set else "95 %"
    return (
        f"the best of as many equal cells would be expected at {fixed(expected, finer)} and would be at or {side} "
        f"{fixed(most, finer)} in {share} of cases; {verdict}"
    )
