"""The noise floor: repeats of cells against what their trials explain."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from tests.house import Project
from tests.workers.asking import computed
from tests.workers.test_gates import TWO, put
from workers.statistics.noise import RepeatedCells, between, next_run, ratio


def noise(project: Project, **more: Any) -> dict[str, Any]:
    asked = {"experiment": "e", "metric": "accuracy"} | more
    return computed(project, f"projects/{project.slug}/noise", query_string=asked)


def test_each_benchmark_has_both_spreads_their_intervals_and_a_sentence(project: Project) -> None:
    put(project, "A", [70.0, 60.0, 50.0, 40.0], repeats=[5] * 4, sd=[2.5] * 4, trials=500)
    put(project, "A", [70.0, 60.0, 50.0, 40.0], "Y", trials=100)
    put(project, "A", [70.0, 60.0, 50.0, 40.0], "Z", trials=None)
    found = noise(project)
    x, y, z = found["benchmarks"]
    assert (found["status"], found["unit"], [one["benchmark"] for one in (x, y, z)]) == ("ok", "%", ["X", "Y", "Z"])
    df = x["between"]["df"]
    ends = [2.5 * np.sqrt(df / stats.chi2.ppf(q, df)) for q in (0.975, 0.025)]
    assert (x["between"]["value"], df, x["between"]["cells"]) == (pytest.approx(2.5), pytest.approx(16, abs=0.1), 4)
    assert [x["between"]["low"], x["between"]["high"]] == pytest.approx(ends)
    plain = np.array([0.7, 0.6, 0.5, 0.4])
    unbiased = 100**2 * plain * (1 - plain) / 100 * 500 / 499
    assert x["within"]["value"] == pytest.approx(np.sqrt(unbiased.mean()), rel=1e-6)
    assert x["ratio"]["value"] == pytest.approx(6.25 / unbiased.mean(), rel=1e-6)
    assert x["excess"] == "less"
    assert "repeats vary less than independent trials would" in x["sentence"]
    assert (y["between"], y["ratio"], y["status"]) == (None, None, "ok")
    assert (z["status"], z["within"]) == ("insufficient", None)
    assert [one["benchmark"] for one in noise(project, benchmark="X")["benchmarks"]] == ["X"]


def test_repeats_that_agree_say_nothing_of_their_noise(project: Project) -> None:
    """Two times 27 of 30: 18 % of pairs of repeats agree."""
    put(project, "A", 90.0, trials=60, repeats=2, sd=0.0, axes=[])
    [found] = noise(project)["benchmarks"]
    assert (found["between"], found["ratio"], found["excess"]) == (None, None, None)
    assert "no cell has repeats that differ" in found["sentence"]


def test_without_any_noise_known_it_says_so(project: Project) -> None:
    put(project, "A", 70.0, trials=None, stderr=1.0)
    found = noise(project)
    assert found["status"] == "insufficient"
    assert "nothing is known of the noise between repeats: " in found["benchmarks"][0]["sentence"]
    seconds = {"name": "accuracy", "unit": "s", "direction": "higher", "lower": None, "upper": None}
    put(project, "B", 0.7, metric=seconds, trials=None)
    assert noise(project)["status"] == "not_comparable"


@pytest.mark.parametrize("extra", [0.0, 3.0])
def test_intervals_hold_the_spread_and_the_ratio_as_often_as_they_say(extra: float) -> None:
    """Twelve cells of six repeats of 400 trials at .4 to .6, with a spread between repeats besides."""
    random = np.random.default_rng(3)
    rates = np.linspace(0.4, 0.6, 12)
    explained = 100**2 * rates * (1 - rates) / 400
    held = {"between": 0, "ratio": 0}
    for _ in range(400):
        true = rates[:, None] + extra / 100 * random.normal(size=(12, 6))
        runs = random.binomial(400, true) / 4
        share = runs.mean(axis=1) / 100
        cells = RepeatedCells(runs.std(axis=1, ddof=1), np.full(12, 6), share, np.full(12, 2_400.0), 100.0)
        spread, quotient = between(cells, 0.05), ratio(cells, 0.05)
        assert spread is not None
        assert quotient is not None
        held["between"] += spread.low <= np.sqrt(explained.mean() + extra**2) <= spread.high
        held["ratio"] += quotient.low <= (1 + extra**2 / explained).mean() <= quotient.high
    assert held["between"] >= stats.binom.isf(1 - 1e-4, 400, 0.94)
    assert held["ratio"] >= stats.binom.isf(1 - 1e-4, 400, 0.94)


@pytest.mark.parametrize(
    ("cells", "share", "repeats", "trials"), [(20, 0.99, 2, 40), (40, 0.98, 3, 30), (20, 0.95, 2, 40), (20, 0.5, 2, 40)]
)
def test_binomial_repeats_are_rarely_said_to_vary_by_less_or_more(
    cells: int, share: float, repeats: int, trials: int
) -> None:
    """Of rare failures a quarter was, by the smoothed variance and the chi-squared law of normal values."""
    random, outside = np.random.default_rng(11), np.zeros(2)
    for _ in range(400):
        runs = random.binomial(trials, share, (cells, repeats)) / trials
        n = np.full(cells, float(trials * repeats))
        found = ratio(RepeatedCells(runs.std(axis=1, ddof=1), np.full(cells, repeats), runs.mean(axis=1), n, 1.0), 0.05)
        outside += [found is not None and found.high < 1, found is not None and found.low > 1]
    assert outside.max() <= stats.binom.isf(1e-4, 400, 0.025)


@pytest.mark.parametrize("runs", [2, 3, 5, 30])
def test_a_drop_that_is_said_to_fail_fails_four_times_of_five(runs: int) -> None:
    """Of 2 runs 69 % did, where their spread counted as known."""
    learnt = np.random.default_rng(8).normal(size=(20_000, runs))
    found = [next_run(one.mean(), one.std(ddof=1), runs, 1) for one in learnt]
    limit, drop = np.array(found).T
    assert stats.norm.cdf(limit + drop).mean() == pytest.approx(0.8, abs=0.01)


RERUNS = np.repeat(np.arange(0.84, 0.8801, 0.005), [2, 3, 7, 13, 12, 10, 7, 5, 2])
"""GSM8K of DeepSeek-Coder-V2-Lite, 61 runs of the same 200 questions (sgl-project/sglang-jax, pull request 1333)."""


OPEN = {"name": "accuracy", "unit": "s", "direction": "higher", "lower": None, "upper": None}


def test_a_floor_is_told_of_each_cell_with_runs_of_the_model_that_is_asked_for(project: Project) -> None:
    mean, sd = 100 * RERUNS.mean(), 100 * RERUNS.std(ddof=1)
    put(project, "A", [mean, 50.0], repeats=[61, 5], sd=[sd, 0.0], trials=[61 * 200, 200], **TWO)
    put(project, "B", [60.0, 50.0], repeats=[5, 5], sd=[1.0, 1.0], **TWO)
    assert noise(project)["floors"] == []
    found = noise(project, model="A")
    [floor] = found["floors"]
    assert (found["false_alarm"], found["power"], floor["runs"], floor["at"]) == (0.01, 0.8, 61, {"Length": "1"})
    # scipy's Student and normal laws; 85 %, the threshold that failed every fifth run, lies above
    limit = mean - stats.t.ppf(0.99, 60) * sd * np.sqrt(1 + 1 / 61)
    assert floor["limit"] == pytest.approx(limit)
    assert limit < 84.0
    assert floor["finds"] == pytest.approx(mean - limit + stats.t.ppf(0.8, 60) * sd * np.sqrt(1 + 1 / 61))
    assert floor["questions_sd"] == pytest.approx(100 * np.sqrt(0.86 * 0.14 / 200), rel=0.01)
    put(project, "C", [1234.567, 50.0], repeats=[5, 5], sd=[0.01, 0.0], **TWO, metric=OPEN, trials=None, experiment="o")
    [fine] = noise(project, model="C", experiment="o")["floors"]
    # 1234.567 - 3.747 x 0.01 x sqrt(6 / 5)
    assert "below 1234.526 is worse than chance" in fine["sentence"]
    assert "one more run below 83.74 is worse than chance (1 % false alarms; 61 runs" in floor["sentence"]


def test_a_floor_learnt_on_half_of_real_reruns_fails_at_most_its_share_of_the_other_half() -> None:
    random, failed = np.random.default_rng(1333), []
    for _ in range(1_000):
        runs = random.permutation(RERUNS)
        learnt, others = runs[:30], runs[30:]
        limit, _ = next_run(learnt.mean(), learnt.std(ddof=1), 30, 1)
        failed.append(np.mean(others < limit))
    assert np.mean(failed) <= 0.01
    assert np.mean(RERUNS <= 0.85) == pytest.approx(12 / 61), "a threshold chosen by hand failed every fifth"
    few = [next_run(*(learnt.mean(), learnt.std(ddof=1)), 5, -1)[0] for learnt in random.normal(size=(20_000, 5))]
    assert np.mean(stats.norm.sf(few)) == pytest.approx(0.01, abs=4 * 0.0007)
