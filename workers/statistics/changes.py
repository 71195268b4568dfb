"""Steps between neighbours of a series, for `series.py`: which are sharp, and where the largest are.

A step is sharp when it was posted as large and is shown not to be 0, however small: Holm (1979) over all steps of the
grid along the axis.
The largest step of a series was chosen by its size, and its interval is at the level that this choice asks for
(Bonferroni over the steps of the series).

Onset of a lasting decline: the first level from which on every cell is worse than the first one by more than the margin
of equivalence. It is a set, between two places that each hold at half of alpha. From the last cell backwards each is
tested to be worse; from the second one forwards, not to be: fixed sequences, which stop at the first test that fails
(Maurer, Hothorn and Lehmacher 1995). Series that decline at all are selected by q, and the sets of the selected hold at
the level that this choice asks for. A decline lasts where the last two cells are shown to be worse at least.

Intervals of what was selected, R of m, are at level 1 - R alpha / m: the share of them that miss is then alpha at most
(Benjamini and Yekutieli 2005, JASA 100, 71-81).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

import numpy as np
from scipy.special import erfc, ndtr, ndtri, stdtr, stdtrit

from registry.grids.grid import Direction
from registry.results.courses import Change, LargestStep, LargestSteps, LevelSpan, Onset, SharpReason
from registry.results.parameters import Parameters
from registry.results.terms import Interval, KnownNoise, Place
from workers.statistics.curves import Curves, RowNoise
from workers.statistics.judging import holm_array, level_of_selected
from workers.statistics.noise import added
from workers.statistics.power import by_student
from workers.statistics.proportions import EXACT_TRIALS, fisher_p, newcombe, pooled_z_p
from workers.statistics.score_test import Strata
from workers.statistics.terms import SMALLEST_P, BoolArray, FloatArray, IntArray, normal_quantile

MOST_CHANGES = 100
"""Steps listed for a series; a longer one lists its largest and counts the rest."""


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
    return Steps(sizes, step_p(sizes, noise), step_ends(sizes, noise, _BEFORE, _AFTER, level))


def step_p(sizes: FloatArray, noise: RowNoise) -> FloatArray:
    """Two-sided p-values: Fisher's on whole trials, the pooled z on effective ones, z or t on errors."""
    if noise.counted is not None:
        k, n = noise.counted
        return exact_p((k[:, :-1], n[:, :-1]), (k[:, 1:], n[:, 1:]))
    if noise.binomial is not None:
        shares, trials = noise.binomial
        return pooled_z_p(shares[:, :-1], trials[:, :-1], shares[:, 1:], trials[:, 1:])
    error, df = step_error(noise, _BEFORE, _AFTER)
    deviate = np.abs(sizes) / error
    tail = erfc(deviate / np.sqrt(2)) if df is None else 2 * stdtr(df, -deviate)
    return np.maximum(np.asarray(tail, dtype=np.float64), SMALLEST_P)


def exact_p(before: tuple[IntArray, IntArray], after: tuple[IntArray, IntArray]) -> FloatArray:
    """Fisher's p of every step; of a series with a step of very many trials the pooled z."""
    found = pooled_z_p(*before, *after)
    rows = np.flatnonzero((before[1] + after[1]).max(axis=1) <= EXACT_TRIALS)
    if rows.size:
        tables = (part[rows].ravel() for part in (*before, *after))
        found[rows] = fisher_p(*tables).reshape(rows.size, -1)
    return found


FEW_TRIALS = 12
"""Trials of two cells up to which it is looked whether any step between them could be shown."""
_BEFORE, _AFTER = (slice(None), slice(None, -1)), (slice(None), slice(1, None))
_Cells = tuple[slice, slice] | tuple[IntArray, IntArray]
"""Cells of some series, as an index of their arrays."""


