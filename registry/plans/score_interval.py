"""The score test of a difference of two proportions against a margin, and its interval.

Miettinen and Nurminen (1985), Statistics in Medicine 4:213: the variance is that of the maximum likelihood estimates
under the hypothesis that the difference is the margin, with their factor N / (N - 1); the deviate is corrected for its
skewness (Laud 2017, Pharmaceutical Statistics 16:334). Counts may be divided by a design effect. Workers judge many
pairs at once by the same test (`workers.statistics.score_test`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

_HALVINGS = 50
_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True)
class TwoSamples:
    """k1 successes of n1 trials, and k2 of n2; the difference is the first rate less the second."""

    k1: float
    n1: float
    k2: float
    n2: float

    @property
    def difference(self) -> float:
        """The difference as it was observed."""
        return self.k1 / self.n1 - self.k2 / self.n2

    def turned(self) -> TwoSamples:
        """The second less the first."""
        return TwoSamples(self.k2, self.n2, self.k1, self.n1)


def score(samples: TwoSamples, margin: float) -> float:
    """Distance of the observed difference above the margin, from -1 to 1, as a standard normal deviate; infinite where,
    were the margin the difference, nothing else could have been observed."""
    first, second = restricted(samples, margin)
    both = samples.n1 + samples.n2
    v1, v2 = first * (1 - first) / samples.n1, second * (1 - second) / samples.n2
    variance = (v1 + v2) * both / max(both - 1, 1)
    apart = samples.difference - margin
    if variance <= 0:
        return 0.0 if abs(apart) < 1e-12 else math.copysign(math.inf, apart)
    z = apart / math.sqrt(variance)
    # z is the deviate d and a sixth of the skewness times d^2 - 1 (Cornish and Fisher 1937).
    a = (v1 * (1 - 2 * first) / samples.n1 - v2 * (1 - 2 * second) / samples.n2) / variance**1.5 / 6
    return (math.sqrt(max(0.0, 1 + 4 * a * (a + z))) - 1) / (2 * a) if abs(a) > 1e-9 else z


def restricted(samples: TwoSamples, margin: float) -> tuple[float, float]:
    """The maximum likelihood estimates of both rates where their difference is the margin: the root of a cubic."""
    n1, n2, both, k = samples.n1, samples.n2, samples.n1 + samples.n2, samples.k1 + samples.k2
    b = (n1 + 2 * n2) * margin - both - k
    c = (n2 * margin - both - 2 * samples.k2) * margin + k
    d = samples.k2 * margin * (1 - margin)
    q = b**3 / (27 * both**3) - b * c / (6 * both**2) + d / (2 * both)
    p = math.copysign(math.sqrt(max(0.0, b**2 / (9 * both**2) - c / (3 * both))), q)
    angle = 0.0 if p == 0 else (math.pi + math.acos(max(-1.0, min(1.0, q / p**3)))) / 3
    second = 2 * p * math.cos(angle) - b / (3 * both)
    second = min(max(second, 0.0, -margin), 1.0, 1 - margin)
    return second + margin, second


def score_interval(samples: TwoSamples, alpha: float) -> tuple[float, float]:
    """The margins that neither one-sided test at the level alpha rejects: their ends, of level 1 - 2 alpha."""
    critical = _NORMAL.inv_cdf(1 - alpha)
    observed = samples.difference
    return _end(samples, critical, -1.0, observed), -_end(samples.turned(), critical, -1.0, -observed)


def _end(samples: TwoSamples, critical: float, low: float, high: float) -> float:
    """The largest margin between these that the test rejects."""
    if score(samples, low) < critical:
        return low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if score(samples, middle) > critical else (low, middle)
    return (low + high) / 2
