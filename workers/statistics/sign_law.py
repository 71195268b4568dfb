"""The exact sign-flip test of differences that are no whole numbers (Fisher 1935, section 21)."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import erfc

from workers.statistics.signs import SignTest, sign_flip
from workers.statistics.terms import SMALLEST_P, FloatArray

MOST_SIGNS = 14
"""Differences up to which every assignment of signs is looked at."""
FINEST = 50
"""Units that a difference must have on average, where differences are rounded to whole ones."""


def sign_flip_of(differences: FloatArray, work: int) -> SignTest:
    """Tests differences for a sum of 0: all signs, or rounded to what is affordable, or the normal limit."""
    largest = float(np.max(np.abs(differences), initial=0.0))
    kept = differences[np.abs(differences) > 1e-9 * largest]
    if kept.size == 0:
        return SignTest(1.0, 1.0, "sign_flip")
    least = max(SMALLEST_P, 2.0 ** (1 - int(kept.size)))
    if kept.size <= MOST_SIGNS and 2 ** (int(kept.size) - 1) <= work:
        return SignTest(of_all_signs(kept), least, "sign_flip")
    # Rounding may add one half to each of the sizes; their sum is chosen such that the work stays affordable all the
    # same.
    total = work // int(kept.size) - int(kept.size)
    if total > FINEST * kept.size:
        found = sign_flip([round(d) for d in (kept * (total / np.abs(kept).sum())).tolist()], work)
        return SignTest(found.p, least, found.test)
    z = abs(float(kept.sum())) / math.sqrt(float(np.sum(kept**2)))
    return SignTest(max(SMALLEST_P, least, float(erfc(z / math.sqrt(2)))), least, "sign_flip_normal")


def of_all_signs(differences: FloatArray) -> float:
    """P(|sum| >= seen), the sign of the first one kept: the other half mirrors it."""
    sums = differences[:1]
    for difference in differences[1:]:
        sums = np.concatenate([sums + difference, sums - difference])
    seen = abs(float(differences.sum())) - 1e-9 * float(np.abs(differences).sum())
    return float(np.mean(np.abs(sums) >= seen))
