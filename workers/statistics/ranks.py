"""Ranks that equal scores share."""

from __future__ import annotations

import numpy as np

from workers.statistics.terms import FloatArray, IntArray


def shared_ranks(goodness: FloatArray) -> IntArray:
    """Ranks from 1 for the largest; what differs by rounding only shares the better rank (1, 1, 3)."""
    return np.asarray(rank_rows(goodness[None, :])[0], dtype=np.int64)


def rank_rows(goodness: FloatArray | IntArray, slack: float = 1e-9) -> IntArray:
    """The same within each row of a matrix; what differs by no more than so much of the largest shares a rank."""
    least = slack * np.maximum(1e-300, np.max(np.abs(goodness), axis=1, initial=0.0))
    order = np.argsort(-goodness, axis=1, kind="stable")
    steps = -np.diff(np.take_along_axis(goodness, order, axis=1), axis=1)
    leaders = np.zeros(goodness.shape, dtype=np.int64)
    leaders[:, 1:] = np.where(steps > least[:, None], np.arange(1, goodness.shape[1]), 0)
    ranks = np.empty(goodness.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, np.maximum.accumulate(leaders, axis=1) + 1, axis=1)
    return ranks
