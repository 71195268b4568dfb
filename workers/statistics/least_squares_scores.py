"""Scores from pairwise mean differences: least-squares potentials (Jiang, Lim, Yao and Ye 2011, eq. 4).

The score s minimises the sum over compared pairs of (s_i - s_j - d_ij)^2, each pair once, with mean 0 in every
connected component. On complete slots it is the name's mean minus the mean of means; on ragged ones nobody
gains by having skipped the hard slots.
"""

from __future__ import annotations

import numpy as np

from workers.statistics.terms import BoolArray, FloatArray


def potentials(difference: FloatArray, met: BoolArray) -> FloatArray:
    """The scores of M connected names from their M x M mean differences (row minus column), in the same unit."""
    size = len(difference)
    scores = np.zeros(size)
    if size > 1:
        laplacian = np.diag(met.sum(axis=1)) - met.astype(np.float64)
        flow = np.sum(np.where(met, difference, 0.0), axis=1)
        scores[1:] = np.linalg.solve(laplacian[1:, 1:], flow[1:])
    return np.asarray(scores - scores.mean(), dtype=np.float64)
