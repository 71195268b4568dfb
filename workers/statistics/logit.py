"""Trend of proportions, for `trend.py`: a binomial model with logit link, k ~ Binomial(n, expit(a + b x)).

McCullagh and Nelder (1989), ch. 4: the likelihood-ratio statistic is divided by max(1, Pearson dispersion) and
referred to F(1, m - 2), because cells of a benchmark scatter more than independent trials would. That test has next
to no power with few cells, F(1, 1) needs a ratio above 161, and takes the bend of a course that falls all the way for
scatter: levels that double are rarely on a line. A course that a monotone curve fits (Pearson's misfit of the pooled
cells, p at least alpha) is therefore tested without dispersion as well: the larger of the p of homogeneity and that of
the likelihood ratio, chi-squared with one degree of freedom. A course that turns keeps F.
Where the likelihood has no maximum (separation), Firth's penalty answers, with the p of homogeneity if that is larger.

Maximum-likelihood lines of proportions on the logit scale, for many series at once, by Newton's method.

McCullagh and Nelder (1989), ch. 4.4: k ~ Binomial(n, expit(a + b u)). Each row settles by itself.

A logistic line where the likelihood has no maximum: Firth's penalty keeps it finite. Firth (1993), Biometrika 80,
27-38: the score is modified by half the leverages, which is Jeffreys' prior on the coefficients. Heinze and Schemper
(2002), Statistics in Medicine 21, 2409-2419, for separation and for the penalised likelihood-ratio test.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, expit, fdtrc, xlogy

from registry.results.terms import Interval
from registry.results.trend_tests import FittedChange, Logit, LogitTest
from workers.statistics.curves import RowNoise
from workers.statistics.proportions import fisher_p, newcombe
from workers.statistics.slopes import change_of_ends, ends_of
from workers.statistics.terms import SMALLEST_P, BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class LogitTrend:
    """The trend, and the change from end to end."""

    logit: Logit
    change: FittedChange | None


def logit_trends(
    x: FloatArray, noise: RowNoise, differ_p: Sequence[float | None], alpha: float = 0.05
) -> list[LogitTrend]:
    """Fits the successes of each row over its increasing x; `differ_p` are the p-values of homogeneity."""
    k, n = successes(noise)
    count = int(x.shape[1])
    if count < 2:
        return [LogitTrend(Logit("insufficient", reason="one cell has no trend"), None)] * len(x)
    hits = k.sum(axis=1)
    same, apart = (hits == 0) | (hits == n.sum(axis=1)), separated(x, k, n)
    found: dict[int, LogitTrend] = {}
    for row in np.flatnonzero(same | (apart if count > 2 else False)).tolist():
        trend = penalised(x[row], k[row], n[row], differ_p[row] or 0.0, noise.whole, alpha)
        undefined = Logit("undefined", reason="every trial came out the same")
        found[row] = LogitTrend(undefined, trend.change) if same[row] else trend
    rest = np.array([row for row in range(len(x)) if row not in found], dtype=np.int64)
    if rest.size:
        lines, cells = fitted(x[rest], k[rest], n[rest]), (k[rest], n[rest])
        if count == 2:
            counted = noise.counted and (noise.counted[0][rest], noise.counted[1][rest])
            trends = two_cells(lines, cells, counted, apart[rest], noise.whole, alpha)
        else:
            trends = several_cells(lines, cells, [differ_p[row] for row in rest], noise.whole, alpha)
        found.update(zip(rest.tolist(), trends, strict=True))
    return [found[row] for row in range(len(x))]


def successes(noise: RowNoise) -> tuple[FloatArray, FloatArray]:
    """The effective successes and trials of binomial noise."""
    if noise.binomial is None:
        raise ValueError("this noise has no trials")
    return noise.binomial


def separated(x: FloatArray, k: FloatArray, n: FloatArray) -> BoolArray:
    """Return whether some abscissa of a row parts all successes from all failures, so that the slope would be
    infinite."""
    hit, miss = k > 0, k < n
    last_hit, first_hit = np.where(hit, x, -np.inf).max(axis=1), np.where(hit, x, np.inf).min(axis=1)
    last_miss, first_miss = np.where(miss, x, -np.inf).max(axis=1), np.where(miss, x, np.inf).min(axis=1)
    return np.asarray((last_hit <= first_miss) | (last_miss <= first_hit))


def penalised(x: FloatArray, k: FloatArray, n: FloatArray, differ_p: float, whole: float, alpha: float) -> LogitTrend:
    """The penalised line of one series, with the larger p of its slope and of homogeneity: end cells of one or two
    trials would be called a trend in up to 10 %."""
    centre, scale = float(x.mean()), float(np.ptp(x))
    u = (x - centre) / scale
    line = penalised_line(u, k, n)
    (v0, v01), (_, v1) = line.covariance
    ends = ends_of(u[None, :], (np.array([line.intercept]), np.array([line.slope])), (v0, v01, v1), None)
    chance = expit(line.intercept + line.slope * u)
    logit = Logit(
        "ok",
        "firth_likelihood_ratio",
        max(SMALLEST_P, differ_p, float(chdtrc(1, line.lr))),
        line.slope / scale,
        line.intercept - line.slope * centre / scale,
        math.sqrt(float(line.covariance[1, 1])) / scale,
        float(np.mean(chance * (1 - chance))) * line.slope / scale * whole,
        line.lr,
    )
    return LogitTrend(logit, change_of_ends(ends, whole, 1 - alpha)[0])


def two_cells(
    lines: "Lines",
    cells: tuple[FloatArray, FloatArray],
    counted: tuple[IntArray, IntArray] | None,
    apart: BoolArray,
    whole: float,
    alpha: float,
) -> list[LogitTrend]:
    """Two cells leave no dispersion: Fisher's test of whole trials, else the likelihood ratio; their change is their
    difference with Newcombe's interval."""
    k, n = cells
    low, high = (end * whole for end in newcombe(k[:, 0], n[:, 0], k[:, 1], n[:, 1], 1 - alpha))
    value = (k[:, 1] / n[:, 1] - k[:, 0] / n[:, 0]) * whole
    test: LogitTest = "likelihood_ratio_chi2" if counted is None else "fisher"
    tables = counted and (one[:, cell] for cell in (0, 1) for one in counted)
    p = np.maximum(SMALLEST_P, fisher_p(*tables) if tables else chdtrc(1, lines.lr)).tolist()
    ends = zip(value.tolist(), low.tolist(), high.tolist(), strict=True)
    return [
        LogitTrend(
            Logit("ok", test, p[row], lr=line.lr) if apart[row] else line.tested(test, p[row], None, None),
            FittedChange(change, Interval(1 - alpha, *at), "logit"),
        )
        for row, (line, (change, *at)) in enumerate(zip(described(lines, whole), ends, strict=True))
    ]


