"""Student's t for whole degrees of freedom, without a numerical library.

The law: Abramowitz and Stegun 1964, Handbook of Mathematical Functions, 26.7.3 and 26.7.4, finite sums; its inverse by
bisection. Beyond five hundred degrees: the expansion about the normal quantile, 26.7.5.
"""

import math
from functools import lru_cache
from statistics import NormalDist

_EXACT = 500
"""Degrees of freedom from which on the expansion has eight digits, far out too."""
_HALVINGS = 60


@lru_cache(maxsize=1024)
def t_quantile(share: float, df: int) -> float:
    """The point below which Student's law with `df` degrees of freedom has this share, from 0.5 to below 1."""
    if df > _EXACT:
        z = NormalDist().inv_cdf(share)
        first = (z**3 + z) / 4
        second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
        third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
        return z + first / df + second / df**2 + third / df**3
    inside, low, high = 2 * share - 1, 0.0, math.pi / 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _between(middle, df) < inside else (low, middle)
    return math.sqrt(df) * math.tan((low + high) / 2)


def t_tail(t: float, df: int | None) -> float:
    """The probability above t of Student's law; of the normal one without degrees of freedom, or with very many."""
    if df is None or df > 10 * _EXACT:
        return 0.5 * math.erfc(t / math.sqrt(2))
    return 0.5 - math.copysign(_between(math.atan(abs(t) / math.sqrt(df)), df), t) / 2


def _between(angle: float, df: int) -> float:
    """The probability between -t and t, for t = sqrt(df) tan(angle)."""
    sine, square = math.sin(angle), math.cos(angle) ** 2
    odd = df % 2
    if df == 1:
        return 2 * angle / math.pi
    term = math.cos(angle) if odd else 1.0
    total = term
    for k in range(2 + odd, df - 1, 2):
        term *= square * (k - 1) / k
        total += term
    return 2 / math.pi * (angle + sine * total) if odd else sine * total
