"""Gates keep their error rates: false alarms, wrong passes, and the power that enumeration says."""

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from bench.gates import Scene, judge, outcomes, streams, truth_of, verdicts
from bench.gates import drawn as draw
from registry.results.gates import Per, Policy
from workers.statistics.score_test import Strata

RUNS = 150
PER: tuple[Per, ...] = ("overall", "benchmark", "cell")


def most(share: float, runs: int) -> float:
    """The count that a rate of this share surpasses once in ten thousand times."""
    return float(stats.binom.isf(1e-4, runs, share))


@pytest.mark.parametrize("per", PER)
def test_false_alarms_and_wrong_passes_are_no_more_than_alpha(per: Per) -> None:
    """With the margin 0 no difference is the least that is allowed, where most alarms are false; with another one a
    loss of the margin is, where most passes are wrong."""
    found = outcomes(Scene(2, 3, 150), Policy(per=per, alpha=0.05), 0.0, RUNS, seed=11)
    assert found[False] <= most(0.05, RUNS)
    found = outcomes(Scene(2, 3, 150), Policy(per=per, margin=5.0, alpha=0.05), 0.05, RUNS, seed=12)
    assert found[True] <= most(0.05, RUNS)


def test_with_few_repeats_the_rates_hold_too() -> None:
    scene = Scene(2, 3, 0, (1.0, 2.0), repeats=3)
    assert outcomes(scene, Policy(kind="no_cell_worse", per="cell"), 0.0, RUNS, seed=13)[False] <= most(0.05, RUNS)
    assert outcomes(scene, Policy(per="overall"), 0.0, RUNS, seed=14)[False] <= most(0.05, RUNS)


def test_an_injected_loss_is_found_with_the_power_of_the_enumeration() -> None:
    """One cell, 60 trials on both sides, rates .8 and .5, a margin of 10 points: the chance of an alarm over all
    tables, by the score test solved numerically, against 400 drawn pairs."""
    n, margin, alpha = 60, 0.1, 0.05
    alarms = np.array([[_rejects(k1, k2, n, margin, alpha) for k2 in range(n + 1)] for k1 in range(n + 1)])
    chances = [stats.binom.pmf(np.arange(n + 1), n, rate) for rate in (0.5, 0.8)]
    power = float(chances[0] @ alarms @ chances[1])
    scene = Scene(1, 1, n, (0.8, 0.8))
    policy = Policy(kind="no_cell_worse", per="cell", margin=100 * margin, alpha=alpha)
    found = outcomes(scene, policy, 0.3, 400, seed=15)[False] / 400
    assert 0.5 < power < 0.9
    assert abs(found - power) < 4 * math.sqrt(power * (1 - power) / 400)


@pytest.mark.parametrize(
    ("contender", "baseline", "margin", "rate", "told"),
    [
        (10, 10, 0.08, 0.5391, "6.9 % (10 trials on both sides, 8 points, a baseline of .54)"),
        (20, 40, 0.08, 0.9719, "7.0 %"),
        (20, 200, 0.09, 0.9813, "8.9 % of 20 against 200 (9 points, a baseline of .981)"),
        (30, 1000, 0.06, 0.9882, "10.2 % of 30 against 1,000 (6 points, .988)"),
        (20, 2000, 0.1, 0.9977, "11.4 % of 20 against 2,000 (10 points, .998)"),
        (10, 2000, 0.0, 0.198, "10.4 % false alarms, of 10 against 2,000 where both have .198"),
    ],
)
def test_the_page_names_the_worlds_in_which_the_steps_of_few_trials_err_most(
    contender: int, baseline: int, margin: float, rate: float, told: str
) -> None:
    """Enumerated over all counts of a gate of one cell, at the rate that the page names."""
    k1, k2 = (one.ravel().astype(float) for one in np.indices((contender + 1, baseline + 1)))
    n1, n2 = np.full(k1.size, float(contender)), np.full(k1.size, float(baseline))
    low, high = Strata.of(k1, n1, k2, n2).ends(np.full(k1.size, stats.norm.isf(0.05)))
    chances = stats.binom.pmf(k1, contender, rate - margin) * stats.binom.pmf(k2, baseline, rate)
    wrong = 100 * float(chances[low > -margin if margin else high < 0].sum())
    assert told.startswith(f"{wrong:.1f} %")
    page = " ".join((Path(__file__).parents[3] / "docs" / "calibration.md").read_text(encoding="utf-8").split())
    assert told in page


