"""Additive models of a grid, y ~ sum of one effect per axis, on ragged data, by their normal equations.

Searle (1987), Linear Models for Unbalanced Data, ch. 4. Effects are taken one-hot and without an intercept;
sums of squares do not depend on how the redundancy among axes is resolved.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from workers.statistics.terms import FloatArray, IntArray


@dataclass(frozen=True)
class Layout:
    """N cells by the observed levels of m axes: `codes[a][i]` is the level of cell i on axis a, counted among the
    `sizes[a]` observed ones."""

    codes: tuple[IntArray, ...]
    sizes: tuple[int, ...]

    @property
    def offsets(self) -> list[int]:
        """Index at which each axis begins among all effects, and the total at the end."""
        return [0, *itertools.accumulate(self.sizes)]

    @property
    def full_rank(self) -> int:
        """The rank of the additive model when all effects can be told apart."""
        return sum(self.sizes) - len(self.sizes) + 1


def normal_matrix(layout: Layout, weights: FloatArray) -> FloatArray:
    """X'WX for the one-hot design of all axes."""
    offsets = layout.offsets
    matrix = np.zeros((offsets[-1], offsets[-1]))
    for a, b in itertools.combinations_with_replacement(range(len(layout.sizes)), 2):
        shape = layout.sizes[a], layout.sizes[b]
        # The products of two one-hot columns are the cells on both levels: counted, not multiplied, the design matrix
        # is never built.
        flat = np.bincount(layout.codes[a] * shape[1] + layout.codes[b], weights, shape[0] * shape[1])
        block = flat.reshape(shape)
        matrix[offsets[a] : offsets[a + 1], offsets[b] : offsets[b + 1]] = block
        matrix[offsets[b] : offsets[b + 1], offsets[a] : offsets[a + 1]] = block.T
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


def solve(layout: Layout, matrix: FloatArray, right: FloatArray) -> FloatArray:
    """The effects of a model of full rank, such that those of each axis have the same sum.

    Adding the redundant directions to the matrix makes it regular and leaves the equations as they are.
    """
    offsets = layout.offsets
    regular = matrix.copy()
    for a in range(1, len(layout.sizes)):
        direction = np.zeros(offsets[-1])
        direction[: offsets[1]] = 1.0
        direction[offsets[a] : offsets[a + 1]] = -1.0
        regular += np.outer(direction, direction) * (np.trace(matrix) / offsets[-1] / offsets[-1])
    return np.asarray(np.linalg.solve(regular, right), dtype=np.float64)


def logistic(layout: Layout, k: FloatArray, n: FloatArray) -> FloatArray | None:
    """The effects on the logit scale of k of n (0 < k < n, fractions allowed), by Newton steps that are halved
    while the likelihood falls; `None` if they do not settle."""
    odds = float(np.log(k.sum() / (n - k).sum()))
    effects = np.full(sum(layout.sizes), odds / len(layout.sizes))
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
        if float(np.max(np.abs(step))) < 1e-11 * (1 + float(np.max(np.abs(effects)))):
            return effects
    return None


def log_likelihood(k: FloatArray, n: FloatArray, logits: FloatArray) -> float:
    """The binomial log-likelihood without its constant."""
    return float(np.sum(k * logits - n * np.logaddexp(0.0, logits)))


def predict(layout: Layout, effects: FloatArray) -> FloatArray:
    """The sum of the effects of every cell."""
    parts = np.split(effects, layout.offsets[1:-1])
    return np.asarray(sum(part[code] for part, code in zip(parts, layout.codes, strict=True)), dtype=np.float64)
