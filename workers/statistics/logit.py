"""Trend of proportions: a binomial model with logit link, k ~ Binomial(n, expit(a + b x)).

McCullagh and Nelder (1989), ch. 4: the likelihood-ratio statistic is divided by max(1, Pearson dispersion) and
referred to F(1, m - 2), because cells of a benchmark scatter more than independent trials would. With three to five
cells that test has next to no power: F(1, 1) needs a ratio above 161. There a course that a monotone curve fits
(Pearson's misfit of the pooled cells, p at least alpha) is tested without dispersion as well: the larger of the p of
homogeneity and that of the likelihood ratio, chi-squared with one degree of freedom. A course that turns keeps F.
Where the likelihood has no maximum (separation), Firth's penalty answers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import chdtrc, expit, fdtrc, xlogy

from registry.results.terms import Interval
from registry.results.trend_tests import FittedChange, Logit, LogitTest
from workers.statistics.firth import penalised_line
from workers.statistics.fitted_change import change_of_ends, ends_of
from workers.statistics.noise import Noise
from workers.statistics.proportions import newcombe
from workers.statistics.terms import SMALLEST_P, FloatArray

FEW_CELLS = 5
"""Cells up to which a monotone course may be tested without its dispersion."""


@dataclass(frozen=True)
class LogitTrend:
    """The trend, the change from end to end, and the degrees of freedom behind its interval."""

    logit: Logit
    change: FittedChange | None
    df: float | None = None


@dataclass(frozen=True)
class _Line:
    """A maximum-likelihood line on the unit abscissa `u`, and what its cells leave."""

    u: FloatArray
    scale: float
    a: float
    b: float
    weight: FloatArray
    lr: float
    deviance: float
    pearson: float


def logit_trend(x: FloatArray, noise: Noise, differ_p: float | None, alpha: float = 0.05) -> LogitTrend:
    """Fits the successes over increasing x; `differ_p` is the p of homogeneity."""
    if x.size < 2:
        return LogitTrend(Logit("insufficient", reason="one cell has no trend"), None)
    k, n = successes(noise)
    if k.sum() in (0, n.sum()):
        change = penalised(x, noise, alpha).change
        return LogitTrend(Logit("undefined", reason="every trial came out the same"), change)
    if x.size > 2 and separated(x, k, n):
        return penalised(x, noise, alpha)
    line = fitted(x, k, n)
    if x.size == 2:
        return two_cells(x, noise, line, alpha)
    return several_cells(x, noise, line, differ_p, alpha)


def successes(noise: Noise) -> tuple[FloatArray, FloatArray]:
    """The effective successes and trials of binomial noise."""
    if noise.k is None or noise.n is None:
        raise ValueError("this noise has no trials")
    return noise.k, noise.n


def separated(x: FloatArray, k: FloatArray, n: FloatArray) -> bool:
    """Whether some abscissa parts all successes from all failures, so that the slope would be infinite."""
    hits, misses = x[k > 0], x[k < n]
    return bool(hits.max() <= misses.min() or misses.max() <= hits.min())


def penalised(x: FloatArray, noise: Noise, alpha: float) -> LogitTrend:
    """The penalised line; two cells have Newcombe's interval of their difference."""
    k, n = successes(noise)
    centre, scale = float(x.mean()), float(np.ptp(x))
    u = (x - centre) / scale
    line = penalised_line(u, k, n)
    ends = ends_of(u, (line.intercept, line.slope), line.covariance, None)
    value, interval = change_of_ends(ends, noise.whole, 1 - alpha)
    chance = expit(line.intercept + line.slope * u)
    logit = Logit(
        "ok",
        "firth_likelihood_ratio",
        max(SMALLEST_P, float(chdtrc(1, line.lr))),
        line.slope / scale,
        line.intercept - line.slope * centre / scale,
        math.sqrt(float(line.covariance[1, 1])) / scale,
        float(np.mean(chance * (1 - chance))) * line.slope / scale * noise.whole,
        line.lr,
    )
    return LogitTrend(logit, FittedChange(value, interval, "logit"))


def two_cells(x: FloatArray, noise: Noise, line: _Line, alpha: float) -> LogitTrend:
    """Two cells leave no dispersion; their change is their difference with Newcombe's interval."""
    k, n = successes(noise)
    low, high = newcombe(k[:1], n[:1], k[1:], n[1:], 1 - alpha)
    interval = Interval(1 - alpha, float(low[0]) * noise.whole, float(high[0]) * noise.whole)
    value = float(k[1] / n[1] - k[0] / n[0]) * noise.whole
    p = max(SMALLEST_P, float(chdtrc(1, line.lr)))
    described = replace(described_line(x, line, noise.whole), test="likelihood_ratio_chi2", p=p)
    if separated(x, k, n):
        described = replace(described, slope=None, intercept=None, stderr=None, effect=None, deviance=None)
    return LogitTrend(described, FittedChange(value, interval, "logit"))


