"""The test of complete blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from registry.results.terms import Count, Reason, Status


@dataclass(frozen=True, slots=True)
class ImanDavenport:
    """Iman and Davenport's F on k - 1 and (k - 1)(b - 1) degrees of freedom."""

    f: Annotated[float | None, "Null where all blocks agree and F is infinite."]
    p: Annotated[float | None, "Null where F is."]


@dataclass(frozen=True, slots=True)
class CriticalDifference:
    """Mean ranks further apart than this differ (Nemenyi)."""

    alpha: Annotated[float, "The rate of error over all pairs."]
    value: Annotated[float, "In ranks."]


@dataclass(frozen=True, slots=True)
class Friedman:
    """Friedman's test of whether k treatments differ over b complete blocks."""

    status: Status
    mean_ranks: Annotated[tuple[float, ...], "Of each treatment over the blocks; 1 is the best."]
    chi2: Annotated[float | None, "Corrected for ties; null where nothing was tested."]
    df: Annotated[Count, "Degrees of freedom: the treatments less one."]
    p: Annotated[float | None, "Of the chi-squared law; null where nothing was tested."]
    iman_davenport: Annotated[ImanDavenport | None, "Null where nothing was tested."]
    exact_p: Annotated[float | None, "Over all permutations within blocks, where they can be enumerated; else null."]
    critical_difference: Annotated[CriticalDifference | None, "Null where nothing was tested."]
    blocks: Annotated[Count, "How many there are."]
    reason: Reason = None
