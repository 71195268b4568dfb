"""The type of a grid's settings for statistics: what counts as significant, as sharp and as equal; and by how much
trials are multiplied to show a difference with the power that is meant, one answer of texts and of plans."""

from dataclasses import dataclass
from statistics import NormalDist
from typing import Annotated, Literal

from registry.grids.grid import Metric

Detail = Literal["outstanding", "full"]

FALSE_ALARM = 0.01
"""The share of further runs of an unchanged model that fall below its floor."""
POWER = 0.8
"""The probability with which `detectable` differences would be found."""
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class Parameters:
    """The settings of the statistics of a grid, in the metric's own unit.

    For a metric with an open range the margins are null unless set: no step is then sharp, no series flat.
    """

    alpha: Annotated[float, "The rate of error that every word keeps."] = 0.05
    sharp_change: Annotated[
        float | None, "The least posted size of a sharp step: 5 % of the metric's range; null where it is open."
    ] = None
    equivalence: Annotated[
        float | None, "The margin within which values are equal: 2 % of the metric's range; null where it is open."
    ] = None
    thresholds: Annotated[tuple[float, ...], "The levels whose crossings are looked for, in the metric's unit."] = ()
    power: Annotated[float, "Of `detectable`: 0.8."] = POWER
    detail: Annotated[Detail, "Which steps `changes` lists."] = "outstanding"

    @classmethod
    def of(cls, metric: Metric, alpha: float = 0.05) -> "Parameters":
        """The settings of a metric: 5 % and 2 % of its range."""
        extent = metric.range
        return cls(alpha, extent * 5 / 100, extent * 2 / 100) if extent else cls(alpha)


def error_under_equality(difference: float, p: float | None) -> float | None:
    """The error that the score test took of a difference with this p, that by pooled rates; None where it cannot be
    told, as nearly nothing differs: it is then the one by the observed rates."""
    return abs(difference) / -_NORMAL.inv_cdf(p / 2) if p is not None and 1e-30 < p < 0.9 else None


def times_to_show(difference: float, stderr: float, p: float | None, alpha: float) -> float:
    """By how much all trials must be multiplied for a difference, which is not 0, to be shown with `POWER`."""
    null = error_under_equality(difference, p) or stderr
    reach = _NORMAL.inv_cdf(1 - alpha / 2) * null + _NORMAL.inv_cdf(POWER) * stderr
    return (reach / difference) ** 2
