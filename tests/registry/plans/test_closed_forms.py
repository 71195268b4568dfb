"""Closed forms against published numbers, numbers that others computed, and simulation by enumeration."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest
from scipy import stats

from registry.demo import demo_grids
from registry.plans.closed_forms import (
    Goal,
    all_pass_trials,
    detectable,
    factor,
    shares_of_contrast,
    shares_of_peak,
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


def test_the_best_of_aime24_and_its_rival_get_most_of_a_budget() -> None:
    """Chen, Lin, Yücesan and Chick's shares of the twenty cells of the paper, 150 trials each."""
    [seed] = [one for one in demo_grids() if (one["benchmark"], one["model"]) == ("AIME'24", "R1-Qwen")]
    values = [value for row in seed["values"] for value in row]
    shares = shares_of_peak(values, [math.sqrt(value * (100 - value)) for value in values])
    assert sum(shares) == pytest.approx(1.0)
    assert shares[values.index(max(values))] == pytest.approx(0.226, abs=0.0005)
    assert shares[4] == pytest.approx(0.143, abs=0.0005)
    assert shares[1] == pytest.approx(0.010, abs=0.0005)
    assert shares_of_peak([1.0, 3.0, 3.0], [1.0, 1.0, 2.0]) == [0.0, 0.5, 0.5], "cells that tie share it"


def test_a_split_by_the_peak_beats_an_equal_one() -> None:
    values = [1.0, 0.8, 0.2, 0.0, -0.5]

    def chance_of_peak(shares: Sequence[float]) -> float:
        """The probability that every other value is found below the first, by Bonferroni's bound."""
        errors = [math.sqrt(1 / (shares[0] * 300) + 1 / (share * 300)) for share in shares[1:]]
        gaps = [values[0] - value for value in values[1:]]
        return 1 - sum(float(stats.norm.sf(gap / error)) for gap, error in zip(gaps, errors, strict=True))

    assert chance_of_peak(shares_of_peak(values, [1.0] * 5)) > chance_of_peak([0.2] * 5) + 0.05


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
