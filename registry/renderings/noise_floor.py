"""What the best of as many equal cells would show by chance, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from registry.renderings.numbers import fixed, level_of

Document = Mapping[str, Any]


def floor_of_noise(metric: Document | None, peaks: Document, decimals: int | None) -> str | None:
    """Where the best of equal cells would lie, and whether this one lies beyond what they show at the level of the
    best set; None where the noise is not known or there is a single cell."""
    expected, most = peaks.get("expected_max_if_equal"), peaks.get("plausible_max_if_equal")
    if expected is None or most is None:
        return None
    lower = (metric or {}).get("direction") == "lower"
    best, bound = peaks["best"]["value"], (metric or {}).get("lower" if lower else "upper")
    if bound is not None:
        # The noise of a cell at the end of its scale reaches beyond that; no value does.
        expected, most = (max(expected, bound), max(most, bound)) if lower else (min(expected, bound), min(most, bound))
    finer = None if decimals is None else decimals + 1
    beyond = (most - best if lower else best - most) > 1e-9 * abs(most)
    side, word = ("above", "lower") if lower else ("below", "higher")
    verdict = f"this one is {word}" if beyond else f"this one is not {word}, so it proves nothing by itself"
    share = level_of(peaks.get("best_set") or {"level": 0.95})
    return (
        f"the best of as many equal cells would be expected at {fixed(expected, finer)} and would be at or {side} "
        f"{fixed(most, finer)} in {share} of cases; {verdict}"
    )