def step_ends(
    sizes: FloatArray, noise: RowNoise, before: _Cells, after: _Cells, level: float | FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Both ends of the steps' intervals from some cells to others: Newcombe's on trials, else the size and its
    reach."""
    if noise.binomial is not None:
        k, n = noise.binomial
        low, high = newcombe(k[before], n[before], k[after], n[after], level)
        return low * noise.whole, high * noise.whole
    tail = 0.5 + np.asarray(level) / 2
    error, df = step_error(noise, before, after)
    reach = (ndtri(tail) if df is None else stdtrit(df, tail)) * error
    return sizes - reach, sizes + reach


def step_error(noise: RowNoise, before: _Cells, after: _Cells) -> tuple[FloatArray, FloatArray | None]:
    """The standard errors of steps and their degrees of freedom, `None` where errors are known. Two cells alone are
    compared as their ends are, each by its own repeats; in a longer series these are too few, and all are pooled."""
    if noise.own is not None and noise.error.shape[1] == 2:
        variance, df = added(*(np.stack([one[before], one[after]], axis=-1) for one in noise.own))
        return np.sqrt(variance), df
    error = np.hypot(noise.error[before], noise.error[after])
    return error, None if noise.df is None else np.broadcast_to(noise.df[:, None], noise.error.shape)[before]


def on_scale(curves: Curves, low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The ends of differences of proportions, no further out than their scale; all series are asked the same."""
    whole = math.inf if curves.rows[0].whole is None else curves.rows[0].whole
    return np.maximum(low, -whole), np.minimum(high, whole)


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
class Sharp:
    """Which steps of a series are sharp, `None` without a margin, and the intervals of those that are."""

    are: Sequence[bool | None]
    intervals: dict[int, Interval]


@dataclass(frozen=True)
class Listed:
    """The steps of one series as lists; `known` are p, the ends of the interval, and what could have been detected, for
    each step. The `chosen` are written, and unless these are all that was asked for, the sharp ones."""

    places: Sequence[Place]
    sizes: list[float]
    chosen: Sequence[int]
    known: tuple[list[float], list[float], list[float], list[float]] | None
    level: float
    full: bool

    def changes(self, p_holm: FloatArray | None, sharp: Sharp) -> tuple[Change, ...]:
        """The steps in the order of the axis, given the adjusted p-values and which of them are sharp."""
        places, sizes, chosen = self.places, self.sizes, self._written(sharp)
        if self.known is None or p_holm is None:
            return tuple([Change(places[i], places[i + 1], sizes[i], None, None, None, None, None) for i in chosen])
        (p, low, high, seen), adjusted, picked = self.known, p_holm.tolist(), sharp.intervals
        return tuple(
            [
                Change(
                    places[i],
                    places[i + 1],
                    sizes[i],
                    sharp.are[i],
                    p[i],
                    adjusted[i],
                    picked[i] if i in picked else Interval(self.level, low[i], high[i]),
                    None if math.isnan(seen[i]) else seen[i],
                )
                for i in chosen
            ]
        )

    def _written(self, sharp: Sharp) -> Sequence[int]:
        if self.full:
            return self.chosen
        most = sorted(sharp.intervals, key=lambda i: -abs(self.sizes[i]))[:MOST_CHANGES]
        return sorted({*self.chosen, *most})


def listed(curves: Curves, steps: Steps, parameters: Parameters) -> list[Listed]:
    """The steps of each series, of which the largest fall and rise are chosen; with full detail all, at most
    `MOST_CHANGES` of the largest."""
    count, alpha = curves.count - 1, parameters.alpha
    chosen: list[Sequence[int]] = [range(count)] * len(curves)
    full = parameters.detail == "full"
    if not full and count > 0:
        lows, highs = curves.tick_moves.argmin(axis=1).tolist(), curves.tick_moves.argmax(axis=1).tolist()
        moves = curves.tick_moves.tolist()
        chosen = [
            [low] * (row[low] < 0) + [high] * (row[high] > 0) for row, low, high in zip(moves, lows, highs, strict=True)
        ]
    elif count > MOST_CHANGES:
        order = np.argsort(-np.abs(curves.tick_moves), axis=1, kind="stable")[:, :MOST_CHANGES]
        chosen = np.sort(order, axis=1).tolist()
    rows = zip(curves.places, steps.sizes.tolist(), chosen, known_of(curves, steps, alpha), strict=True)
    return [Listed(*row, 1 - alpha, full) for row in rows]


def sharp_level(sizes: Sequence[FloatArray], p_holm: Sequence[FloatArray | None], parameters: Parameters) -> float:
    """The level of the intervals of the sharp steps of a family: those that their sizes and Holm's p select of all."""
    known = [(one, p) for one, p in zip(sizes, p_holm, strict=True) if p is not None]
    if not known or parameters.sharp_change is None:
        return 1 - parameters.alpha
    every, p = (np.concatenate(column) for column in zip(*known, strict=True))
    sharp = is_sharp(every, p, parameters.sharp_change, parameters.alpha)
    return level_of_selected(int(np.count_nonzero(sharp)), every.size, parameters.alpha)


def is_sharp(sizes: FloatArray, p_holm: FloatArray, margin: float, alpha: float) -> BoolArray:
    """Large enough, and not by chance; the margin forgives one part in 10^9."""
    return np.asarray((np.abs(sizes) >= margin * (1 - 1e-9)) & (p_holm < alpha))


def sharp_steps(
    curves: Curves, p_holm: Sequence[FloatArray | None], levels: Sequence[float], parameters: Parameters
) -> list[Sharp]:
    """The sharp steps of each series, with their intervals at its level."""
    known = [p for p in p_holm if p is not None]
    if not known or curves.noise is None or parameters.sharp_change is None:
        return [Sharp([None] * (curves.count - 1), {})] * len(curves)
    found = is_sharp(curves.moves, np.array(known), parameters.sharp_change, parameters.alpha)
    rows, steps = np.nonzero(found)
    at = np.array(levels)[rows]
    cells = (rows, steps), (rows, steps + 1)
    low, high = on_scale(curves, *step_ends(curves.moves[rows, steps], curves.noise, *cells, at))
    sharp = [Sharp(one, {}) for one in found.tolist()]
    for row, step, *ends in zip(*(part.tolist() for part in (rows, steps, at, low, high)), strict=True):
        sharp[row].intervals[step] = Interval(*ends)
    return sharp


def known_of(
    curves: Curves, steps: Steps, alpha: float
) -> Sequence[tuple[list[float], list[float], list[float], list[float]] | None]:
    """Inference on the steps of each series: p, both ends, and the detectable size, by trials on the noisier side and
    settled to a hundredth, of whole ones with the continuity that Fisher's test asks for (Casagrande, Pike and Smith
    1978, Biometrics 34, 483-486); NaN where no step would be found, or the scale has no room for it."""
    if steps.p is None or steps.ends is None or curves.noise is None:
        return [None] * len(curves)
    low, high = steps.ends
    _, df = step_error(curves.noise, _BEFORE, _AFTER)
    if curves.noise.k is not None and curves.noise.n is not None:
        k, n = curves.noise.k, curves.noise.n
        cells = (part.ravel() for part in (k[:, :-1], n[:, :-1], k[:, 1:], n[:, 1:]))
        sizes = (
            Strata.of(*cells).detectable(normal_quantile(1 - alpha / 2), 0.01).reshape(low.shape) * curves.noise.whole
        )
    else:
        df = np.array(math.inf) if df is None else df
        sizes = by_student(df, alpha) * (high - low) / 2 / stdtrit(df, 1 - alpha / 2)
    if curves.noise.counted is not None:
        counts = curves.noise.counted[1]
        sizes += curves.noise.whole * (1 / counts[:, :-1] + 1 / counts[:, 1:]) / 2
        few = (counts[:, :-1] + counts[:, 1:] <= FEW_TRIALS) & (sizes <= curves.noise.whole)
        before, after = counts[:, :-1][few], counts[:, 1:][few]
        sizes[few] = np.where(fisher_p(np.zeros_like(before), before, after, after) < alpha, sizes[few], np.nan)
    if (whole := curves.rows[0].whole) is not None:
        sizes[sizes > whole] = np.nan
    columns = (part.tolist() for part in (steps.p, *on_scale(curves, low, high), sizes))
    return list(zip(*columns, strict=True))


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
    counts, (nth, steps) = ties.sum(axis=1), np.nonzero(ties)
    each = iter(steps.tolist())
    tied = [list(islice(each, count)) for count in counts.tolist()]
    ends: Iterable[Interval | None] = [None] * rows.size
    if curves.noise is not None and rows.size:
        # The largest was picked among all steps: at the usual level its interval would miss too often (Bonferroni).
        # Of steps that tie it reaches as far as any of theirs, so that it holds wherever they are.
        series, firsts, level = rows[nth], np.cumsum(counts) - counts, 1 - alpha / int(signed.shape[1])
        cells = (series, steps), (series, steps + 1)
        low, high = on_scale(curves, *step_ends(curves.moves[series, steps], curves.noise, *cells, level))
        low, high = np.minimum.reduceat(low, firsts), np.maximum.reduceat(high, firsts)
        ends = [Interval(level, *end) for end in zip(low.tolist(), high.tolist(), strict=True)]
    for row, at, interval in zip(rows.tolist(), tied, ends, strict=True):
        places, p = curves.places[row], p_holm[row]
        spans = tuple(LevelSpan(places[i], places[i + 1]) for i in at[:MOST_CHANGES])
        found[row] = LargestStep(
            float(curves.moves[row, at[0]]),
            spans,
            None if p is None else float(p[at].max()),
            None if p is None else interval,
        )
    return found


@dataclass(frozen=True)
class Decline:
    """A series beside its first cell: for each later one the p of being worse by no more than the margin."""

    places: Sequence[Place]
    goes: Literal["falls", "rises"]
    margin: float
    p: FloatArray
    of_any: float
    """The p of no decline at the end; two-sided, for the place is bounded on both sides."""

    def place(self, level: float) -> tuple[Place, Place]:
        """The last level up to which all are shown to be good, and the first from which on all are shown to be worse,
        at this level together. The tests go from the ends inwards and stop at the first that fails."""
        tail = (1 - level) / 2
        good, bad = 1 - self.p < tail, self.p < tail
        until = int(good.argmin()) if self.margin > 0 else 0
        return self.places[until], self.places[1 if bad.all() else bad.size + 1 - int(bad[::-1].argmin())]


def declines(curves: Curves, parameters: Parameters, better: Direction | None) -> list[Decline | None]:
    """Each series beside its first cell; `None` without noise, where a decline could be anything, below three cells,
    where none lasts, and where neither end is better."""
    noise = curves.noise
    if noise is None or curves.count < 3 or better is None:
        return [None] * len(curves)
    margin, sign = parameters.equivalence or 0.0, 1.0 if better == "lower" else -1.0
    worse = sign * (curves.y[:, 1:] - curves.y[:, :1]) - min(margin, 1e100)
    deviate = worse / decline_error(noise, margin, higher_first=sign < 0)
    p = np.asarray(ndtr(-deviate) if noise.df is None else stdtr(noise.df[:, None], -deviate), dtype=np.float64)
    goes: Literal["falls", "rises"] = "rises" if better == "lower" else "falls"
    of_any = np.minimum(1.0, 2 * p[:, -2:].max(axis=1)).tolist()
    return [Decline(places, goes, margin, *row) for places, *row in zip(curves.places, p, of_any, strict=True)]


def decline_error(noise: RowNoise, margin: float, *, higher_first: bool) -> FloatArray:
    """The standard errors of the later cells less the first. With trials, where the decline is the margin: near an end
    of the scale few trials that all came out the same would else say too much (Dunnett and Gent 1977, Biometrics 33,
    593-602)."""
    if noise.binomial is None:
        return np.hypot(noise.error[:, 1:], noise.error[:, :1])
    k, n = noise.binomial
    gap, first, later = min(margin / noise.whole, 1.0), (k[:, :1], n[:, :1]), (k[:, 1:], n[:, 1:])
    (high_k, high_n), (low_k, low_n) = (first, later) if higher_first else (later, first)
    high = np.clip((high_k + low_k + gap * low_n) / (high_n + low_n), gap, 1.0)
    low = np.clip(high - gap, 0.0, 1.0)
    variance = high * (1 - high) / high_n + low * (1 - low) / low_n
    return noise.whole * np.sqrt(np.maximum(variance, 1e-300))


def onsets(found: Sequence[Decline | None], of_any: Sequence[float | None], alpha: float) -> list[Onset | None]:
    """The onsets of the series of an axis, given their q: of those that are shown to decline, the place at the level
    that this choice asks for."""
    shown = sum(one is not None and one < alpha for one in of_any)
    level = level_of_selected(shown, sum(one is not None for one in of_any), alpha)
    return [
        None
        if one is None or q is None
        else Onset(one.goes, one.margin, one.of_any, q, *one.place(level), level)
        if q < alpha
        else Onset(one.goes, one.margin, one.of_any, q)
        for one, q in zip(found, of_any, strict=True)
    ]
