"""Series whose noise is known, and breaks and levels, against the reference numbers."""

import dataclasses
import itertools
import math
from functools import cache

import numpy as np
import pytest
from scipy import optimize, special, stats

from registry.grids.grid import Axis, Grid, Level, Metric
from tests.workers.statistics.documents import describe, ends
from tests.workers.statistics.reference_numbers import (
    PERCENT,
    agrees,
    described,
    each,
    line,
    one_series,
    seed_grid,
    series_of,
)
from workers.statistics import Parameters, describe_all
from workers.statistics.proportions import newcombe
from workers.statistics.shape import misfits, order_p


def close(expected: float) -> object:
    return pytest.approx(expected, rel=1e-9 if abs(expected) > 1e-30 else 1e-6)


@each("logit_binomial")
def test_the_logistic_trend_agrees_with_statsmodels(entry):
    found, expected = series_of(entry, entry["options"]["n"])["logit"], entry["output"]
    agrees(found, expected, "intercept stderr=se dispersion")
    agrees(found, expected, "slope", abs=1e-15)
    agrees(found, expected, "effect=avg_marginal_effect_pp deviance lr=lr_stat", abs=1e-11)


@each("homogeneity")
def test_heterogeneity_agrees_with_scipy(entry):
    found, expected = series_of(entry, entry["options"]["n"])["heterogeneity"], entry["output"]
    assert (found["chi2"], found["df"]) == (close(expected["chi2"]), expected["dof"])
    if found["test"] == "pearson":
        assert found["p"] == close(expected["pvalue"])
    else:
        assert found["p"] >= expected["pvalue"] * (1 - 1e-9)


def test_where_failures_are_rare_heterogeneity_needs_both_tests():
    """Pearson's statistic and the likelihood ratio of 6 failures in 10 cells, by scipy: the larger p counts."""
    failures = [0, 3, 0, 0, 1, 0, 0, 2, 0, 0]
    found = one_series([100 * (50 - k) / 50 for k in failures], trials=50)["heterogeneity"]
    table = [failures, [50 - k for k in failures]]
    both = [stats.chi2_contingency(table, False, lambda_).pvalue for lambda_ in ("pearson", "log-likelihood")]
    assert found["test"] == "pearson_and_likelihood_ratio"
    assert found["p"] == pytest.approx(max(both), rel=1e-9)


def expected_word(expected: dict, series: dict, least: float) -> str:
    """The reference's word, with q in place of p, and with no verdict where it said "flat within noise"."""
    word = expected["label"]
    q, differ = (max(least, one) for one in (expected["trend_q"], series["heterogeneity"]["q"]))
    if "creasing" in word and q >= 0.05:
        word = "varies_without_trend"
    if word == "varies_without_trend" and differ >= 0.05:
        word = "flat_within_noise"
    return {"flat_within_noise": "inconclusive"}.get(word, word)


@each("direction_trials")
def test_the_direction_with_trials_agrees(entry):
    """The reference tests every course with its dispersion, here those that no monotone curve fits. No cell of
    the seeds is measured so well that a series is shown to be flat."""
    series, expected = series_of(entry, entry["options"]["n"]), entry["output"]
    change, straight = series["fitted_change"], series["logit"]["lack_of_fit_p"] is None
    if straight or series["logit"]["lack_of_fit_p"] >= 0.05:
        assert change["value"] == pytest.approx(expected["fitted_change_pp"], rel=1e-9, abs=1e-12)
    else:
        assert change is None, "the cells do not lie along a line"
    if series["logit"]["test"] == "likelihood_ratio_f":
        least = described(entry["grid"], entry["options"]["n"])["opened"]["axes"][series["along"]]
        assert series["trend_p"] == close(expected["trend_p"])
        assert series["direction"] == expected_word(expected | {"trend_q": series["q"]}, series, least)


@each("adjacent_changes")
def test_changes_agree_with_fisher_and_newcombe(entry):
    series, expected = series_of(entry, entry["options"]["n"]), entry["output"]
    assert [c["size"] for c in series["changes"]] == pytest.approx(expected["diffs"], rel=1e-9, abs=1e-12)
    assert [c["p"] for c in series["changes"]] == pytest.approx(expected["fisher_p"], rel=1e-9)
    drop = series["largest"]["drop"]
    if expected["largest_drop"] is None:
        assert drop is None
        return
    assert drop["size"] == pytest.approx(expected["largest_drop"], rel=1e-9)
    assert [[at["from"], at["to"]] for at in drop["at"]] == expected["tied_largest_drop_positions"]
    (step,) = [c for c in series["changes"] if [c["from"], c["to"]] == expected["tied_largest_drop_positions"][0]]
    if step["sharp"]:  # it is at the level that its choice asks for
        return
    assert ends(step["interval"]) == pytest.approx(expected["newcombe95_of_largest_drop_pp"], rel=1e-9)


@pytest.mark.parametrize("name", ["s0/core/qwen2.5-3b", "s4/r1-qwen/GPQA_D"])
def test_steps_are_adjusted_over_the_whole_grid(name):
    """Holm over every step along the axis, step by step as Holm wrote it."""
    found = described(name, 300)["series"]
    for along in {series["along"] for series in found}:
        steps = [step for series in found if series["along"] == along for step in series["changes"]]
        highest = 0.0
        for rank, step in enumerate(sorted(steps, key=lambda step: step["p"])):
            highest = max(highest, min(1.0, (len(steps) - rank) * step["p"]))
            assert step["p_holm"] == pytest.approx(highest, rel=1e-9)
        assert all(step["sharp"] == (abs(step["size"]) >= 5 - 1e-9 and step["p_holm"] < 0.05) for step in steps)


