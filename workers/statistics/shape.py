"""Shape before slope: the first of constant, linear, step, hinge that fits within the noise.

With known noise (trials or standard errors) a model fits when its chi-squared p is at least 0.05; without, the
lowest Bayesian information criterion wins, from eight points up (Schwarz 1978). Breaks are searched exhaustively
over the observed abscissae, as in Bai and Perron (1998) for one break.

Isotonic fits both ways, and how far a series strays from them. Pool-adjacent-violators: Barlow, Bartholomew, Bremner
and Brunk (1972), ch. 1; equal weights.

Plateau of a series: its longest run of cells that are alike.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence

import numpy as np
from scipy.special import chdtrc

from registry.grids.grid import Direction
from registry.results.courses import (
    Drawdown,
    Monotone,
    MonotoneBlock,
    MonotoneFit,
    Plateau,
    SeriesShape,
    ShapeKind,
    ShapeModel,
)
from registry.results.terms import Place
from workers.statistics.curves import Curves
from workers.statistics.terms import FloatArray, IntArray

LADDER: tuple[tuple[ShapeKind, int], ...] = (("constant", 1), ("linear", 2), ("step", 3), ("hinge", 4))
"""The models with their numbers of parameters; a position counts as one."""
FITS = 0.05
FEWEST_WITHOUT_NOISE = 8
MOST_BREAKS = 250
"""Positions tried for a break; longer series try this many at even distances."""
MOST_BLOCKS = 100
SHORT = 64
"""Cells up to which all runs are tried at once."""


def shapes(curves: Curves) -> list[SeriesShape]:
    """Climbs the ladder for each series."""
    noise = curves.noise
    variances = None if noise is None or noise.df is not None else noise.error**2
    fewest = 3 if variances is not None else FEWEST_WITHOUT_NOISE
    if curves.count < fewest:
        known = "known" if variances is not None else "unknown" if noise is None else "estimated"
        reason = f"with {known} noise a shape needs {fewest} points"
        return [SeriesShape("insufficient", None, None, None, (), reason)] * len(curves)
    if variances is None:
        return [by_criterion(models) for models in zip(*ladder(curves, None), strict=True)]
    return [by_noise(models) for models in zip(*ladder(curves, variances), strict=True)]


def by_noise(models: tuple[ShapeModel, ...]) -> SeriesShape:
    """The first model that fits within the noise."""
    for model in models:
        if model.p is not None and model.p >= FITS:
            return SeriesShape("ok", model.kind, model.at, "chi2", models)
    return SeriesShape("ok", "complex", None, "chi2", models)


def by_criterion(models: tuple[ShapeModel, ...]) -> SeriesShape:
    model = min(models, key=lambda one: math.inf if one.bic is None else one.bic)
    return SeriesShape("ok", model.kind, model.at, "bic", models)


def ladder(curves: Curves, variances: FloatArray | None) -> list[list[ShapeModel]]:
    """All models that leave at least the fit itself, in their order, each for all series."""
    count, u = curves.count, (curves.x - curves.x[:, :1]) / curves.span[:, None]
    scale = np.ones(curves.y.shape) if variances is None else 1 / np.sqrt(variances)
    target = scale * (curves.y - curves.mean[:, None])
    cuts, knots = even(np.arange(1, count)), even(np.arange(1, count - 1))
    steps = scale[:, None, :] * (np.arange(count) >= cuts[:, None])
    bends = scale[:, None, :] * np.maximum(u[:, None, :] - u[:, knots, None], 0.0)
    constant = normal(scale)
    linear = orthonormal(constant, scale * (u - u.mean(axis=1, keepdims=True)))
    step, cut = best_extra((constant,), steps, target)
    hinge, knot = best_extra((constant, linear), bends, target)
    misfits = (residual((constant,), target), residual((constant, linear), target), step, hinge)
    nowhere: list[Place | None] = [None] * len(curves)
    at = (nowhere, nowhere, places_at(curves, cuts[cut]), places_at(curves, knots[knot]))
    judge = by_chi2 if variances is not None else by_bic
    return [
        judge(kind, misfit, size, where, curves)
        for (kind, size), misfit, where in zip(LADDER, misfits, at, strict=True)
        if count >= size
    ]


def places_at(curves: Curves, indices: IntArray) -> list[Place | None]:
    """The level of one cell of each series."""
    return [places[index] for places, index in zip(curves.places, indices.tolist(), strict=True)]


def by_chi2(
    kind: ShapeKind, misfit: FloatArray, size: int, at: Sequence[Place | None], curves: Curves
) -> list[ShapeModel]:
    """One rung, judged by what the noise of the cells allows."""
    rest = curves.count - size
    p: list[float | None] = chdtrc(rest, misfit).tolist() if rest > 0 else [None] * len(curves)
    rows = zip(misfit.tolist(), at, p, strict=True)
    return [ShapeModel(kind, missed, size, place, tail, None) for missed, place, tail in rows]


def by_bic(
    kind: ShapeKind, misfit: FloatArray, size: int, at: Sequence[Place | None], curves: Curves
) -> list[ShapeModel]:
    """One rung, judged by the information criterion."""
    count = curves.count
    # A perfect fit leaves rounding errors, and their logarithm would decide among the models.
    floor = 1e-24 * np.maximum(curves.magnitude**2, 1e-200)
    bic = count * np.log(np.maximum(misfit / count, floor)) + size * math.log(count)
    rows = zip(misfit.tolist(), at, bic.tolist(), strict=True)
    return [ShapeModel(kind, missed, size, place, None, one) for missed, place, one in rows]


def even(positions: IntArray) -> IntArray:
    """At most `MOST_BREAKS` of the positions, at even distances."""
    if positions.size <= MOST_BREAKS:
        return positions
    return positions[np.linspace(0, positions.size - 1, MOST_BREAKS).astype(np.int64)]


def dot(a: FloatArray, b: FloatArray) -> FloatArray:
    """The products of the rows, summed along the last axis, which stays with length 1."""
    return np.asarray(np.sum(a * b, axis=-1, keepdims=True))


def normal(rows: FloatArray) -> FloatArray:
    """Each row at length 1."""
    return np.asarray(rows / np.sqrt(dot(rows, rows)))


def orthonormal(first: FloatArray, second: FloatArray) -> FloatArray:
    """Part of a second column that the first one lacks, twice orthogonalised (Gram and Schmidt), at length 1."""
    second = normal(second)
    for _ in range(2):
        second = second - first * dot(first, second)
    return normal(second)


def without(basis: Sequence[FloatArray], rows: FloatArray) -> FloatArray:
    """The rows less their projections on the columns of an orthonormal basis."""
    shares = [dot(column, rows) * column for column in basis]
    return rows - sum(shares[1:], shares[0])


def residual(basis: Sequence[FloatArray], target: FloatArray) -> FloatArray:
    """The residual sum of squares after projection on an orthonormal basis."""
    rest = without(basis, target)
    return np.asarray(np.sum(rest * rest, axis=1))


def best_extra(basis: Sequence[FloatArray], extras: FloatArray, target: FloatArray) -> tuple[FloatArray, IntArray]:
    """The smallest residual sum of squares of each row when one of its extra columns joins the basis, and which one."""
    rest = without(basis, target)
    apart = without([column[:, None, :] for column in basis], extras)
    size, along = dot(apart, apart)[..., 0], dot(rest[:, None, :], apart)[..., 0]
    # A column that lies in the span of the basis leaves rounding errors only, and would gain from them.
    whole = np.sum(np.sum(extras * extras, axis=2), axis=1, keepdims=True)
    gain = np.divide(along**2, size, out=np.zeros(size.shape), where=size > 1e-20 * whole)
    # Of equal gains the first: which of them is the largest in the last bit depends on the processor.
    best = np.argmax(gain >= gain.max(axis=1, keepdims=True) * (1 - 1e-12), axis=1)
    rows = np.arange(len(gain))
    gains = gain[rows, best] > 0
    share = np.where(gains, along[rows, best] / np.where(gains, size[rows, best], 1.0), 0.0)
    rest = rest - apart[rows, best] * share[:, None]
    return np.sum(rest * rest, axis=1), best


def monotones(curves: Curves, direction: Direction | None) -> list[Monotone]:
    """Fits each series upwards and downwards; worse is lower unless the metric's better end is the lower one."""
    falls, rises = (np.count_nonzero(sign * curves.tick_moves < 0, axis=1).tolist() for sign in (1, -1))
    losses = drawdowns(curves, -1 if direction == "lower" else 1)
    rows = zip(curves.places, curves.y.tolist(), (-curves.y).tolist(), falls, rises, losses, strict=True)
    return [
        Monotone(fitted(places, values, 1.0, fall), fitted(places, turned, -1.0, rise), loss)
        for places, values, turned, fall, rise, loss in rows
    ]


