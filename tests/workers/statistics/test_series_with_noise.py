"""Series whose noise is known, and breaks, levels and monotone fits, against the reference numbers."""

from __future__ import annotations

import dataclasses
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
    having,
    line,
    one_series,
    seed_grid,
    series_of,
)
from workers.statistics import Parameters


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


def expected_word(expected: dict, series: dict) -> str:
    """The reference's word, with q in place of p, and with no verdict where it said "flat within noise"."""
    low, high = (series["fitted_change"]["interval"][end] for end in ("low", "high"))
    word = expected["label"]
    if "creasing" in word and (expected["trend_q"] >= 0.05 or low <= 0 <= high):
        word = "flat_within_noise" if series["heterogeneity"]["q"] >= 0.05 else "varies_without_trend"
    if word == "varies_without_trend" and series["heterogeneity"]["q"] >= 0.05:
        word = "flat_within_noise"
    return {"flat_within_noise": "flat" if -2 <= low <= high <= 2 else "inconclusive"}.get(word, word)


@each("direction_trials")
def test_the_direction_with_trials_agrees(entry):
    """Of six cells and more the reference has the same test; of fewer the rule for few cells replaces it."""
    series, expected = series_of(entry, entry["options"]["n"]), entry["output"]
    assert series["fitted_change"]["value"] == pytest.approx(expected["fitted_change_pp"], rel=1e-9, abs=1e-12)
    if series["count"] > 5:
        assert series["trend_p"] == close(expected["trend_p"])
        assert series["direction"] == expected_word(expected | {"trend_q": series["q"]}, series)


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
    drop = one_series([90.0, 89.0, 70.0, 71.0], trials=200)["largest"]["drop"]
    assert drop["interval"]["level"] == pytest.approx(1 - 0.05 / 3)
    (l1, u1), (l2, u2) = (stats.binomtest(k, 200).proportion_ci(1 - 0.05 / 3, method="wilson") for k in (178, 140))
    low, high = -0.19 - math.hypot(0.7 - l2, u1 - 0.89), -0.19 + math.hypot(u2 - 0.7, 0.89 - l1)
    assert ends(drop["interval"]) == pytest.approx((100 * low, 100 * high), rel=1e-9)


@each("series_class")
def test_shapes_and_sharp_changes_agree(entry):
    series, expected = series_of(entry, entry["options"]["n"]), entry["output"]
    sharp = {(c["from"], c["to"]) for c in series["changes"] if c["sharp"]}
    # The reference adjusts over the series, the service over the grid: what is sharp here is sharp there.
    assert sharp <= {(c["from_x"], c["to_x"]) for c in expected["sharp_changes"]}
    if "shape" not in expected:
        assert series["shape"]["status"] == "insufficient"
        return
    assert series["shape"]["kind"] == expected["shape"].split("(")[0]
    for model in series["shape"]["models"]:
        other = expected["known_variance_models"][model["kind"]]
        assert model["misfit"] == pytest.approx(other["chi2"], rel=1e-9, abs=1e-10)
        assert model["p"] == (None if other["p_fit"] is None else pytest.approx(other["p_fit"], rel=1e-9))
        assert model["at"] == other["at"] or model["misfit"] < 1e-10


@each("one_break_models")
def test_shapes_without_noise_follow_the_information_criterion(entry):
    found, expected = series_of(entry)["shape"], entry["output"]
    if found["status"] == "insufficient":
        return
    assert found["kind"] == expected["best_bic"]
    for model in found["models"]:
        agrees(model, expected["models"][model["kind"]], "misfit=sse bic")


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


@each("isotonic_increasing", "isotonic_decreasing")
def test_isotonic_fits_agree_with_scipy(entry):
    found, expected = series_of(entry)["monotone"][entry["stat"].removeprefix("isotonic_")], entry["output"]
    assert found["sse"] == pytest.approx(expected["sse"], rel=1e-9, abs=1e-9)
    fit = [block["value"] for block in found["blocks"] for _ in range(block["count"])]
    assert fit == pytest.approx(expected["fit"], rel=1e-9)
    assert np.cumsum([0, *(b["count"] for b in found["blocks"])]).tolist() == expected["blocks"]


