"""Gaps of contenders to a baseline as a forest plot: each with its interval, on one scale with the margin as a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from registry.renderings.numbers import places_of, signed
from registry.results.gates import PolicyKind
from registry.results.verdicts import FailingPlace, StoredVerdict

WIDTH, _EDGE = 280.0, 6.0


@dataclass(frozen=True, slots=True)
class Whisker:
    """A gap in a box `WIDTH` wide: its place, the ends of its interval where the noise is known, and the number."""

    dot: str
    low: str
    high: str
    written: str


@dataclass(frozen=True, slots=True)
class Forest:
    """What rows share: where no difference is, where the margin is, and the whisker of each gap that is known."""

    zero: str
    margins: Sequence[str]
    rows: Sequence[Whisker | None]


def forest_of(
    gaps: Sequence[StoredVerdict | FailingPlace], kind: PolicyKind, margin: float | None, *, lower_is_better: bool
) -> Forest | None:
    """The plot of these gaps, in their order; None where no gap is known."""
    lines = [] if kind == "floor" or not margin else _margins(kind, margin, lower_is_better=lower_is_better)
    known = [one for row in gaps for one in (row.gap, row.low, row.high) if one is not None]
    if not known:
        return None
    ends = (min(0.0, *lines, *known), max(0.0, *lines, *known))
    step = (WIDTH - 2 * _EDGE) / ((ends[1] - ends[0]) or 1.0)
    decimals = places_of(known)

    def place(value: float) -> str:
        return f"{_EDGE + (value - ends[0]) * step:.1f}"

    def whisker(row: StoredVerdict | FailingPlace) -> Whisker | None:
        if row.gap is None:
            return None
        low, high = (row.gap if end is None else end for end in (row.low, row.high))
        return Whisker(place(row.gap), place(low), place(high), signed(row.gap, decimals).replace("-", "−"))

    return Forest(place(0.0), [place(one) for one in lines], [whisker(row) for row in gaps])


def _margins(kind: PolicyKind, margin: float, *, lower_is_better: bool) -> list[float]:
    """Where a policy turns: on the worse side of no difference, of `improves` on the better one, or on both."""
    if kind == "equivalent":
        return [-margin, margin]
    worse = margin if lower_is_better else -margin
    return [-worse if kind == "improves" else worse]
