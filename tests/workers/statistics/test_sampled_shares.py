"""How many of all differ, by a sample: limits against scipy and against published ones."""

from __future__ import annotations

from typing import Any

import pytest
from scipy.stats import hypergeom

from workers.verify_sample import limits


def test_of_very_many_they_are_those_of_clopper_and_pearson() -> None:
    """Their table for 90 % has these to four digits; that for none of a thousand is known as the rule of three."""
    for differing, sampled, low, high in (
        (0, 10, 0.0, 0.2589),
        (0, 20, 0.0, 0.1391),
        (1, 20, 0.0026, 0.2161),
        (5, 10, 0.2224, 0.7776),
        (0, 1_000, 0, 0.0030),
    ):
        found = limits(differing, sampled, 100_000_000, 0.05)
        assert [end / 100_000_000 for end in found] == pytest.approx([low, high], abs=5.1e-5), (differing, sampled)


@pytest.mark.parametrize("alpha", [0.05, 0.005])
def test_every_limit_of_small_totals_is_that_of_scipy(alpha: float) -> None:
    for total in (1, 2, 9, 14):
        for sampled in range(1, total + 1):
            for differing in range(sampled + 1):
                possible = range(differing, total - sampled + differing + 1)
                low = min(d for d in possible if hypergeom.sf(differing - 1, total, d, sampled) > alpha)
                high = max(d for d in possible if hypergeom.cdf(differing, total, d, sampled) > alpha)
                assert limits(differing, sampled, total, alpha) == (low, high)


def test_limits_of_large_totals_are_where_the_chances_of_scipy_cross_alpha(subtests: Any) -> None:
    least, most = 0.05 * (1 - 1e-6), 0.05 * (1 + 1e-6)
    for differing, sampled, total in (
        (0, 1_000, 1_234_567),
        (3, 1_000, 1_234_567),
        (40, 1_000, 1_500),
        (999, 1_000, 1_234_567),
        (250, 20_000, 10**8),
    ):
        with subtests.test(differing=differing, sampled=sampled, total=total):
            low, high = limits(differing, sampled, total, 0.05)
            assert hypergeom.cdf(differing, total, high, sampled) > least
            assert hypergeom.cdf(differing, total, high + 1, sampled) <= most
            assert differing or low == 0
            if differing:
                assert hypergeom.sf(differing - 1, total, low, sampled) > least
                assert hypergeom.sf(differing - 1, total, low - 1, sampled) <= most