def _rejects(k1: int, k2: int, n: int, margin: float, alpha: float) -> bool:
    """Whether the first rate is found to be lower by more than the margin: with the rates of greatest likelihood on a
    fine lattice, and Miettinen and Nurminen's variance."""
    second = np.linspace(margin, 1, 4_001)[1:-1]
    first = second - margin
    likelihood = stats.binom.logpmf(k1, n, first) + stats.binom.logpmf(k2, n, second)
    best = int(np.argmax(likelihood))
    p, q = first[best], second[best]
    error = math.sqrt((p * (1 - p) + q * (1 - q)) / n * 2 * n / (2 * n - 1))
    return bool((k1 / n - k2 / n + margin) / error < -stats.norm.isf(alpha))


def test_twenty_benchmarks_at_fifty_checkpoints_of_noise_raise_what_is_stated() -> None:
    """By Holm at most one alarm at 5 % of the checkpoints, 2.5 of 50; without it 20 tests raise far more."""
    scene, random = Scene(20, 1, 200, (0.3, 0.8)), np.random.default_rng(16)
    alarms = Counter[str]()
    for _ in range(50):
        truth = truth_of(scene, random)
        sides = draw(scene, truth, random), draw(scene, truth, random)
        for multiplicity in ("holm", "none"):
            gate = judge(Policy(per="benchmark", multiplicity=multiplicity), *sides)  # type: ignore[arg-type]
            alarms[multiplicity] += gate.passes is False
    assert alarms["holm"] <= most(0.05, 50)
    assert alarms["none"] >= 20


def test_a_margin_takes_its_false_alarms_away() -> None:
    scene = Scene(4, 5, 300)
    assert all(gate.passes is not False for gate in verdicts(scene, Policy(per="cell", margin=8.0), 0.0, 40, seed=17))


@pytest.mark.parametrize("trials", [4, 8])
def test_a_mean_over_cells_at_its_floor_passes_no_more_often_than_alpha(trials: int) -> None:
    """Of 16 trials all pass with .95^16 = .44, and Wilson's limit at alpha .2 reaches the floor then; 32: .19."""
    found = outcomes(Scene(2, 2, trials, (0.95, 0.95)), Policy(kind="floor", margin=95.0, alpha=0.2), 0.0, 300, seed=18)
    assert found[True] <= most(0.2, 300)
    assert found[False] <= most(0.2, 300)


@pytest.mark.parametrize(("n", "shared"), [(40, 0.0), (40, 0.9), (150, 0.9)])
def test_on_the_same_items_losses_and_equals_are_taken_for_what_they_are_not_no_more_often_than_alpha(
    n: int, shared: float
) -> None:
    scene = Scene(1, 1, n, (0.7, 0.7), shared=shared)
    none = outcomes(scene, Policy(per="cell"), 0.0, RUNS, seed=19)
    at_margin = outcomes(scene, Policy(per="cell", margin=10.0), 0.1, RUNS, seed=20)
    assert none[False] <= most(0.05, RUNS)
    assert at_margin[True] <= most(0.06, RUNS)


def test_items_find_what_independent_samples_do_not() -> None:
    """Cells of one side that share items have less noise between sides, and more in their mean, than their trials."""
    policy, scene = Policy(per="overall", margin=5.0), Scene(2, 1, 150, shared=0.9)
    known = outcomes(scene, policy, 0.0, 60, seed=21)
    unknown = outcomes(scene, policy, 0.0, 60, seed=21, posted=False)
    assert known[True] > 1.5 * unknown[True] > 0


def test_a_stream_of_noise_alarms_as_often_as_its_looks_allow() -> None:
    """Stored verdicts of 40 streams of 15 checkpoints, each stream against one baseline: with `alpha_spending` at most
    5 % of the streams raise any alarm, with `fixed` far more do. `python -m bench.gates` has 2,000 publications."""
    found = streams(40, 15, seed=21)
    assert found["alpha_spending"] <= most(0.05, 40)
    assert found["fixed"] >= 0.2 * 40
