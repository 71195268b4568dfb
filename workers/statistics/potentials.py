"""Scores from pairwise mean differences: least-squares potentials (Jiang, Lim, Yao and Ye 2011, eq. 4).

The score s minimises the sum over compared pairs of (s_i - s_j - d_ij)^2, each pair once, with mean 0 in every
connected component. On complete slots it is the name's mean minus the mean of means; on ragged ones nobody
gains by having skipped the hard slots.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from workers.statistics.pairs import Pair
from workers.statistics.terms import FloatArray


def potentials(names: Sequence[str], pairs: Sequence[Pair], members: Sequence[int]) -> FloatArray:
    """The scores of the members of one component, in the metric's unit."""
    place = {names[i]: position for position, i in enumerate(members)}
    size = len(members)
    laplacian, flow = np.zeros((size, size)), np.zeros(size)
    for pair in pairs:
        if pair.mean_difference is None or pair.a not in place or pair.b not in place:
            continue
        i, j = place[pair.a], place[pair.b]
        laplacian[[i, j], [i, j]] += 1
        laplacian[[i, j], [j, i]] -= 1
        flow[i] += pair.mean_difference
        flow[j] -= pair.mean_difference
    scores = np.zeros(size)
    if size > 1:
        scores[1:] = np.linalg.solve(laplacian[1:, 1:], flow[1:])
    return np.asarray(scores - scores.mean(), dtype=np.float64)
