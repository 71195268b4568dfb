"""Steps between neighbours of a series: which are sharp, and where the largest are.

A step is sharp when it is large and noise does not explain it: Holm (1979) over all steps of the grid along the axis.
The largest step of a series was chosen by its size, and its interval is at the level that this choice asks for
(Bonferroni over the steps of the series).

Onset of a lasting decline: the candidate by the values, and the test that it is more than noise. The cells before the
candidate are compared with those from it on. The candidate was chosen among all cut points of its series (Bonferroni),
and the series of a grid along an axis are judged together (Holm 1979).

Series in two parts: the mean of the levels beyond a point less that of the levels up to it. The errors of cells add in
squares, and those of the means of both parts do, for no cell is in both. With repeats the degrees of freedom are those
of the pooled variance of a series, and of several series Satterthwaite's (1946).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

import numpy as np
from scipy.special import erfc, stdtr, stdtrit

from registry.grids.grid import Direction
from registry.results.courses import Change, LargestStep, LargestSteps, LevelSpan, Onset, Series, SharpReason, Split
from registry.results.parameters import Parameters
from registry.results.terms import Interval, KnownNoise, Place
from workers.statistics.curves import Curves, RowNoise
from workers.statistics.judging import adjusted, holm_array
from workers.statistics.proportions import EXACT_TRIALS, fisher_p, newcombe, pooled_z_p
from workers.statistics.terms import SMALLEST_P, BoolArray, FloatArray, IntArray, detectable, reach_of, two_sided

MOST_CHANGES = 100
"""Steps listed for a series; a longer one lists its largest and counts the rest."""
Given = TypeVar("Given", FloatArray, IntArray)


@dataclass(frozen=True)
class Steps:
    """The m - 1 steps of S series as arrays S x (m - 1); `p` and `ends`, in the metric's unit, are `None` without
    noise."""

    sizes: FloatArray
    p: FloatArray | None
    ends: tuple[FloatArray, FloatArray] | None

    def p_of(self, row: int) -> FloatArray | None:
        """The p-values of one series."""
        return None if self.p is None else self.p[row]


def steps_of(curves: Curves, level: float) -> Steps:
    """Every step with its test; none for single cells."""
    sizes, noise = curves.moves, curves.noise
    if noise is None or curves.count < 2:
        return Steps(sizes, None, None)
    return Steps(sizes, step_p(sizes, noise), step_ends(sizes, neighbours(noise), level))


def step_p(sizes: FloatArray, noise: RowNoise) -> FloatArray:
    """Two-sided p-values: Fisher's on whole trials, the pooled z on effective ones, z or t on errors."""
    if noise.counted is not None:
        k, n = noise.counted
        return exact_p((k[:, :-1], n[:, :-1]), (k[:, 1:], n[:, 1:]))
    if noise.binomial is not None:
        shares, trials = noise.binomial
        return pooled_z_p(shares[:, :-1], trials[:, :-1], shares[:, 1:], trials[:, 1:])
    deviate = np.abs(sizes) / np.hypot(noise.error[:, :-1], noise.error[:, 1:])
    tail = erfc(deviate / np.sqrt(2)) if noise.df is None else 2 * stdtr(noise.df[:, None], -deviate)
    return np.maximum(np.asarray(tail, dtype=np.float64), SMALLEST_P)


def exact_p(before: tuple[IntArray, IntArray], after: tuple[IntArray, IntArray]) -> FloatArray:
    """Fisher's p of every step; of a series with a step of very many trials the pooled z."""
    found = pooled_z_p(*before, *after)
    rows = np.flatnonzero((before[1] + after[1]).max(axis=1) <= EXACT_TRIALS)
    if rows.size:
        tables = (part[rows].ravel() for part in (*before, *after))
        found[rows] = fisher_p(*tables).reshape(rows.size, -1)
    return found


@dataclass(frozen=True)
class _Neighbours:
    """Noise of the cells before and after some steps."""

    before: tuple[FloatArray, FloatArray] | None
    after: tuple[FloatArray, FloatArray] | None
    error: FloatArray
    df: FloatArray | None
    whole: float

    def at(self, rows: IntArray, steps: IntArray) -> _Neighbours:
        """One step of each of these rows."""
        before, after = (
            None if cells is None else (cells[0][rows, steps], cells[1][rows, steps])
            for cells in (self.before, self.after)
        )
        df = None if self.df is None else self.df[rows, 0]
        return _Neighbours(before, after, self.error[rows, steps], df, self.whole)


def neighbours(noise: RowNoise) -> _Neighbours:
    """The noise of every step."""
    error = np.hypot(noise.error[:, :-1], noise.error[:, 1:])
    df = None if noise.df is None else noise.df[:, None]
    if noise.binomial is None:
        return _Neighbours(None, None, error, df, noise.whole)
    k, n = noise.binomial
    return _Neighbours((k[:, :-1], n[:, :-1]), (k[:, 1:], n[:, 1:]), error, df, noise.whole)


