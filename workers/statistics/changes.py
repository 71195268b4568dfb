"""Steps between neighbours of a series: which are sharp, where the sharpest are, and where a decline sets in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from registry.grid import Direction
from workers.statistics.multiplicity import holm
from workers.statistics.proportions import fisher_p, newcombe
from workers.statistics.table import Curve, Place
from workers.statistics.terms import FloatArray, IntArray, Interval, Parameters, Status
from workers.statistics.weighted import difference_test

MOST_CHANGES = 100
"""Steps listed for a series; a longer one lists its largest and counts the rest."""


@dataclass(frozen=True, slots=True)
class Change:
    """A step between neighbouring cells, its size in the metric's unit.

    `sharp`: at least `sharp_change` and, where noise is known, `p_holm` below alpha; `None` without a margin.
    `p`, `p_holm`, `interval` are `None` where no noise is known.
    """

    from_: Place
    to: Place
    size: float
    sharp: bool | None
    p: float | None
    p_holm: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Steepest:
    """The largest step of one sign and every place where it happens."""

    size: float
    at: tuple[Span, ...]
    p_holm: float | None
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Span:
    """From one level to the next measured one."""

    from_: Place
    to: Place


@dataclass(frozen=True, slots=True)
class Sharpest:
    """The sharpest fall and the sharpest rise of the values; `None` where there is none."""

    drop: Steepest | None
    rise: Steepest | None


@dataclass(frozen=True, slots=True)
class Onset:
    """The first level from which all later cells are worse than the best before it by more than `equivalence`.

    Worse is lower, unless the metric's better end is the lower one. `level` is `None` where no decline lasts.
    """

    status: Status
    level: Place | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Steps:
    """All steps of a series."""

    changes: tuple[Change, ...]
    left_out: int
    sharpest: Sharpest
    onset: Onset


def steps(curve: Curve, parameters: Parameters, direction: Direction | None) -> Steps:
    """The steps of a series in the order of its axis; none for a single cell."""
    found = adjacent(curve, parameters)
    moves = np.diff(curve.ticks)
    listed = list(range(len(found)))
    if len(found) > MOST_CHANGES:
        listed = sorted(np.argsort(-np.abs(moves), kind="stable")[:MOST_CHANGES].tolist())
    sharpest = Sharpest(steepest(found, moves, -1), steepest(found, moves, 1))
    chosen = tuple(found[i] for i in listed)
    return Steps(chosen, len(found) - len(chosen), sharpest, onset(curve, parameters, direction))


def adjacent(curve: Curve, parameters: Parameters) -> list[Change]:
    """Every step with its test: Fisher's on trials, z or Welch's t on standard errors, none without either."""
    sizes = curve.moves
    ps, ends = tested(curve, sizes, 1 - parameters.alpha)
    adjusted: Sequence[float | None] = [None] * sizes.size if ps is None else holm(ps.tolist())
    places = [curve.place(i) for i in range(curve.count)]
    found = []
    for i, size in enumerate(sizes.tolist()):
        interval = None if ends is None else Interval(1 - parameters.alpha, float(ends[0][i]), float(ends[1][i]))
        p = None if ps is None else float(ps[i])
        sharp = is_sharp(size, adjusted[i], parameters)
        found.append(Change(places[i], places[i + 1], size, sharp, p, adjusted[i], interval))
    return found


def is_sharp(size: float, p_holm: float | None, parameters: Parameters) -> bool | None:
    """Large enough, and not by chance as far as that is known; the margin forgives one part in 10^9."""
    if parameters.sharp_change is None:
        return None
    large = abs(size) >= parameters.sharp_change * (1 - 1e-9)
    return large and (p_holm is None or p_holm < parameters.alpha)


def tested(
    curve: Curve, sizes: FloatArray, level: float
) -> tuple[FloatArray | None, tuple[FloatArray, FloatArray] | None]:
    """The p-values of all steps and the ends of their intervals in the metric's unit; `None` without noise."""
    k, n = curve.successes, curve.trials
    if k is not None and n is not None and curve.whole is not None:
        low, high = newcombe(k[:-1], n[:-1], k[1:], n[1:], level)
        return fisher_p(k[:-1], n[:-1], k[1:], n[1:]), (low * curve.whole, high * curve.whole)
    if curve.stderr is not None:
        p, reach = difference_test(sizes, curve.stderr, curve.repeats, level)
        return p, (sizes - reach, sizes + reach)
    return None, None


def steepest(found: Sequence[Change], moves: IntArray, sign: int) -> Steepest | None:
    """The largest fall (sign -1) or rise (1), with every position that ties with it."""
    signed = moves * sign
    if signed.size == 0 or signed.max() <= 0:
        return None
    at = np.flatnonzero(signed == signed.max()).tolist()
    best = min((found[i] for i in at), key=lambda change: change.p_holm if change.p_holm is not None else 1.0)
    spans = tuple(Span(found[i].from_, found[i].to) for i in at[:MOST_CHANGES])
    return Steepest(found[at[0]].size, spans, best.p_holm, best.interval)


def onset(curve: Curve, parameters: Parameters, direction: Direction | None) -> Onset:
    """Where a lasting decline begins."""
    if parameters.equivalence is None:
        return Onset("undefined", reason="no equivalence margin is set")
    if curve.count < 2:
        return Onset("insufficient", reason="one point cannot decline")
    goodness = -curve.y if direction == "lower" else curve.y
    before = np.maximum.accumulate(goodness)[:-1]
    after = np.maximum.accumulate(goodness[::-1])[::-1][1:]
    lost = np.flatnonzero(before - after > parameters.equivalence * (1 + 1e-9))
    return Onset("ok", curve.place(int(lost[0]) + 1) if lost.size else None)
