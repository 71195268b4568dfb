"""The order of a ranking as bars: each name with the ranks that the tests leave open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from registry.pages.blocks import Part, typeset
from registry.renderings.numbers import UNDEFINED, fixed, places_of, signed
from registry.renderings.ranking import cells_text, letters_text, mean_texts, rank_range
from registry.results.ranking import Ranked, Ranking

WIDTH = 260.0
_GAP, _DOT, _SMALLEST_DOT = 3.0, 4.0, 1.5
_MORE = ("component", "stderr", "one benchmark less", "one model less")
"""Columns of the ranking's table that are shown where the ranking has them."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A name with the ranks that the tests leave open; `x`, `wide`, `dot` and `size` are within a box `WIDTH` wide."""

    name: str
    rank: str
    ranks: str
    group: str
    score: str
    mean: str
    cells: str
    record: str
    more: Sequence[str]
    """What stands in the further columns."""
    x: str
    wide: str
    dot: str
    size: str


def bars_of(ranking: Ranking, columns: Sequence[tuple[str, Sequence[str]]] = ()) -> list[Bar]:
    """One bar a name, in the order of the ranking, with its cells of the further columns."""
    rows = ranking.ranking
    most = max((row.rank_high or row.rank or 1 for row in rows), default=1)
    places, means = places_of(row.score for row in rows), mean_texts(rows) or [""] * len(rows)
    written = signed if ranking.method == "mean_difference" else fixed
    return [
        _bar(
            row,
            WIDTH / max(1, most),
            typeset(written(row.score, places)) if row.score is not None else UNDEFINED,
            means[number].strip(),
            [cells[number] for _, cells in columns],
        )
        for number, row in enumerate(rows)
    ]


def further_columns(ranking: Ranking, order: Sequence[Part]) -> list[tuple[str, Sequence[str]]]:
    """The columns that not every ranking has, by name: the part that a name belongs to, the standard error, and how far
    its rank moves without one benchmark."""
    table = next((part for part in order if part.kind == "table"), None)
    found: list[tuple[str, Sequence[str]]] = []
    for place, (name, _) in enumerate(table.heads if table else ()):
        if name in _MORE and table is not None:
            found.append((name, [row[place] for row in table.rows]))
    return found


def _bar(row: Ranked, step: float, score: str, mean: str, more: Sequence[str]) -> Bar:
    rank = row.rank or 1
    low, high = row.rank_low or rank, row.rank_high or rank
    start, wide, dot, size = _placed(low, high, rank, step)
    return Bar(
        row.name,
        UNDEFINED if row.rank is None else str(rank),
        UNDEFINED if row.rank_low is None else rank_range(low, high),
        letters_text(row.group),
        score,
        mean,
        cells_text(row),
        f"{row.wins} · {row.ties} · {row.losses}",
        more,
        f"{start:.1f}",
        f"{wide:.1f}",
        f"{dot:.1f}",
        f"{size:.1f}",
    )


def _placed(low: int, high: int, rank: int, step: float) -> tuple[float, float, float, float]:
    """The start and the width of a bar and the place and the radius of its dot: within the box and within each other,
    however many names there are."""
    gap = min(_GAP, step / 8)
    size = min(_DOT, max(_SMALLEST_DOT, step / 2 - gap))
    wide = max((high - low + 1) * step - 2 * gap, 2 * size)
    start = min(max(0.0, (low - 1) * step + gap), WIDTH - wide)
    dot = min(max(start + size, (rank - 0.5) * step), start + wide - size)
    return start, wide, dot, size
