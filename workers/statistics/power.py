"""How far from the null a trend or a step must be for its test to find it with probability `POWER`: the detectable
changes of `trend.py` and `changes.py`.

All in standard errors of the change, the root of the noncentrality. Of a normal test at level a it is z_{1 - a/2} +
z_{POWER}; of Student's t the noncentrality of its law. The test of proportions divides a likelihood ratio, chi-squared
with one degree of freedom and this noncentrality, by max(1, W / (m - 2)), where the dispersion W about a straight truth
is chi-squared with m - 2 degrees of freedom; it takes the larger p of homogeneity and of the likelihood ratio as well
(`logit`). Given W, each is a bound on the likelihood ratio: the power is their chance,
averaged over quantiles of W.
"""

from functools import lru_cache

import numpy as np
from scipy.special import chdtri, nctdtrinc, ndtr, stdtrit

from registry.results.parameters import POWER
from workers.statistics.terms import FloatArray, normal_quantile

_NODES = (np.arange(400) + 0.5) / 400


def by_normal(level: float) -> float:
    """Errors that a two-sided normal test at a level needs."""
    return normal_quantile(1 - level / 2) + normal_quantile(POWER)


def by_student(df: FloatArray, level: float) -> FloatArray:
    """Errors that Student's t needs, for each number of degrees of freedom."""
    return np.asarray(nctdtrinc(df, 1 - POWER, stdtrit(df, 1 - level / 2)))


def detectable_by_student(error: FloatArray, df: FloatArray, level: float) -> FloatArray:
    """The differences that Student's t at a level finds with probability `POWER`, given estimates of their errors.

    Half of all estimates of an error are below it times the root here: the difference is then right in the middle."""
    return np.asarray(by_student(df, level) * np.sqrt(df / chdtri(df, 0.5)) * error)


@lru_cache(maxsize=1_024)
def by_dispersion(cells: int, level: float) -> float:
    """Errors that the test of the trend of so many proportions needs."""
    rest = cells - 2
    if rest < 1:
        return by_normal(level)
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