def test_the_largest_step_has_the_interval_that_its_choice_asks_for():
    drop = one_series([90.5, 89.5, 70.5, 71.5], trials=200)["largest"]["drop"]
    assert drop["interval"]["level"] == pytest.approx(1 - 0.05 / 3)
    (l1, u1), (l2, u2) = (stats.binomtest(k, 200).proportion_ci(1 - 0.05 / 3, method="wilson") for k in (179, 141))
    low, high = -0.19 - math.hypot(0.705 - l2, u1 - 0.895), -0.19 + math.hypot(u2 - 0.705, 0.895 - l1)
    assert ends(drop["interval"]) == pytest.approx((100 * low, 100 * high), rel=1e-9)


def test_the_interval_of_largest_steps_that_tie_holds_for_each_of_them():
    """The three rises are alike; the first has the widest interval and the largest p."""
    series = one_series([90.5, 80.5, 70.5, 60.5, 70.5, 80.5, 90.5], trials=200)
    rise, tied = series["largest"]["rise"], series["changes"][3:]
    assert [at["from"] for at in rise["at"]] == [3, 4, 5]
    assert rise["p_holm"] == max(step["p_holm"] for step in tied) > min(step["p_holm"] for step in tied)
    assert rise["interval"]["level"] == pytest.approx(1 - 0.05 / 6)
    low, high = newcombe(*np.array([[121, 141, 161], [200] * 3, [141, 161, 181], [200] * 3]), 1 - 0.05 / 6)
    assert ends(rise["interval"]) == pytest.approx((100 * low.min(), 100 * high.max()), rel=1e-9)


def test_where_steps_with_few_and_many_trials_tie_the_truth_of_each_is_in_the_interval():
    """90, 80, 90 and 50 % of 100, 100, 10 and 10 trials: the falls tie where the second came out far too small."""
    truth, tied = [-10.0, 10.0, -40.0], 0
    draws = np.random.default_rng(4).binomial([100, 100, 10, 10], [0.9, 0.8, 0.9, 0.5], size=(20_000, 4))
    values = 100 * draws / [100, 100, 10, 10]
    for row in values[np.abs(values[:, 0] - values[:, 1] - values[:, 2] + values[:, 3]) < 1e-9].tolist():
        drop = one_series(row, trials=[100, 100, 10, 10])["largest"]["drop"]
        if drop and len(drop["at"]) > 1:
            tied += 1
            low, high = ends(drop["interval"])
            assert all(low <= truth[at["from"]] <= high for at in drop["at"])
    assert tied > 100


@each("series_class")
def test_sharp_changes_agree(entry):
    series, expected = series_of(entry, entry["options"]["n"]), entry["output"]
    sharp = {(c["from"], c["to"]) for c in series["changes"] if c["sharp"]}
    # The reference adjusts over the series, the service over the grid: what is sharp here is sharp there.
    assert sharp <= {(c["from_x"], c["to_x"]) for c in expected["sharp_changes"]}


@cache
def series_at(grid, level):
    return describe(seed_grid(grid), dataclasses.replace(Parameters.of(PERCENT), thresholds=(level,)))["series"]


@each("threshold_95", "threshold_85", "threshold_50")
def test_thresholds_agree(entry):
    found = series_at(entry["grid"], float(entry["options"]["threshold"]))
    axis, value = entry["target"].split(" ", 1)[1].split("=")
    (series,) = [s for s in found if axis in s["at"] and float(s["at"][axis]) == float(value)]
    (answer,), expected = series["thresholds"], entry["output"]
    for mine, theirs in (("first_failing", "first_below"), ("sustained_until",) * 2, ("recovers",) * 2):
        assert answer[mine] == expected[theirs]
    falls = [one["at"] for one in answer["crossings"] if one["direction"] == "falling"]
    if answer["first_failing"] == series["from"]:  # the reference looks no further than the first failure
        falls = []
    crossing = expected["interpolated_crossing"]
    assert falls[:1] == ([] if crossing is None else [close(crossing)])


@each("plateau_2")
def test_the_plateau_agrees(entry):
    found, expected = series_of(entry)["plateau"], entry["output"]
    agrees(found, expected, "start end length mean")


@pytest.mark.parametrize("values", [[0.0] * 4, [100.0] * 4])
def test_cells_without_any_variation_are_undefined_not_infinite(values):
    series = one_series(values, trials=50)
    assert series["logit"]["status"] == series["heterogeneity"]["status"] == "undefined"
    assert series["direction"] == "inconclusive"
    assert series["fitted_change"]["interval"]["low"] < -2


