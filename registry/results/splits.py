"""Series in two parts: the levels up to a point, and those beyond it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from registry.results.terms import Count, Interval


@dataclass(frozen=True, slots=True)
class Split:
    """What lies beyond `params.split` less what lies up to it, as means in the metric's unit: of a series, or over the
    series that have cells on both sides, each with the same weight. A fall within either part counts too."""

    count: Annotated[Count, "Cells of the series; over all, the series with both parts."]
    before: Annotated[float, "The mean up to it."]
    after: Annotated[float, "The mean beyond it."]
    difference: Annotated[float, "`after` less `before`."]
    interval: Annotated[Interval | None, "Were these cells run again; null without noise."] = None
    stderr: Annotated[float | None, "Of the difference."] = None
    df: Annotated[float | None, "Where errors were estimated from repeats."] = None
