"""A logistic line where the likelihood has no maximum: Firth's penalty keeps it finite.

Firth (1993), Biometrika 80, 27-38: the score is modified by half the leverages, which is Jeffreys' prior on the
coefficients. Heinze and Schemper (2002), Statistics in Medicine 21, 2409-2419, for separation and for the penalised
likelihood-ratio test.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, xlogy

from workers.statistics.terms import BoolArray, FloatArray

_STEPS = 100
_SETTLED = 1e-9


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