def step_ends(sizes: FloatArray, noise: _Neighbours, level: float) -> tuple[FloatArray, FloatArray]:
    """Both ends of the steps' intervals: Newcombe's on trials, else the size and its reach."""
    if noise.before is not None and noise.after is not None:
        low, high = newcombe(*noise.before, *noise.after, level)
        return low * noise.whole, high * noise.whole
    deviate = reach_of(level) if noise.df is None else stdtrit(noise.df, 0.5 + level / 2)
    reach = deviate * noise.error
    return sizes - reach, sizes + reach


def holm_of_family(families: Sequence[FloatArray | None]) -> list[FloatArray | None]:
    """The p-values of the steps of many series, adjusted over all of them together."""
    known = [family for family in families if family is not None and family.size]
    if not known:
        return [None] * len(families)
    joined = holm_array(np.concatenate(known))
    ends = np.cumsum([family.size for family in known]).tolist()
    parts = iter([joined[start:end] for start, end in zip([0, *ends[:-1]], ends, strict=True)])
    return [next(parts) if family is not None and family.size else None for family in families]


@dataclass(frozen=True)
class Listed:
    """The steps of one series as lists, as the answer writes them; `known` are p, the ends of the interval, and what
    could have been detected, for each step."""

    places: Sequence[Place]
    sizes: list[float]
    chosen: Sequence[int]
    known: tuple[list[float], list[float], list[float], list[float]] | None
    level: float

    def changes(self, p_holm: FloatArray | None, parameters: Parameters) -> tuple[Change, ...]:
        """The steps in the order of the axis, given the adjusted p-values."""
        places, sizes, chosen = self.places, self.sizes, self.chosen
        if self.known is None or p_holm is None:
            return tuple([Change(places[i], places[i + 1], sizes[i], None, None, None, None, None) for i in chosen])
        (p, low, high, seen), level, adjusted = self.known, self.level, p_holm.tolist()
        sharp = are_sharp(sizes, adjusted, parameters)
        return tuple(
            [
                Change(
                    places[i],
                    places[i + 1],
                    sizes[i],
                    sharp[i],
                    p[i],
                    adjusted[i],
                    Interval(level, low[i], high[i]),
                    seen[i],
                )
                for i in chosen
            ]
        )

    @property
    def left_out(self) -> int:
        """Number of steps that are not written."""
        return len(self.sizes) - len(self.chosen)


def listed(curves: Curves, steps: Steps, alpha: float) -> list[Listed]:
    """The steps of each series, at most `MOST_CHANGES` of the largest."""
    count = curves.count - 1
    chosen: list[Sequence[int]] = [range(count)] * len(curves)
    if count > MOST_CHANGES:
        order = np.argsort(-np.abs(curves.tick_moves), axis=1, kind="stable")[:, :MOST_CHANGES]
        chosen = np.sort(order, axis=1).tolist()
    rows = zip(curves.places, steps.sizes.tolist(), chosen, known_of(curves, steps, alpha), strict=True)
    return [Listed(*row, 1 - alpha) for row in rows]


def known_of(
    curves: Curves, steps: Steps, alpha: float
) -> Sequence[tuple[list[float], list[float], list[float], list[float]] | None]:
    """Inference on the steps of each series: p, both ends, and the detectable size."""
    if steps.p is None or steps.ends is None or curves.noise is None:
        return [None] * len(curves)
    low, high = steps.ends
    df = [curves.noise.df_of(row) for row in range(len(curves))]
    seen = np.array([[detectable(0.5 / reach_of(1 - alpha, one), alpha)] for one in df])
    columns = (part.tolist() for part in (steps.p, low, high, seen * (high - low)))
    return list(zip(*columns, strict=True))


def are_sharp(sizes: Sequence[float], p_holm: Sequence[float], parameters: Parameters) -> Sequence[bool | None]:
    """Large enough, and not by chance; the margin forgives one part in 10^9."""
    if parameters.sharp_change is None:
        return [None] * len(sizes)
    least, alpha = parameters.sharp_change * (1 - 1e-9), parameters.alpha
    return [abs(size) >= least and p < alpha for size, p in zip(sizes, p_holm, strict=True)]


def sharp_reason(noise: KnownNoise, parameters: Parameters) -> SharpReason | None:
    """Reason why no step of a series can be called sharp, or None."""
    if noise == "unknown":
        return "noise_unknown"
    return "no_margin" if parameters.sharp_change is None else None


def largest(curves: Curves, p_holm: Sequence[FloatArray | None], alpha: float) -> list[LargestSteps]:
    """The largest steps of each series, both ways."""
    return [
        LargestSteps(*both) for both in zip(*(steepest(curves, p_holm, sign, alpha) for sign in (-1, 1)), strict=True)
    ]


