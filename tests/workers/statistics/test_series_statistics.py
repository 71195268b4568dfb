"""Series against the reference numbers, and the traps that other libraries fall into."""

import dataclasses
import json
import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import stats

from registry.grids.grid import Axis, Grid, Level, Metric
from tests.workers.statistics.documents import describe, ends
from tests.workers.statistics.reference_numbers import PERCENT, agrees, each, line, one_series, series_of

EXACT = 1e-9


def close(expected: float) -> object:
    tiny = abs(expected) <= 1e-30
    return pytest.approx(expected, rel=1e-6 if tiny else EXACT, abs=1e-11 if abs(expected) > 1e-9 else 0)


@each("summary")
def test_the_summary_agrees(entry):
    summary, expected = series_of(entry)["summary"], entry["output"]
    assert summary["count"] == expected["n"]
    for name in ("mean", "sd", "min", "max", "first", "last", "net_change", "normalised_area"):
        assert summary[name] == close(expected[name])


@each("theil_sen")
def test_theil_sen_agrees_with_scipy(entry):
    series, expected = series_of(entry), entry["output"]
    assert series["slope"] == close(expected["slope"])
    assert series["slope_intercept"] == close(expected["intercept"])
    if series["slope_interval"] is None:
        assert series["mann_kendall"]["min_attainable_p"] >= 0.05
        return
    assert series["slope_interval"]["low"] == close(expected["low"])
    assert series["slope_interval"]["high"] == close(expected["high"])


@each("ols")
def test_least_squares_agrees_with_scipy(entry):
    ols, expected = series_of(entry)["ols"], entry["output"]
    # Of a line without slope the reference is the rounding of its own library.
    assert ols["slope"] == pytest.approx(expected["slope"], rel=EXACT, abs=1e-13)
    assert ols["intercept"] == close(expected["intercept"])
    if ols["status"] == "ok":
        assert ols["p"] == close(expected["pvalue"])
        assert ols["stderr"] == close(expected["stderr"])
        assert ols["r2"] == pytest.approx(expected["r2"], rel=EXACT, abs=1e-14)
        assert ols["interval"]["low"] == close(expected["ci95"][0])


@each("mk_exact")
def test_mann_kendall_is_exact_with_ties(entry):
    test, expected = series_of(entry)["mann_kendall"], entry["output"]
    agrees(test, expected, "s=S p=p_two_sided min_attainable_p")


@each("series_class")
def test_the_direction_without_trials_agrees(entry):
    """The reference knows no other series: where q is not below .05, its trend is not called one here."""
    series, word = series_of(entry), entry["output"]["direction"]
    if "creasing" in word and series["q"] >= 0.05:
        word = "inconclusive"
    assert series["direction"] == word


def test_a_median_slope_has_no_interval_that_ties_or_a_straight_line_would_make_a_number():
    """Ten of 10, then ten of 1, 10, 1, ...: the mean falls, the median slope is 0 within [0, 0]."""
    two = one_series([10.0] * 10 + [1.0, 10.0] * 5, metric=Metric("score", None, "higher", 1, 10))
    assert (two["slope"], two["slope_interval"]) == (0, None)
    assert "tie" in two["slope_interval_reason"]
    assert two["fitted_change"]["method"] == "least_squares"
    assert two["fitted_change"]["interval"]["low"] < two["fitted_change"]["interval"]["high"]
    straight = one_series([1.0, 2.0, 3.0, 4.0, 5.0], metric=Metric("loss"))
    assert (straight["slope"], straight["slope_interval"], straight["fitted_change"]["value"]) == (1.0, None, 4.0)
    assert straight["fitted_change"]["interval"] is None


