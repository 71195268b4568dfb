"""What is within a margin, by counts and by pairs of them: against scipy, enumeration and likelihoods."""

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.workers.statistics.documents import ends
from workers.statistics.margins import Counts, Estimate, OneSample, answer_of, p_allowed, spans, verdict_of
from workers.statistics.paired_score import PairedSample, score
from workers.statistics.score_test import Strata


def test_a_floor_passes_and_fails_a_contender_at_it_no_more_often_than_alpha(subtests: Any) -> None:
    """By enumeration of the counts; the limits are scipy's."""
    for floor, trials in ((0.5, 5), (0.9, 25), (0.9, 28), (0.99, 60)):
        passed, failed = 0.0, 0.0
        for k in range(trials + 1):
            estimate = Estimate(100 * (k / trials - floor), 1.0, math.inf, OneSample(k, trials, floor), 100.0)
            [span], p = spans([estimate], 0.05), p_allowed("floor", 0.0, estimate)
            oracle = stats.binomtest(k, trials).proportion_ci(0.9, method="exact")
            assert ends(span) == pytest.approx((100 * (oracle.low - floor), 100 * (oracle.high - floor)))
            assert p == pytest.approx(stats.binomtest(k, trials, floor, alternative="less").pvalue)
            answer, chance = answer_of("floor", 0.0, span), stats.binom.pmf(k, trials, floor)  # type: ignore[arg-type]
            assert (answer == "contradicted") == (p < 0.05)  # type: ignore[operator]
            passed, failed = passed + chance * (answer == "supported"), failed + chance * (answer == "contradicted")
        with subtests.test(floor=floor, trials=trials):
            assert max(passed, failed) <= 0.05


@pytest.mark.parametrize("margin", [0.0, 0.2, 0.5, 1.0, 4.0])
def test_a_gap_as_large_as_the_margin_is_found_not_to_be_equivalent_no_more_often_than_alpha(margin: float) -> None:
    """An error of 1: by the smaller of both one-sided p a margin of 0 failed in 10 %."""
    gaps = stats.norm.ppf((np.arange(20_000) + 0.5) / 20_000, margin)
    failed = np.mean([(p_allowed("equivalent", margin, Estimate(gap, 1.0)) or 0.0) < 0.05 for gap in gaps.tolist()])
    assert failed == pytest.approx(0.05, abs=0.0005)


def contradicted(estimate: Estimate, margin: float, alpha: float) -> bool:
    """Whether a contender is found to be worse, which it is if and only if p is below alpha."""
    p, [span] = p_allowed("non_inferior", margin, estimate), spans([estimate], alpha)
    found = answer_of("non_inferior", margin, span) == "contradicted"  # type: ignore[arg-type]
    assert found == (p is not None and p < alpha), (estimate, margin, alpha)
    return found


def test_a_verdict_and_its_p_never_disagree() -> None:
    for counts, margin in product([(18, 20, 15, 20), (3, 30, 9, 25), (50, 50, 49, 50)], (0.0, 4.0, 20.0)):
        strata = Strata.of(*np.array(counts)[:, None])
        estimate = Estimate(100 * float(strata.difference[0]), 1.0, math.inf, Counts(strata), 100.0)
        for alpha in (0.01, 0.05, 0.2):
            contradicted(estimate, margin, alpha)
        assert verdict_of("non_inferior", margin, None) == "inconclusive"


@pytest.mark.parametrize(("up", "down"), [(0, 0), (0, 4), (0, 5), (2, 9), (20, 40), (7, 0)])
def test_pairs_and_their_p_never_disagree_and_zero_is_mcnemars(up: int, down: int) -> None:
    sample = PairedSample(up, down, 100)
    oracle = stats.binomtest(up, up + down, alternative="less").pvalue if up + down else 1.0
    assert sample.p_below(0.0) >= oracle * (1 - 1e-12)
    estimate = Estimate(100 * sample.difference, 100 * sample.stderr, math.inf, sample, 100.0, paired=True)
    for alpha in (0.01, 0.05, 0.2):
        assert not contradicted(estimate, 0.0, alpha) or oracle < alpha
        for margin in (3.0, 10.0):
            contradicted(estimate, margin, alpha)
    assert estimate.turned().turned() == estimate


