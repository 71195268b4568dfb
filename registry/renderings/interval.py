"""The 95 % interval of one cell, from the noise that was given with it.

Trials: Wilson (1927), Journal of the American Statistical Association 22, 209-212. A standard error: the value and
1.96 of it on either side.
"""

from __future__ import annotations

import math
from functools import lru_cache

Z = 1.959963984540054
"""The 97.5 % point of the normal law."""


@lru_cache(maxsize=65_536)
def wilson(value: float, trials: float, whole: float) -> tuple[float, float]:
    """The interval of a proportion that is written on a scale from 0 to `whole` (1 or 100)."""
    share = value / whole
    spread = Z * math.sqrt(share * (1 - share) / trials + (Z / (2 * trials)) ** 2)
    middle, shrink = share + Z * Z / (2 * trials), 1 + Z * Z / trials
    # A proportion of 0 or 1 has that very end; the arithmetic would miss it by a rounding.
    low = 0.0 if value == 0 else whole * (middle - spread) / shrink
    high = float(whole) if value == whole else whole * (middle + spread) / shrink
    return low, high


def around(value: float, stderr: float) -> tuple[float, float]:
    """The interval of a value with a standard error."""
    return value - Z * stderr, value + Z * stderr
