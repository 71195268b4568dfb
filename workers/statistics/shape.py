"""Shape before slope: the first of constant, linear, step, hinge that fits within the noise.

With known noise (trials or standard errors) a model fits when its chi-squared p is at least 0.05; without, the
lowest Bayesian information criterion wins, from eight points up (Schwarz 1978). Breaks are searched exhaustively
over the observed abscissae, as in Bai and Perron (1998) for one break.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from scipy.special import chdtrc

from registry.results.courses import SeriesShape, ShapeKind, ShapeModel
from registry.results.terms import Place
from workers.statistics.table import Curve
from workers.statistics.terms import FloatArray

LADDER: tuple[tuple[ShapeKind, int], ...] = (("constant", 1), ("linear", 2), ("step", 3), ("hinge", 4))
"""The models with their numbers of parameters; a position counts as one."""
FITS = 0.05
FEWEST_WITHOUT_NOISE = 8
MOST_BREAKS = 250
"""Positions tried for a break; longer series try this many at even distances."""


def shape(curve: Curve) -> SeriesShape:
    """Climbs the ladder for a series."""
    variances = noise(curve)
    fewest = 3 if variances is not None else FEWEST_WITHOUT_NOISE
    if curve.count < fewest:
        known = "known" if variances is not None else "unknown" if curve.noise is None else "estimated"
        return SeriesShape("insufficient", None, None, None, (), f"with {known} noise a shape needs {fewest} points")
    models = ladder(curve, variances)
    if variances is not None:
        found = next((m for m in models if m.p is not None and m.p >= FITS), None)
        criterion: Literal["chi2", "bic"] = "chi2"
    else:
        found = min(models, key=lambda m: m.bic if m.bic is not None else math.inf)
        criterion = "bic"
    if found is None:
        return SeriesShape("ok", "complex", None, criterion, models)
    return SeriesShape("ok", found.kind, found.at, criterion, models)


def noise(curve: Curve) -> FloatArray | None:
    """The variance of each cell, where it is known well enough: not from repeats."""
    return None if curve.noise is None or curve.noise.df is not None else curve.noise.error**2


def ladder(curve: Curve, variances: FloatArray | None) -> tuple[ShapeModel, ...]:
    """All models that leave at least the fit itself, in their order."""
    scale = np.ones(curve.count) if variances is None else 1 / np.sqrt(variances)
    u = (curve.x - curve.x[0]) / curve.span
    target = scale * (curve.y - curve.y.mean())
    cuts = even(np.arange(1, curve.count))
    knots = even(np.arange(1, curve.count - 1))
    steps = scale[:, None] * (np.arange(curve.count)[:, None] >= cuts)
    bends = scale[:, None] * np.maximum(u[:, None] - u[knots], 0.0)
    constant = orthonormal(scale[:, None])
    linear = orthonormal(np.column_stack([scale, scale * (u - u.mean())]))
    step, cut = best_extra(constant, steps, target)
    hinge, knot = best_extra(linear, bends, target)
    misfits = (residual(constant, target), residual(linear, target), step, hinge)
    at = (None, None, curve.place(int(cuts[cut])), curve.place(int(knots[knot])))
    return tuple(
        model(kind, misfit, size, place, curve, variances is not None)
        for (kind, size), misfit, place in zip(LADDER, misfits, at, strict=True)
        if curve.count >= size
    )


def model(kind: ShapeKind, misfit: float, size: int, at: Place | None, curve: Curve, noisy: bool) -> ShapeModel:
    """Judges one rung by chi-squared or by the information criterion."""
    count = curve.count
    if noisy:
        p = float(chdtrc(count - size, misfit)) if count > size else None
        return ShapeModel(kind, misfit, size, at, p, None)
    floor = 1e-24 * max(float(np.max(np.abs(curve.y))) ** 2, 1e-200)
    bic = count * math.log(max(misfit / count, floor)) + size * math.log(count)
    return ShapeModel(kind, misfit, size, at, None, bic)


def even(positions: np.ndarray[tuple[int], np.dtype[np.int64]]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """At most `MOST_BREAKS` of the positions, at even distances."""
    if positions.size <= MOST_BREAKS:
        return positions
    return positions[np.linspace(0, positions.size - 1, MOST_BREAKS).astype(np.int64)]


def orthonormal(columns: FloatArray) -> FloatArray:
    """An orthonormal basis of one or two columns, twice orthogonalised (Gram and Schmidt)."""
    basis = columns / np.sqrt(np.sum(columns**2, axis=0))
    for _ in range(basis.shape[1] - 1):
        for _ in range(2):
            basis[:, 1] -= basis[:, 0] * float(basis[:, 0] @ basis[:, 1])
        basis[:, 1] /= np.sqrt(float(basis[:, 1] @ basis[:, 1]))
    return np.asarray(basis, dtype=np.float64)


def residual(q: FloatArray, target: FloatArray) -> float:
    """The residual sum of squares after projection on an orthonormal basis."""
    rest = target - q @ (q.T @ target)
    return float(rest @ rest)


def best_extra(q: FloatArray, extras: FloatArray, target: FloatArray) -> tuple[float, int]:
    """The smallest residual sum of squares when one of the extra columns joins the basis, and which one."""
    rest = target - q @ (q.T @ target)
    apart = extras - q @ (q.T @ extras)
    size = np.sum(apart**2, axis=0)
    gain = np.divide((rest @ apart) ** 2, size, out=np.zeros(size.size), where=size > 1e-20 * np.sum(extras**2))
    best = int(np.flatnonzero(gain >= gain.max() * (1 - 1e-12))[0]) if gain.size else 0
    if gain.size == 0 or gain[best] == 0:
        return float(rest @ rest), best
    rest = rest - apart[:, best] * float(rest @ apart[:, best]) / size[best]
    return float(rest @ rest), best