def firth_by_brute_force(x: np.ndarray, k: np.ndarray, n: np.ndarray) -> tuple[list[float], float]:
    """The penalised maximum and twice its gain over a flat line, by a general optimiser."""

    def penalised(beta: np.ndarray) -> float:
        chance = special.expit(beta[0] + beta[1] * x)
        weight = n * chance * (1 - chance)
        determinant = weight.sum() * (weight @ x**2) - (weight @ x) ** 2
        return -float(special.xlogy(k, chance).sum() + special.xlogy(n - k, 1 - chance).sum() + np.log(determinant) / 2)

    full = optimize.minimize(penalised, [0.5, 0.1], method="Nelder-Mead", options={"xatol": 1e-11, "fatol": 1e-13})
    flat = optimize.minimize_scalar(lambda a: penalised(np.array([a, 0.0])), bounds=(-15, 15), method="bounded")
    return full.x.tolist(), 2 * (flat.fun - full.fun)


@pytest.mark.parametrize("values", [[100.0, 100.0, 0.0, 0.0], [100.0, 100.0, 98.0], [100.0, 100.0, 100.0, 100.0, 90.0]])
def test_separation_has_firths_finite_fit(values):
    series = one_series(values, trials=50)
    x, k = np.arange(len(values), dtype=float), np.array(values) / 2
    (intercept, slope), lr = firth_by_brute_force(x, k, np.full(len(values), 50.0))
    assert series["logit"]["test"] == "firth_likelihood_ratio"
    assert [series["logit"]["intercept"], series["logit"]["slope"]] == pytest.approx([intercept, slope], rel=1e-5)
    of_few = ["pearson", "log-likelihood"][: 1 + (50 - k.mean() < 5)]
    alike = [stats.chi2_contingency([k, 50 - k], correction=False, lambda_=one).pvalue for one in of_few]
    assert series["logit"]["p"] == pytest.approx(max(*alike, float(stats.chi2.sf(lr, 1))), rel=1e-4)


@pytest.mark.parametrize(("trials", "share"), [((1, 20, 1), 0.9), ((1, 60, 1), 0.95), ((2, 2, 2, 2), 0.5)])
def test_between_cells_of_one_or_two_trials_no_more_trends_are_called_than_anywhere(trials, share):
    """Enumerated over all outcomes of equal cells; by Firth's likelihood ratio alone 5.5 to 8.8 % are."""
    called = 0.0
    for counts in itertools.product(*(range(n + 1) for n in trials)):
        chance = math.prod(stats.binom.pmf(k, n, share) for k, n in zip(counts, trials, strict=True))
        if chance > 1e-6:
            values = [100 * k / n for k, n in zip(counts, trials, strict=True)]
            called += chance * ("creasing" in one_series(values, trials=trials)["direction"])
    assert called <= 0.05


def test_words_of_few_cells_follow_their_test(subtests):
    for values, trials, word, test in (
        ([100.0, 100.0, 0.0, 0.0], 50, "decreasing", "firth_likelihood_ratio"),
        ([90.0, 60.0], 100, "decreasing", "fisher"),
        ([90.0, 60.0, 85.0], 300, "falls_then_rises", "likelihood_ratio_f"),
        ([50.0, 50.5, 60.0], 200, "inconclusive", "monotone_chi2"),
    ):
        with subtests.test(word, values=values):
            series = one_series(values, trials=trials)
            assert (series["direction"], series["logit"]["test"]) == (word, test)
    assert series["fitted_change"]["interval"]["low"] == 0.0, "its word and its interval agree"
    rare = one_series([90.0, 96.0, *[100.0] * 6], trials=50)
    assert rare["direction"] == "increasing"
    assert rare["fitted_change"]["interval"]["low"] >= 0
    nowhere_apart = one_series([80.0, 79.0, 78.4, 77.6, 77.0, 76.2, 75.6, 74.8], trials=700)
    assert nowhere_apart["direction"] == "decreasing"
    assert nowhere_apart["heterogeneity"]["p"] > 0.05


@pytest.mark.parametrize(("hits", "n"), [((0, 3), 3), ((12, 19), 20), ((498, 480), 500)])
def test_two_cells_have_fishers_p_as_their_step_has(hits, n):
    """The likelihood ratio gives 0 of 3 against 3 of 3 p .0039, and said a trend in a quarter of such flat grids."""
    series = one_series([100 * k / n for k in hits], trials=n)
    expected = stats.fisher_exact([hits, [n - k for k in hits]]).pvalue
    assert series["trend_p"] == series["changes"][0]["p"] == pytest.approx(expected, rel=1e-9)


def test_near_the_end_of_the_scale_little_is_shown_to_be_alike_or_could_be_shown():
    """By Wilson's limits of 100 of 100, .9737 to 1: two such cells may differ by 2.6 points. A fall that 50 trials find
    begins at 100 %, so that its mean is below; what the scale has no room for is found by no test."""
    assert one_series([100.0, 100.0, 100.0], trials=100)["direction"] == "inconclusive"
    assert one_series([100.0, 100.0, 100.0], trials=200)["direction"] == "flat"
    assert 15 < one_series([100.0] * 6, trials=50)["detectable"] < 20
    few = one_series([100.0, 0.0, 100.0], trials=3)
    assert [step["detectable"] for step in few["changes"]] == [None, None], "Fisher's p of 3 against 0 of 3 is .1"
    assert few["detectable"] is None
    assert one_series([3.0, 1.0, 2.0, 5.0, 4.0, 6.0, 2.5, 3.5])["detectable"] is None, (
        "scatter is no noise that is known"
    )


