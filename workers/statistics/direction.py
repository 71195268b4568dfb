"""One word for where a series goes, from its trend test, the interval of its change, and what it could have shown.

The trend is judged by q, the false-discovery rate among the series of the grid along the axis. It is not gated on the
test of heterogeneity: a trend can be certain where the omnibus test, which spends its power on m - 1 directions, sees
nothing. `flat` is shown, not assumed: the whole interval of the change lies within the margin of equivalence
(Schuirmann 1987, Journal of Pharmacokinetics and Biopharmaceutics 15, 657-680; Berger 1982, Technometrics 24,
295-300). What is neither shown to move nor shown to be flat is `inconclusive`.
"""

from __future__ import annotations

from registry.results.parameters import Parameters
from registry.results.series import Direction
from registry.results.trend_tests import FittedChange, MannKendall


def direction_with_noise(
    q: float | None, change: FittedChange | None, heterogeneity_q: float | None, parameters: Parameters
) -> Direction:
    """The word where the noise of each of two or more cells is known."""
    if q is not None and q < parameters.alpha and change is not None and change.value != 0:
        return trend_word(change.value, parameters)
    if heterogeneity_q is not None and heterogeneity_q < parameters.alpha:
        return "varies_without_trend"
    return "flat" if is_flat(change, parameters) else "inconclusive"


def direction_without_noise(
    count: int, test: MannKendall, q: float | None, change: FittedChange | None, parameters: Parameters
) -> Direction:
    """The word by the exact trend test, or why there is none."""
    if count < 3:
        return "single_point" if count == 1 else "two_points"
    if test.status == "undefined":
        return "constant"
    if test.status == "insufficient" or change is None:
        return "insufficient_points"
    if q is not None and q < parameters.alpha:
        return trend_word(change.value or float(test.s), parameters)
    return "flat" if is_flat(change, parameters) else "inconclusive"


def is_flat(change: FittedChange | None, parameters: Parameters) -> bool:
    """Return whether the whole interval of a change is negligible."""
    margin = parameters.equivalence
    if margin is None or change is None or change.interval is None:
        return False
    return -margin <= change.interval.low <= change.interval.high <= margin


def trend_word(change: float, parameters: Parameters) -> Direction:
    """Rising or falling; `slightly` where the change is below the equivalence margin."""
    slight = parameters.equivalence is not None and abs(change) < parameters.equivalence
    if change > 0:
        return "slightly_increasing" if slight else "increasing"
    return "slightly_decreasing" if slight else "decreasing"