def fitted(places: Sequence[Place], values: Sequence[float], sign: float, violations: int) -> MonotoneFit:
    """The least-squares fit that never falls (`sign` 1) or never rises (-1), by its blocks, of values turned by the
    sign."""
    blocks: list[MonotoneBlock] = []
    start, sse = 0, 0.0
    found = isotonic(values)
    for mean, count in found:
        end = start + count
        if count > 1:
            sse += sum([(value - mean) ** 2 for value in values[start:end]])
        if len(blocks) < MOST_BLOCKS:
            blocks.append(MonotoneBlock(places[start], places[end - 1], count, sign * mean))
        start = end
    return MonotoneFit(sse, tuple(blocks), len(found) - len(blocks), violations)


def isotonic(values: Sequence[float]) -> list[tuple[float, int]]:
    """The least-squares fit that never falls, as the mean and the length of each block: neighbours are pooled while
    they fall, in O(m)."""
    done: list[tuple[float, float, int]] = []
    mean = total = values[0]
    count = 1
    for value in values[1:]:
        if value > mean:
            done.append((mean, total, count))
            mean, total, count = value, value, 1
            continue
        total, count = value + total, count + 1
        mean = total / count
        while done and done[-1][0] >= mean:
            _, more, length = done.pop()
            total, count = total + more, count + length
            mean = total / count
    return [*((value, length) for value, _, length in done), (mean, count)]


