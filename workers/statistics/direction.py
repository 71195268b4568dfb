"""One word for where a series goes, from its trend test and its size.

The trend test is not gated on the test of heterogeneity: a trend can be certain where the omnibus test, which
spends its power on m - 1 directions, sees nothing.
"""

from __future__ import annotations

from typing import Literal

from workers.statistics.kendall import MannKendall
from workers.statistics.slopes import TheilSen
from workers.statistics.terms import Parameters

Direction = Literal[
    "increasing",
    "decreasing",
    "slightly_increasing",
    "slightly_decreasing",
    "varies_without_trend",
    "flat_within_noise",
    "flat",
    "inconclusive",
    "constant",
    "single_point",
    "two_points",
    "insufficient_points",
]


def direction_with_noise(
    trend_p: float | None, change: float, heterogeneity_p: float | None, parameters: Parameters
) -> Direction:
    """The word where the noise of each cell is known. `change` is the fitted one from end to end."""
    if trend_p is not None and trend_p < parameters.alpha and change != 0:
        return trend_word(change, parameters)
    if heterogeneity_p is not None and heterogeneity_p < parameters.alpha:
        return "varies_without_trend"
    return "flat_within_noise"


def direction_without_noise(
    count: int, test: MannKendall, slope: TheilSen, span: float, parameters: Parameters
) -> Direction:
    """The word by the exact trend test; `flat` only if the whole interval of the change is negligible."""
    if count < 3:
        return "single_point" if count == 1 else "two_points"
    if test.status == "undefined":
        return "constant"
    if test.status == "insufficient" or slope.slope is None or slope.interval is None:
        return "insufficient_points"
    if test.p is not None and test.p < parameters.alpha:
        return trend_word(slope.slope * span or float(test.s), parameters)
    margin = parameters.equivalence
    if margin is not None and -margin <= slope.interval.low * span <= slope.interval.high * span <= margin:
        return "flat"
    return "inconclusive"


def trend_word(change: float, parameters: Parameters) -> Direction:
    """Rising or falling; `slightly` where the change is below the equivalence margin."""
    slight = parameters.equivalence is not None and abs(change) < parameters.equivalence
    if change > 0:
        return "slightly_increasing" if slight else "increasing"
    return "slightly_decreasing" if slight else "decreasing"
