"""Every pair of a ranking as a square of colours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from registry.pages.blocks import MINUS, typeset
from registry.pages.palette import difference_bin
from registry.renderings.numbers import fixed, p_value, places_of, rough, signed

Document = dict[str, Any]
MOST_IN_MATRIX = 30


@dataclass(frozen=True, slots=True)
class Matrix:
    """Every pair, row minus column: a class, a text and words for each; None on the diagonal."""

    names: Sequence[str]
    rows: Sequence[tuple[str, Sequence[tuple[str, str, str] | None]]]
    most: str
    leads: bool = False
    """Whether the numbers are leads and not differences."""
    falling: bool = False
    """Whether a lower number is the better one."""

    @property
    def ends(self) -> tuple[str, str]:
        """The numbers at the ends of the colours, the better one last."""
        ends = f"{MINUS}{self.most}", f"+{self.most}"
        return ends[::-1] if self.falling else ends


def matrix_of(document: Document, *, lower: bool = False) -> Matrix | None:
    """The differences of all pairs, or their leads where the order comes from those, in the order of the ranking; None
    where there are too few or too many names. `lower`: whether lower values of the metric are better."""
    names = [str(row["name"]) for row in document.get("ranking") or ()]
    if not 2 <= len(names) <= MOST_IN_MATRIX:
        return None
    pairs = {(pair["a"], pair["b"]): (pair, 1) for pair in document.get("pairs") or ()}
    pairs |= {(b, a): (pair, -1) for (a, b), (pair, _) in pairs.items()}
    sizes = [abs(size) for size in map(_estimate, (pair for pair, _ in pairs.values())) if size is not None]
    most, places = max(sizes, default=0.0), places_of(sizes)
    alpha = document.get("alpha") or 0.05
    leads = any(pair.get("estimand") == "lead" for pair, _ in pairs.values())
    scale = _Scale(most, places, lower and not leads)
    rows = [
        (a, [None if a == b else _square(a, b, *pairs.get((a, b), ({}, 1)), scale, alpha) for b in names])
        for a in names
    ]
    return Matrix(names, rows, fixed(most, places), leads, scale.falling)


@dataclass(frozen=True, slots=True)
class _Scale:
    """How differences are coloured and written."""

    most: float
    places: int | None
    falling: bool


def _estimate(pair: Document) -> float | None:
    """What the order of a pair comes from."""
    found: float | None = pair.get("lead" if pair.get("estimand") == "lead" else "difference")
    return found


def _square(a: str, b: str, pair: Document, sign: int, scale: _Scale, alpha: float) -> tuple[str, str, str]:
    found = _estimate(pair)
    if found is None:
        return "bare", "", f"{a} and {b}: not compared, {pair.get('reason') or 'no slot in common'}"
    difference = sign * found + 0.0
    p = pair.get("p_holm") if pair.get("status", "ok") == "ok" else None
    sure = p is not None and p < alpha
    record = [pair.get(name, 0) for name in ("wins", "ties", "losses")][::sign]
    seen = f", could have shown {rough(pair['detectable'])}" if pair.get("detectable") is not None else ""
    named = f"{a} leads {b}" if pair.get("estimand") == "lead" else f"{a} minus {b}"
    written = typeset(signed(difference, scale.places))
    told = (
        f"{named}: {written} over {pair['n_common']} slots, "
        f"{record[0]} won, {record[1]} tied, {record[2]} lost, Holm p {p_value(p)}{seen}"
    )
    kind = difference_bin(difference, scale.most, falling=scale.falling)
    return f"d{kind}{' sure' if sure else ''}", written, told
