"""Closed forms against published numbers, numbers that others computed, and simulation by enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from registry.plans.closed_forms import (
    Goal,
    all_pass_trials,
    detectable,
    factor,
    shares_of_contrast,
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


def test_neymans_shares_make_the_error_of_a_sum_smallest() -> None:
    weights, deviations = [0.25, 0.75], [2.0, 1.0]
    shares = shares_of_contrast(weights, deviations)
    assert shares == pytest.approx([0.4, 0.6])

    def variance(share: float) -> float:
        return (0.25 * 2) ** 2 / share + 0.75**2 / (1 - share)

    assert all(variance(0.4) <= variance(share / 100) for share in range(1, 100))
    assert shares_of_contrast([1, 1], [0.0, 0.0]) == [0.5, 0.5]


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