def several_cells(
    lines: "Lines",
    cells: tuple[FloatArray, FloatArray],
    differ_p: Sequence[float | None],
    whole: float,
    alpha: float,
) -> list[LogitTrend]:
    """Three cells and more: the test with dispersion, and on a monotone course the one without."""
    rest = int(lines.u.shape[1]) - 2
    dispersion = lines.pearson / rest
    spread = np.maximum(1.0, dispersion)
    p = np.maximum(SMALLEST_P, fdtrc(1, rest, lines.lr / spread)).tolist()
    alone = np.maximum(SMALLEST_P, chdtrc(1, lines.lr)).tolist()
    fits = np.maximum(SMALLEST_P, chdtrc(rest, lines.pearson)).tolist()
    rows = zip(*(one.tolist() for one in cells), (lines.b > 0).tolist(), strict=True)
    keeps = np.array([monotone_p(*row) >= alpha for row in rows])
    changes: dict[int, FittedChange] = {}
    for chosen, df, factor in ((keeps, None, np.ones(len(keeps))), (~keeps, float(rest), spread)):
        at = np.flatnonzero(chosen)
        if at.size:
            covariance = tuple(factor[at] * part[at] for part in covariance_of(lines))
            ends = ends_of(lines.u[at], (lines.a[at], lines.b[at]), (covariance[0], covariance[1], covariance[2]), df)
            changes.update(zip(at.tolist(), change_of_ends(ends, whole, 1 - alpha), strict=True))
    scatter, found = dispersion.tolist(), []
    for row, line in enumerate(described(lines, whole)):
        test: LogitTest = "likelihood_ratio_f"
        own, differ = p[row], differ_p[row]
        if keeps[row] and differ is not None and (both := max(differ, alone[row])) < own:
            test, own = "monotone_chi2", both
        logit = line.tested(test, own, scatter[row], fits[row])
        found.append(LogitTrend(logit, changes[row]))
    return found


