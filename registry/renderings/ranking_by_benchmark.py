"""The scores of the names of a ranking on each benchmark: a table, and rows."""

from __future__ import annotations

from collections.abc import Iterator

from registry.renderings.numbers import UNDEFINED, fixed, places_of
from registry.renderings.policies import MOST_NAMED
from registry.renderings.sheet import Block, Heading
from registry.renderings.table import Column, Table
from registry.renderings.tidy import harmless, tidy
from registry.results.ranking import Ranking

_HEADER = ("experiment", "metric", "by", "benchmark", "name", "score", "cells", "low", "high")


def by_benchmark_csv(ranking: Ranking) -> str:
    """One row a benchmark and name."""
    head = [harmless(one) for one in (ranking.experiment, ranking.metric, ranking.by)]
    rows = (
        [*head, harmless(part.benchmark), harmless(one.name), one.score, one.cells]
        + ([one.interval.low, one.interval.high] if one.interval else [None, None])
        for part in ranking.by_benchmark
        for one in part.names
    )
    return tidy(_HEADER, rows)


def by_benchmark_blocks(ranking: Ranking) -> Iterator[Block]:
    """A row a benchmark, a column a name in the order of the ranking; nothing of very many names."""
    names = [row.name for row in ranking.ranking]
    if not ranking.by_benchmark or len(names) > MOST_NAMED:
        return
    scores = {(part.benchmark, one.name): one.score for part in ranking.by_benchmark for one in part.names}
    places, benchmarks = places_of(scores.values()), [part.benchmark for part in ranking.by_benchmark]
    columns = [
        Column(name, [fixed(scores.get((benchmark, name)), places, UNDEFINED) for benchmark in benchmarks], True)
        for name in names
    ]
    yield Heading("By benchmark", 2)
    yield Table([Column("benchmark", benchmarks), *columns], keys=1)
    yield "score: the mean of a name's cells on a benchmark, of those that another name has too"
