"""Facts of a result for SQL tools: rows of the views of the schema `bi`, which read them by place (`migrations/`).
`storage/bi_facts.py` fills them; what is new is last.

A row has the columns of its view after those that name the grid, in their order, and is stored as a list.
"""

from dataclasses import dataclass
from typing import Literal, NamedTuple

from registry.results.terms import At, Place, PValue


class CoverageRow(NamedTuple):
    """The row of a grid in `bi.coverage`; null where nothing is known of it."""

    cells: int | None
    possible: int | None
    components: int | None


class TrendRow(NamedTuple):
    """The row of a series in `bi.trends`."""

    along: str
    at: At
    points: int
    first: float
    last: float
    slope: float | None
    slope_low: float | None
    slope_high: float | None
    p: PValue | None
    q: PValue | None
    direction: str
    onset_until: Place | None
    onset_by: Place | None
    sharp_changes: int | None
    """Null where the noise is not known or no margin is set."""


class PeakRow(NamedTuple):
    """The row of a cell in `bi.peaks`."""

    value: float
    at: At
    probability_best: float | None
    standing: Literal["best", "tied"]
    """`tied`: one of the others in the set that holds the best cell with 95 % confidence."""


class RankingRow(NamedTuple):
    """The row of a name in `bi.rankings`."""

    rank: int | None
    name: str
    score: float | None
    rank_low: int | None
    rank_high: int | None
    cells: int
    wins: int
    ties: int
    losses: int
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StatisticsFacts:
    """Facts of a grid's statistics: its series up to a limit, and its best and tied cells."""

    coverage: CoverageRow
    trends: tuple[TrendRow, ...]
    peaks: tuple[PeakRow, ...]


@dataclass(frozen=True, slots=True)
class RankingFacts:
    """Facts of a ranking: all of its names."""

    ranking: tuple[RankingRow, ...]