def monotone_p(k: Sequence[float], n: Sequence[float], rising: bool) -> float:
    """The p of the misfit of the best monotone curve: neighbours that violate it are pooled (Barlow, Bartholomew,
    Bremner and Brunk 1972, ch. 1); 1 where none does."""
    blocks: list[tuple[float, float, list[tuple[float, float]]]] = []
    sign = 1 if rising else -1
    for cell in zip(k, n, strict=True):
        block = (*cell, [cell])
        # Shares are compared by cross multiplication, which is exact for whole counts.
        while blocks and sign * (blocks[-1][0] * block[1] - block[0] * blocks[-1][1]) > 0:
            last = blocks.pop()
            block = (last[0] + block[0], last[1] + block[1], last[2] + block[2])
        blocks.append(block)
    misfit = 0.0
    for hits, trials, cells in blocks:
        if len(cells) > 1 and 0 < hits < trials:
            share = hits / trials
            misfit += sum((of * share - found) ** 2 / of for found, of in cells) / (share * (1 - share))
    return float(chdtrc(len(k) - len(blocks), misfit)) if misfit else 1.0


class _Line(NamedTuple):
    """One line as the answer has it."""

    slope: float
    intercept: float
    stderr: float | None
    effect: float
    lr: float
    deviance: float

    def tested(self, test: LogitTest, p: float, dispersion: float | None, fits: float | None) -> Logit:
        """The line with its test."""
        return Logit(
            "ok",
            test,
            p,
            self.slope,
            self.intercept,
            self.stderr,
            self.effect,
            self.lr,
            self.deviance,
            dispersion,
            fits,
        )


def described(lines: "Lines", whole: float) -> list[_Line]:
    """The lines as the answer has them."""
    w0, w1, w2 = lines.moments
    spread = w2 - w1 * w1 / w0
    known = spread > 0
    stderr = 1 / np.sqrt(np.where(known, spread, 1.0)) / lines.scale
    chance = expit(lines.a[:, None] + lines.b[:, None] * lines.u)
    effect = np.mean(chance * (1 - chance), axis=1) * lines.b / lines.scale * whole
    slope, intercept = lines.b / lines.scale, lines.a - lines.b * lines.centre / lines.scale
    errors = [error if some else None for error, some in zip(stderr.tolist(), known.tolist(), strict=True)]
    columns = (slope.tolist(), intercept.tolist(), errors, effect.tolist(), lines.lr.tolist(), lines.deviance.tolist())
    return [_Line(*row) for row in zip(*columns, strict=True)]


_STEPS = 100
_SETTLED = 1e-9


@dataclass(frozen=True)
class Lines:
    """Maximum-likelihood lines on the unit abscissae `u`, a row each, and what their cells leave. `moments` are the
    sums of the weights times the powers 0, 1 and 2 of u."""

    u: FloatArray
    centre: FloatArray
    scale: FloatArray
    a: FloatArray
    b: FloatArray
    moments: tuple[FloatArray, FloatArray, FloatArray]
    lr: FloatArray
    deviance: FloatArray
    pearson: FloatArray


