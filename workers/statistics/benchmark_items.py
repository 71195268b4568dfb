"""Two names over all benchmarks, where each of them was compared item by item.

The mean of the benchmarks' differences, which weigh equally; its error is the root of the sum of their squared errors
over the number of benchmarks, with Satterthwaite's degrees of freedom. Item sets of different benchmarks are taken as
different items.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from registry.results.gaps import Contrast, GapTest
from registry.results.pairs import Pair
from workers.statistics.item_pairs import around
from workers.statistics.terms import detectable, two_sided


def by_items(pair: Pair, benchmarks: Sequence[Contrast], alpha: float) -> Pair | None:
    """The pair with the error of the items; None where a benchmark is not paired or has no error, or where the pair is
    of something else than these benchmarks."""
    paired = [(one.test, one.items) for one in benchmarks if one.test and one.items and one.items.paired]
    tests = [test for test, _ in paired]
    if pair.status != "ok" or pair.benchmarks != len(tests) or len(tests) != len(benchmarks):
        return None
    if any(one.status != "ok" or not one.stderr or one.difference is None for one in tests):
        return None
    if len(tests) == 1:
        return _of(pair, tests[0])
    difference = math.fsum(one.difference or 0.0 for one in tests) / len(tests)
    parts = [(one.stderr or 0.0) ** 2 for one in tests]
    stderr = math.sqrt(math.fsum(parts)) / len(tests)
    free = [test.df or items.items - 1 for test, items in paired]  # an exact test has no df, its error has
    df = math.fsum(parts) ** 2 / math.fsum(part**2 / one for part, one in zip(parts, free, strict=True))
    ends, p = around(difference, stderr, 1 - alpha, df), two_sided(difference / stderr, df)
    return _of(
        pair, GapTest("ok", "paired_items", difference, ends, stderr, df, p, detectable=detectable(stderr, alpha))
    )


def _of(pair: Pair, test: GapTest) -> Pair:
    return replace(
        pair,
        difference=test.difference,
        interval=test.interval,
        stderr=test.stderr,
        df=test.df,
        p=test.p,
        p_holm=test.p,
        detectable=test.detectable,
        min_attainable_p=None,
        test=test.name,
    )
