"""Where a lasting decline sets in: the candidate by the values, and the test that it is more than noise.

The cells before the candidate are compared with those from it on. The candidate was chosen among all cut points of
its series (Bonferroni), and the series of a grid along an axis are judged together (Holm 1979).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from registry.grids.grid import Direction
from registry.results.parameters import Parameters
from registry.results.steps import Onset
from workers.statistics.multiplicity import adjusted
from workers.statistics.noise import Noise
from workers.statistics.proportions import fisher_p, pooled_z_p
from workers.statistics.table import Curve
from workers.statistics.terms import two_sided


def onset(curve: Curve, parameters: Parameters, direction: Direction | None) -> Onset | None:
    """The candidate with its test, not yet judged; `None` without noise, where a decline could be anything."""
    if curve.noise is None:
        return None
    if parameters.equivalence is None:
        return Onset("undefined", reason="no equivalence margin is set")
    if curve.count < 2:
        return Onset("insufficient", reason="one point cannot decline")
    goodness = -curve.y if direction == "lower" else curve.y
    before = np.maximum.accumulate(goodness)[:-1]
    after = np.maximum.accumulate(goodness[::-1])[::-1][1:]
    lost = np.flatnonzero(before - after > parameters.equivalence * (1 + 1e-9))
    if not lost.size:
        return Onset("ok")
    cut = int(lost[0]) + 1
    size, p = split(curve, curve.noise, cut)
    return Onset("ok", None, curve.place(cut), size, min(1.0, p * (curve.count - 1)))


def split(curve: Curve, noise: Noise, cut: int) -> tuple[float, float]:
    """How far the cells from the cut on lie above those before it, and the two-sided p of that."""
    parts = slice(None, cut), slice(cut, None)
    if noise.k is not None and noise.n is not None:
        k, n = ([part[here].sum(keepdims=True) for here in parts] for part in (noise.k, noise.n))
        size = float(k[1][0] / n[1][0] - k[0][0] / n[0][0]) * noise.whole
        if noise.counted is None:
            return size, float(pooled_z_p(k[0], n[0], k[1], n[1])[0])
        (k1, n1), (k2, n2) = ([column[here].sum(keepdims=True) for column in noise.counted] for here in parts)
        return size, float(fisher_p(k1, n1, k2, n2)[0])
    weight = (noise.error.min() / noise.error) ** 2
    means = [float(weight[here] @ curve.y[here] / weight[here].sum()) for here in parts]
    variance = sum(1 / float(weight[here].sum()) for here in parts) * float(noise.error.min()) ** 2
    return means[1] - means[0], two_sided((means[1] - means[0]) / variance**0.5, noise.df)


def judged(found: Sequence[Onset | None], alpha: float) -> list[Onset | None]:
    """The onsets of the series of an axis, adjusted over each other; a level only where it is more than noise."""
    corrected = adjusted([one.p if one else None for one in found], "holm")
    return [
        one if one is None or p is None else replace(one, p_holm=p, level=one.candidate if p < alpha else None)
        for one, p in zip(found, corrected, strict=True)
    ]
