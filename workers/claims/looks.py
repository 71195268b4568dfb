"""Limits that hold at every revision at once, with one alpha for all of them.

`every_revision`: look k has the share 6 / (pi^2 k^2) of alpha. These add up to alpha, so by Bonferroni's inequality all
looks together miss with at most alpha, whatever a revision does: adds trials, measures again or corrects.
`added_trials`: each revision has the trials of those before it and more. Then proportions have the confidence sequence
of the mixture of binomial laws with Jeffreys' prior (Robbins 1970, Annals of Mathematical Statistics 41, 1397-1409),
and posted errors of bounded metrics that of the normal mixture (Howard, Ramdas, McAuliffe and Sekhon 2021, Annals of
Statistics 49, 1055-1080), which is tightest where the error is a hundredth of the range. Everything else keeps the
shares. Only the present revision and its number are needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betaln, lambertw, xlog1py, xlogy

from registry.claims.claim import Looks
from workers.claims.errors import CellErrors
from workers.statistics.terms import BoolArray, FloatArray

_HALVINGS = 50
_TIGHTEST = 0.01
"""Standard error, as a share of the range, at which the normal mixture is tightest at 95 %."""
_MIXED = 1 / (-float(lambertw(-(0.05**2) / math.e, -1).real) - 1)
"""Weight of the mixture, as a share of the information there."""


@dataclass(frozen=True)
class Look:
    """Which look at a claim it is, from 1."""

    kind: Looks = "fixed"
    number: int = 1

    def share_of(self, alpha: float) -> float:
        """What this look has of alpha, where no confidence sequence is known."""
        return alpha if self.kind == "fixed" else 6 * alpha / (math.pi * self.number) ** 2

    def limits(self, errors: CellErrors, level: float, beyond: float = 0.0) -> tuple[FloatArray, FloatArray]:
        """Limits of each cell, at this look, as `CellErrors.limits` gives them."""
        low, high = errors.limits(1 - self.share_of(1 - level), beyond)
        if self.kind != "added_trials":
            return low, high
        counted = errors.n > 0
        known = (errors.stderr > 0) & np.isinf(errors.df) & np.isfinite(errors.span) & ~counted
        low[counted], high[counted] = _of_counts(errors, counted, 1 - level, beyond)
        reach = _reach(errors.stderr[known], errors.span[known], 1 - level) + beyond * errors.stderr[known]
        low[known], high[known] = errors.values[known] - reach, errors.values[known] + reach
        return np.minimum(low, errors.values), np.maximum(high, errors.values)


def _of_counts(errors: CellErrors, at: BoolArray, alpha: float, beyond: float) -> tuple[FloatArray, FloatArray]:
    k, n, whole = errors.k[at], errors.n[at], errors.whole[at]
    low, high = proportion_limits(k, n, alpha)
    share = k / n
    more = beyond * np.sqrt(share * (1 - share) / n)
    return np.maximum(low - more, 0.0) * whole, np.minimum(high + more, 1.0) * whole


FIXED = Look()


def proportion_limits(k: FloatArray, n: FloatArray, alpha: float) -> tuple[FloatArray, FloatArray]:
    """The proportions p for which the mixture is less than 1 / alpha times as probable as p: ends of an interval about
    k / n."""
    mixed = betaln(0.5 + k, 0.5 + n - k) - betaln(0.5, 0.5) + math.log(alpha)

    def inside(p: FloatArray) -> FloatArray:
        return np.asarray(mixed < xlogy(k, p) + xlog1py(n - k, -p))

    ends = []
    for outer in (np.zeros_like(k), np.ones_like(k)):
        far, near = outer.copy(), k / n
        for _ in range(_HALVINGS):
            middle = (far + near) / 2
            kept = inside(middle)
            near, far = np.where(kept, middle, near), np.where(kept, far, middle)
        ends.append(np.where(inside(outer), outer, near))
    return ends[0], ends[1]


def _reach(stderr: FloatArray, span: FloatArray, alpha: float) -> FloatArray:
    """How far an estimate may be from the truth at any look."""
    information, weight = 1 / stderr**2, _MIXED / (_TIGHTEST * span) ** 2
    both = information + weight
    return np.asarray(np.sqrt(both * np.log(both / (weight * alpha**2))) / information)