def test_a_step_without_a_trend_is_found():
    entry = having("series_class", "s0/core/qwen2.5-3b")[3]
    series = series_of(entry, 300)
    assert entry["target"] == "row Type=4"
    assert series["mann_kendall"]["p"] == pytest.approx(0.7585602052268718, rel=1e-9)
    assert (series["shape"]["kind"], series["shape"]["at"]) == ("step", 3)


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
    assert series["logit"]["p"] == pytest.approx(float(stats.chi2.sf(lr, 1)), rel=1e-4)


def test_words_of_few_cells_follow_their_test(subtests):
    for values, trials, word, test in (
        ([100.0, 100.0, 0.0, 0.0], 50, "decreasing", "firth_likelihood_ratio"),
        ([90.0, 60.0], 100, "decreasing", "likelihood_ratio_chi2"),
        ([90.0, 60.0, 85.0], 300, "varies_without_trend", "likelihood_ratio_f"),
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


@pytest.mark.parametrize("numbers", [[0.0, 1.0, 2.0], [4.0, 8.0, 16.0]])
def test_three_cells_that_fall_by_far_more_than_noise_are_decreasing(numbers):
    """F(1, 1) would need a likelihood ratio above 161 and calls this "varies" (p .20 at 4, 8, 16)."""
    series = one_series([90.0, 75.0, 60.0], numbers=numbers, trials=300)
    homogeneity = stats.chi2_contingency([[270, 225, 180], [30, 75, 120]], correction=False).pvalue
    assert (series["direction"], series["logit"]["test"]) == ("decreasing", "monotone_chi2")
    assert series["trend_p"] == pytest.approx(homogeneity, rel=1e-9)
    assert series["fitted_change"]["interval"]["high"] < 0


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
    # The variance within cells that were repeated is pooled: (3 x 4 + 8 x 9) / 11.
    series = with_noise([1.0, 2.0], repeats=(4, 9), sd=(2.0, 3.0))
    assert series["weighted"]["stderr"] == pytest.approx((84 / 11 * (1 / 4 + 1 / 9)) ** 0.5)


RUNS = ([2.04, 2.05, 2.03], [1.97, 1.93, 1.94], [1.96, 2.11, 2.15], [2.05, 1.94, 1.90])


def of_runs(runs):
    cells = [np.array(cell) for cell in runs]
    sds = tuple(float(cell.std(ddof=1)) for cell in cells)
    loss, repeats = Metric("loss", None, "lower"), tuple(len(cell) for cell in cells)
    return with_noise([float(cell.mean()) for cell in cells], loss, repeats=repeats, sd=sds)


def test_three_seeds_of_noise_make_no_trend():
    """The twelve runs: an analysis of variance of p .12, a slope within cells' variance of p .55."""
    series = of_runs(RUNS)
    within = sum(np.var(cell, ddof=1) for cell in RUNS) / 4
    slope = float(np.polyfit(range(4), [np.mean(cell) for cell in RUNS], 1)[0])
    t = slope / math.sqrt(within / 3 / 5)
    assert series["direction"] == "inconclusive"
    assert series["heterogeneity"]["p"] == pytest.approx(stats.f_oneway(*RUNS).pvalue, rel=1e-9)
    assert series["trend_p"] == pytest.approx(2 * float(stats.t.sf(abs(t), 8)), rel=1e-9)
    assert series["shape"]["kind"] is None
    falling = [[value - 0.5 * i for value in cell] for i, cell in enumerate(RUNS)]
    assert of_runs(falling)["direction"] == "decreasing", "far beyond the scatter of seeds"


def test_steps_between_repeated_cells_have_students_p():
    first, second = [1.0, 2.0, 4.0], [5.0, 5.5, 6.5, 9.0]
    change = of_runs((first, second))["changes"][0]
    expected = stats.ttest_ind(second, first, equal_var=True)
    assert change["p"] == pytest.approx(expected.pvalue, rel=1e-9)
    assert ends(change["interval"]) == pytest.approx(expected.confidence_interval(0.95), rel=1e-9)


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
    values = [90.0, 80.0, 75.0, 74.0, 70.0, 71.0]
    doubled = describe(dataclasses.replace(line(values, trials=400), design_effect=2.0))
    half, silent = describe(line(values, trials=200)), describe(line(values))
    for name in ("trend_p", "fitted_change", "heterogeneity", "thresholds"):
        assert doubled["series"][0][name] == half["series"][0][name]
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
    """(1.96 + 0.84) standard errors of the change: here sqrt(2) times the error of a cell, by hand."""
    series = with_noise([5.0, 5.0], Metric("loss"), stderr=(1.0, 1.0))
    expected = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) * math.sqrt(2)
    assert series["detectable"] == pytest.approx(expected, rel=1e-9)
    assert series["changes"][0]["detectable"] == pytest.approx(expected, rel=1e-9)


