"""Facts of a result for SQL tools: rows of the views of the schema `bi`, which read them by place (`migrations/`).

Documents are stored compressed, and PostgreSQL cannot inflate them: workers store facts beside them. A row has the
columns of its view after those that name the grid, in their order, and is stored as a list. What is new is last.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Literal, NamedTuple

from registry.results.courses import Series
from registry.results.peaks import Peaks
from registry.results.ranking import Ranked, Ranking
from registry.results.statistics import Coverage, GridStatistics
from registry.results.terms import At, Place, PValue

_MOST_SERIES, _MOST_CELLS = 200, 40


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


def facts_of_statistics(found: GridStatistics) -> StatisticsFacts:
    """Facts of a grid's statistics."""
    return StatisticsFacts(
        _coverage(found.coverage),
        tuple(map(_trend, found.series[:_MOST_SERIES])),
        _peaks(found.peaks) if found.peaks else (),
    )


def _coverage(found: Coverage | None) -> CoverageRow:
    if found is None:
        return CoverageRow(None, None, None)
    return CoverageRow(found.cells, found.possible, found.component_count)


def _trend(one: Series) -> TrendRow:
    interval, steps = one.slope_interval, [step.sharp for step in one.changes]
    return TrendRow(
        along=one.along,
        at=one.at,
        points=one.count,
        first=one.first,
        last=one.last,
        slope=one.slope,
        slope_low=interval.low if interval else None,
        slope_high=interval.high if interval else None,
        p=one.mann_kendall.p if one.trend_p is None else one.trend_p,
        q=one.q,
        direction=one.direction,
        onset_until=one.onset.until if one.onset else None,
        onset_by=one.onset.by if one.onset else None,
        sharp_changes=None if steps and all(step is None for step in steps) else sum(map(bool, steps)),
    )


def _peaks(peaks: Peaks) -> tuple[PeakRow, ...]:
    """The best cells, then the others in the set of best cells, up to a limit."""
    best = peaks.best
    if best is None:
        return ()
    chances = peaks.probability_best or ()
    tied = peaks.best_set.at if peaks.best_set else ()
    first = (
        PeakRow(best.value, at, next((one.probability for one in chances if one.at == at), None), "best")
        for at in best.at
    )
    others = (
        PeakRow(one.value, one.at, one.probability, "tied")
        for one in chances
        if one.at in tied and one.at not in best.at
    )
    return tuple(islice(chain(first, others), _MOST_CELLS))


def facts_of_answer(result: Ranking | Mapping[str, Any]) -> RankingFacts | None:
    """Facts of a ranking; None for other results."""
    return RankingFacts(tuple(map(_ranked, result.ranking))) if isinstance(result, Ranking) else None


def _ranked(one: Ranked) -> RankingRow:
    return RankingRow(
        rank=one.rank,
        name=one.name,
        score=one.score,
        rank_low=one.rank_low,
        rank_high=one.rank_high,
        cells=one.cells,
        wins=one.wins,
        ties=one.ties,
        losses=one.losses,
        groups=one.group,
    )
