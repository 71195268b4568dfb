"""Trend of proportions: a binomial model with logit link, k ~ Binomial(n, expit(a + b x)).

McCullagh and Nelder (1989), ch. 4: the likelihood-ratio statistic is divided by max(1, Pearson dispersion) and
referred to F(1, m - 2), because cells of a benchmark scatter more than independent trials would.
Where the maximum does not exist (separation), Cochran (1954) and Armitage (1955) still test the trend.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtrc, erfc, expit, fdtrc, xlogy

from workers.statistics.terms import SMALLEST_P, FloatArray, IntArray, Status


@dataclass(frozen=True, slots=True)
class Logit:
    """A fitted logistic trend. `slope` in log-odds per unit of the abscissa, `effect` the average marginal
    effect and `fitted_change` the change from the first to the last abscissa, both in the metric's unit.

    `p` tests the trend with dispersion (from chi-squared for two cells, which have none to estimate).
    `undefined` under separation; `p` then is Cochran and Armitage's and `test` says so.
    """

    status: Status
    test: str | None = None
    p: float | None = None
    slope: float | None = None
    intercept: float | None = None
    stderr: float | None = None
    effect: float | None = None
    fitted_change: float | None = None
    lr: float | None = None
    deviance: float | None = None
    dispersion: float | None = None
    reason: str | None = None


def logit_trend(x: FloatArray, k: IntArray, n: IntArray, whole: float = 100.0) -> Logit:
    """Fits k of n trials over increasing x; `whole` is what a certain success counts (1 or 100)."""
    if x.size < 2:
        return Logit("insufficient", reason="one cell has no trend")
    if k.sum() in (0, n.sum()):
        return Logit("undefined", reason="every trial came out the same")
    if separated(x, k, n):
        z = armitage_z(x, k, n)
        p = max(SMALLEST_P, float(erfc(abs(z) / math.sqrt(2))))
        change = float(k[-1] / n[-1] - k[0] / n[0]) * whole
        reason = "separation: the likelihood has no maximum"
        return Logit("undefined", "cochran_armitage", p, fitted_change=change, reason=reason)
    return fit(x, k, n, whole)


def separated(x: FloatArray, k: IntArray, n: IntArray) -> bool:
    """Whether some abscissa parts all successes from all failures, so that the slope would be infinite."""
    hits, misses = x[k > 0], x[k < n]
    return bool(hits.max() <= misses.min() or misses.max() <= hits.min())


def armitage_z(x: FloatArray, k: IntArray, n: IntArray) -> float:
    """The standard normal deviate of a linear trend in proportions."""
    pooled = k.sum() / n.sum()
    centred = x - np.sum(n * x) / n.sum()
    return float(np.sum((k - n * pooled) * centred) / np.sqrt(pooled * (1 - pooled) * np.sum(n * centred**2)))


def fit(x: FloatArray, k: IntArray, n: IntArray, whole: float) -> Logit:
    """The maximum-likelihood fit where it exists."""
    centre, scale = float(x.mean()), float(np.ptp(x))
    u = (x - centre) / scale
    a, b = newton(u, k, n)
    eta = a + b * u
    hit, miss = expit(eta), expit(-eta)
    weight = n * hit * miss
    residual = k * miss - (n - k) * hit
    pooled = k.sum() / n.sum()
    deviance = 2 * gap(k, n, hit, miss)
    lr = max(0.0, 2 * gap(k, n, np.full(x.size, pooled), np.full(x.size, 1 - pooled)) - deviance)
    spread = float(np.sum(weight * u * u) - np.sum(weight * u) ** 2 / weight.sum())
    dispersion = float(np.sum(residual**2 / np.maximum(weight, 1e-300)) / (x.size - 2)) if x.size > 2 else None
    return Logit(
        status="ok",
        test="likelihood_ratio_f" if x.size > 2 else "likelihood_ratio_chi2",
        p=trend_p(lr, dispersion, int(x.size)),
        slope=b / scale,
        intercept=a - b * centre / scale,
        stderr=1 / math.sqrt(spread) / scale if spread > 0 else None,
        effect=float(np.mean(hit * miss)) * b / scale * whole,
        fitted_change=float(hit[-1] - hit[0]) * whole,
        lr=lr,
        deviance=deviance,
        dispersion=dispersion,
    )


def trend_p(lr: float, dispersion: float | None, cells: int) -> float:
    """The p of the likelihood ratio: F(1, m - 2) after dispersion, chi-squared where m is 2."""
    if dispersion is None:
        return max(SMALLEST_P, float(chdtrc(1, lr)))
    return max(SMALLEST_P, float(fdtrc(1, cells - 2, lr / max(1.0, dispersion))))


def newton(u: FloatArray, k: IntArray, n: IntArray) -> tuple[float, float]:
    """Intercept and slope on a unit abscissa by Newton steps, halved while the likelihood falls."""
    a, b = float(np.log((k.sum() + 0.5) / (n.sum() - k.sum() + 0.5))), 0.0
    hit, miss = expit(a + b * u), expit(-a - b * u)
    best = gap(k, n, hit, miss)
    for _ in range(100):
        w, r = n * hit * miss, k * miss - (n - k) * hit
        w0, w1, w2 = float(w.sum()), float(w @ u), float(w @ (u * u))
        det = w0 * w2 - w1 * w1
        if det <= 0:
            break
        r0, r1 = float(r.sum()), float(r @ u)
        da, db = (w2 * r0 - w1 * r1) / det, (w0 * r1 - w1 * r0) / det
        step, size = 1.0, abs(da) + abs(db)
        while step > 1e-6:
            hit, miss = expit(a + step * da + (b + step * db) * u), expit(-a - step * da - (b + step * db) * u)
            new = gap(k, n, hit, miss)
            if new <= best + 1e-9 * (1 + abs(best)):
                break
            step /= 2
        a, b, best = a + step * da, b + step * db, new
        if size < 1e-8 * (1 + abs(a) + abs(b)):  # what is left is of the order of its square
            break
    return a, b


def gap(k: IntArray, n: IntArray, hit: FloatArray, miss: FloatArray) -> float:
    """Log-likelihood that a saturated model would gain over these probabilities: half the deviance."""
    share = k / n
    hit, miss = np.maximum(hit, 1e-320), np.maximum(miss, 1e-320)
    return float(np.sum(xlogy(k, share) - xlogy(k, hit) + xlogy(n - k, 1 - share) - xlogy(n - k, miss)))
