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
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import chdtrc, expit, fdtrc

from registry.results.terms import Interval
from registry.results.trend_tests import FittedChange, Logit, LogitTest
from workers.statistics.curves import RowNoise
from workers.statistics.logit_lines import Lines, covariance_of, fitted, penalised_line
from workers.statistics.proportions import newcombe
from workers.statistics.slopes import change_of_ends, ends_of
from workers.statistics.terms import SMALLEST_P, BoolArray, FloatArray

FEW_CELLS = 5
"""Cells up to which a monotone course may be tested without its dispersion."""


@dataclass(frozen=True)
class LogitTrend:
    """The trend, the change from end to end, and the degrees of freedom behind its interval."""

    logit: Logit
    change: FittedChange | None
    df: float | None = None


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
        trend = penalised(x[row], k[row], n[row], noise.whole, alpha)
        undefined = Logit("undefined", reason="every trial came out the same")
        found[row] = LogitTrend(undefined, trend.change) if same[row] else trend
    rest = np.array([row for row in range(len(x)) if row not in found], dtype=np.int64)
    if rest.size:
        lines, cells = fitted(x[rest], k[rest], n[rest]), (k[rest], n[rest])
        if count == 2:
            trends = two_cells(lines, cells, apart[rest], noise.whole, alpha)
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


def penalised(x: FloatArray, k: FloatArray, n: FloatArray, whole: float, alpha: float) -> LogitTrend:
    """The penalised line of one series; two cells have Newcombe's interval of their difference."""
    centre, scale = float(x.mean()), float(np.ptp(x))
    u = (x - centre) / scale
    line = penalised_line(u, k, n)
    (v0, v01), (_, v1) = line.covariance
    ends = ends_of(u[None, :], (np.array([line.intercept]), np.array([line.slope])), (v0, v01, v1), None)
    chance = expit(line.intercept + line.slope * u)
    logit = Logit(
        "ok",
        "firth_likelihood_ratio",
        max(SMALLEST_P, float(chdtrc(1, line.lr))),
        line.slope / scale,
        line.intercept - line.slope * centre / scale,
        math.sqrt(float(line.covariance[1, 1])) / scale,
        float(np.mean(chance * (1 - chance))) * line.slope / scale * whole,
        line.lr,
    )
    return LogitTrend(logit, change_of_ends(ends, whole, 1 - alpha)[0])


def two_cells(
    lines: Lines, cells: tuple[FloatArray, FloatArray], apart: BoolArray, whole: float, alpha: float
) -> list[LogitTrend]:
    """Two cells leave no dispersion; their change is their difference with Newcombe's interval."""
    k, n = cells
    low, high = (end * whole for end in newcombe(k[:, 0], n[:, 0], k[:, 1], n[:, 1], 1 - alpha))
    value = (k[:, 1] / n[:, 1] - k[:, 0] / n[:, 0]) * whole
    p = np.maximum(SMALLEST_P, chdtrc(1, lines.lr)).tolist()
    ends = zip(value.tolist(), low.tolist(), high.tolist(), strict=True)
    test: LogitTest = "likelihood_ratio_chi2"
    return [
        LogitTrend(
            Logit("ok", test, p[row], lr=line.lr) if apart[row] else line.tested(test, p[row], None, None),
            FittedChange(change, Interval(1 - alpha, *at), "logit"),
        )
        for row, (line, (change, *at)) in enumerate(zip(described(lines, whole), ends, strict=True))
    ]


def several_cells(
    lines: Lines,
    cells: tuple[FloatArray, FloatArray],
    differ_p: Sequence[float | None],
    whole: float,
    alpha: float,
) -> list[LogitTrend]:
    """Three cells and more: the test with dispersion, and for few cells on a monotone course the one without."""
    count = int(lines.u.shape[1])
    rest, rising = count - 2, (lines.b > 0).tolist()
    dispersion = lines.pearson / rest
    spread = np.maximum(1.0, dispersion)
    p = np.maximum(SMALLEST_P, fdtrc(1, rest, lines.lr / spread)).tolist()
    alone = np.maximum(SMALLEST_P, chdtrc(1, lines.lr)).tolist()
    fits = np.maximum(SMALLEST_P, chdtrc(rest, lines.pearson)).tolist()
    few = np.array(
        [
            count <= FEW_CELLS and monotone_p(k, n, rising[row]) >= alpha
            for row, (k, n) in enumerate(zip(*cells, strict=True))
        ]
    )
    changes: dict[int, FittedChange] = {}
    for chosen, df, factor in ((few, None, np.ones(len(few))), (~few, float(rest), spread)):
        at = np.flatnonzero(chosen)
        if at.size:
            covariance = tuple(factor[at] * part[at] for part in covariance_of(lines))
            ends = ends_of(lines.u[at], (lines.a[at], lines.b[at]), (covariance[0], covariance[1], covariance[2]), df)
            changes.update(zip(at.tolist(), change_of_ends(ends, whole, 1 - alpha), strict=True))
    scatter, found = dispersion.tolist(), []
    for row, line in enumerate(described(lines, whole)):
        test: LogitTest = "likelihood_ratio_f"
        own, differ = p[row], differ_p[row]
        if few[row] and differ is not None and (both := max(differ, alone[row])) < own:
            test, own = "monotone_chi2", both
        logit = line.tested(test, own, scatter[row], fits[row])
        found.append(LogitTrend(logit, changes[row], None if few[row] else float(rest)))
    return found


def monotone_p(k: FloatArray, n: FloatArray, rising: bool) -> float:
    """The p of the misfit of the best monotone curve: neighbours that violate it are pooled (Barlow, Bartholomew,
    Bremner and Brunk 1972, ch. 1); 1 where none does."""
    blocks: list[tuple[float, float, list[int]]] = []
    sign = 1 if rising else -1
    for i, (hits, trials) in enumerate(zip(k.tolist(), n.tolist(), strict=True)):
        block = (hits, trials, [i])
        # Shares are compared by cross multiplication, which is exact for whole counts.
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


def described(lines: Lines, whole: float) -> list[_Line]:
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