@pytest.mark.parametrize("counts", [(0, 0, 20), (0, 7, 40), (3, 9, 50), (12, 4, 30), (5, 5, 5 + 5)])
def test_the_score_of_pairs_is_that_of_the_likelihood(counts: tuple[int, int, int]) -> None:
    """Tango's closed form against the maximum of the likelihood on a fine lattice."""
    up, down, n = counts
    for margin in (-0.3, -0.05, 0.1):
        only_down = np.linspace(max(0.0, -margin), (1 - margin) / 2, 20_001)[1:-1]
        only_up = only_down + margin
        terms = ((up, only_up), (down, only_down), (n - up - down, 1 - only_up - only_down))
        q = only_down[int(np.argmax(sum(count * np.log(share) for count, share in terms)))]
        z = (up - down - n * margin) / math.sqrt(n * (2 * q + margin * (1 - margin)))
        assert score(PairedSample(up, down, n), margin) == pytest.approx(z, rel=1e-3)


@pytest.mark.parametrize(("n", "rates", "margin"), [(30, (0.1, 0.3), 0.2), (40, (0.05, 0.1), 0.05)])
def test_a_pair_at_the_margin_passes_no_more_often_than_alpha_by_enumeration(
    n: int, rates: tuple[float, float], margin: float
) -> None:
    """Over all tables of items that only one side solved; a score test keeps its level within a percent point."""
    assert rates[0] - rates[1] == pytest.approx(-margin)
    law = stats.multinomial(n, [*rates, 1 - sum(rates)])
    passed = 0.0
    for up, down in product(range(n + 1), repeat=2):
        if up + down > n:
            continue
        chance = law.pmf([up, down, n - up - down])
        passed += chance * (chance > 1e-9 and PairedSample(up, down, n).span(0.05).low >= -margin)
    assert passed <= 0.06


@pytest.mark.parametrize(
    ("k", "n", "floor"), [(5, 5, 0.9), (48, 50, 0.9), (80, 100, 0.85), (19, 20, 0.99), (2, 20, 0.05)]
)
def test_so_many_times_the_trials_decide_a_floor(k: int, n: int, floor: float) -> None:
    """By scipy's binomial test: shown with 80 % with so many trials, and in 90 of 100 numbers of more."""
    trials = round(OneSample(k, n, floor).factor(0.05, 0.8) * n)

    def power(size: int) -> float:
        if k / n > floor:
            return float(stats.binom.sf(stats.binom.isf(0.05, size, floor), size, k / n))
        return float(stats.binom.cdf(stats.binom.ppf(0.05, size, floor) - 1, size, k / n))

    assert power(trials) >= 0.8 - 1e-12
    assert sum(power(size) >= 0.79 for size in range(trials, trials + 100)) >= 90
    assert (k, n) != (5, 5) or trials == 29  # the first of which all must pass: .9 ^ 29 = .047


@pytest.mark.parametrize(
    ("passed", "n", "margin"), [((40, 40), 40, 0.01), ((30, 30), 30, 0.05), ((49, 49), 50, 0.02), ((60, 55), 100, 0.05)]
)
def test_so_many_times_the_trials_decide_a_margin(passed: tuple[int, int], n: int, margin: float) -> None:
    """Enumerated over both counts at the rates that were measured; of what cannot fail, the binomial law by itself."""
    sides = [np.array([float(one)]) for one in (passed[0], n, passed[1], n)]
    trials = math.ceil(n * Counts(Strata.of(*sides)).factor(-margin, 0.05, 0.8))
    every = np.arange(trials + 1.0)
    k1, k2 = (grid.ravel() for grid in np.meshgrid(every, every, indexing="ij"))
    chance = stats.binom.pmf(k1, trials, passed[0] / n) * stats.binom.pmf(k2, trials, passed[1] / n)
    some, sizes = chance > 1e-9, np.full(k1.size, float(trials))
    found = Strata.of(*(one[some] for one in (k1, sizes, k2, sizes))).deviate(np.full(int(some.sum()), -margin))
    decided = float(chance[some][np.abs(found) > stats.norm.isf(0.05)].sum())
    if passed == (n, n):
        assert (decided, trials) == (pytest.approx(1.0), pytest.approx(math.log(0.05) / math.log(1 - margin), rel=0.1))
    else:
        assert decided == pytest.approx(0.8, abs=0.015)