@pytest.mark.parametrize("numbers", [[0.0, 1.0, 2.0], [4.0, 8.0, 16.0]])
def test_three_cells_that_fall_by_far_more_than_noise_are_decreasing(numbers):
    """F(1, 1) would need a likelihood ratio above 161 and calls this "varies" (p .20 at 4, 8, 16)."""
    series = one_series([90.0, 75.0, 60.0], numbers=numbers, trials=300)
    homogeneity = stats.chi2_contingency([[270, 225, 180], [30, 75, 120]], correction=False).pvalue
    assert (series["direction"], series["logit"]["test"]) == ("decreasing", "monotone_chi2")
    assert series["trend_p"] == pytest.approx(homogeneity, rel=1e-9)
    bent = series["logit"]["lack_of_fit_p"] < 0.05
    assert series["fitted_change"] is None if bent else series["fitted_change"]["interval"]["high"] < 0
    assert series["end_change"]["interval"]["high"] < 0


def test_a_fall_along_levels_that_double_is_one_although_it_is_no_line():
    """With the bend as scatter, F(1, 5) has p .06."""
    values, numbers, n = [74.4, 72.0, 69.2, 65.6, 61.8, 57.6, 52.8], [4.0 * 2**i for i in range(7)], 500
    series = one_series(values, numbers=numbers, trials=n)
    hits = [round(value * n / 100) for value in values]
    homogeneity = stats.chi2_contingency([hits, [n - k for k in hits]], correction=False).pvalue
    assert series["direction"] == "decreasing"
    assert series["trend_p"] == pytest.approx(homogeneity, rel=1e-6)
    there_and_back = one_series([74.4, 69.2, 61.8, 52.8, 61.8, 69.2, 71.0], numbers=numbers, trials=n)
    assert there_and_back["direction"] == "falls_then_rises"


def test_a_word_counts_the_series_of_its_grid():
    """One row of seven at p .03 is what noise shows in one grid of five: q decides."""
    rows = [[84.0, 80.0, 80.0, 76.0, 75.0, 71.5], *[[80.0, 79.0, 80.0, 79.0, 80.0, 79.0]] * 6]
    axes = (Axis("row", "nominal", tuple(Level(str(i)) for i in range(7))), line(rows[0]).axes[0])
    found = describe(Grid(PERCENT, axes, tuple(value for row in rows for value in row), 200))["series"]
    assert found[0]["trend_p"] < 0.05 < found[0]["q"]
    assert found[0]["direction"] == "inconclusive"
    assert one_series(rows[0], trials=200)["direction"] == "decreasing"


# --- errors and repeats ----------------------------------------------------------------------------------------------


def with_noise(values, metric=PERCENT, trials=None, **noise):
    """The only series of a line with such noise."""
    (series,) = describe(dataclasses.replace(line(values, metric=metric, trials=trials), **noise))["series"]
    return series


def test_standard_errors_weigh_the_slope():
    series = with_noise([1.0, 2.0, 9.0], Metric("loss"), stderr=(0.1, 0.1, 100.0))
    assert series["weighted"]["slope"] == pytest.approx(1.0, abs=1e-4)
    assert series["weighted"]["stderr"] == pytest.approx(0.1 * 2**0.5, rel=1e-4)
    assert series["heterogeneity"]["test"] == "cochran_q"
    assert series["changes"][0]["p"] == pytest.approx(1.5374597944280347e-12, rel=1e-9)
    # Each cell that was repeated has the variance of its own.
    series = with_noise([1.0, 2.0], repeats=(4, 9), sd=(2.0, 3.0))
    assert series["weighted"]["stderr"] == pytest.approx((2**2 / 4 + 3**2 / 9) ** 0.5)


RUNS = ([2.04, 2.05, 2.03], [1.97, 1.93, 1.94], [1.96, 2.11, 2.15], [2.05, 1.94, 1.90])


def of_runs(runs):
    cells = [np.array(cell) for cell in runs]
    sds = tuple(float(cell.std(ddof=1)) for cell in cells)
    loss, repeats = Metric("loss", None, "lower"), tuple(len(cell) for cell in cells)
    return with_noise([float(cell.mean()) for cell in cells], loss, repeats=repeats, sd=sds)


def test_three_seeds_of_noise_make_no_trend():
    """The twelve runs: a slope whose error comes from the variances of the cells has a p of .64 with Satterthwaite's
    degrees of freedom."""
    series, means = of_runs(RUNS), [np.mean(cell) for cell in RUNS]
    parts = (np.arange(4) - 1.5) ** 2 / 25 * np.array([np.var(cell, ddof=1) / 3 for cell in RUNS])
    slope, df = float(np.polyfit(range(4), means, 1)[0]), parts.sum() ** 2 / (parts**2 / 2).sum()
    assert series["direction"] == "inconclusive"
    assert (series["weighted"]["test"], series["weighted"]["df"]) == ("t_satterthwaite", pytest.approx(df, rel=1e-9))
    expected = 2 * float(stats.t.sf(abs(slope) / math.sqrt(parts.sum()), df))
    assert series["trend_p"] == pytest.approx(expected, rel=1e-9)
    falling = [[value - 0.5 * i for value in cell] for i, cell in enumerate(RUNS)]
    assert of_runs(falling)["direction"] == "decreasing", "far beyond the scatter of seeds"


