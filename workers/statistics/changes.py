"""Steps between neighbours of a series: which are sharp, and where the largest are.

A step is sharp when it is large and noise does not explain it: Holm (1979) over all steps of the grid along the axis.
The largest step of a series was chosen by its size, and its interval is at the level that this choice asks for
(Bonferroni over the steps of the series).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import erfc, stdtr

from registry.results.parameters import Parameters
from registry.results.steps import Change, LargestStep, LargestSteps, LevelSpan, SharpReason
from registry.results.terms import Interval
from workers.statistics.multiplicity import holm_array
from workers.statistics.noise import Noise
from workers.statistics.proportions import fisher_p, newcombe, pooled_z_p
from workers.statistics.table import Curve
from workers.statistics.terms import SMALLEST_P, FloatArray, detectable, reach_of

MOST_CHANGES = 100
"""Steps listed for a series; a longer one lists its largest and counts the rest."""


@dataclass(frozen=True)
class Steps:
    """The m - 1 steps of a series as arrays; `p` and `ends`, in the metric's unit, are `None` without noise."""

    sizes: FloatArray
    p: FloatArray | None
    ends: tuple[FloatArray, FloatArray] | None


def steps_of(curve: Curve, level: float) -> Steps:
    """Every step with its test; none for a single cell."""
    sizes, noise = curve.moves, curve.noise
    if noise is None or sizes.size == 0:
        return Steps(sizes, None, None)
    return Steps(sizes, step_p(sizes, noise), step_ends(sizes, noise, level))


def step_p(sizes: FloatArray, noise: Noise) -> FloatArray:
    """Two-sided p-values: Fisher's on whole trials, the pooled z on effective ones, z or t on errors."""
    if noise.counted is not None:
        k, n = noise.counted
        return fisher_p(k[:-1], n[:-1], k[1:], n[1:])
    if noise.k is not None and noise.n is not None:
        return pooled_z_p(noise.k[:-1], noise.n[:-1], noise.k[1:], noise.n[1:])
    deviate = np.abs(sizes) / np.hypot(noise.error[:-1], noise.error[1:])
    tail = erfc(deviate / np.sqrt(2)) if noise.df is None else 2 * stdtr(noise.df, -deviate)
    return np.maximum(np.asarray(tail, dtype=np.float64), SMALLEST_P)


def step_ends(sizes: FloatArray, noise: Noise, level: float) -> tuple[FloatArray, FloatArray]:
    """Both ends of the steps' intervals: Newcombe's on trials, else the size and its reach."""
    if noise.k is not None and noise.n is not None:
        low, high = newcombe(noise.k[:-1], noise.n[:-1], noise.k[1:], noise.n[1:], level)
        return low * noise.whole, high * noise.whole
    reach = reach_of(level, noise.df) * np.hypot(noise.error[:-1], noise.error[1:])
    return sizes - reach, sizes + reach


def holm_of_family(families: Sequence[FloatArray | None]) -> list[FloatArray | None]:
    """The p-values of the steps of many series, adjusted over all of them together."""
    known = [family for family in families if family is not None and family.size]
    if not known:
        return [None] * len(families)
    joined = holm_array(np.concatenate(known))
    parts = iter(np.split(joined, np.cumsum([family.size for family in known])[:-1]))
    return [next(parts) if family is not None and family.size else None for family in families]


def listed(
    curve: Curve, steps: Steps, p_holm: FloatArray | None, parameters: Parameters
) -> tuple[tuple[Change, ...], int]:
    """The steps in the order of the axis, at most `MOST_CHANGES` of the largest, and how many were left out."""
    count = int(steps.sizes.size)
    chosen = list(range(count))
    if count > MOST_CHANGES:
        moves = np.abs(np.diff(curve.ticks))
        chosen = sorted(np.argsort(-moves, kind="stable")[:MOST_CHANGES].tolist())
    left_out, sizes, places = count - len(chosen), steps.sizes.tolist(), curve.places
    if steps.p is None or steps.ends is None or p_holm is None:
        bare = (Change(places[i], places[i + 1], sizes[i], None, None, None, None, None) for i in chosen)
        return tuple(bare), left_out
    level, p, adjusted = 1 - parameters.alpha, steps.p.tolist(), p_holm.tolist()
    low, high = steps.ends[0].tolist(), steps.ends[1].tolist()
    seen = detectable(0.5 / reach_of(level, curve.noise.df if curve.noise else None), parameters.alpha)
    found = (
        Change(
            places[i],
            places[i + 1],
            sizes[i],
            is_sharp(sizes[i], adjusted[i], parameters),
            p[i],
            adjusted[i],
            Interval(level, low[i], high[i]),
            seen * (high[i] - low[i]),
        )
        for i in chosen
    )
    return tuple(found), left_out


def is_sharp(size: float, p_holm: float, parameters: Parameters) -> bool | None:
    """Large enough, and not by chance; the margin forgives one part in 10^9."""
    if parameters.sharp_change is None:
        return None
    return abs(size) >= parameters.sharp_change * (1 - 1e-9) and p_holm < parameters.alpha


def sharp_reason(curve: Curve, parameters: Parameters) -> SharpReason | None:
    """Why no step of a series can be called sharp, if so."""
    if curve.noise is None:
        return "noise_unknown"
    return "no_margin" if parameters.sharp_change is None else None


def largest(curve: Curve, p_holm: FloatArray | None, alpha: float) -> LargestSteps:
    """The largest steps of a series, both ways."""
    return LargestSteps(steepest(curve, p_holm, -1, alpha), steepest(curve, p_holm, 1, alpha))


def steepest(curve: Curve, p_holm: FloatArray | None, sign: int, alpha: float) -> LargestStep | None:
    """The largest fall (sign -1) or rise (1), with every position that ties with it."""
    signed = np.diff(curve.ticks) * sign
    if signed.size == 0 or signed.max() <= 0:
        return None
    at = np.flatnonzero(signed == signed.max()).tolist()
    spans = tuple(LevelSpan(curve.place(i), curve.place(i + 1)) for i in at[:MOST_CHANGES])
    size = float(curve.moves[at[0]])
    if curve.noise is None or p_holm is None:
        return LargestStep(size, spans, None, None)
    best = min(at, key=lambda i: float(p_holm[i]))
    level = 1 - alpha / int(signed.size)
    low, high = step_ends(curve.moves[best : best + 1], between(curve.noise, best), level)
    return LargestStep(size, spans, float(p_holm[best]), Interval(level, float(low[0]), float(high[0])))


def between(noise: Noise, i: int) -> Noise:
    """The noise of the i-th cell and the next one."""
    here = slice(i, i + 2)
    k, n = (None if part is None else part[here] for part in (noise.k, noise.n))
    return Noise(noise.kind, noise.error[here], noise.df, k, n, noise.whole)