def several_cells(x: FloatArray, noise: Noise, line: _Line, differ_p: float | None, alpha: float) -> LogitTrend:
    """Three cells and more: the test with dispersion, and for few cells on a monotone course the one without."""
    rest = int(x.size) - 2
    dispersion = line.pearson / rest
    few = x.size <= FEW_CELLS and monotone_p(*successes(noise), line.b > 0) >= alpha
    test: LogitTest = "likelihood_ratio_f"
    p = max(SMALLEST_P, float(fdtrc(1, rest, line.lr / max(1.0, dispersion))))
    if few and differ_p is not None:
        both = max(differ_p, SMALLEST_P, float(chdtrc(1, line.lr)))
        test, p = ("monotone_chi2", both) if both < p else (test, p)
    df, spread = (None, 1.0) if few else (float(rest), max(1.0, dispersion))
    ends = ends_of(line.u, (line.a, line.b), spread * covariance_of(line), df)
    value, interval = change_of_ends(ends, noise.whole, 1 - alpha)
    fits = max(SMALLEST_P, float(chdtrc(rest, line.pearson)))
    logit = replace(described_line(x, line, noise.whole), test=test, p=p, dispersion=dispersion, lack_of_fit_p=fits)
    return LogitTrend(logit, FittedChange(value, interval, "logit"), df)


def monotone_p(k: FloatArray, n: FloatArray, rising: bool) -> float:
    """The p of the misfit of the best monotone curve: neighbours that violate it are pooled (Barlow, Bartholomew,
    Bremner and Brunk 1972, ch. 1); 1 where none does."""
    blocks: list[tuple[float, float, list[int]]] = []
    sign = 1 if rising else -1
    for i, (hits, trials) in enumerate(zip(k.tolist(), n.tolist(), strict=True)):
        block = (hits, trials, [i])
        while blocks and sign * (blocks[-1][0] * block[1] - block[0] * blocks[-1][1]) > 0:
            last = blocks.pop()
            block = (last[0] + block[0], last[1] + block[1], last[2] + block[2])
        blocks.append(block)
    share = np.concatenate([[hits / trials] * len(cells) for hits, trials, cells in blocks])
    inside = (share > 0) & (share < 1)
    df = int(k.size) - len(blocks)
    if df == 0 or not inside.any():
        return 1.0
    misfit = np.sum((k - n * share)[inside] ** 2 / (n * share * (1 - share))[inside])
    return float(chdtrc(df, misfit))


def covariance_of(line: _Line) -> FloatArray:
    """The inverse information of intercept and slope on the unit abscissa."""
    w0, w1, w2 = (float(line.weight @ line.u**power) for power in (0, 1, 2))
    det = max(w0 * w2 - w1 * w1, 1e-300)
    return np.array([[w2, -w1], [-w1, w0]]) / det


def described_line(x: FloatArray, line: _Line, whole: float) -> Logit:
    """The fit as the answer names it, without a test."""
    w0, w1, w2 = (float(line.weight @ line.u**power) for power in (0, 1, 2))
    spread = w2 - w1 * w1 / w0
    chance = expit(line.a + line.b * line.u)
    return Logit(
        "ok",
        slope=line.b / line.scale,
        intercept=line.a - line.b * float(x.mean()) / line.scale,
        stderr=1 / math.sqrt(spread) / line.scale if spread > 0 else None,
        effect=float(np.mean(chance * (1 - chance))) * line.b / line.scale * whole,
        lr=line.lr,
        deviance=line.deviance,
    )


def fitted(x: FloatArray, k: FloatArray, n: FloatArray) -> _Line:
    """The maximum-likelihood line."""
    scale = float(np.ptp(x))
    u = (x - float(x.mean())) / scale
    a, b = newton(u, k, n)
    eta = a + b * u
    hit, miss = expit(eta), expit(-eta)
    weight = n * hit * miss
    residual = k * miss - (n - k) * hit
    pooled = k.sum() / n.sum()
    deviance = 2 * gap(k, n, hit, miss)
    lr = max(0.0, 2 * gap(k, n, np.full(x.size, pooled), np.full(x.size, 1 - pooled)) - deviance)
    pearson = float(np.sum(residual**2 / np.maximum(weight, 1e-300)))
    return _Line(u, scale, a, b, weight, lr, deviance, pearson)


def newton(u: FloatArray, k: FloatArray, n: FloatArray) -> tuple[float, float]:
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


def gap(k: FloatArray, n: FloatArray, hit: FloatArray, miss: FloatArray) -> float:
    """Log-likelihood that a saturated model would gain over these probabilities: half the deviance."""
    share = k / n
    hit, miss = np.maximum(hit, 1e-320), np.maximum(miss, 1e-320)
    return float(np.sum(xlogy(k, share) - xlogy(k, hit) + xlogy(n - k, 1 - share) - xlogy(n - k, miss)))