def test_whether_repeated_cells_differ_needs_no_equal_noise():
    """Brown and Forsythe's F with Mehrotra's degrees of freedom, as his equations 2 to 4 have them."""
    runs = [[2.0, 3.0, 4.0], [1.0, 9.0, 5.0], [7.0, 7.2, 7.1, 7.3], [4.0, 4.5, 3.9]]
    n, mean = np.array([len(cell) for cell in runs]), np.array([np.mean(cell) for cell in runs])
    s2, share = np.array([np.var(cell, ddof=1) for cell in runs]), n / n.sum()
    within = ((1 - share) * s2).sum()
    f = (n * (mean - share @ mean) ** 2).sum() / within
    df = within**2 / ((s2**2).sum() + (share @ s2) ** 2 - 2 * (share * s2**2).sum())
    df_error = within**2 / (((1 - share) * s2) ** 2 / (n - 1)).sum()
    found = of_runs(runs)["heterogeneity"]
    assert (found["test"], found["df"], found["df_error"]) == (
        "brown_forsythe",
        pytest.approx(df, rel=1e-9),
        pytest.approx(df_error, rel=1e-9),
    )
    assert found["p"] == pytest.approx(float(stats.f.sf(f, df, df_error)), rel=1e-9)


def test_two_repeated_cells_differ_by_welchs_t():
    """Their trend, their step and the change of their ends are one difference."""
    runs = [1.0, 2.0, 4.0], [5.0, 5.5, 6.5, 9.0]
    series, expected = of_runs(runs), stats.ttest_ind(runs[1], runs[0], equal_var=False)
    assert series["trend_p"] == pytest.approx(expected.pvalue, rel=1e-9)
    assert series["heterogeneity"]["p"] == pytest.approx(expected.pvalue, rel=1e-9)
    assert series["end_change"]["method"] == "welch"
    (step,) = series["changes"]
    assert step["p"] == pytest.approx(expected.pvalue, rel=1e-9)
    for one in (series["end_change"], step):
        assert ends(one["interval"]) == pytest.approx(expected.confidence_interval(0.95), rel=1e-9)


def test_the_ends_have_their_own_change_where_the_cells_miss_a_line():
    """Nine times 90.5 and a 20.5: the ends differ by 70, with Newcombe's interval out of two of Wilson's; a line knows
    nothing of it, and its change is not given."""
    series = one_series([90.5] * 9 + [20.5], trials=200)
    (l1, u1), (l2, u2) = (stats.binomtest(k, 200).proportion_ci(0.95, method="wilson") for k in (181, 41))
    low, high = -0.7 - math.hypot(0.205 - l2, u1 - 0.905), -0.7 + math.hypot(u2 - 0.205, 0.905 - l1)
    assert series["fitted_change"] is None
    assert series["end_change"]["value"] == -70
    assert ends(series["end_change"]["interval"]) == pytest.approx((100 * low, 100 * high), rel=1e-9)
    silent = one_series([80.0, 81.0, 79.0, 80.0, 71.0], trials=200)
    assert silent["direction"] == "inconclusive"
    assert silent["end_change"]["interval"]["high"] >= 0, "no interval says what the tests do not"


def test_flat_is_said_of_any_two_cells():
    """A V of three points within a margin of two lies along a level line, and is not flat."""
    level, bent = [90.0] * 5, [90.0, 88.5, 87.0, 88.5, 90.0]
    assert one_series(level, trials=20_000)["direction"] == "flat"
    assert one_series(bent, trials=20_000)["direction"] == "falls_then_rises"
    errors = (2.0 / (math.sqrt(2) * float(stats.norm.ppf(0.95))),) * 3
    within = [with_noise([50.0] * 3, stderr=tuple(size * by for size in errors))["direction"] for by in (0.999, 1.001)]
    assert within == ["flat", "inconclusive"], "two one-sided tests of each pair at alpha"


def test_steps_between_repeated_cells_have_students_p():
    """By the variance within all cells of the series: scipy's contrast of two of three groups, by hand."""
    runs = [1.0, 2.0, 4.0], [5.0, 5.5, 6.5, 9.0], [8.0, 9.5]
    change = of_runs(runs)["changes"][0]
    df = sum(map(len, runs)) - 3
    error = math.sqrt(sum(len(one) * np.var(one) for one in runs) / df * (1 / 3 + 1 / 4))
    size = np.mean(runs[1]) - np.mean(runs[0])
    assert change["p"] == pytest.approx(2 * stats.t.sf(size / error, df), rel=1e-9)
    assert ends(change["interval"]) == pytest.approx(stats.t.interval(0.95, df, size, error), rel=1e-9)


def test_a_submitted_error_goes_before_trials():
    """70 against 60 of 300 with a clustered error of 8: z is .88, not 2.6. A cell without one keeps its binomial
    error."""
    series = with_noise([70.0, 60.0], trials=300, stderr=(8.0, 8.0))
    assert (series["noise"], series["logit"]) == ("stderr", None)
    assert series["trend_p"] == pytest.approx(2 * float(stats.norm.sf(10 / math.hypot(8, 8))), rel=1e-9)
    series, share = with_noise([70.0, 60.0], trials=300, stderr=(8.0, None)), 180.5 / 301
    error = math.hypot(8, 100 * math.sqrt(share * (1 - share) / 300))
    assert series["changes"][0]["p"] == pytest.approx(2 * float(stats.norm.sf(10 / error)), rel=1e-9)


