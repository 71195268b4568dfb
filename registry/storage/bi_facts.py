"""Facts of a result for SQL tools, which workers store beside it.

Documents are stored compressed, and PostgreSQL cannot inflate them; the facts are stored beside them, as rows of
`registry.results.bi_rows`, by the workers. The views of the schema `bi` read them by place (`migrations/`).
"""

from collections.abc import Mapping
from itertools import chain, islice
from typing import Any

from registry.results.bi_rows import CoverageRow, PeakRow, RankingFacts, RankingRow, StatisticsFacts, TrendRow
from registry.results.courses import Series
from registry.results.peaks import Peaks
from registry.results.ranking import Ranked, Ranking
from registry.results.statistics import Coverage, GridStatistics

_MOST_SERIES, _MOST_CELLS = 200, 40


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
