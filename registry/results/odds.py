"""Success against failure in the cells of two grids as strata: differences and odds, and whether they are alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from registry.results.terms import Count, Interval, P, Reason, Status

Strata = Annotated[Count, "How many cells."]


@dataclass(frozen=True, slots=True)
class OddsRatio:
    """Mantel and Haenszel's, with Robins, Breslow and Greenland's interval; undefined where it is 0 or infinite."""

    status: Status
    strata: Strata
    value: Annotated[float | None, "The common odds ratio; null where it is 0 or infinite."] = None
    interval: Interval | None = None
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class GapMantelHaenszel:
    """Cells with trials in both grids as strata."""

    status: Status
    strata: Strata
    difference: Annotated[float | None, "The risk difference, in the metric's unit."] = None
    stderr: Annotated[float | None, "Of `difference`."] = None
    interval: Annotated[Interval | None, "Of `difference`."] = None
    p: P = None
    test: Annotated[str | None, "The test that was used; null: none."] = None
    odds_ratio: OddsRatio | None = None
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class BreslowDay:
    """Whether the odds ratio is the same in all cells; with Tarone's correction, and without."""

    status: Status
    strata: Strata
    chi2: Annotated[float | None, "With Tarone's correction."] = None
    df: Annotated[int | None, "Degrees of freedom."] = None
    p: Annotated[float | None, "The p-value of chi2."] = None
    chi2_uncorrected: Annotated[float | None, "Without the correction."] = None
    p_uncorrected: Annotated[float | None, "Its p-value."] = None
    reason: Reason = None
