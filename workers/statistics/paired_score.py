"""Two proportions of the same items, for `matching.py`: Tango's score test against a margin, McNemar's exact test at 0.

Tango (1998), Statistics in Medicine 17:891: the variance is that of the maximum likelihood estimates under the
hypothesis that the difference is the margin, as Miettinen and Nurminen have it for independent samples. At the margin 0
it is McNemar's test by the normal law, which finds differences too often where few items differ. A hypothesis that
allows 0 is therefore not rejected either while McNemar's exact test (1947), one-sided, does not reject 0: the interval
leaves 0 out when the exact test does. Where no item speaks for the one side, what is left is a binomial count of those
that speak for the other, and no margin is rejected that the binomial test does not reject (Clopper and Pearson 1934).
"""

import math
from dataclasses import dataclass

from scipy.special import bdtr, bdtri, ndtr, ndtri

from workers.statistics.judging import Span

_HALVINGS = 50


@dataclass(frozen=True, slots=True)
class PairedSample:
    """Of n items, `up` came out 1 in the contender alone and `down` in the baseline alone."""

    up: int
    down: int
    n: int

    @property
    def difference(self) -> float:
        """The difference as it was observed, contender less baseline."""
        return (self.up - self.down) / self.n

    @property
    def stderr(self) -> float:
        """Bonett and Price's error (2012), which is not 0 where no item differs."""
        n = self.n + 2
        up, down = (self.up + 1) / n, (self.down + 1) / n
        return math.sqrt((up + down - (up - down) ** 2) / n)

    def span(self, alpha: float) -> Span:
        """The differences that neither one-sided test rejects at the level alpha."""
        return Span(-self.turned()._high(alpha), self._high(alpha))

    def _high(self, alpha: float) -> float:
        high = -_end(self.turned(), float(ndtri(1 - alpha)))
        if self.p_of_zero() >= alpha:
            high = max(high, 0.0)
        return high if self.down else max(high, float(bdtri(self.up, self.n, alpha)) if self.up < self.n else 1.0)

    def p_below(self, bound: float) -> float:
        """One-sided p of the hypothesis that the difference is no less than the bound."""
        p = float(ndtr(score(self, max(-1.0, min(1.0, bound)))))
        if bound <= 0:
            return max(p, self.p_of_zero())
        return p if self.down else max(p, float(bdtr(self.up, self.n, min(bound, 1.0))))

    def p_of_zero(self) -> float:
        """McNemar's exact p, one-sided: the chance of so few among the items that differ, were both sides equal."""
        both = self.up + self.down
        return float(bdtr(self.up, both, 0.5)) if both else 1.0

    def turned(self) -> "PairedSample":
        """The sample of the difference the other way around."""
        return PairedSample(self.down, self.up, self.n)


def score(sample: PairedSample, margin: float) -> float:
    """Distance of the observed difference above a margin in standard errors, from -1 to 1."""
    b, c, n = sample.up, sample.down, sample.n
    linear = (2 * n - b + c) * margin - b - c
    only_down = (math.sqrt(max(0.0, linear**2 + 8 * n * c * margin * (1 - margin))) - linear) / (4 * n)
    variance = n * (2 * only_down + margin * (1 - margin))
    apart = b - c - n * margin
    if abs(apart) < 1e-9:
        return 0.0
    return apart / math.sqrt(variance) if variance > 0 else math.copysign(math.inf, apart)


def _end(sample: PairedSample, critical: float) -> float:
    """The largest margin below the observed difference that the test rejects."""
    low, high = -1.0, sample.difference
    if score(sample, low) < critical:
        return low
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if score(sample, middle) > critical else (low, middle)
    return (low + high) / 2
