"""What people and programs read of statistics, written out by hand."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from registry.renderings.statistics import of

PARTS = ("statistics", "trends", "changes", "peaks", "coverage", "sensitivity", "precision")
HEAD = {
    "grid": "0193a7c0-0000-7000-8000-000000000001",
    "revision": 2,
    "methods_version": "1",
    "params": {"alpha": 0.05, "sharp_change": 5.0},
    "metric": {"name": "accuracy", "unit": "%", "direction": "higher"},
    "axes": [{"name": "Type", "kind": "nominal"}, {"name": "Length", "kind": "numeric"}],
}
ABOUT = "grid 0193a7c0-0000-7000-8000-000000000001 · revision 2 · methods 1 · alpha 0.05\n\n"


def interval(low: float, high: float) -> dict[str, float]:
    return {"level": 0.95, "low": low, "high": high}


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
        "mann_kendall": {"status": "ok", "s": -31, "p": 0.00468694885361552, "min_attainable_p": 5.5e-7},
        "trend_p": 0.00001,
        "q": 0.0133369,
        "direction": "slightly_decreasing",
        "shape": {"status": "ok", "kind": "step", "at": 3},
        "changes": [
            {"from": 0, "to": 1, "size": -2.6, "sharp": False, "p_holm": 0.2936, "interval": interval(-5.4, -0.3677)},
            {"from": 2, "to": 3, "size": -5.6, "sharp": True, "p_holm": 0.01068, "interval": interval(-9.3, -2.4)},
        ],
    }


def too_short() -> dict[str, Any]:
    return falling() | {
        "at": {"Type": "2"},
        "count": 2,
        "first": 100.0,
        "last": 99.7,
        "slope": None,
        "slope_interval": None,
        "mann_kendall": {"status": "insufficient", "p": 1.0, "reason": "too few orderings"},
        "trend_p": None,
        "q": None,
        "direction": "two_points",
        "shape": {"status": "insufficient", "kind": None, "reason": "it needs 8 points"},
        "changes": [{"from": 1, "to": 2, "size": -0.3, "sharp": False, "p_holm": None, "interval": None}],
    }


def test_trends_are_one_row_a_series_and_say_why_a_number_is_missing() -> None:
    found = of("trends")["txt"](HEAD | {"series": [falling(), too_short()]})
    assert found == (
        "Trends — accuracy (%)\n"
        "=====================\n\n" + ABOUT + "accuracy (%) along Length, 2 series\n\n"
        "Type  points  first     last  slope  95 % interval   exact p       q  direction            shape\n"
        "1         10   99.3  →  83.7  -1.86  [-2.94, -0.80]   0.0047  0.0133  slightly decreasing  step at 3\n"
        "2          2  100.0  →  99.7      —  —                     —       —  two points           "
        "—          [1,2,3]\n"
        "\n"
        "[1] exact p: too few orderings\n"
        "[2] shape: it needs 8 points\n"
        "[3] slope: undefined\n"
        "\n"
        "slope: Theil–Sen, per unit of Length; exact p: Mann–Kendall, two-sided, ties included\n"
        "q: Benjamini–Hochberg over these 2 series\n"
    )


def test_the_test_on_known_noise_has_a_column_of_its_own() -> None:
    found = of("trends")["txt"](HEAD | {"series": [falling() | {"logit": {"status": "ok", "p": 0.00001}}]})
    assert "exact p  trend p       q" in found
    assert " 0.0047  <0.0001  0.0133" in found


def test_the_normal_law_is_not_called_exact() -> None:
    long = falling() | {"mann_kendall": {"status": "ok", "s": -900, "p": 0.2, "method": "normal"}}
    found = of("trends")["txt"](HEAD | {"series": [long]})
    assert "MK p" in found
    assert "exact p" not in found


def test_a_slope_is_per_unit_of_its_axis() -> None:
    axes = [{"name": "Length", "kind": "numeric", "unit": "token"}]
    assert "slope: Theil–Sen, per token of Length;" in of("trends")["txt"](HEAD | {"axes": axes, "series": [falling()]})
    logarithmic = HEAD | {"series": [falling() | {"x_scale": "log10"}]}
    assert "slope: Theil–Sen, per factor of ten of Length;" in of("trends")["txt"](logarithmic)


def test_all_series_together_have_one_line() -> None:
    trend = {"Length": {"status": "ok", "s": -267, "p": 1e-9}}
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
        "Type  from  to  step  95 % interval   Holm p\n"
        "1        0   1  -2.6  [-5.40, -0.37]  0.2936\n"
        "1        2   3  -5.6  [-9.30, -2.40]  0.0107  sharp\n"
        "2        1   2  -0.3  —                    —\n"
        "\n"
        "sharp: a step of 5 or more with Holm p < 0.05\n"
    )


def test_of_many_steps_text_lists_the_sharp_ones_and_the_largest_of_each_series() -> None:
    small = [{"from": i, "to": i + 1, "size": 0.1, "sharp": False} for i in range(50)]
    large = {"from": 50, "to": 51, "size": -3.0, "sharp": False}
    document = HEAD | {"series": [falling() | {"changes": [*small, large]}]}
    assert "1       50  51  -3.0\n" in of("changes")["txt"](document)
    assert "50 other steps are not shown; CSV and JSON have all\n" in of("changes")["txt"](document)
    assert of("changes")["csv"](document).count("\n") == 52


def peaks() -> dict[str, Any]:
    at = {"Window": 2000, "Ratio": 0.4}
    return {
        "status": "ok",
        "best": {"value": 52.0, "at": [at], "ties": 1},
        "runner_up": {"value": 48.7, "at": [{"Window": 500, "Ratio": 0.5}], "ties": 3, "gap": 3.299999999999997},
        "by": {"Ratio": [{"level": 0.1, "value": 47.3, "at": [{"Window": 3000, "Ratio": 0.1}], "ties": 1}]},
        "expected_max_if_equal": 52.62,
        "probability_best": [{"at": at, "value": 52.0, "probability": 0.4812}],
        "best_set": {"level": 0.95, "size": 1, "tied_out": 0, "at": [at]},
    }


def test_a_peak_stands_beside_its_noise_floor() -> None:
    found = of("peaks")["txt"](HEAD | {"peaks": peaks()})
    assert found.split(ABOUT)[1] == (
        "best accuracy (%): 52.0\n\n"
        "Window  Ratio  P(best)\n"
        "  2000    0.4   0.4812\n"
        "\n"
        "runner-up: 48.7, gap 3.3, at Window 500, Ratio 0.5; and 2 more\n"
        "noise floor: the best of as many equal cells would be expected at 52.62; the best cell does not go beyond\n"
        "\n"
        "1 cell holds the best one with a probability of at least 95 %:\n\n"
        "Window  Ratio  value  P(best)\n"
        "  2000    0.4   52.0   0.4812\n"
        "\n"
        "Ratio  best  at\n"
        "  0.1  47.3  Window 3000\n"
    )


def test_where_lower_is_better_a_floor_is_passed_from_above() -> None:
    lower = HEAD | {"metric": {"name": "loss", "direction": "lower"}}
    assert "the best cell goes beyond" in of("peaks")["txt"](lower | {"peaks": peaks()})


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
    means = [{"level": "1", "raw_mean": 63.0, "mean": 44.0, "logit_mean": 33.6}]
    found = {
        "status": "ok",
        "method": "shapley",
        "axes": {"Type": {"share": 0.7642, "df": 6, "levels": means}},
        "residual": {"share": 0.2358, "df": 15, "over_noise": 4.72, "p": 1e-9},
    }
    text = of("sensitivity")["txt"](HEAD | {"sensitivity": found})
    assert "axis       share  df\nType      76.4 %   6\nresidual  23.6 %  15\n" in text
    assert "4.72 times the known noise of the cells (chi-squared p <0.0001 that it is noise)" in text
    assert "Type    raw  adjusted  on the logit scale\n1     63.00     44.00               33.60\n" in text


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
