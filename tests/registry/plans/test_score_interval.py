"""Score intervals of a difference against Newcombe's published table, and against a numerical maximum."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize, stats

from registry.plans.score_interval import TwoSamples, p_above, restricted, score, score_interval

NEWCOMBE = {
    (56, 70, 48, 80): (0.0528, 0.3382),
    (9, 10, 3, 10): (0.1700, 0.8406),
    (6, 7, 2, 7): (0.0342, 0.8534),
    (5, 56, 0, 29): (-0.0326, 0.1933),
    (0, 10, 0, 20): (-0.1658, 0.2844),
    (0, 10, 0, 10): (-0.2879, 0.2879),
    (10, 10, 0, 20): (0.7156, 1.0),
}


def test_the_interval_is_that_of_newcombes_table() -> None:
    """Newcombe (1998), Statistics in Medicine 17:873, table II, method 6, at 95 %."""
    for counts, ends in NEWCOMBE.items():
        assert score_interval(TwoSamples(*counts), 0.025) == pytest.approx(ends, abs=0.00006), counts


@pytest.mark.parametrize("counts", [(7, 20, 9, 15), (0, 12, 3, 12), (40, 40, 39, 40), (25.5, 30.2, 18.1, 44.0)])
def test_the_restricted_rates_maximise_the_likelihood(counts: tuple[float, ...]) -> None:
    k1, n1, k2, n2 = counts
    for margin in (-0.3, -0.05, 0.0, 0.02, 0.2):

        def loss(second: float, margin: float = margin) -> float:
            p1, p2 = np.clip([second + margin, second], 1e-12, 1 - 1e-12)
            return -float(k1 * np.log(p1) + (n1 - k1) * np.log1p(-p1) + k2 * np.log(p2) + (n2 - k2) * np.log1p(-p2))

        bounds = (max(0.0, -margin), min(1.0, 1.0 - margin))
        best = optimize.minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-10}).x
        assert restricted(TwoSamples(*counts), margin) == pytest.approx((best + margin, best), abs=1e-4)


def test_against_no_margin_it_is_the_pooled_test() -> None:
    samples = TwoSamples(30, 50, 18, 40)
    pooled = 48 / 90
    z = (0.6 - 0.45) / np.sqrt(pooled * (1 - pooled) * (1 / 50 + 1 / 40) * 90 / 89)
    assert score(samples, 0.0) == pytest.approx(z)
    assert p_above(samples, 0.0) == pytest.approx(stats.norm.sf(z))


def test_equal_counts_are_no_difference_and_impossible_ones_a_sure_one() -> None:
    assert score(TwoSamples(10, 10, 10, 10), 0.0) == 0.0
    assert score(TwoSamples(10, 10, 0, 10), -1.0) == np.inf
    low, high = score_interval(TwoSamples(100, 100, 100, 100), 0.05)
    assert low == pytest.approx(-high)
    assert p_above(TwoSamples(100, 100, 100, 100), low) == pytest.approx(0.05, abs=1e-6)


def test_all_against_nothing_is_solved_by_hand() -> None:
    """10 of 10 against 0 of 10: rates 1 - x and x, so that 4 x^2 = z^2 x (1 - x) / 5 x 20 / 19."""
    a = stats.norm.isf(0.025) ** 2 / 5 * 20 / 19 / 4
    low, high = score_interval(TwoSamples(10, 10, 0, 10), 0.025)
    assert (low, high) == pytest.approx((1 - 2 * a / (1 + a), 1.0))
