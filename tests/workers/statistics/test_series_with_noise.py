"""Series whose noise is known, and breaks, levels and monotone fits, against the reference numbers."""

from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest
from reference_numbers import PERCENT, having, line, name_of, one_series, seed_grid, series_of
from scipy import stats

from registry.grid import Metric
from workers.statistics import Parameters, describe


def close(expected: float) -> object:
    return pytest.approx(expected, rel=1e-9 if abs(expected) > 1e-30 else 1e-6)


@pytest.mark.parametrize("entry", having("logit_binomial"), ids=name_of)
def test_the_logistic_trend_agrees_with_statsmodels(entry):
    found, expected = series_of(entry, entry["options"]["n"])["logit"], entry["output"]
    assert found["slope"] == pytest.approx(expected["slope"], rel=1e-9, abs=1e-15)
    assert found["intercept"] == close(expected["intercept"])
    assert found["stderr"] == close(expected["se"])
    assert found["effect"] == pytest.approx(expected["avg_marginal_effect_pp"], rel=1e-9, abs=1e-13)
    assert found["deviance"] == pytest.approx(expected["deviance"], rel=1e-9, abs=1e-10)
    assert found["dispersion"] == pytest.approx(expected["dispersion"], rel=1e-9)
    assert found["lr"] == pytest.approx(expected["lr_stat"], rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("entry", having("homogeneity"), ids=name_of)
def test_heterogeneity_agrees_with_scipy(entry):
    found, expected = series_of(entry, entry["options"]["n"])["heterogeneity"], entry["output"]
    assert (found["chi2"], found["df"]) == (close(expected["chi2"]), expected["dof"])
    assert found["p"] == close(expected["pvalue"])


@pytest.mark.parametrize("entry", having("direction_trials"), ids=name_of)
def test_the_direction_with_trials_agrees(entry):
    series, expected = series_of(entry, entry["options"]["n"]), entry["output"]
    assert series["direction"] == expected["label"]
    assert series["trend_p"] == close(expected["trend_p"])
    assert series["logit"]["fitted_change"] == pytest.approx(expected["fitted_change_pp"], rel=1e-9, abs=1e-12)
    assert series["q"] == close(expected["trend_q"])


@pytest.mark.parametrize("entry", having("adjacent_changes"), ids=name_of)
def test_changes_agree_with_fisher_holm_and_newcombe(entry):
    series, expected = series_of(entry, entry["options"]["n"]), entry["output"]
    assert [c["size"] for c in series["changes"]] == pytest.approx(expected["diffs"], rel=1e-9, abs=1e-12)
    assert [c["p"] for c in series["changes"]] == pytest.approx(expected["fisher_p"], rel=1e-9)
    assert [c["p_holm"] for c in series["changes"]] == pytest.approx(expected["holm_p"], rel=1e-9)
    drop = series["sharpest"]["drop"]
    if expected["largest_drop"] is not None:
        assert drop["size"] == pytest.approx(expected["largest_drop"], rel=1e-9)
        assert [[at["from"], at["to"]] for at in drop["at"]] == expected["tied_largest_drop_positions"]
        ends = [drop["interval"]["low"], drop["interval"]["high"]]
        assert ends == pytest.approx(expected["newcombe95_of_largest_drop_pp"], rel=1e-9)
    else:
        assert drop is None


@pytest.mark.parametrize("entry", having("series_class"), ids=name_of)
def test_shapes_and_sharp_changes_agree(entry):
    series, expected = series_of(entry, entry["options"]["n"]), entry["output"]
    sharp = [(c["from"], c["to"]) for c in series["changes"] if c["sharp"]]
    assert sharp == [(c["from_x"], c["to_x"]) for c in expected["sharp_changes"]]
    if "shape" not in expected:
        assert series["shape"]["status"] == "insufficient"
        return
    assert series["shape"]["kind"] == expected["shape"].split("(")[0]
    for model in series["shape"]["models"]:
        other = expected["known_variance_models"][model["kind"]]
        assert model["misfit"] == pytest.approx(other["chi2"], rel=1e-9, abs=1e-10)
        assert model["p"] == (None if other["p_fit"] is None else pytest.approx(other["p_fit"], rel=1e-9))
        assert model["at"] == other["at"] or model["misfit"] < 1e-10


@pytest.mark.parametrize("entry", having("one_break_models"), ids=name_of)
def test_shapes_without_noise_follow_the_information_criterion(entry):
    found, expected = series_of(entry)["shape"], entry["output"]
    if found["status"] == "insufficient":
        return
    assert found["kind"] == expected["best_bic"]
    for model in found["models"]:
        assert model["misfit"] == pytest.approx(expected["models"][model["kind"]]["sse"], rel=1e-9)
        assert model["bic"] == pytest.approx(expected["models"][model["kind"]]["bic"], rel=1e-9)


@pytest.mark.parametrize("entry", [e for t in (95, 85, 50) for e in having(f"threshold_{t}")], ids=name_of)
def test_thresholds_agree(entry):
    grid = seed_grid(entry["grid"])
    level = float(entry["options"]["threshold"])
    found = describe(grid, dataclasses.replace(Parameters.of(PERCENT), thresholds=(level,)))["series"]
    axis, value = entry["target"].split(" ", 1)[1].split("=")
    (series,) = [s for s in found if axis in s["at"] and float(s["at"][axis]) == float(value)]
    (answer,), expected = series["thresholds"], entry["output"]
    assert answer["first_below"] == expected["first_below"]
    assert answer["sustained_until"] == expected["sustained_until"]
    assert answer["recovers"] == expected["recovers"]
    assert answer["isotonic_first_below"] == expected["isotonic_first_below"]
    crossing = expected["interpolated_crossing"]
    assert answer["crossing"] == (None if crossing is None else close(crossing))


@pytest.mark.parametrize("entry", having("plateau_2"), ids=name_of)
def test_the_plateau_agrees(entry):
    found, expected = series_of(entry)["plateau"], entry["output"]
    assert [found[name] for name in ("start", "end", "length")] == [expected[n] for n in ("start", "end", "length")]
    assert found["mean"] == close(expected["mean"])


@pytest.mark.parametrize("way", ["increasing", "decreasing"])
@pytest.mark.parametrize("number", range(len(having("isotonic_increasing"))))
def test_isotonic_fits_agree_with_scipy(way, number):
    entry = having(f"isotonic_{way}")[number]
    found, expected = series_of(entry)["monotone"][way], entry["output"]
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
    assert series["logit"]["status"] == "undefined"
    assert series["heterogeneity"]["status"] == "undefined"
    assert series["direction"] == "flat_within_noise"


def test_separation_is_undefined_and_still_tested():
    series = one_series([100.0, 100.0, 0.0, 0.0], trials=50)
    assert series["logit"]["status"] == "undefined"
    assert series["logit"]["slope"] is None
    assert series["logit"]["test"] == "cochran_armitage"
    assert series["direction"] == "decreasing"


def test_cells_at_the_bounds_are_finite():
    series = one_series([100.0, 99.0, 100.0, 60.0, 0.0], trials=1000)
    assert series["logit"]["status"] == "ok"
    json.dumps(series, allow_nan=False)


def test_a_trend_is_tested_even_where_no_cell_stands_out():
    series = one_series([80.0, 79.0, 78.4, 77.6, 77.0, 76.2, 75.6, 74.8], trials=700)
    assert series["heterogeneity"]["p"] > 0.05
    assert series["direction"] == "decreasing"


def test_two_cells_with_trials_are_tested():
    series = one_series([90.0, 60.0], trials=100)
    assert series["direction"] == "decreasing"
    assert series["logit"]["test"] == "likelihood_ratio_chi2"


def test_standard_errors_weigh_the_slope():
    grid = dataclasses.replace(line([1.0, 2.0, 9.0], metric=Metric("loss")), stderr=(0.1, 0.1, 100.0))
    (series,) = describe(grid)["series"]
    assert series["weighted"]["slope"] == pytest.approx(1.0, abs=1e-4)
    assert series["weighted"]["stderr"] == pytest.approx(0.1 * 2**0.5, rel=1e-4)
    assert series["heterogeneity"]["test"] == "cochran_q"
    assert series["changes"][0]["p"] == pytest.approx(1.5374597944280347e-12, rel=1e-9)


def test_repeats_give_a_standard_error():
    grid = dataclasses.replace(line([1.0, 2.0]), repeats=(4, 9), sd=(2.0, 3.0))
    (series,) = describe(grid)["series"]
    assert series["weighted"]["stderr"] == pytest.approx(2**0.5)


def test_where_lower_is_better_a_rise_is_the_decline():
    metric = Metric("error", "%", "lower", 0, 100)
    series = one_series([5.0, 5.0, 20.0, 21.0], metric=metric)
    assert series["onset"]["level"] == 2
    assert series["monotone"]["drawdown"] == {"size": 16.0, "from": 0, "to": 3}
    assert series["thresholds"][0]["side"] == "above"


def test_onset_and_sharpest_step_are_two_things():
    series = one_series([99.0, 96.5, 96.0, 80.0, 79.0])
    assert series["onset"]["level"] == 1
    assert series["sharpest"]["drop"]["at"] == [{"from": 2, "to": 3}]


def test_a_long_series_lists_its_largest_steps():
    series = one_series([float(i % 7) for i in range(400)])
    assert len(series["changes"]) == 100
    assert series["changes_left_out"] == 299


def test_steps_between_repeated_cells_have_welchs_p():
    first, second = [1.0, 2.0, 4.0], [5.0, 5.5, 6.5, 9.0]
    cells = [np.array(cell) for cell in (first, second)]
    grid = dataclasses.replace(
        line([float(c.mean()) for c in cells], metric=Metric("loss")),
        repeats=tuple(c.size for c in cells),
        sd=tuple(float(c.std(ddof=1)) for c in cells),
    )
    change = describe(grid)["series"][0]["changes"][0]
    expected = stats.ttest_ind(second, first, equal_var=False)
    ends = expected.confidence_interval(0.95)
    assert change["p"] == pytest.approx(expected.pvalue, rel=1e-9)
    assert [change["interval"]["low"], change["interval"]["high"]] == pytest.approx([ends.low, ends.high], rel=1e-9)


def test_levels_that_share_a_number_are_read_by_position():
    series = one_series([1.0, 2.0, 3.0], numbers=[32.0, 32.0, 64.0])
    assert series["slope"] == 1.0
