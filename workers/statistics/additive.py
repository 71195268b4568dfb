"""Additive models of a grid, y ~ sum of one effect per axis, on ragged data, which `sensitivity.py` compares.

Searle (1987), Linear Models for Unbalanced Data, ch. 4. Effects are taken one-hot and without an intercept;
sums of squares do not depend on how the redundancy among axes is resolved.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit

from workers.statistics.terms import FloatArray, IntArray


@dataclass(frozen=True)
class Layout:
    """N cells by the observed levels of m axes: `codes[a][i]` is the level of cell i on axis a, counted among the
    `sizes[a]` observed ones."""

    codes: tuple[IntArray, ...]
    sizes: tuple[int, ...]

    @cached_property
    def offsets(self) -> list[int]:
        """Index at which each axis begins among all effects, and the total at the end."""
        return [0, *itertools.accumulate(self.sizes)]

    @cached_property
    def spans(self) -> list[slice]:
        """The effects of each axis among all effects."""
        return [slice(*ends) for ends in itertools.pairwise(self.offsets)]

    @cached_property
    def blocks(self) -> list[tuple[int, int, IntArray]]:
        """The pairs of axes, and the cells by their levels on both, in row-major order."""
        axes = itertools.combinations_with_replacement(range(len(self.sizes)), 2)
        return [(a, b, self.codes[a] * self.sizes[b] + self.codes[b]) for a, b in axes]

    @cached_property
    def redundant(self) -> FloatArray:
        """The sum of the squares d d' of the directions of effects that change no cell: one axis up, another down."""
        found = np.zeros((self.offsets[-1], self.offsets[-1]))
        for span in self.spans[1:]:
            direction = np.zeros(self.offsets[-1])
            direction[self.spans[0]] = 1.0
            direction[span] = -1.0
            found += np.outer(direction, direction)
        return found

    @property
    def full_rank(self) -> int:
        """The rank of the additive model when all effects can be told apart."""
        return sum(self.sizes) - len(self.sizes) + 1

    def without(self, a: int) -> "Layout":
        """The same cells by the other axes."""
        return Layout(self.codes[:a] + self.codes[a + 1 :], self.sizes[:a] + self.sizes[a + 1 :])


def normal_matrix(layout: Layout, weights: FloatArray) -> FloatArray:
    """X'WX for the one-hot design of all axes."""
    size, spans = layout.offsets[-1], layout.spans
    matrix = np.zeros((size, size))
    for a, b, code in layout.blocks:
        shape = layout.sizes[a], layout.sizes[b]
        # The products of two one-hot columns are the cells on both levels: counted, not multiplied, the design matrix
        # is never built.
        block = np.bincount(code, weights, shape[0] * shape[1]).reshape(shape)
        matrix[spans[a], spans[b]] = block
        matrix[spans[b], spans[a]] = block.T
    return matrix


def totals(layout: Layout, values: FloatArray) -> FloatArray:
    """X'y: the sum of the values on every level of every axis."""
    pairs = zip(layout.codes, layout.sizes, strict=True)
    return np.concatenate([np.bincount(code, values, size) for code, size in pairs])


def explained(layout: Layout, matrix: FloatArray, right: FloatArray, axes: Sequence[int]) -> tuple[float, int]:
    """The sum of squares about the mean that the axes explain together (values centred), and the model's rank."""
    if not axes:
        return 0.0, 1
    offsets = layout.offsets
    if len(axes) == 1:
        part = slice(offsets[axes[0]], offsets[axes[0] + 1])
        return float(np.sum(right[part] ** 2 / np.diag(matrix)[part])), layout.sizes[axes[0]]
    chosen = np.concatenate([np.arange(offsets[a], offsets[a + 1]) for a in axes])
    solution, _, rank, _ = np.linalg.lstsq(matrix[np.ix_(chosen, chosen)], right[chosen], rcond=1e-11)
    return float(solution @ right[chosen]), int(rank)