def drawdowns(curves: Curves, sign: int) -> list[Drawdown | None]:
    """The largest loss of each series; `None` for a single point, 0 for a series that never loses."""
    if curves.count < 2:
        return [None] * len(curves)
    height = sign * curves.ticks
    best = np.maximum.accumulate(height, axis=1)
    ends = np.argmax(best - height, axis=1)
    rows = np.arange(len(curves))
    reached = best[rows, ends]
    starts = np.argmax(height == reached[:, None], axis=1)
    sizes = (reached - height[rows, ends]).tolist()
    found = zip(curves.rows, curves.places, sizes, starts.tolist(), ends.tolist(), strict=True)
    return [
        Drawdown(int(size) / 10.0**curve.decimals, places[start], places[end])
        for curve, places, size, start, end in found
    ]


def plateaus(curves: Curves, tolerance: float) -> list[Plateau]:
    """The longest run of each series within the tolerance."""
    limits = tolerance * (1 + 1e-9) + 1e-12 * curves.magnitude
    found = []
    for row, (first, last) in enumerate((runs if curves.count <= SHORT else long_runs)(curves.y, limits)):
        mean, places = float(curves.y[row, first : last + 1].mean()), curves.places[row]
        found.append(Plateau(tolerance, places[first], places[last], last - first + 1, mean))
    return found


def runs(y: FloatArray, limits: FloatArray) -> list[tuple[int, int]]:
    """First and last position of the longest run of each row with max - min <= limit: all runs of one length at once,
    as long as some row has one."""
    best, start = np.ones(len(y), dtype=np.int64), np.zeros(len(y), dtype=np.int64)
    high = low = y
    for length in range(2, y.shape[1] + 1):
        high, low = np.maximum(high[:, :-1], y[:, length - 1 :]), np.minimum(low[:, :-1], y[:, length - 1 :])
        fits = high - low <= limits[:, None]
        some = fits.any(axis=1)
        if not some.any():
            break
        best[some], start[some] = length, fits[some].argmax(axis=1)
    return list(zip(start.tolist(), (start + best - 1).tolist(), strict=True))


def long_runs(y: FloatArray, limits: FloatArray) -> list[tuple[int, int]]:
    """The same of long rows, one by one."""
    return [longest_run(values, limit) for values, limit in zip(y.tolist(), limits.tolist(), strict=True)]


def longest_run(values: Sequence[float], limit: float) -> tuple[int, int]:
    """First and last position of the longest run with max - min <= limit, by monotone queues in O(m)."""
    highs: deque[int] = deque()
    lows: deque[int] = deque()
    best, start = (0, 0), 0
    for end, value in enumerate(values):
        while highs and values[highs[-1]] <= value:
            highs.pop()
        while lows and values[lows[-1]] >= value:
            lows.pop()
        highs.append(end)
        lows.append(end)
        while values[highs[0]] - values[lows[0]] > limit:
            start += 1
            if highs[0] < start:
                highs.popleft()
            if lows[0] < start:
                lows.popleft()
        if end - start > best[1] - best[0]:
            best = (start, end)
    return best