def test_a_design_effect_multiplies_the_variance():
    """Twice the variance is half the trials."""
    values = [90.5, 80.5, 75.5, 74.5, 70.5, 71.5]
    doubled = describe(dataclasses.replace(line(values, trials=400), design_effect=2.0))
    half, silent = describe(line(values, trials=200)), describe(line(values))
    for name in ("trend_p", "fitted_change", "end_change", "thresholds"):
        assert doubled["series"][0][name] == half["series"][0][name]
    assert doubled["series"][0]["heterogeneity"]["p"] == half["series"][0]["heterogeneity"]["p"]
    assert doubled["peaks"]["best_set"]["size"] == half["peaks"]["best_set"]["size"]
    assumed = [found["assumes"] for found in (doubled, half, silent, describe(line(values[:2])))]
    assert assumed == [[], ["independent_trials"], ["independent_levels"], []], "two points have no course"


@pytest.mark.parametrize("count", [2, 3, 4])
def test_below_five_points_no_interval_of_a_slope_is_given(count):
    series = one_series([90.0 - 15 * i for i in range(count)])
    assert (series["slope"], series["slope_interval"], series["fitted_change"]["interval"]) == (-15, None, None)
    assert "95 % cannot be kept" in series["slope_interval_reason"]


def test_two_valued_scores_move_by_their_mean():
    """Sen's slope of scores of 1 and 10 is 0 with an interval of no width, while the mean falls by half."""
    values = [10.0] * 9 + [1.0] + [10.0, 1.0] * 5 + [1.0] * 8 + [10.0, 1.0]
    metric = Metric("score", None, "higher", 1, 10)
    series, expected = one_series(values, metric=metric), stats.linregress(range(30), values)
    change = series["fitted_change"]
    assert (series["slope"], change["method"], series["direction"]) == (0, "least_squares", "decreasing")
    reach = expected.stderr * stats.t.ppf(0.975, 28)
    assert change["value"] == pytest.approx(29 * expected.slope, rel=1e-9)
    assert change["interval"]["low"] == pytest.approx(29 * (expected.slope - reach), rel=1e-9)
    mean = stats.t.interval(0.95, 29, loc=np.mean(values), scale=stats.sem(values))
    assert ends(series["summary"]["mean_interval"]) == pytest.approx(mean, rel=1e-9)
    tied = [10.0, 1.0, 1.0, 10.0, 10.0, 1.0, 10.0, 1.0, 1.0, 10.0, 10.0, 1.0]
    assert one_series(tied, metric=metric)["direction"] == "inconclusive", "many ties are not flat"


def test_what_could_have_been_seen_is_said():
    """A trend has three quarters of the errors of its axis: z of 1 - .0375 / 2 and z of .8, times sqrt(2) times the
    error of a cell, by hand. Of trials, by 200,000 drawn likelihood ratios and misfits of a line."""
    series = with_noise([5.0, 5.0], Metric("loss"), stderr=(1.0, 1.0))
    expected = (stats.norm.ppf(1 - 0.0375 / 2) + stats.norm.ppf(0.8)) * math.sqrt(2)
    assert series["detectable"] == pytest.approx(expected, rel=1e-9)
    step = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * math.sqrt(2)
    assert series["changes"][0]["detectable"] == pytest.approx(step, rel=1e-9)
    of_trials = one_series([50.0] * 8, trials=200)["detectable"]
    u = np.arange(8) / 7 - 0.5
    errors = of_trials / 100 / math.sqrt(0.25 / (200 * (u @ u)))
    draw = np.random.default_rng(3)
    ratio, misfit = (draw.normal(size=200_000) + errors) ** 2, draw.chisquare(6, 200_000)
    by_dispersion = ratio / np.maximum(1, misfit / 6) > stats.f.isf(0.0375, 1, 6)
    monotone = (ratio > stats.chi2.isf(0.0375, 1)) & (ratio + misfit > stats.chi2.isf(0.0375, 7))
    assert np.mean(by_dispersion | monotone) == pytest.approx(0.8, abs=0.004)


# --- steps, onsets and levels ----------------------------------------------------------------------------------------


def test_without_noise_nothing_is_sharp_and_nothing_sets_in():
    series = one_series([99.0, 60.0, 96.0, 20.0, 79.0])
    assert [step["sharp"] for step in series["changes"]] == [None] * 4
    assert (series["sharp_reason"], series["onset"]) == ("noise_unknown", None)
    assert series["largest"]["drop"]["at"] == [{"from": 2, "to": 3}]
    assert series["largest"]["drop"]["interval"] is None


def test_the_onset_of_a_decline_lies_between_two_levels():
    """By hand: one-sided z of each cell against the first one, with the margin of two points."""
    values, n = [96.0, 95.5, 96.0, 80.0, 77.0, 70.0], 3000
    found = one_series(values, trials=n)["onset"]
    share = [(round(v * n / 100) + 0.5) / (n + 1) for v in values]
    errors = [100 * math.sqrt(s * (1 - s) / n) for s in share]
    p = [
        float(stats.norm.sf((values[0] - v - 2) / math.hypot(errors[0], error)))
        for v, error in zip(values[1:], errors[1:], strict=True)
    ]
    until, by = (
        next(i for i, one in enumerate(p) if 1 - one >= 0.025),
        next(i for i, one in enumerate(p) if one < 0.025) + 1,
    )
    assert (found["until"], found["by"], found["level"]) == (until, by, 0.95) == (2, 3, 0.95)
    assert (found["goes"], found["margin"]) == ("falls", 2.0)
    assert found["p"] == found["q"] == pytest.approx(2 * max(p[-2:]), rel=1e-6)