def covariance_of(lines: Lines) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The inverse information on the unit abscissa: the variance of the intercept, the covariance with the slope, and
    the variance of the slope."""
    w0, w1, w2 = lines.moments
    det = np.maximum(w0 * w2 - w1 * w1, 1e-300)
    return w2 / det, -w1 / det, w0 / det


def fitted(x: FloatArray, k: FloatArray, n: FloatArray) -> Lines:
    """The maximum-likelihood line of each row."""
    centre, scale = x.mean(axis=1), x[:, -1] - x[:, 0]
    u = (x - centre[:, None]) / scale[:, None]
    saturated = _Saturated.of(k, n)
    a, b = newton(u, saturated)
    eta = a[:, None] + b[:, None] * u
    # Not 1 - hit, which is 0 once hit rounds to 1; likewise the residual below is k - n * hit without the cancellation.
    hit, miss = expit(eta), expit(-eta)
    weight = n * hit * miss
    residual = k * miss - (n - k) * hit
    pooled = (k.sum(axis=1) / n.sum(axis=1))[:, None]
    deviance = 2 * saturated.gap(hit, miss)
    lr = np.maximum(0.0, 2 * saturated.gap(pooled, 1 - pooled) - deviance)
    pearson = np.sum(residual**2 / np.maximum(weight, 1e-300), axis=1)
    moments = (weight.sum(axis=1), np.sum(weight * u, axis=1), np.sum(weight * (u * u), axis=1))
    return Lines(u, centre, scale, a, b, moments, lr, deviance, pearson)


@dataclass(frozen=True)
class _Saturated:
    """The cells of some rows, and the parts of their log-likelihood in a model that has a probability for each."""

    k: FloatArray
    n: FloatArray
    hits: FloatArray
    misses: FloatArray

    @classmethod
    def of(cls, k: FloatArray, n: FloatArray) -> "_Saturated":
        share = k / n
        return cls(k, n, xlogy(k, share), xlogy(n - k, 1 - share))

    def at(self, rows: IntArray | BoolArray) -> "_Saturated":
        """Some of the rows."""
        return _Saturated(self.k[rows], self.n[rows], self.hits[rows], self.misses[rows])

    def gap(self, hit: FloatArray, miss: FloatArray) -> FloatArray:
        """The log-likelihood that the saturated model gains over these probabilities: half the deviance."""
        # The logarithm of 0 would be infinite, and a step that goes too far could not be compared with another.
        hit, miss = np.maximum(hit, 1e-320), np.maximum(miss, 1e-320)
        lost = self.hits - xlogy(self.k, hit) + self.misses - xlogy(self.n - self.k, miss)
        return np.asarray(np.sum(lost, axis=1))

    def likelihood_gap(self, u: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
        """The same of a line on the logit scale."""
        eta = a[:, None] + b[:, None] * u
        return self.gap(expit(eta), expit(-eta))


def newton(u: FloatArray, cells: _Saturated) -> tuple[FloatArray, FloatArray]:
    """Intercept and slope of each row on a unit abscissa by Newton steps, halved while the likelihood falls. A row
    that has settled is not touched again."""
    hits, trials = cells.k.sum(axis=1), cells.n.sum(axis=1)
    a, b = np.log((hits + 0.5) / (trials - hits + 0.5)), np.zeros(len(u))
    best = cells.gap(expit(a[:, None]), expit(-a[:, None]))
    rows = np.arange(len(u))
    for _ in range(100):
        da, db, regular = steps(u, cells, a[rows, None], b[rows, None])
        if not regular.all():
            rows, u, cells, da, db = rows[regular], u[regular], cells.at(regular), da[regular], db[regular]
        if not rows.size:
            break
        step, best[rows] = accepted(u, cells, (a[rows], b[rows]), (da, db), best[rows])
        a[rows] += step * da
        b[rows] += step * db
        # What is left is of the order of the square of the step.
        moving = np.abs(da) + np.abs(db) >= 1e-8 * (1 + np.abs(a[rows]) + np.abs(b[rows]))
        if not moving.all():
            rows, u, cells = rows[moving], u[moving], cells.at(moving)
        if not rows.size:
            break
    return a, b


def steps(u: FloatArray, cells: _Saturated, a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Newton's step of each row, and whether its information is regular."""
    eta = a + b * u
    hit, miss = expit(eta), expit(-eta)
    w, r = cells.n * hit * miss, cells.k * miss - (cells.n - cells.k) * hit
    wu = w * u
    w0, w1, w2 = w.sum(axis=1), wu.sum(axis=1), (wu * u).sum(axis=1)
    r0, r1 = r.sum(axis=1), (r * u).sum(axis=1)
    det = w0 * w2 - w1 * w1
    regular = det > 0
    safe = np.where(regular, det, 1.0)
    return (w2 * r0 - w1 * r1) / safe, (w0 * r1 - w1 * r0) / safe, np.asarray(regular)