def test_a_row_has_the_digits_of_its_own_values_beside_a_row_of_huge_ones():
    """Five values in order have p = 2 / 5!, whatever their unit; what is left of 0.3 - 0.1 - 0.2 is no value."""
    numbers = tuple(Level(str(i), float(i)) for i in range(5))
    axes = (Axis("of", "nominal", (Level("a"), Level("b"))), Axis("x", "numeric", numbers))
    huge, small = (1e9, 2e9, 3e9, 4e9, 5e9), (1e-6, 2e-6, 3e-6, 4e-6, 5e-6)
    found = describe(Grid(Metric("cost", None, "lower"), axes, huge + small))
    one, peaks = found["series"][1], found["peaks"]
    assert (one["mann_kendall"]["p"], one["slope"]) == (pytest.approx(2 / math.factorial(5)), pytest.approx(1e-6))
    assert found["grid_trend"]["x"]["s"] == 20
    assert (peaks["best"]["value"], peaks["best"]["ties"], peaks["runner_up"]["gap"]) == (1e-6, 1, pytest.approx(1e-6))
    dust = (0.5, 0.6, 0.7, 0.8, 0.9, 0.0, 0.3 - 0.1 - 0.2, 0.0, 0.7 - 0.6 - 0.1, 0.0)
    assert describe(Grid(Metric("cost"), axes, dust))["series"][1]["direction"] == "constant"


def test_rounding_of_a_straight_line_or_of_equal_repeats_makes_no_interval():
    straight = [0.3 + 0.1 * i for i in range(7)]
    assert len({b - a for a, b in pairwise(straight)}) > 1
    for repeats in ({}, {"repeats": (3,) * 7, "sd": (5e-17,) * 7}):
        (one,) = describe(dataclasses.replace(line(straight, metric=Metric("loss")), **repeats))["series"]
        assert (one["slope_interval"], one["fitted_change"]["interval"], one["noise"]) == (None, None, "unknown")


def test_small_p_values_are_exact_counts_of_orderings():
    tied = one_series([1, 1, 2, 2, 3])["mann_kendall"]
    assert (tied["p"], tied["status"]) == (pytest.approx(1 / 15, rel=1e-15), "insufficient")
    sixty = one_series([float(i) for i in range(60)], metric=Metric("loss"))["mann_kendall"]
    assert (sixty["p"], sixty["method"]) == (pytest.approx(2 / math.factorial(60), rel=1e-12), "exact")
    # 0.7 and its arithmetic remainder tie.
    assert one_series([0.1, 0.7, 0.7000000000000028, 0.9])["mann_kendall"]["s"] == 5


def test_a_tail_does_not_round_to_zero():
    test = one_series([float(i) for i in range(200)], metric=Metric("loss"))["mann_kendall"]
    assert (test["p"], test["method"]) == (pytest.approx(2 * 3.6347975605811614e-98, rel=1e-6), "normal")
    longest = one_series([float(i) for i in range(3000)], metric=Metric("loss"))
    assert longest["mann_kendall"]["p"] > 0
    assert (longest["slope"], longest["slope_points_used"]) == (pytest.approx(1), 500)


def test_too_few_or_too_equal_points_have_no_p_value():
    one, two, four = one_series([3.0]), one_series([1.0, 2.0]), one_series([1, 2, 3, 4])
    assert (one["status"], one["direction"], one["slope"]) == ("insufficient", "single_point", None)
    assert one["mann_kendall"]["p"] is None
    assert (two["ols"]["status"], two["ols"]["p"], two["direction"]) == ("insufficient", None, "two_points")
    assert two["ols"]["slope"] == 1.0
    assert four["mann_kendall"]["min_attainable_p"] == pytest.approx(1 / 12)
    assert (four["direction"], four["trend_p"]) == ("insufficient_points", None)
    constant, straight = one_series([5.0] * 6), one_series([1.0, 2.0, 3.0, 4.0, 5.0])
    assert (constant["ols"]["status"], constant["ols"]["p"]) == ("undefined", None)
    assert (constant["direction"], constant["slope"]) == ("constant", 0.0)
    found = straight["ols"]
    assert (found["status"], found["p"], found["slope"]) == ("undefined", None, pytest.approx(1.0))


