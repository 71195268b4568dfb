"""Closed forms and the score interval against published numbers, those of others, and enumeration."""

import math
from collections.abc import Sequence

import numpy as np
import pytest
from scipy import optimize, stats

from registry.plans.closed_forms import (
    Goal,
    TwoSamples,
    added_trials,
    all_pass_trials,
    detectable,
    factor,
    factor_within,
    restricted,
    score,
    score_factor,
    score_interval,
    whole,
)

TWO_SIDED, ONE_SIDED = Goal(), Goal(one_sided=True)


def test_the_smallest_detectable_difference_is_2_8_standard_errors() -> None:
    assert detectable(1.207, TWO_SIDED) == pytest.approx(3.38, abs=0.005)
    assert detectable(1.0, TWO_SIDED) == pytest.approx(stats.norm.isf(0.025) + stats.norm.isf(0.2))
    assert detectable(1.0, Goal(0.1, 0.9, one_sided=True)) == pytest.approx(2 * stats.norm.isf(0.1))


def test_a_gap_of_94_hundredths_of_a_point_takes_13_times_the_trials() -> None:
    """AMC23: R1-Llama and R1-Qwen, of 200 trials a cell, with the standard error 1.2067."""
    assert factor(1.2067, 0.94, TWO_SIDED) == pytest.approx(12.9, abs=0.05)
    assert 200 * factor(1.2067, 0.94, TWO_SIDED) == pytest.approx(2_587, abs=1)
    assert 200 * factor(1.2067, 0.5, ONE_SIDED) == pytest.approx(7_202, abs=1)
    assert factor(1.0, -detectable(1.0, TWO_SIDED), TWO_SIDED) == pytest.approx(1.0)


def test_nine_in_ten_are_shown_by_29_or_36_trials_that_all_pass() -> None:
    """The lower end of Clopper and Pearson's interval, by scipy."""
    for goal, trials, level in ((ONE_SIDED, 29, 0.9), (TWO_SIDED, 36, 0.95)):
        assert whole(all_pass_trials(0.9, goal)) == trials
        enough, few = (stats.binomtest(n, n).proportion_ci(level, method="exact").low for n in (trials, trials - 1))
        assert enough >= 0.9 > few


def test_added_trials_are_the_fewest_by_a_general_optimizer() -> None:
    """By scipy's SLSQP. A part that holds more than its share keeps it."""
    held, deviations = [400.0, 100.0, 50.0, 10.0], [1.0, 3.0, 2.0, 0.0]

    def variance(added: Sequence[float]) -> float:
        return sum(d * d / (n + more) for d, n, more in zip(deviations, held, added, strict=True))

    for wanted in (0.17, 0.1, 0.05, 0.01):
        found = added_trials(held, deviations, variance=wanted)
        enough = {"type": "ineq", "fun": lambda added, wanted=wanted: 1 - variance(added) / wanted}
        theirs = optimize.minimize(sum, [900.0] * 4, bounds=[(0, None)] * 4, constraints=enough, tol=1e-9)
        assert variance(found) == pytest.approx(min(wanted, variance([0.0] * 4)))
        assert sum(found) == pytest.approx(theirs.fun, rel=1e-4, abs=1e-3)
        assert added_trials(held, deviations, spent=sum(found)) == pytest.approx(found)
    assert added_trials(held, deviations, variance=1.0) == [0.0] * 4, "what is held is enough"
    assert added_trials([1.0, 1.0], [0.0, 0.0], variance=1.0) == [0.0, 0.0]


def test_beyond_a_thousand_million_there_is_no_plan() -> None:
    assert whole(1e9) == 10**9
    assert whole(1.1e9) is None
    assert whole(25.000000000000004) == 25


def test_a_plan_finds_its_effect_by_the_score_test_with_the_power_that_was_asked_for() -> None:
    """By enumeration of both counts: .795 and more of .80, up to what whole numbers of few trials jump over."""
    for p1, p2, most in ((0.5, 0.8, 0.81), (0.97, 0.99, 0.83), (0.9, 0.95, 0.82), (0.5, 0.6, 0.8), (0.9, 0.99, 0.86)):
        both = (p1 + p2) / 2
        errors = math.sqrt(p1 * (1 - p1) + p2 * (1 - p2)), math.sqrt(2 * both * (1 - both))
        n = whole(factor(errors[0], p2 - p1, Goal(), errors[1])) or 0
        k = np.arange(n + 1)
        total = k[:, None] + k
        spread = total * (2 * n - total) / (4 * n**2) * 2 / n * 2 * n / (2 * n - 1)
        z = np.divide(np.abs(k[:, None] - k) / n, np.sqrt(spread), out=np.zeros(spread.shape), where=spread > 0)
        power = stats.binom.pmf(k, n, p1) @ (z > stats.norm.isf(0.025)) @ stats.binom.pmf(k, n, p2)
        assert 0.795 <= power <= most, (p1, p2, n)


