"""Onset of a lasting decline: the candidate by the values, and the test that it is more than noise.

The cells before the candidate are compared with those from it on. The candidate was chosen among all cut points of
its series (Bonferroni), and the series of a grid along an axis are judged together (Holm 1979).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np

from registry.grids.grid import Direction
from registry.results.parameters import Parameters
from registry.results.steps import Onset
from workers.statistics.curves import Curves, RowNoise
from workers.statistics.multiplicity import adjusted
from workers.statistics.proportions import EXACT_TRIALS, fisher_p, pooled_z_p
from workers.statistics.terms import BoolArray, FloatArray, IntArray, two_sided

Given = TypeVar("Given", FloatArray, IntArray)


def onsets(curves: Curves, parameters: Parameters, direction: Direction | None) -> list[Onset | None]:
    """The candidate of each series with its test, not yet judged; `None` without noise, where a decline could be
    anything."""
    if curves.noise is None:
        return [None] * len(curves)
    if parameters.equivalence is None:
        return [Onset("undefined", reason="no equivalence margin is set")] * len(curves)
    if curves.count < 2:
        return [Onset("insufficient", reason="one point cannot decline")] * len(curves)
    goodness = -curves.y if direction == "lower" else curves.y
    # The best before each cut and the best from it on: the decline lasts where no later cell comes back to within the
    # margin.
    before = np.maximum.accumulate(goodness, axis=1)[:, :-1]
    after = np.maximum.accumulate(goodness[:, ::-1], axis=1)[:, ::-1][:, 1:]
    lost = before - after > parameters.equivalence * (1 + 1e-9)
    rows = np.flatnonzero(lost.any(axis=1))
    found: list[Onset | None] = [Onset("ok")] * len(curves)
    if rows.size:
        cuts = lost[rows].argmax(axis=1) + 1
        sizes, ps = splits(curves.y[rows], rows, curves.noise, cuts)
        for row, cut, size, p in zip(rows.tolist(), cuts.tolist(), sizes.tolist(), ps, strict=True):
            found[row] = Onset("ok", None, curves.places[row][cut], size, min(1.0, p * (curves.count - 1)))
    return found


def splits(y: FloatArray, rows: IntArray, noise: RowNoise, cuts: IntArray) -> tuple[FloatArray, list[float]]:
    """Differences between the cells of each row from the cut on and those before it, with their two-sided p."""
    late = np.arange(y.shape[1]) >= cuts[:, None]
    if noise.binomial is not None:
        k, n = (part[rows] for part in noise.binomial)
        (k1, k2), (n1, n2) = halves(k, late), halves(n, late)
        size = (k2 / n2 - k1 / n1) * noise.whole
        if noise.counted is None:
            return size, pooled_z_p(k1, n1, k2, n2).tolist()
        (c1, c2), (t1, t2) = (halves(part[rows], late) for part in noise.counted)
        normal = t1 + t2 > EXACT_TRIALS
        p = pooled_z_p(c1, t1, c2, t2)
        p[~normal] = fisher_p(c1[~normal], t1[~normal], c2[~normal], t2[~normal])
        return size, p.tolist()
    error = noise.error[rows]
    least = error.min(axis=1)
    # Inverse variances, relative to the largest of them so that no square overflows.
    weight = (least[:, None] / error) ** 2
    (w1, w2), (s1, s2) = halves(weight, late), halves(weight * y, late)
    size = s2 / w2 - s1 / w1
    deviate = size / np.sqrt((1 / w1 + 1 / w2) * least**2)
    pairs = zip(rows.tolist(), deviate.tolist(), strict=True)
    return size, [two_sided(one, noise.df_of(row)) for row, one in pairs]


def halves(part: Given, late: BoolArray) -> tuple[Given, Given]:
    """The sums of each row before and from the cut on."""
    return np.where(late, 0, part).sum(axis=1), np.where(late, part, 0).sum(axis=1)


def judged(found: Sequence[Onset | None], alpha: float) -> list[Onset | None]:
    """The onsets of the series of an axis, adjusted over each other; a level only where it is more than noise."""
    corrected = adjusted([one.p if one else None for one in found], "holm")
    return [
        one
        if one is None or p is None
        else Onset(one.status, one.candidate if p < alpha else None, one.candidate, one.size, one.p, p, one.reason)
        for one, p in zip(found, corrected, strict=True)
    ]
