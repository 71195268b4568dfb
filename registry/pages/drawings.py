"""Drawings of rankings and comparisons: whiskers, bars of ranks, the matrix and the table of pairs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from registry.pages.blocks import Part, parts_of
from registry.pages.palette import difference_bin
from registry.renderings.numbers import MINUS, fixed, p_value, places_of, rough, signed, span, typeset
from registry.renderings.pairs import pair_blocks
from registry.results.pairs import Pair
from registry.results.ranking import Ranking
from registry.results.terms import Interval

WIDTH, _EDGE = 160, 6
Estimates = Sequence[tuple[float | None, Interval | None]]


@dataclass(frozen=True, slots=True)
class Whisker:
    """An estimate within a box `WIDTH` wide, and what is told about it; without an interval its ends are at its dot."""

    x: str
    low: str
    high: str
    told: str


@dataclass(frozen=True, slots=True)
class Whiskers:
    """Estimates, None where there is none, the places of zero, "" where that is no matter, and of margins, and what
    stands at both ends of the scale."""

    rows: Sequence[Whisker | None]
    zero: str
    margins: Sequence[str]
    ends: Sequence[str]


def whiskers_of(found: Estimates, *, around_zero: bool = False, margins: Sequence[float] = ()) -> Whiskers | None:
    """The whiskers of these estimates, with the margins in their scale; None where there are none."""
    known = [(value, (one.low, one.high) if one else (value, value)) for value, one in found if value is not None]
    ends = [end for _, both in known for end in both] + [0.0] * around_zero + [*margins]
    if not known:
        return None
    low, whole, places = min(ends), max(ends) - min(ends) or 1.0, places_of(ends)

    def at(value: float) -> str:
        return f"{_EDGE + (WIDTH - 2 * _EDGE) * (value - low) / whole:.1f}"

    def whisker(value: float, one: Interval | None) -> Whisker:
        ends = (one.low, one.high) if one else (value, value)
        told = f"{fixed(value, places)}, {span(*ends, places)}"
        return Whisker(at(value), at(ends[0]), at(ends[1]), typeset(told) if one else fixed(value, places))

    rows = [None if value is None else whisker(value, one) for value, one in found]
    scale = [typeset(fixed(end, places)) for end in sorted({low, max(ends)})]
    return Whiskers(rows, at(0.0) if around_zero else "", [at(one) for one in margins], scale)


RAIL = 260.0
_GAP, _DOT, _SMALLEST_DOT = 3.0, 4.0, 1.5


@dataclass(frozen=True, slots=True)
class Bar:
    """The ranks that the tests leave open to a name: the start and the width of a bar, and the place and the radius of
    its dot, within a box `RAIL` wide."""

    x: str
    wide: str
    dot: str
    size: str


def bars_of(ranking: Ranking) -> list[Bar | None]:
    """One bar a name, in the order of the ranking; None of a name without a rank."""
    most = max((row.rank_high or row.rank or 1 for row in ranking.ranking), default=1)
    step = RAIL / max(1, most)
    found = [
        row.rank and _placed(row.rank_low or row.rank, row.rank_high or row.rank, row.rank, step)
        for row in ranking.ranking
    ]
    return [Bar(*(f"{size:.1f}" for size in one)) if one else None for one in found]


def _placed(low: int, high: int, rank: int, step: float) -> tuple[float, float, float, float]:
    """The start and the width of a bar and the place and the radius of its dot: within the box and within each other,
    however many names there are."""
    gap = min(_GAP, step / 8)
    size = min(_DOT, max(_SMALLEST_DOT, step / 2 - gap))
    wide = max((high - low + 1) * step - 2 * gap, 2 * size)
    start = min(max(0.0, (low - 1) * step + gap), RAIL - wide)
    dot = min(max(start + size, (rank - 0.5) * step), start + wide - size)
    return start, wide, dot, size


MOST_IN_MATRIX = 30
MOST_LINKED = 190
"""Rows of a table of pairs up to which each leads to where the two are compared: more would outweigh the rest."""


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
    def ends(self) -> tuple[str, ...]:
        """The numbers at the ends of the colours, the better one last; none where no two names differ."""
        if not self.most.strip("0."):
            return ()
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
    falling = lower and not leads

    def square(a: str, b: str) -> PairSquare:
        pair, sign = pairs.get((a, b)) or (None, 1)
        found = _estimate(pair) if pair else None
        if pair is None or found is None:
            return PairSquare("bare", "", f"{a} and {b}: not compared, {(pair and pair.reason) or 'no slot in common'}")
        difference = sign * found + 0.0
        p = pair.p_holm if pair.status == "ok" else None
        won, lost = (pair.wins, pair.losses)[::sign]
        seen = f", could have shown {rough(pair.detectable)}" if pair.detectable is not None else ""
        named = f"{a} leads {b}" if pair.estimand == "lead" else f"{a} minus {b}"
        written = typeset(signed(difference, places))
        told = (
            f"{named}: {written} over {pair.n_common} slots, "
            f"{won} won, {pair.ties} tied, {lost} lost, Holm p {p_value(p)}{seen}"
        )
        sure = " untested" if p is None else " sure" if p < ranking.alpha else ""
        href = link([pair.a, pair.b]) if link else ""
        return PairSquare(f"d{difference_bin(difference, most, falling=falling)}{sure}", written, told, href)

    rows = [(a, [None if a == b else square(a, b) for b in names]) for a in names]
    return Matrix(names, rows, fixed(most, places), leads, falling)


def _estimate(pair: Pair) -> float | None:
    """Estimate that the order of a pair comes from."""
    return pair.lead if pair.estimand == "lead" else pair.difference


@dataclass(frozen=True, slots=True)
class Pairs:
    """The table with its notes, of how many pairs, and whose they are ("": all pairs are there)."""

    parts: Sequence[Part]
    total: int
    name: str = ""


def pairs_of(
    pairs: Sequence[Pair], names: Sequence[str], wanted: str, link: Callable[[Sequence[str]], str] | None = None
) -> Pairs:
    """These pairs of a ranking of these names; of many names only those of the wanted one, the first if none is. With
    `link`, the rows of a short table lead to where the two are compared."""
    if len(names) <= MOST_IN_MATRIX:
        return Pairs([_linked(part, link) for part in parts_of(pair_blocks(pairs))], len(pairs))
    total = len(names) * (len(names) - 1) // 2
    if len(pairs) < total and wanted not in names:
        return Pairs([], total, names[0])  # neighbours in the order are listed, and nobody has chosen a name
    name = wanted if wanted in names else names[0]
    own = [pair for pair in pairs if name in (pair.a, pair.b)]
    return Pairs([_linked(part, link) for part in parts_of(pair_blocks(own, len(names)))], total, name)


def _linked(part: Part, link: Callable[[Sequence[str]], str] | None) -> Part:
    """The table with an address for each of its rows, if it is short: the addresses of many would outweigh it."""
    if link is None or part.kind != "table" or len(part.rows) > MOST_LINKED:
        return part
    return replace(part, links=[link(row[:2]) for row in part.rows])
