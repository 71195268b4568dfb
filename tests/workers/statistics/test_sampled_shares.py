"""How many of all differ, by a sample: limits against scipy, against counting by hand and against published ones."""

from __future__ import annotations

import pytest
from scipy.stats import hypergeom

from workers.statistics.sampled_shares import limits


@pytest.mark.parametrize(
    ("differing", "sampled", "total", "expected"),
    [
        # Nothing found in 5 of 10: C(7,5)/C(10,5) = 21/252 = 0.083 where 3 differ, 6/252 = 0.024 where 4 do.
        (0, 5, 10, (0, 3)),
        # One found in 2 of 4: at least that one, at most all but the other: C(3,1)*C(1,1)/C(4,2) = 0.5 where 3 differ.
        (1, 2, 4, (1, 3)),
        (0, 7, 7, (0, 0)),
        (3, 7, 7, (3, 3)),
        (7, 7, 7, (7, 7)),
        (1, 1, 2, (1, 2)),
        (0, 0, 5, (0, 5)),
    ],
)
def test_limits_are_those_counted_by_hand(differing: int, sampled: int, total: int, expected: tuple[int, int]) -> None:
    assert limits(differing, sampled, total, 0.05) == expected


@pytest.mark.parametrize(
    ("differing", "sampled", "low", "high"),
    [
        (0, 10, 0.0, 0.2589),
        (0, 20, 0.0, 0.1391),
        (1, 20, 0.0026, 0.2161),
        (5, 10, 0.2224, 0.7776),
        (0, 1_000, 0, 0.0030),
    ],
)
def test_of_very_many_they_are_those_of_clopper_and_pearson(
    differing: int, sampled: int, low: float, high: float
) -> None:
    """Their table for 90 % has these to four digits; that for none of a thousand is known as the rule of three."""
    found = limits(differing, sampled, 100_000_000, 0.05)
    assert found[0] / 100_000_000 == pytest.approx(low, abs=5.1e-5)
    assert found[1] / 100_000_000 == pytest.approx(high, abs=5.1e-5)


@pytest.mark.parametrize("alpha", [0.05, 0.005])
@pytest.mark.parametrize("total", [1, 2, 9, 30])
def test_every_limit_of_small_totals_is_that_of_scipy(total: int, alpha: float) -> None:
    for sampled in range(1, total + 1):
        for differing in range(sampled + 1):
            possible = range(differing, total - sampled + differing + 1)
            low = min(d for d in possible if hypergeom.sf(differing - 1, total, d, sampled) > alpha)
            high = max(d for d in possible if hypergeom.cdf(differing, total, d, sampled) > alpha)
            assert limits(differing, sampled, total, alpha) == (low, high)


@pytest.mark.parametrize(
    ("differing", "sampled", "total"),
    [(0, 1_000, 1_234_567), (3, 1_000, 1_234_567), (40, 1_000, 1_500), (999, 1_000, 1_234_567), (250, 20_000, 10**8)],
)
def test_limits_of_large_totals_are_where_the_chances_of_scipy_cross_alpha(
    differing: int, sampled: int, total: int
) -> None:
    low, high = limits(differing, sampled, total, 0.05)
    assert hypergeom.cdf(differing, total, high, sampled) > 0.05 * (1 - 1e-6)
    assert hypergeom.cdf(differing, total, high + 1, sampled) <= 0.05 * (1 + 1e-6)
    if differing:
        assert hypergeom.sf(differing - 1, total, low, sampled) > 0.05 * (1 - 1e-6)
        assert hypergeom.sf(differing - 1, total, low - 1, sampled) <= 0.05 * (1 + 1e-6)
    else:
        assert low == 0


@pytest.mark.parametrize("sampled", [1, 4, 13, 24])
def test_each_limit_misses_at_most_as_often_as_it_says(sampled: int) -> None:
    total, alpha = 25, 0.05
    found = [limits(x, sampled, total, alpha) for x in range(sampled + 1)]
    for differing in range(total + 1):
        chances = hypergeom.pmf(range(sampled + 1), total, differing, sampled)
        drawn = [(p, one) for p, one in zip(chances, found, strict=True) if p > 0]
        assert sum(p for p, (low, _) in drawn if low > differing) <= alpha
        assert sum(p for p, (_, high) in drawn if high < differing) <= alpha