def left_over(layout: Layout, values: FloatArray, weights: FloatArray) -> float:
    """The weighted sum of squares that the additive model leaves, fitted with these weights (Aitken 1936)."""
    matrix = normal_matrix(layout, weights)
    unit = 1 / np.sqrt(np.diag(matrix))
    effects = np.linalg.lstsq(matrix * np.outer(unit, unit), totals(layout, weights * values) * unit, rcond=1e-13)[0]
    return float(np.sum(weights * (values - predict(layout, effects * unit)) ** 2))


def solve(layout: Layout, matrix: FloatArray, right: FloatArray) -> FloatArray:
    """The effects of a model of full rank, such that those of each axis have the same sum.

    Adding the redundant directions to the matrix makes it regular and leaves the equations as they are.
    """
    size = layout.offsets[-1]
    regular = matrix + layout.redundant * (matrix.trace() / size / size)
    return np.asarray(np.linalg.solve(regular, right), dtype=np.float64)


def half_counts_added(k: FloatArray, n: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Successes and trials with half a success and half a failure more in the mean cell, and in each as its trials are
    to the mean: cells of one share keep one share. A thousandth of that at least, so that logits stay finite."""
    more = np.maximum(n / n.mean(), 1e-3)
    return k + more / 2, n + more


def logistic(layout: Layout, k: FloatArray, n: FloatArray) -> FloatArray | None:
    """The effects on the logit scale of k of n (0 < k < n, fractions allowed), by Newton steps that are halved
    while the likelihood falls; `None` if they do not settle."""
    effects = marginal_effects(layout, k, n)
    best = log_likelihood(k, n, predict(layout, effects))
    for _ in range(100):
        chance = expit(predict(layout, effects))
        matrix = normal_matrix(layout, n * chance * (1 - chance))
        try:
            step = solve(layout, matrix, totals(layout, k - n * chance))
        except np.linalg.LinAlgError:
            return None
        share = 1.0
        while (new := log_likelihood(k, n, predict(layout, effects + share * step))) < best - 1e-12 * abs(best):
            share /= 2
            if share < 1e-9:
                return None
        effects, best = effects + share * step, max(best, new)
        # What is left is of the order of the square of the step.
        if float(np.abs(step).max()) < 1e-8 * (1 + float(np.abs(effects).max())):
            return effects
    return None


def score(layout: Layout, k: FloatArray, n: FloatArray, share: FloatArray) -> float:
    """Rao's statistic of the model against these shares; infinite where its equations are numerically singular."""
    slope, matrix = totals(layout, k - n * share), normal_matrix(layout, n * share * (1 - share))
    try:
        return max(0.0, float(slope @ solve(layout, matrix, slope)))
    except np.linalg.LinAlgError:
        return math.inf


def marginal_effects(layout: Layout, k: FloatArray, n: FloatArray) -> FloatArray:
    """The log-odds of all cells of each level, such that a cell has those of the whole and what its levels differ from
    it: near the fit where the axes are balanced."""
    hits, misses = totals(layout, k), totals(layout, n - k)
    odds, axes = float(np.log(k.sum() / (n - k).sum())), len(layout.sizes)
    return np.asarray(np.log(hits / misses) - odds * (axes - 1) / axes)


def log_likelihood(k: FloatArray, n: FloatArray, logits: FloatArray) -> float:
    """The binomial log-likelihood without its constant; of no difference of large numbers near a bound."""
    size = np.abs(logits)
    return -float(np.sum(np.where(logits > 0, n - k, k) * size + n * np.log1p(np.exp(-size))))


def predict(layout: Layout, effects: FloatArray) -> FloatArray:
    """The sum of the effects of every cell."""
    parts = zip(layout.spans, layout.codes, strict=True)
    return np.asarray(sum(effects[span][code] for span, code in parts), dtype=np.float64)