def steepest(curves: Curves, p_holm: Sequence[FloatArray | None], sign: int, alpha: float) -> list[LargestStep | None]:
    """The largest fall (sign -1) or rise (1) of each series, with every position that ties with it."""
    found: list[LargestStep | None] = [None] * len(curves)
    signed = curves.tick_moves * sign
    if signed.shape[1] == 0:
        return found
    most = signed.max(axis=1)
    rows = np.flatnonzero(most > 0)
    ties = signed[rows] == most[rows, None]
    steps = iter(np.nonzero(ties)[1].tolist())
    tied = [list(islice(steps, count)) for count in ties.sum(axis=1).tolist()]
    best = [_surest(at, p_holm[row]) for row, at in zip(rows.tolist(), tied, strict=True)]
    ends: Iterable[Interval | None] = [None] * rows.size
    if curves.noise is not None:
        # The largest was picked among all steps: at the usual level its interval would miss too often (Bonferroni).
        chosen, level = np.array(best, dtype=np.int64), 1 - alpha / int(signed.shape[1])
        low, high = step_ends(curves.moves[rows, chosen], neighbours(curves.noise).at(rows, chosen), level)
        ends = [Interval(level, *end) for end in zip(low.tolist(), high.tolist(), strict=True)]
    for row, at, surest, interval in zip(rows.tolist(), tied, best, ends, strict=True):
        places, p = curves.places[row], p_holm[row]
        spans = tuple(LevelSpan(places[i], places[i + 1]) for i in at[:MOST_CHANGES])
        found[row] = LargestStep(
            float(curves.moves[row, at[0]]),
            spans,
            None if p is None else float(p[surest]),
            None if p is None else interval,
        )
    return found


def _surest(at: list[int], p_holm: FloatArray | None) -> int:
    """The step with the lowest p of those that tie."""
    return at[0] if p_holm is None or len(at) == 1 else min(at, key=lambda i: float(p_holm[i]))


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
        sizes, ps = split_at(curves.y[rows], rows, curves.noise, cuts)
        for row, cut, size, p in zip(rows.tolist(), cuts.tolist(), sizes.tolist(), ps, strict=True):
            found[row] = Onset("ok", None, curves.places[row][cut], size, min(1.0, p * (curves.count - 1)))
    return found


def split_at(y: FloatArray, rows: IntArray, noise: RowNoise, cuts: IntArray) -> tuple[FloatArray, list[float]]:
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


def splits(curves: Curves, at: float | None, level: float) -> list[Split | None]:
    """The split of each series at a number of its axis; `None` where it has no cell on one of the sides."""
    if at is None:
        return [None] * len(curves)
    return [_split(curves, row, at, level) for row in range(len(curves))]


def _split(curves: Curves, row: int, at: float, level: float) -> Split | None:
    numbers = [one for one in curves.places[row] if not isinstance(one, str)]
    later = np.array(numbers) > at
    if len(numbers) != curves.count or not later.any() or later.all():
        return None
    before, after = (float(curves.y[row][mask].mean()) for mask in (~later, later))
    noise = curves.noise
    if noise is None:
        return Split(curves.count, before, after, after - before)
    errors = [noise.error[row][mask] for mask in (~later, later)]
    error = math.hypot(*(float(np.sqrt(np.sum(one**2))) / one.size for one in errors))
    return _with_interval(curves.count, (before, after), error, noise.df_of(row), level)


def grid_splits(series: Iterable[Series], level: float) -> dict[str, Split]:
    """All series along each axis together, those that have cells on both sides; every one with the same weight."""
    by_axis: dict[str, list[Split]] = {}
    for one in series:
        if one.split is not None:
            by_axis.setdefault(one.along, []).append(one.split)
    return {along: _together(rows, level) for along, rows in by_axis.items()}


def _together(rows: Sequence[Split], level: float) -> Split:
    count = len(rows)
    before, after = math.fsum(one.before for one in rows) / count, math.fsum(one.after for one in rows) / count
    squares = [one.stderr**2 for one in rows if one.stderr is not None]
    if len(squares) < count:
        return Split(count, before, after, after - before)
    weight = math.fsum(square**2 / one.df for square, one in zip(squares, rows, strict=True) if one.df)
    df = math.fsum(squares) ** 2 / weight if weight > 0 else None
    return _with_interval(count, (before, after), math.sqrt(math.fsum(squares)) / count, df, level)


def _with_interval(count: int, means: tuple[float, float], error: float, df: float | None, level: float) -> Split:
    gap, reach = means[1] - means[0], reach_of(level, df) * error
    return Split(count, *means, gap, Interval(level, gap - reach, gap + reach), error, df)