def accepted(
    u: FloatArray,
    cells: _Saturated,
    start: tuple[FloatArray, FloatArray],
    move: tuple[FloatArray, FloatArray],
    best: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """The share of each row's step at which the likelihood does not fall, and half the deviance there."""
    step, bound = np.ones(len(u)), best + 1e-9 * (1 + np.abs(best))
    reached = cells.likelihood_gap(u, start[0] + move[0], start[1] + move[1])
    rows = np.flatnonzero(reached > bound)
    while rows.size:
        step[rows] /= 2
        rows = rows[step[rows] > 1e-6]
        a, b = (at[rows] + step[rows] * by[rows] for at, by in zip(start, move, strict=True))
        reached[rows] = cells.at(rows).likelihood_gap(u[rows], a, b)
        rows = rows[reached[rows] > bound[rows]]
    return step, reached


@dataclass(frozen=True)
class Penalised:
    """Intercept and slope on the abscissa that was given, the inverse of their information, and twice the gain in
    penalised log-likelihood of the slope."""

    intercept: float
    slope: float
    covariance: FloatArray
    lr: float


def penalised_line(u: FloatArray, k: FloatArray, n: FloatArray) -> Penalised:
    """The penalised fit of k of n over u, whatever the outcomes."""
    full, best = maximum(u, k, n, np.array([True, True]))
    _, flat = maximum(u, k, n, np.array([True, False]))
    covariance = np.asarray(np.linalg.inv(information(u, n, full)[0]), dtype=np.float64)
    return Penalised(float(full[0]), float(full[1]), covariance, max(0.0, 2 * (best - flat)))


def maximum(u: FloatArray, k: FloatArray, n: FloatArray, free: BoolArray) -> tuple[FloatArray, float]:
    """The free coefficients by Newton steps, halved while the penalised likelihood falls; the others stay 0."""
    beta = np.array([np.log((k.sum() + 0.5) / (n.sum() - k.sum() + 0.5)), 0.0])
    best = likelihood(u, k, n, beta)
    for _ in range(_STEPS):
        matrix, chance, weight = information(u, n, beta)
        inverse = np.linalg.inv(matrix)
        # The diagonal of W^(1/2) X (X'WX)^-1 X' W^(1/2).
        leverage = weight * (inverse[0, 0] + 2 * inverse[0, 1] * u + inverse[1, 1] * u * u)
        rest = k - n * chance + leverage * (0.5 - chance)
        score = np.array([rest.sum(), rest @ u])
        step = np.zeros(2)
        step[free] = np.linalg.solve(matrix[np.ix_(free, free)], score[free])
        # No coefficient moves by more than 5 at once: a longer step may land where every probability is 0 or 1.
        share = min(1.0, 5.0 / max(1e-300, float(np.max(np.abs(step)))))
        while (new := likelihood(u, k, n, beta + share * step)) < best - 1e-10 * (1 + abs(best)) and share > 1e-8:
            share /= 2
        beta, best = beta + share * step, max(best, new)
        if float(np.max(np.abs(share * step))) < _SETTLED * (1 + float(np.max(np.abs(beta)))):
            break
    return beta, best


def information(u: FloatArray, n: FloatArray, beta: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Fisher's information of both coefficients, the probabilities and the weights."""
    chance = expit(beta[0] + beta[1] * u)
    weight = n * chance * expit(-beta[0] - beta[1] * u)
    cross = float(weight @ u)
    return np.array([[float(weight.sum()), cross], [cross, float(weight @ (u * u))]]), chance, weight


def likelihood(u: FloatArray, k: FloatArray, n: FloatArray, beta: FloatArray) -> float:
    """The log-likelihood without its constant, plus half the logarithm of the information's determinant."""
    eta = beta[0] + beta[1] * u
    hit, miss = np.maximum(expit(eta), 1e-320), np.maximum(expit(-eta), 1e-320)
    determinant = float(np.linalg.det(information(u, n, beta)[0]))
    return float(np.sum(xlogy(k, hit) + xlogy(n - k, miss))) + 0.5 * float(np.log(max(determinant, 1e-320)))