def test_a_level_within_noise_of_the_margin_is_neither_before_nor_beyond_the_onset():
    found = one_series([90.0, 91.0, 87.0, 84.0, 70.0, 69.0], trials=300)["onset"]
    assert (found["until"], found["by"]) == (0, 4)
    unsure = one_series([90.0, 91.0, 90.0, 86.0, 87.0], trials=60)["onset"]
    assert (unsure["until"], unsure["by"], unsure["level"]) == (None, None, None)


@pytest.mark.parametrize(
    "values", [[90.0, 60.0] * 4, [90.0, 60.0, 90.0, 90.0], [90.0, 90.0, 90.0, 60.0], [60.0, 75.0, 90.0], [90.0, 60.0]]
)
def test_no_decline_lasts_that_comes_back_or_is_one_cell(values):
    onset = one_series(values, trials=300)["onset"]
    assert onset is None if len(values) < 3 else onset["by"] is None


def test_onsets_of_several_series_allow_for_having_been_picked():
    levels = tuple(Level(str(number), float(number)) for number in range(4))
    axes = Axis("Type", "nominal", tuple(map(Level, "abcd"))), Axis("Length", "numeric", levels)
    level = (90.0, 91.0, 90.0, 90.0)
    found = describe(Grid(PERCENT, axes, (90.0, 90.0, 70.0, 60.0, *level, *level, *level), 500))["series"]
    assert [one["onset"]["level"] for one in found] == [1 - 0.05 / 4, None, None, None]


def test_sharp_steps_have_the_interval_that_their_choice_asks_for():
    """One of three steps is sharp: the level is 1 - .05 / 3 there, and 95 % elsewhere."""
    steps = one_series([90.5, 89.5, 70.5, 71.5], trials=200)["changes"]
    assert [step["sharp"] for step in steps] == [False, True, False]
    assert [step["interval"]["level"] for step in steps] == pytest.approx([0.95, 1 - 0.05 / 3, 0.95])
    (l1, u1), (l2, u2) = (stats.binomtest(k, 200).proportion_ci(1 - 0.05 / 3, method="wilson") for k in (179, 141))
    low, high = -0.19 - math.hypot(0.705 - l2, u1 - 0.895), -0.19 + math.hypot(u2 - 0.705, 0.895 - l1)
    assert ends(steps[1]["interval"]) == pytest.approx((100 * low, 100 * high), rel=1e-9)


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ([90.0, 75.0, 60.0, 60.0, 74.0, 90.0], "falls_then_rises"),
        ([60.0, 75.0, 90.0, 91.0, 75.0, 60.0], "rises_then_falls"),
        ([90.0, 90.0, 60.0, 90.0, 90.0], "falls_then_rises"),
        ([90.0, 60.0, 90.0, 60.0, 90.0], "varies_without_trend"),
        ([90.0, 70.0, 70.0, 70.0, 70.0], "decreasing"),
    ],
)
def test_a_course_that_turns_once_is_told_from_one_that_varies(values, word):
    assert one_series(values, trials=400)["direction"] == word


@pytest.mark.parametrize("weights", [[1.0] * 8, [1.0, 0.2, 0.5, 1.0, 0.1, 0.3, 1.0, 0.7]])
def test_misfits_of_a_course_that_only_rises_are_those_of_scipy(weights):
    values = [3.0, 1.0, 2.0, 2.0, 5.0, 4.0, 4.5, 1.0]
    fits = [optimize.isotonic_regression(values[:m], weights=weights[:m]).x for m in range(1, 9)]
    expected = [sum(w * (v - f) ** 2 for v, f, w in zip(values, fit, weights, strict=False)) for fit in fits]
    found = misfits(np.array([values, values[::-1]]), np.array([weights, weights]))
    assert found[0] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize(("cells", "critical"), [(3, 4.58), (5, 7.67), (8, 11.85), (12, 17.11)])
def test_the_law_of_an_ordered_fit_is_that_of_its_mixture(cells, critical):
    """The 5 % points of the mixtures of chi-squared laws with Stirling's numbers of the first kind as weights."""
    assert float(order_p(np.array(critical), cells, None, np.arange(1))) == pytest.approx(0.05, abs=0.002)


def test_where_lower_is_better_a_rise_is_the_decline():
    series = one_series([5.0, 5.0, 20.0, 21.0], metric=Metric("error", "%", "lower", 0, 100), trials=300)
    assert (series["onset"]["goes"], series["onset"]["by"]) == ("rises", 2)
    assert series["thresholds"][0]["side"] == "above"
    assert one_series([5.0, 5.0, 20.0, 21.0], metric=Metric("share", "%", None, 0, 100), trials=300)["onset"] is None


def at_90(values, trials):
    return next(one for one in one_series(values, trials=trials)["thresholds"] if one["level"] == 90)