@pytest.mark.parametrize(
    ("rate", "margin", "most"), [(0.5, 0.1, 0.81), (0.9, 0.05, 0.81), (0.98, 0.05, 0.84), (1.0, 0.05, 1.0)]
)
def test_so_many_trials_pass_equal_rates_with_the_power_that_was_asked_for(
    rate: float, margin: float, most: float
) -> None:
    """By enumeration of both counts; where nothing fails all passes, and a trial less would not."""
    goal = Goal(one_sided=True)
    n = whole(10 * score_factor(TwoSamples(10 * rate, 10, 10 * rate, 10), margin, goal)) or 0
    law = stats.binom.pmf(np.arange(n + 1), n, rate)
    seen = [k for k in range(n + 1) if law[k] > 1e-5]
    passes = [law[a] * law[b] for a in seen for b in seen if score(TwoSamples(a, n, b, n), -margin) >= goal.critical]
    assert 0.79 <= sum(passes) <= most + 1e-9, n
    if rate == 1:
        assert score(TwoSamples(n - 1, n - 1, n - 1, n - 1), -margin) < goal.critical


@pytest.mark.parametrize(("near", "far"), [(4.0, 4.0), (3.0, 5.0), (1.0, 7.0)])
def test_so_many_trials_find_an_effect_inside_both_limits(near: float, far: float) -> None:
    """Both one-sided tests reject with 80 %, by the law of the estimate between both limits."""
    factor = factor_within(2.0, near, far, Goal(one_sided=True))
    law, reach = stats.norm(0, 2.0 / math.sqrt(factor)), 2.0 / math.sqrt(factor) * stats.norm.isf(0.05)
    assert law.cdf(near - reach) - law.cdf(reach - far) == pytest.approx(0.8, abs=1e-6)


NEWCOMBE = {
    (56, 70, 48, 80): (0.0528, 0.3382),
    (9, 10, 3, 10): (0.1700, 0.8406),
    (6, 7, 2, 7): (0.0342, 0.8534),
    (5, 56, 0, 29): (-0.0326, 0.1933),
    (0, 10, 0, 20): (-0.1658, 0.2844),
    (0, 10, 0, 10): (-0.2879, 0.2879),
    (10, 10, 0, 20): (0.7156, 1.0),
}


def test_without_the_correction_the_interval_is_that_of_newcombes_table() -> None:
    """Newcombe (1998), Statistics in Medicine 17:873, table II, method 6, at 95 %: z passes 1.96 or -1.96 there."""
    for counts, ends in NEWCOMBE.items():
        samples = TwoSamples(*counts)
        _, n1, _, n2 = counts

        def beyond(margin: float, samples: TwoSamples = samples, n1: int = n1, n2: int = n2) -> float:
            p1, p2 = restricted(samples, margin)
            variance = (p1 * (1 - p1) / n1 + p2 * (1 - p2) / n2) * (n1 + n2) / (n1 + n2 - 1)
            return (samples.difference - margin) ** 2 - stats.norm.isf(0.025) ** 2 * variance

        for end in ends:
            assert end == 1.0 or beyond(end - 6e-5) * beyond(end + 6e-5) < 0, counts


def test_far_tails_hold_where_one_side_has_ten_times_the_trials() -> None:
    """By enumeration of all tables, at the level of the first of 12 tests; without the correction 4.9 times it."""
    n1, n2, alpha = 30, 300, 0.05 / 12
    rejected = [[2 * stats.norm.sf(abs(score(TwoSamples(k1, n1, k2, n2), 0.0))) < alpha for k2 in range(n2 + 1)]
                for k1 in range(n1 + 1)]  # fmt: skip
    for p in (0.01, 0.05, 0.2, 0.5, 0.9, 0.99):
        chance = stats.binom.pmf(range(n1 + 1), n1, p) @ np.array(rejected) @ stats.binom.pmf(range(n2 + 1), n2, p)
        assert chance <= alpha


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


def test_against_no_margin_it_is_the_pooled_test_corrected_for_unequal_trials() -> None:
    samples = TwoSamples(30, 50, 18, 40)
    pooled = 48 / 90
    z = (0.6 - 0.45) / np.sqrt(pooled * (1 - pooled) * (1 / 50 + 1 / 40) * 90 / 89)
    skewness = pooled * (1 - pooled) * (1 - 2 * pooled) * (1 / 50**2 - 1 / 40**2)
    a = skewness / (pooled * (1 - pooled) * (1 / 50 + 1 / 40) * 90 / 89) ** 1.5 / 6
    found = score(samples, 0.0)
    assert found + a * (found**2 - 1) == pytest.approx(z)
    assert score(TwoSamples(30, 50, 18, 50), 0.0) == pytest.approx(0.24 / np.sqrt(0.48 * 0.52 * 2 / 50 * 100 / 99))


def test_equal_counts_are_no_difference_and_impossible_ones_a_sure_one() -> None:
    assert score(TwoSamples(10, 10, 10, 10), 0.0) == 0.0
    assert score(TwoSamples(10, 10, 0, 10), -1.0) == np.inf
    low, high = score_interval(TwoSamples(100, 100, 100, 100), 0.05)
    assert low == pytest.approx(-high)
    assert score(TwoSamples(100, 100, 100, 100), low) == pytest.approx(stats.norm.isf(0.05), abs=1e-6)
