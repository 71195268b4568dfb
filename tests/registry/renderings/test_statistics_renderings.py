"""What people and programs read of statistics, written out by hand."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from tests.registry.renderings.documents import of, thresholds_csv, thresholds_text

PARTS = ("statistics", "trends", "changes", "peaks", "coverage", "sensitivity", "precision")
HEAD = {
    "grid": "0193a7c0-0000-7000-8000-000000000001",
    "revision": 2,
    "methods_version": "1",
    "params": {"alpha": 0.05, "sharp_change": 5.0, "equivalence": 2.0, "power": 0.8},
    "metric": {"name": "accuracy", "unit": "%", "direction": "higher"},
    "axes": [{"name": "Type", "kind": "nominal"}, {"name": "Length", "kind": "numeric"}],
}
ABOUT = "grid 0193a7c0-0000-7000-8000-000000000001 · revision 2 · methods 1 · alpha 0.05\n\n"


def interval(low: float, high: float, level: float = 0.95) -> dict[str, float]:
    return {"level": level, "low": low, "high": high}


def step(start: int, end: int, size: float, **more: Any) -> dict[str, Any]:
    return {"from": start, "to": end, "size": size} | more


def falling() -> dict[str, Any]:
    return {
        "along": "Length",
        "at": {"Type": "1"},
        "count": 10,
        "from": 0,
        "to": 9,
        "first": 99.3,
        "last": 83.7,
        "slope": -1.8571428571428572,
        "slope_interval": interval(-2.94, -0.8),
        "slope_interval_reason": None,
        "noise": "trials",
        "fitted_change": {"value": -15.23, "interval": interval(-19.2, -10.9), "method": "logit"},
        "detectable": 5.13,
        "mann_kendall": {
            "status": "ok",
            "method": "exact",
            "s": -31,
            "p": 0.00468694885361552,
            "min_attainable_p": 5.5e-7,
        },
        "trend_p": 0.00001,
        "q": 0.0133369,
        "direction": "slightly_decreasing",
        "shape": {"status": "ok", "kind": "step", "at": 3},
        "changes": [
            step(0, 1, -2.6, sharp=False, p_holm=0.2936, interval=interval(-5.4, -0.3677), detectable=3.94),
            step(2, 3, -5.6, sharp=True, p_holm=0.01068, interval=interval(-9.3, -2.4), detectable=4.41),
        ],
        "changes_left_out": 0,
        "sharp_reason": None,
        "largest": {
            "drop": {
                "size": -5.6,
                "at": [{"from": 2, "to": 3}],
                "p_holm": 0.01068,
                "interval": interval(-10.9, -0.31, 0.9974),
            },
            "rise": None,
        },
    }


def too_short() -> dict[str, Any]:
    return falling() | {
        "at": {"Type": "2"},
        "count": 2,
        "first": 100.0,
        "last": 99.7,
        "slope": None,
        "slope_interval": None,
        "slope_interval_reason": "two points have no interval",
        "fitted_change": None,
        "detectable": None,
        "mann_kendall": {"status": "insufficient", "method": "exact", "p": 1.0, "reason": "too few orderings"},
        "trend_p": None,
        "q": None,
        "direction": "two_points",
        "shape": {"status": "insufficient", "kind": None, "reason": "it needs 8 points"},
        "changes": [step(1, 2, -0.3, sharp=None, p_holm=None, interval=None, detectable=None)],
        "largest": None,
    }


def test_trends_are_one_row_a_series_and_say_why_a_number_is_missing() -> None:
    found = of("trends")["txt"](HEAD | {"series": [falling(), too_short()]})
    assert found == (
        "Trends — accuracy (%)\n"
        "=====================\n\n" + ABOUT + "accuracy (%) along Length, 2 series\n\n"
        "Type points first   last change, 95 % interval   slope, 95 % interval      q direction           shape\n"
        "1        10  99.3 → 83.7 -15.23 [-19.20, -10.90] -1.86 [-2.94, -0.80] 0.0133 slightly decreasing ste"
        "p at 3\n"
        "2         2 100.0 → 99.7      —                      —                     — two points          —  "
        "       [1,2,3,4]\n"
        "\n"
        "[1] exact p: too few orderings\n"
        "[2] shape: it needs 8 points\n"
        "[3] slope interval: two points have no interval\n"
        "[4] slope: undefined\n"
        "\n"
        "change: from the first level to the last, by the fitted binomial regression\n"
        "slope: Theil–Sen, per unit of Length\n"
        "exact p: Mann–Kendall, two-sided, ties included (in CSV and JSON)\n"
        "q: that p after Benjamini–Hochberg over these 2 series; increasing and decreasing need q < 0.05\n"
    )


def test_no_trend_shown_says_what_could_have_been_and_level_says_within_what() -> None:
    undecided = falling() | {"direction": "inconclusive"}
    found = of("trends")["txt"](HEAD | {"series": [undecided, falling() | {"direction": "flat"}]})
    assert "inconclusive (could have shown 5.1)" in found
    assert "flat: the interval of the change lies within ± 2\n" in found
    assert "inconclusive: no trend was shown; could have shown: found with power 80 % if it were there\n" in found
    assert "flat within noise" not in found


def test_one_series_has_the_p_of_the_test_that_fits_its_noise() -> None:
    found = of("trends")["txt"](HEAD | {"series": [falling()]})
    assert "  exact p  direction" in found
    found = of("trends")["txt"](HEAD | {"series": [falling() | {"logit": {"status": "ok", "p": 0.00001}}]})
    assert "  trend p  direction" in found
    assert "  <0.0001  slightly" in found
    assert "trend p: binomial regression on the trials, allowing for overdispersion; increasing and" in found


def test_the_normal_law_is_not_called_exact() -> None:
    long = falling() | {"mann_kendall": {"status": "ok", "s": -900, "p": 0.2, "method": "normal"}}
    found = of("trends")["txt"](HEAD | {"series": [long]})
    assert "MK p" in found
    assert "exact p" not in found


def test_a_slope_is_per_unit_of_its_axis() -> None:
    axes = [{"name": "Length", "kind": "numeric", "unit": "token"}]
    assert "slope: Theil–Sen, per token of Length\n" in of("trends")["txt"](
        HEAD | {"axes": axes, "series": [falling()]}
    )
    logarithmic = HEAD | {"series": [falling() | {"x_scale": "log10"}]}
    assert "slope: Theil–Sen, per factor of ten of Length\n" in of("trends")["txt"](logarithmic)


@pytest.mark.parametrize("form", ["txt", "md"])
def test_a_slope_along_an_axis_that_has_only_an_order_is_per_level(form: str) -> None:
    axes = [{"name": "Length", "kind": "ordinal", "unit": None}]
    assert "slope: Theil–Sen, per level of Length\n" in of("trends")[form](HEAD | {"axes": axes, "series": [falling()]})


def test_all_series_together_have_one_line() -> None:
    trend = {"Length": {"status": "ok", "s": -267, "rows": 7, "p": 1e-9, "method": "exact"}}
    found = of("trends")["txt"](HEAD | {"series": [falling()], "grid_trend": trend})
    assert "\nAll series together: S = -267, exact p <0.0001\n" in found


def test_trends_as_csv_keep_every_digit() -> None:
    [row] = csv.DictReader(io.StringIO(of("trends")["csv"](HEAD | {"series": [falling()]})))
    assert (row["Type"], row["slope"], row["slope_low"]) == ("1", "-1.8571428571428572", "-2.94")
    assert (row["mann_kendall_p"], row["direction"], row["shape_at"]) == (
        "0.00468694885361552",
        "slightly_decreasing",
        "3",
    )


def test_sharp_steps_are_marked() -> None:
    found = of("changes")["txt"](HEAD | {"series": [falling(), too_short()]})
    assert found.split(ABOUT)[1] == (
        "accuracy (%) along Length: 1 of 3 steps sharp\n\n"
        "Type  from  to  step  95 % interval   Holm p  could show                       picked, interval\n"
        "1        0   1  -2.6  [-5.40, -0.37]  0.2936         3.9\n"
        "1        2   3  -5.6  [-9.30, -2.40]  0.0107         4.4  sharp, largest fall  [-10.90, -0.31] at 99.74 %\n"
        "2        1   2  -0.3  —                    —           —\n"
        "\n"
        "sharp: a step of 5 or more with Holm p < 0.05\n"
        "Holm p: over all steps of the grid along Length\n"
        "could show: a step of this size would have had p < alpha with power 80 %, before Holm\n"
        "picked: allows for having been picked as the largest (Bonferroni over the steps of its series)\n"
    )


def test_without_noise_no_step_is_sharp_and_the_largest_is_still_named() -> None:
    largest = {"drop": {"size": -40.0, "at": [{"from": 1, "to": 2}], "p_holm": None, "interval": None}, "rise": None}
    changes = [step(0, 1, -2.0, sharp=None), step(1, 2, -40.0, sharp=None)]
    unknown = falling() | {"changes": changes, "largest": largest, "sharp_reason": "noise_unknown"}
    found = of("changes")["txt"](HEAD | {"series": [unknown]})
    assert "accuracy (%) along Length: 2 steps\n" in found
    assert "1        1   2   -40  largest fall\n" in found
    assert "no noise is known, so no step is called sharp: publish trials, stderr, or repeats with sd\n" in found
    [_, row] = csv.DictReader(io.StringIO(of("changes")["csv"](HEAD | {"series": [unknown]})))
    assert (row["sharp"], row["largest"]) == ("", "drop")


def test_of_many_steps_text_lists_the_sharp_ones_and_the_largest_of_each_series() -> None:
    small = [{"from": i, "to": i + 1, "size": 0.1, "sharp": False} for i in range(50)]
    large = {"from": 50, "to": 51, "size": -3.0, "sharp": False}
    document = HEAD | {"series": [falling() | {"changes": [*small, large]}]}
    assert "1       50  51  -3.0\n" in of("changes")["txt"](document)
    assert "50 other steps are not shown; CSV and JSON have all\n" in of("changes")["txt"](document)
    assert of("changes")["csv"](document).count("\n") == 52


def test_csv_and_json_are_not_said_to_have_steps_that_were_not_kept() -> None:
    """A hundred of 499 steps were kept of each of three series."""
    kept = [{"from": i, "to": i + 1, "size": 0.1 + i, "sharp": False} for i in range(100)]
    series = [falling() | {"at": {"Type": name}, "changes": kept, "changes_left_out": 399} for name in "123"]
    document = HEAD | {"series": series}
    text = of("changes")["txt"](document)
    assert "297 of the kept steps are not shown here; CSV and JSON have the 300 kept\n" in text
    assert "1197 steps of long series were not kept\n" in text
    assert "have all" not in text
    assert of("changes")["csv"](document).count("\n") == 1 + 300


def peaks() -> dict[str, Any]:
    at = {"Window": 2000, "Ratio": 0.4}
    return {
        "status": "ok",
        "best": {"value": 52.0, "at": [at], "ties": 1},
        "runner_up": {"value": 48.7, "at": [{"Window": 500, "Ratio": 0.5}], "ties": 3, "gap": 3.299999999999997},
        "by": {"Ratio": [{"level": 0.1, "value": 47.3, "at": [{"Window": 3000, "Ratio": 0.1}], "ties": 1}]},
        "expected_max_if_equal": 52.62,
        "plausible_max_if_equal": 56.67,
        "probability_best": [{"at": at, "value": 52.0, "probability": 0.1403, "if_unrelated": 0.4812}],
        "best_set": {"level": 0.95, "size": 2, "at": [at, {"Window": 500, "Ratio": 0.5}], "method": "gupta"},
    }


def test_a_peak_stands_beside_its_noise_floor() -> None:
    found = of("peaks")["txt"](HEAD | {"peaks": peaks()})
    assert found.split(ABOUT)[1] == (
        "best accuracy (%): 52.0\n\n"
        "Window  Ratio  P(best)  if unrelated\n"
        "  2000    0.4   0.1403        0.4812\n"
        "\n"
        "runner-up: 48.7, gap 3.3, at Window 500, Ratio 0.5; and 2 more\n"
        "noise floor: the best of as many equal cells would be expected at 52.62 and would be at or below 56.67 in "
        "95 % of cases;\n  this one is not higher, so it proves nothing by itself\n"
        "\n"
        "with 95 % confidence the best is among these 2 cells (Gupta):\n\n"
        "Window  Ratio  value  P(best)  if unrelated\n"
        "  2000    0.4   52.0   0.1403        0.4812\n"
        "   500    0.5      —        —             —\n"
        "\n"
        "P(best): after shrinking the cells towards each other; if unrelated: as if they had nothing in common\n"
        "neither keeps a rate of error by itself; the set does\n"
        "\n"
        "Ratio  best  at\n"
        "  0.1  47.3  Window 3000\n"
    )


def test_where_lower_is_better_a_floor_is_passed_from_above() -> None:
    lower = HEAD | {"metric": {"name": "loss", "direction": "lower"}}
    assert "this one is lower" in of("peaks")["txt"](lower | {"peaks": peaks()})


def test_a_metric_without_a_better_end_has_no_peaks_and_says_so() -> None:
    document = HEAD | {"peaks": {"status": "undefined", "best": None, "reason": "the metric has no better end"}}
    assert of("peaks")["txt"](document).endswith("No peaks: the metric has no better end.\n")


def test_coverage_counts_levels_and_names_holes_along_axes_with_an_order() -> None:
    row = {"level": "1", "count": 2, "first": 0, "last": 2, "holes": [1]}
    columns = [
        {"level": 0, "count": 1, "first": "1", "last": "1", "holes": []},
        {"level": 1, "count": 0, "first": None, "last": None, "holes": []},
        {"level": 2, "count": 1, "first": "1", "last": "1", "holes": []},
    ]
    by = {
        "Type": {"levels": [row], "empty": [], "complete": []},
        "Length": {"levels": columns, "empty": [1], "complete": [0, 2]},
    }
    found = of("coverage")["txt"](HEAD | {"coverage": {"cells": 2, "possible": 3, "by": by, "component_count": 1}})
    assert found.split(ABOUT)[1] == (
        "2 of 3 cells measured (67 %)\n\n"
        "Type   cells  range  holes\n"
        "1     2 of 3  0 … 2  1\n"
        "\n"
        "Type: no level is complete\n\n"
        "Length   cells\n"
        "     0  1 of 1\n"
        "     1  0 of 1\n"
        "     2  1 of 1\n"
        "\n"
        "Length: complete at 0, 2\n"
        "Length: no cell at 1\n"
    )


def test_shares_of_variance_are_percentages_with_what_is_left() -> None:
    means = [{"level": "1", "raw_mean": 63.0, "interval": interval(62.0, 64.0), "mean": 44.0, "logit_mean": 33.6}]
    residual = {"share": 0.2358, "df": 15, "over_noise": 4.72, "p": 1e-9}
    found = {
        "status": "ok",
        "method": "shapley",
        "axes": {"Type": {"share": 0.7642, "df": 6, "p": 0.00001, "test": "f", "levels": means}},
        "residual": residual,
    }
    text = of("sensitivity")["txt"](HEAD | {"sensitivity": found})
    assert (
        "axis       share  df        p  test\nType      76.4 %   6  <0.0001  F\nresidual  23.6 %  15        —\n" in text
    )
    assert "What the axes leave is 4.72 times the known noise, p <0.0001 (chi-squared).\n" in text
    assert "Type    raw  95 % interval   adjusted  on the logit scale\n" in text
    assert "1     63.00  [62.00, 64.00]     44.00               33.60\n" in text
    assert "that it is noise" not in text


def test_an_interaction_is_judged_on_the_logit_scale_where_that_is_known() -> None:
    logit = {"chi2": 16.94, "df": 14, "over_noise": 1.21, "p": 0.246}
    residual = {"share": 0.2358, "df": 15, "over_noise": 4.72, "p": 1e-9, "logit": logit}
    found = {"status": "ok", "method": "shapley", "axes": {"Type": {"share": 0.7}}, "residual": residual}
    assert (
        "interaction on the logit scale: 1.21 times the known noise, chi-squared p 0.2460 with 14 df\n"
        "on the metric's own scale: 4.72 times the known noise, p <0.0001; a ceiling alone can make that\n"
    ) in of("sensitivity")["txt"](HEAD | {"sensitivity": found})
    *_, last = csv.DictReader(io.StringIO(of("sensitivity")["csv"](HEAD | {"sensitivity": found})))
    assert (last["axis"], last["p"], last["test"]) == ("residual", "0.246", "chi2_logit")


def test_what_is_assumed_stands_above_the_numbers() -> None:
    found = of("trends")["txt"](HEAD | {"assumes": ["independent_trials"], "series": [falling()]})
    assert "assumed: the trials of a cell are taken as independent; publish design_effect if they are not\n" in found
    found = of("peaks")["txt"](HEAD | {"assumes": [], "design_effect": 2.5, "peaks": peaks()})
    assert "design effect 2.5, as published: every binomial variance is multiplied by it\n" in found
    assert "assumed" not in found


def crossing(**more: Any) -> dict[str, Any]:
    known = {
        "level": 90.0,
        "side": "below",
        "crossings": [{"at": 3.4, "direction": "falling"}, {"at": 7.25, "direction": "rising"}],
        "first_failing": 4,
        "first_reaching": 0,
        "sustained_from": 8,
        "sustained_until": 3,
        "recovers": True,
        "interval": interval(3, 6),
    }
    return {"along": "Length", "at": {"Type": "1"}, "thresholds": [known | more]}


def test_thresholds_are_crossed_both_ways_with_an_interval() -> None:
    rising = crossing(first_failing=0, crossings=[], sustained_from=None, interval=interval(12, 0) | {"high": None})
    text = thresholds_text(HEAD | {"series": [crossing(), rising]})
    assert text.split("revision 2\n\n")[1] == (
        "along   at      level  first failing  first reaching  passes from  crosses                         "
        "95 % interval\n"
        "Length  Type 1     90              4               0            8  falling at 3.4, rising at 7.25  3 to 6\n"
        "Length  Type 1     90              0               0            —  —                               "
        "from 12 on\n"
        "\n"
        "failing: below the level; passes from: the first level from which every later cell passes\n"
        "crosses: interpolated between neighbouring cells, as they were measured\n"
        "interval: where a truth that only falls, or only rises, crosses; from the noise of all cells together\n"
    )
    [row] = csv.DictReader(io.StringIO(thresholds_csv(HEAD | {"series": [crossing()]})))
    assert (row["crossings"], row["first_failing"], row["sustained_from"]) == ("falling 3.4; rising 7.25", "4", "8")
    assert (row["low"], row["high"], row["recovers"]) == ("3", "6", "true")
    unknown = thresholds_text(HEAD | {"series": [crossing(interval=None)]})
    assert "no noise is known: how far the crossings could move nobody can say\n" in unknown


def test_crossings_lie_between_the_names_of_levels_that_have_no_number() -> None:
    named = crossing(crossings=[], interval={"level": 0.95, "low": "small", "high": "large"})
    assert "small to large\n" in thresholds_text(HEAD | {"series": [named]})


def test_precision_names_the_implied_trials() -> None:
    found = {"status": "ok", "decimals": 1, "implied_trials": 150, "candidates": [150, 300], "chance": 0.1508}
    text = of("precision")["txt"](HEAD | {"precision": found})
    assert "implied trials: 150 is the smallest number that explains every value, then 300\n" in text


@pytest.mark.parametrize("part", PARTS)
def test_a_part_that_is_null_or_absent_is_one_line(part: str) -> None:
    for document in (HEAD, HEAD | {"series": [], "peaks": None, "coverage": None, "sensitivity": None}):
        renderers = of(part)
        assert renderers["txt"](document).endswith(".\n")
        assert renderers["md"](document).startswith("# ")
        assert renderers["csv"](document).count("\n") == 1


def test_all_statistics_have_a_heading_for_each_part() -> None:
    lines = of("statistics")["txt"](HEAD | {"series": [falling()], "peaks": peaks()}).splitlines()
    assert [line for line in lines if line.lower() in PARTS] == [part.capitalize() for part in PARTS[1:]]
