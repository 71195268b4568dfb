"""How many times the trials the score test takes for a difference: one answer of texts and of plans."""

from statistics import NormalDist

from registry.results.parameters import POWER

_NORMAL = NormalDist()


def error_under_equality(difference: float, p: float | None) -> float | None:
    """The error that the score test took of a difference with this p, that by pooled rates; None where it cannot be
    told, as nearly nothing differs: it is then the one by the observed rates."""
    return abs(difference) / -_NORMAL.inv_cdf(p / 2) if p is not None and 1e-30 < p < 0.9 else None


def times_to_show(difference: float, stderr: float, p: float | None, alpha: float) -> float:
    """By how much all trials must be multiplied for a difference, which is not 0, to be shown with `POWER`."""
    null = error_under_equality(difference, p) or stderr
    reach = _NORMAL.inv_cdf(1 - alpha / 2) * null + _NORMAL.inv_cdf(POWER) * stderr
    return (reach / difference) ** 2
