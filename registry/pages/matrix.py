"""Every pair of a ranking as a square of colours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from registry.pages.blocks import MINUS, typeset
from registry.pages.palette import difference_bin
from registry.renderings.numbers import fixed, p_value, places_of, rough, signed
from registry.results.pairs import Pair
from registry.results.ranking import Ranking

MOST_IN_MATRIX = 30
MOST_LINKED = 190
"""Pairs up to which each leads to where the two are compared: more addresses would outweigh the rest of the page."""


@dataclass(frozen=True, slots=True)
class PairSquare:
    """A pair: its class, its number, what is told about it, and where the two are compared ("": nowhere)."""

    kind: str
    text: str
    told: str
    href: str = ""


@dataclass(frozen=True, slots=True)
class Matrix:
    """Every pair, row minus column; None on the diagonal."""

    names: Sequence[str]
    rows: Sequence[tuple[str, Sequence[PairSquare | None]]]
    most: str
    leads: bool = False
    """Whether the numbers are leads and not differences."""
    falling: bool = False
    """Whether a lower number is the better one."""

    @property
    def linked(self) -> bool:
        """Whether squares lead to where two names are compared."""
        return any(square and square.href for _, squares in self.rows for square in squares)

    @property
    def ends(self) -> tuple[str, str]:
        """The numbers at the ends of the colours, the better one last."""
        ends = f"{MINUS}{self.most}", f"+{self.most}"
        return ends[::-1] if self.falling else ends


def matrix_of(
    ranking: Ranking, *, lower: bool = False, link: Callable[[Sequence[str]], str] | None = None
) -> Matrix | None:
    """The differences of all pairs, or their leads where the order comes from those, in the order of the ranking; None
    where there are too few or too many names. `lower`: whether lower values of the metric are better; `link`: the
    address at which two names are compared."""
    names = [row.name for row in ranking.ranking]
    if not 2 <= len(names) <= MOST_IN_MATRIX:
        return None
    pairs = {(pair.a, pair.b): (pair, 1) for pair in ranking.pairs}
    pairs |= {(b, a): (pair, -1) for (a, b), (pair, _) in pairs.items()}
    sizes = [abs(size) for size in map(_estimate, ranking.pairs) if size is not None]
    most, places = max(sizes, default=0.0), places_of(sizes)
    leads = any(pair.estimand == "lead" for pair in ranking.pairs)
    scale = _Scale(most, places, lower and not leads, ranking.alpha)

    def square(a: str, b: str) -> PairSquare:
        known = pairs.get((a, b))
        href = link([known[0].a, known[0].b]) if link and known and len(ranking.pairs) <= MOST_LINKED else ""
        return _square(a, b, known, scale, href)

    rows = [(a, [None if a == b else square(a, b) for b in names]) for a in names]
    return Matrix(names, rows, fixed(most, places), leads, scale.falling)


@dataclass(frozen=True, slots=True)
class _Scale:
    """How differences are coloured and written."""

    most: float
    places: int | None
    falling: bool
    alpha: float


def _estimate(pair: Pair) -> float | None:
    """Estimate that the order of a pair comes from."""
    return pair.lead if pair.estimand == "lead" else pair.difference


def _square(a: str, b: str, known: tuple[Pair, int] | None, scale: _Scale, href: str) -> PairSquare:
    pair, sign = known or (None, 1)
    found = _estimate(pair) if pair else None
    if pair is None or found is None:
        return PairSquare("bare", "", f"{a} and {b}: not compared, {(pair and pair.reason) or 'no slot in common'}")
    difference = sign * found + 0.0
    p = pair.p_holm if pair.status == "ok" else None
    sure = p is not None and p < scale.alpha
    won, lost = (pair.wins, pair.losses)[::sign]
    seen = f", could have shown {rough(pair.detectable)}" if pair.detectable is not None else ""
    named = f"{a} leads {b}" if pair.estimand == "lead" else f"{a} minus {b}"
    written = typeset(signed(difference, scale.places))
    told = (
        f"{named}: {written} over {pair.n_common} slots, "
        f"{won} won, {pair.ties} tied, {lost} lost, Holm p {p_value(p)}{seen}"
    )
    kind = difference_bin(difference, scale.most, falling=scale.falling)
    return PairSquare(f"d{kind}{' sure' if sure else ''}", written, told, href)
