"""The score test over slots, against one pair of samples at a time, by hand, and by enumeration."""

import numpy as np
import pytest
from scipy import stats

from registry.plans.closed_forms import TwoSamples, score, score_interval
from workers.statistics.paired_score import PairedSample
from workers.statistics.score_test import Strata

CRITICAL = stats.norm.isf(0.025)


@pytest.mark.parametrize(
    "counts", [(56, 70, 48, 80), (5, 56, 0, 29), (0, 10, 0, 10), (10, 10, 0, 20), (25.5, 30.2, 18, 44)]
)
def test_one_slot_is_a_pair_of_samples(counts: tuple[float, ...]) -> None:
    strata, samples = Strata.of(*np.array(counts)[:, None]), TwoSamples(*counts)
    assert strata.deviate(np.array([0.1])) == pytest.approx([score(samples, 0.1)])
    low, high = strata.ends(np.array([CRITICAL]))
    assert (low[0], high[0]) == pytest.approx(score_interval(samples, 0.025), abs=1e-9)


def test_slots_of_equal_trials_against_no_margin_are_cochran_mantel_and_haenszels() -> None:
    """(sum of k1 - t / 2) / root of the sum of n n t (2n - t) / (2n)^2 / (2n - 1), and an absent slot adds nothing."""
    k1, k2, n = np.array([18.0, 12, 20, 0]), np.array([11.0, 13, 16, 0]), np.array([20.0, 20, 20, 0])
    weight, total = np.array([1, 1, 1, 0]) / 3, (k1 + k2)[:3]
    strata = Strata(*(row[None] for row in (k1, n, k2, n, weight)), np.array([float((k1 - k2).sum()) / 60]))
    z = float((k1[:3] - total / 2).sum()) / np.sqrt(float((400 * total * (40 - total) / 1600 / 39).sum()))
    assert strata.deviate(np.zeros(1)) == pytest.approx([z])


def test_an_interval_is_what_its_test_does_not_reject_and_no_other_pair_changes_a_bit_of_it() -> None:
    chance = np.random.default_rng(5)
    n = chance.integers(5, 60, (2, 7, 4)).astype(float)
    k, weight = chance.binomial(n.astype(int), 0.8).astype(float), chance.dirichlet(np.ones(4), 7)
    gaps = (weight * (k[0] / n[0] - k[1] / n[1])).sum(axis=1)
    strata = Strata(k[0], n[0], k[1], n[1], weight, gaps)
    low, high = strata.ends(np.full(7, CRITICAL))
    assert strata.deviate(low) == pytest.approx(np.full(7, CRITICAL), abs=1e-8)
    assert strata.deviate(high) == pytest.approx(np.full(7, -CRITICAL), abs=1e-8)
    alone = strata.of_rows(np.array([3])).ends(np.full(1, CRITICAL))
    assert (alone[0][0], alone[1][0]) == (low[3], high[3])


def test_where_every_trial_came_out_the_same_the_interval_is_that_of_all_trials() -> None:
    """Four slots of 100 of 100 on both sides say as much of a common difference as one of 400, but for N / (N - 1)."""
    n = np.full((1, 4), 100.0)
    low, high = Strata(n, n, n, n, n / 400, np.zeros(1)).ends(np.array([CRITICAL]))
    assert low[0] == -high[0]
    assert low[0] == pytest.approx(score_interval(TwoSamples(400, 400, 400, 400), 0.025)[0], rel=0.01)


@pytest.mark.parametrize("n", [5, 10, 20])
def test_intervals_of_few_trials_miss_no_more_than_six_percent_on_average_over_rates(n: int) -> None:
    """All tables of n and n trials, eleven rates on either side; the worst single pair of rates stays below 8 %."""
    k1, k2 = (grid.ravel().astype(float) for grid in np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij"))
    trials = np.full(k1.size, float(n))
    low, high = Strata.of(k1, trials, k2, trials).ends(np.full(k1.size, CRITICAL))
    rates = np.array([0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.98])
    missed = [
        float(
            (stats.binom.pmf(k1, n, a) * stats.binom.pmf(k2, n, b))[(a - b < low - 1e-9) | (a - b > high + 1e-9)].sum()
        )
        for a in rates
        for b in rates
    ]
    assert np.mean(missed) <= 0.05
    assert max(missed) <= 0.08


@pytest.mark.parametrize("margin", [0.02, 0.05, 0.1])
@pytest.mark.parametrize("n", [20, 43, 50, 66, 80, 120, 200])
def test_a_loss_of_the_margin_from_what_never_fails_passes_in_five_percent_at_most(n: int, margin: float) -> None:
    """Enumerated over the failures of the contender, of independent trials and of the same items."""
    failed = np.arange(n + 1.0)
    chance, trials = stats.binom.pmf(failed, n, margin), np.full(n + 1, float(n))
    passed = Strata.of(n - failed, trials, trials, trials).deviate(np.full(n + 1, -margin)) > stats.norm.isf(0.05)
    assert chance[passed].sum() <= 0.05
    paired = np.array([PairedSample(0, int(one), n).span(0.05).low > -margin for one in failed])
    assert chance[paired].sum() <= 0.05
    assert chance[0] > 0.04 or passed[0]
    assert chance[0] > 0.04 or paired[0]


@pytest.mark.parametrize("tail", [0.025, 0.0025])
@pytest.mark.parametrize(("n", "failed"), [(20, 0), (50, 1), (100, 2), (100, 20), (100, 100)])
def test_what_is_called_detectable_is_found_in_about_eighty_percent_also_near_the_ends(
    n: int, failed: int, tail: float
) -> None:
    """Of n and n trials, so many failed on both sides together; enumerated at the noisiest rates that differ by so much
    and have the pooled one between them."""
    trials, critical = np.array([float(n)]), stats.norm.isf(tail)
    observed = Strata.of(trials, trials, trials - failed, trials)
    [size] = observed.detectable(critical)
    middle = max(1 - failed / 2 / n - size / 2, 0.5)
    k1, k2 = (grid.ravel().astype(float) for grid in np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij"))
    sizes = np.full(k1.size, float(n))
    shown = np.abs(Strata.of(k1, sizes, k2, sizes).deviate(np.zeros(k1.size))) > critical
    about_pooled = min(1 - failed / 2 / n, 1 - size / 2)
    noisiest, pooled = (
        (stats.binom.pmf(k1, n, one + size / 2) * stats.binom.pmf(k2, n, one - size / 2))[shown].sum()
        for one in (middle, about_pooled)
    )
    assert 0.76 <= noisiest <= 0.87
    assert pooled >= 0.77