def test_an_axis_is_read_by_its_values_and_a_logarithmic_one_by_their_logarithm():
    series = one_series([1.0, 2.0, 4.0, 8.0], numbers=[500.0, 1000.0, 2000.0, 3000.0])
    assert series["slope"] == pytest.approx(0.0024, rel=1e-12)
    assert one_series([1.0, 2.0, 3.0], numbers=[32.0, 32.0, 64.0])["slope"] == 1.0, "by position: two share a number"
    series = one_series([10.0, 20.0, 30.0], numbers=[1.0, 10.0, 100.0], scale="log")
    assert (series["x_scale"], series["slope"]) == ("log10", pytest.approx(10))
    assert one_series([10.0, 20.0, 30.0], numbers=[0.0, 10.0, 100.0], scale="log")["x_scale"] == "linear"


def test_small_steady_changes_are_flat_only_within_the_margin():
    values = [50.0, 50.1, 49.9, 50.2, 49.8, 50.3, 50.05]
    assert one_series(values)["direction"] == "flat"
    assert one_series(values, metric=Metric("loss"))["direction"] == "inconclusive"


def test_an_ordinal_axis_is_read_by_position_and_a_nominal_one_has_no_series():
    axis = Axis("Size", "ordinal", (Level("s"), Level("m"), Level("l")))
    (series,) = describe(Grid(PERCENT, (axis,), (1.0, None, 5.0)))["series"]
    assert (series["slope"], series["from"], series["to"]) == (2.0, "s", "l")
    nominal = Axis("Type", "nominal", (Level("a"), Level("b")))
    assert describe(Grid(PERCENT, (nominal,), (1.0, 2.0)))["series"] == []


def test_four_axes_give_every_series():
    axes = tuple(Axis(n, "numeric", (Level("0", 0.0), Level("1", 1.0))) for n in "abcd")
    found = describe(Grid(PERCENT, axes, tuple(float(i) for i in range(16))))
    assert len(found["series"]) == 4 * 8
    assert found["series"][0]["at"] == {"b": 0, "c": 0, "d": 0}


def test_grids_without_axes_or_cells_are_described():
    empty = Grid(PERCENT, (Axis("x", "numeric", ()), Axis("y", "nominal", (Level("a"),))), ())
    for grid in (Grid(PERCENT, (), (1.5,)), Grid(PERCENT, (), (None,)), empty):
        found = describe(grid)
        json.dumps(found, allow_nan=False)
        assert found["series"] == []
    assert (found["coverage"]["cells"], found["peaks"]["status"]) == (0, "insufficient")


Z = float(stats.norm.ppf(0.975))
OPEN = Metric("loss", None, "lower", None, None)


def test_a_ratio_of_normal_cells_has_fiellers_interval() -> None:
    """Fieller (1954): the ratios r at which (last - r first)^2 = z^2 (s_last^2 + r^2 s_first^2)."""
    first, last, errors = 8.0, 6.0, (0.5, 1.0, 0.7)
    found = with_errors([first, 7.0, last], list(errors))
    square = Z**2
    roots = np.roots([first**2 - square * 0.5**2, -2 * first * last, last**2 - square * 0.7**2])
    assert found["value"] == last / first
    assert ends(found["interval"]) == pytest.approx(tuple(sorted(roots)), rel=1e-12)


def test_no_share_is_left_of_nothing_or_of_what_may_be_nothing() -> None:
    numbers_of_very_different_sizes = [1e-290, 1.0, 1e90]
    for values in ([50.0], [0.0, 1.0, 2.0], [1.0, -1.0, 2.0], numbers_of_very_different_sizes):
        assert one_series(values, metric=OPEN)["retained"] is None, values
    assert with_errors([0.5, 2.0, 1.0], [0.5, 0.5, 0.5]) == {"value": 2.0, "interval": None}


def with_errors(values: list[float], errors: list[float]) -> Any:
    """What is left of the first value of a series with these standard errors."""
    found = describe(dataclasses.replace(line(list(values), metric=OPEN), stderr=tuple(errors)))
    return found["series"][0]["retained"]
