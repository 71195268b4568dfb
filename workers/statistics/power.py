"""How far from the null a trend or a step must be for its test to find it with probability `POWER`: the detectable
changes of `trend.py` and `changes.py`.

All in standard errors of the change. Of a normal test at level a it is z_{1 - a/2} + z_{POWER}. An estimated error is
another one when the test is done again: c estimated errors are found where (c - t) s, of mean (c - t) m and variance v
(c^2 + t^2) by the law of s (Johnson, Kotz and Balakrishnan 1994, chapter 18), are z_{POWER} standard deviations of what
is compared; found in 79.6 to 80.1 % from 1 degree of freedom on. The test of proportions divides a likelihood ratio,
chi-squared with one degree of freedom and this noncentrality, by max(1, W / (m - 2)), where the dispersion W about a
straight truth is chi-squared with m - 2 degrees of freedom; it takes the larger p of homogeneity and of the likelihood
ratio as well (`logit`). Given W, each is a bound on the likelihood ratio: the power is their chance, averaged over
quantiles of W.
"""

import math
from functools import lru_cache

import numpy as np
from scipy.special import chdtri, ndtr, poch, stdtrit

from registry.results.parameters import POWER
from workers.statistics.terms import FloatArray, normal_quantile

_MANY = 1e12
_NODES = (np.arange(400) + 0.5) / 400


def by_student(df: FloatArray | float, level: float) -> FloatArray:
    """Estimated errors, with so many degrees of freedom, that a two-sided test at a level needs; normal with infinitely
    many."""
    t, z = stdtrit(df, 1 - level / 2), normal_quantile(POWER)
    finite = np.minimum(df, _MANY)
    square = np.where(finite < df, 1.0, poch(finite / 2, 0.5) ** 2 * 2 / finite)
    rest = z**2 * (1 - square)
    a, b = square - rest, t * square
    return np.asarray((b + np.sqrt(b**2 - a * (t**2 * a - z**2))) / a)


def detectable(error: float, df: float, level: float) -> float:
    """The difference that a test at a level finds with probability `POWER`, by an estimate of its error."""
    return float(by_student(df, level)) * error


@lru_cache(maxsize=1_024)
def by_dispersion(cells: int, level: float) -> float:
    """Errors that the test of the trend of so many proportions needs."""
    rest = cells - 2
    if rest < 1:
        return float(by_student(math.inf, level))
    scatter = chdtri(rest, _NODES)
    bound = float(stdtrit(rest, 1 - level / 2)) ** 2 * np.maximum(1.0, scatter / rest)
    bound = np.minimum(bound, np.maximum(chdtri(1, level), chdtri(cells - 1, level) - scatter))
    ends = np.sqrt(bound)
    low, high = 0.0, float(ends.max()) + 10
    while high - low > 1e-10 * high:
        middle = (low + high) / 2
        power = float(np.mean(ndtr(middle - ends) + ndtr(-middle - ends)))
        low, high = (middle, high) if power < POWER else (low, middle)
    return high