def test_a_rising_curve_reaches_a_level():
    found = at_90([40.0, 70.0, 92.0, 88.0, 95.0, 96.0], 400)
    assert [one["direction"] for one in found["crossings"]] == ["rising", "falling", "rising"]
    assert found["crossings"][0]["at"] == pytest.approx(1 + 20 / 22)
    assert (found["first_reaching"], found["sustained_from"], found["first_failing"]) == (2, 4, 0)
    assert found["interval"] == {"level": 0.95, "low": 1, "high": 4}
    over_hole = at_90([95.0, None, None, 80.0, 92.0], 400)["crossings"]
    assert [one.get("holes") for one in over_hole] == [2, None]


def test_the_interval_of_a_crossing_lies_between_cells_that_are_surely_on_either_side():
    """Exact binomial tails at .025 / 5 for each side, by scipy."""
    values, n = [95.0, 92.0, 89.0, 84.0, 60.0], 100
    above = [stats.binomtest(round(v), n, 0.9, "greater").pvalue <= 0.005 for v in values]
    below = [stats.binomtest(round(v), n, 0.9, "less").pvalue <= 0.005 for v in values]
    low = max((i for i, sure in enumerate(above) if sure), default=None)
    high = min((i for i, sure in enumerate(below) if sure), default=None)
    assert at_90(values, n)["interval"] == {"level": 0.95, "low": low, "high": high}


@pytest.mark.parametrize(
    ("values", "low", "high"),
    [([60.0, 61.0, 61.0, 62.0], None, None), ([60.0, 65.0, 70.0, 75.0], 3, None), ([75.0, 70.0, 65.0, 60.0], None, 0)],
)
def test_a_crossing_beyond_the_axis_lies_where_the_course_is_shown_to_go(values, low, high):
    """All cells are surely below 90: only their slope says whether the truth was there before, or will be."""
    assert at_90(values, 300)["interval"] == {"level": 0.95, "low": low, "high": high}


@pytest.mark.parametrize("cells", [1, 3])
def test_the_mean_of_cells_with_few_trials_has_wilsons_interval(cells):
    """Equal cells are one proportion of all their trials, as scipy has it."""
    low, high = stats.binomtest(4 * cells, 5 * cells).proportion_ci(method="wilson")
    if cells > 1:  # three of fifteen failed, so few that Clopper and Pearson's end is taken there
        high = stats.binomtest(4 * cells, 5 * cells).proportion_ci(method="exact").high
    found = one_series([80.0] * cells, trials=5)["summary"]["mean_interval"]
    assert ends(found) == pytest.approx((100 * low, 100 * high), rel=1e-9)


def test_a_long_series_lists_its_largest_steps():
    series = one_series([float(i % 7) for i in range(400)])
    assert (len(series["changes"]), series["changes_left_out"]) == (100, 299)


def test_levels_that_scatter_by_more_than_their_errors_are_no_trend():
    """Sixteen errors from neighbour to neighbour hide no rise: held against the scatter, the slope is nothing."""
    values = [10.0, 90.0] * 3
    series = with_noise(values, stderr=(5.0,) * 6)
    assert series["weighted"]["p"] < 0.0001
    assert series["trend_p"] == pytest.approx(stats.linregress(range(6), values).pvalue, rel=1e-9)
    assert series["direction"] == "varies_without_trend"
    bend = with_noise([10.0, 60.0, 75.0, 80.0, 82.0, 81.0], stderr=(2.0,) * 6)
    assert (bend["direction"], bend["trend_p"]) == ("increasing", bend["weighted"]["p"])


@pytest.mark.parametrize("noise", [{"stderr": (1.0,) * 8}, {"repeats": (4,) * 8, "sd": (2.0,) * 8}])
def test_exchangeable_levels_are_called_a_trend_no_more_often_than_alpha(noise):
    draws = np.random.default_rng(7).normal(0, 20, (400, 8)).round(1).tolist()
    grids = [dataclasses.replace(line(values, metric=Metric("score")), **noise) for values in draws]
    words = [found.series[0].direction for found in describe_all(grids)]
    assert sum("creasing" in word for word in words) <= 400 * (0.05 + 4 * math.sqrt(0.05 * 0.95 / 400))


def test_a_small_error_that_was_posted_is_known_beside_huge_values():
    """10^-7 is beyond what a float says of 10^9, not of its own value; of a value of 0 it is dust."""
    small = with_noise([1e9, 1e9, 1e-3, 1e-3], Metric("score"), stderr=(1e7, 1e7, 1e-7, 1e-7))
    assert small["noise"] == "stderr"
    assert small["changes"][2]["interval"]["high"] == pytest.approx(1.959964 * math.hypot(1e-7, 1e-7), rel=1e-6)
    assert with_noise([1.0, 2.0, 0.0], Metric("score"), stderr=(0.1, 0.1, 1e-17))["noise"] == "unknown"


@pytest.mark.parametrize("noise", [{"stderr": (60.0,) * 3}, {"repeats": (2,) * 3, "sd": (80.0,) * 3}])
def test_no_step_of_a_proportion_is_beyond_its_scale(noise):
    series = with_noise([20.0, 60.0, 50.0], **noise)
    found = [one["interval"] for one in (*series["changes"], series["end_change"], series["largest"]["rise"])]
    assert [ends(one) for one in found] == [(-100.0, 100.0)] * 4
    assert [step["detectable"] for step in series["changes"]] == [None, None]
    assert with_noise([20.0, 60.0, 50.0], Metric("score"), **noise)["changes"][0]["detectable"] > 200