# --- steps, onsets and levels ----------------------------------------------------------------------------------------


def test_without_noise_nothing_is_sharp_and_nothing_sets_in():
    series = one_series([99.0, 60.0, 96.0, 20.0, 79.0])
    assert [step["sharp"] for step in series["changes"]] == [None] * 4
    assert (series["sharp_reason"], series["onset"]) == ("noise_unknown", None)
    assert series["largest"]["drop"]["at"] == [{"from": 2, "to": 3}]
    assert series["largest"]["drop"]["interval"] is None


def test_the_onset_of_a_decline_is_tested():
    clear = one_series([90.0, 91.0, 90.0, 70.0, 69.0], trials=300)["onset"]
    k = [270, 273, 270, 210, 207]
    table = [[sum(k[:3]), sum(k[3:])], [900 - sum(k[:3]), 600 - sum(k[3:])]]
    assert clear["level"] == clear["candidate"] == 3
    assert clear["p"] == pytest.approx(4 * stats.fisher_exact(table).pvalue, rel=1e-6)
    unsure = one_series([90.0, 91.0, 90.0, 86.0, 87.0], trials=60)["onset"]
    assert (unsure["candidate"], unsure["level"]) == (3, None)
    # The largest step is another thing.
    series = one_series([99.0, 96.5, 96.0, 80.0, 79.0], trials=1000)
    assert (series["onset"]["level"], series["largest"]["drop"]["at"]) == (1, [{"from": 2, "to": 3}])


def test_where_lower_is_better_a_rise_is_the_decline():
    series = one_series([5.0, 5.0, 20.0, 21.0], metric=Metric("error", "%", "lower", 0, 100), trials=300)
    assert series["onset"]["level"] == 2
    assert series["monotone"]["drawdown"] == {"size": 16.0, "from": 0, "to": 3}
    assert series["thresholds"][0]["side"] == "above"


def at_90(values, trials):
    return next(one for one in one_series(values, trials=trials)["thresholds"] if one["level"] == 90)


def test_a_rising_curve_reaches_a_level():
    found = at_90([40.0, 70.0, 92.0, 88.0, 95.0, 96.0], 400)
    assert [one["direction"] for one in found["crossings"]] == ["rising", "falling", "rising"]
    assert found["crossings"][0]["at"] == pytest.approx(1 + 20 / 22)
    assert (found["first_reaching"], found["sustained_from"], found["first_failing"]) == (2, 4, 0)
    assert found["interval"] == {"level": 0.95, "low": 1, "high": 4}


def test_the_interval_of_a_crossing_lies_between_cells_that_are_surely_on_either_side():
    """Exact binomial tails at .025 / 5 for each side, by scipy."""
    values, n = [95.0, 92.0, 89.0, 84.0, 60.0], 100
    above = [stats.binomtest(round(v), n, 0.9, "greater").pvalue <= 0.005 for v in values]
    below = [stats.binomtest(round(v), n, 0.9, "less").pvalue <= 0.005 for v in values]
    low = max((i for i, sure in enumerate(above) if sure), default=None)
    high = min((i for i, sure in enumerate(below) if sure), default=None)
    assert at_90(values, n)["interval"] == {"level": 0.95, "low": low, "high": high}


def test_a_long_series_lists_its_largest_steps():
    series = one_series([float(i % 7) for i in range(400)])
    assert (len(series["changes"]), series["changes_left_out"]) == (100, 299)
