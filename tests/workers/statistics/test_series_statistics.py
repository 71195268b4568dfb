"""Series against the reference numbers, and the traps that other libraries fall into."""

from __future__ import annotations

import json
import math

import pytest
from reference_numbers import PERCENT, having, leaves, line, name_of, one_series, series_of

from registry.grids.grid import Axis, Grid, Level, Metric
from tests.workers.statistics.documents import describe

EXACT = 1e-9


def close(expected: float) -> object:
    return pytest.approx(
        expected, rel=EXACT if abs(expected) > 1e-30 else 1e-6, abs=1e-11 if abs(expected) > 1e-9 else 0
    )


@pytest.mark.parametrize("entry", having("summary"), ids=name_of)
def test_the_summary_agrees(entry):
    summary, expected = series_of(entry)["summary"], entry["output"]
    assert summary["count"] == expected["n"]
    for name in ("mean", "sd", "min", "max", "first", "last", "net_change", "normalised_area"):
        assert summary[name] == close(expected[name])


@pytest.mark.parametrize("entry", having("theil_sen"), ids=name_of)
def test_theil_sen_agrees_with_scipy(entry):
    series, expected = series_of(entry), entry["output"]
    assert series["slope"] == close(expected["slope"])
    assert series["slope_intercept"] == close(expected["intercept"])
    if series["slope_interval"] is None:
        assert series["mann_kendall"]["min_attainable_p"] >= 0.05
        return
    assert series["slope_interval"]["low"] == close(expected["low"])
    assert series["slope_interval"]["high"] == close(expected["high"])


@pytest.mark.parametrize("entry", having("ols"), ids=name_of)
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


@pytest.mark.parametrize("entry", having("mk_exact"), ids=name_of)
def test_mann_kendall_is_exact_with_ties(entry):
    test, expected = series_of(entry)["mann_kendall"], entry["output"]
    assert test["s"] == expected["S"]
    assert test["p"] == pytest.approx(expected["p_two_sided"], rel=EXACT)
    assert test["min_attainable_p"] == pytest.approx(expected["min_attainable_p"], rel=EXACT)


@pytest.mark.parametrize("entry", having("series_class"), ids=name_of)
def test_the_direction_without_trials_agrees(entry):
    """The reference knows no other series: where q is not below .05, its trend is not called one here."""
    series, word = series_of(entry), entry["output"]["direction"]
    if "creasing" in word and series["q"] >= 0.05:
        word = "inconclusive"
    assert series["direction"] == word


def test_ties_are_not_left_to_the_normal_law():
    test = one_series([1, 1, 2, 2, 3])["mann_kendall"]
    assert test["p"] == pytest.approx(1 / 15, rel=1e-15)
    assert test["status"] == "insufficient"


def test_four_levels_cannot_be_significant():
    test = one_series([1, 2, 3, 4])
    assert test["mann_kendall"]["min_attainable_p"] == pytest.approx(1 / 12)
    assert test["direction"] == "insufficient_points"
    assert test["trend_p"] is None


def test_an_arithmetic_remainder_ties_with_the_submitted_value():
    test = one_series([0.1, 0.7, 0.7000000000000028, 0.9])["mann_kendall"]
    assert test["s"] == 5


def test_a_tail_does_not_round_to_zero():
    test = one_series([float(i) for i in range(200)], metric=Metric("loss"))["mann_kendall"]
    assert test["method"] == "normal"
    assert test["p"] == pytest.approx(2 * 3.6347975605811614e-98, rel=1e-6)
    longest = one_series([float(i) for i in range(3000)], metric=Metric("loss"))
    assert longest["mann_kendall"]["p"] > 0
    assert longest["slope"] == pytest.approx(1)
    assert longest["slope_points_used"] == 500


def test_sixty_points_are_still_exact():
    test = one_series([float(i) for i in range(60)], metric=Metric("loss"))["mann_kendall"]
    assert test["method"] == "exact"
    assert test["p"] == pytest.approx(2 / math.factorial(60), rel=1e-12)


def test_an_uneven_axis_is_read_by_its_values():
    series = one_series([1.0, 2.0, 4.0, 8.0], numbers=[500.0, 1000.0, 2000.0, 3000.0])
    assert series["slope"] == pytest.approx(0.0024, rel=1e-12)


def test_a_logarithmic_axis_is_read_by_its_logarithm():
    series = one_series([10.0, 20.0, 30.0], numbers=[1.0, 10.0, 100.0], scale="log")
    assert series["x_scale"] == "log10"
    assert series["slope"] == pytest.approx(10)
    with_zero = one_series([10.0, 20.0, 30.0], numbers=[0.0, 10.0, 100.0], scale="log")
    assert with_zero["x_scale"] == "linear"


def test_two_points_have_no_p_value():
    series = one_series([1.0, 2.0])
    assert series["ols"]["status"] == "insufficient"
    assert series["ols"]["p"] is None
    assert series["direction"] == "two_points"
    assert series["ols"]["slope"] == 1.0


def test_a_constant_series_has_no_p_value():
    series = one_series([5.0] * 6)
    assert series["ols"]["status"] == "undefined"
    assert series["ols"]["p"] is None
    assert series["direction"] == "constant"
    assert series["slope"] == 0.0


def test_a_straight_series_leaves_no_residual():
    ols = one_series([1.0, 2.0, 3.0, 4.0, 5.0])["ols"]
    assert (ols["status"], ols["p"], ols["slope"]) == ("undefined", None, pytest.approx(1.0))


def test_a_single_cell_has_a_series_without_inference():
    series = one_series([3.0])
    assert (series["status"], series["direction"], series["slope"]) == ("insufficient", "single_point", None)
    assert series["mann_kendall"]["p"] is None


def test_small_steady_changes_are_flat_only_within_the_margin():
    values = [50.0, 50.1, 49.9, 50.2, 49.8, 50.3, 50.05]
    assert one_series(values)["direction"] == "flat"
    assert one_series(values, metric=Metric("loss"))["direction"] == "inconclusive"


def test_a_nominal_axis_has_no_series():
    axis = Axis("Type", "nominal", (Level("a"), Level("b")))
    assert describe(Grid(PERCENT, (axis,), (1.0, 2.0)))["series"] == []


def test_an_ordinal_axis_is_read_by_position():
    axis = Axis("Size", "ordinal", (Level("s"), Level("m"), Level("l")))
    (series,) = describe(Grid(PERCENT, (axis,), (1.0, None, 5.0)))["series"]
    assert series["slope"] == 2.0
    assert (series["from"], series["to"]) == ("s", "l")


def test_four_axes_give_every_series():
    axes = tuple(Axis(n, "numeric", (Level("0", 0.0), Level("1", 1.0))) for n in "abcd")
    found = describe(Grid(PERCENT, axes, tuple(float(i) for i in range(16))))
    assert len(found["series"]) == 4 * 8
    assert found["series"][0]["at"] == {"b": 0, "c": 0, "d": 0}


@pytest.mark.parametrize("values", [(), (1.5,), (None,)])
def test_a_grid_without_axes_is_described(values):
    found = describe(Grid(PERCENT, (), values or (None,)))
    json.dumps(found, allow_nan=False)
    assert found["series"] == []


def test_an_empty_grid_is_described():
    empty = Grid(PERCENT, (Axis("x", "numeric", ()), Axis("y", "nominal", (Level("a"),))), ())
    found = describe(empty)
    json.dumps(found, allow_nan=False)
    assert found["coverage"]["cells"] == 0
    assert found["peaks"]["status"] == "insufficient"


def test_every_leaf_is_a_plain_value():
    found = leaves(describe(line([1.0, None, 3.0, 2.5, 9.0], trials=200)))
    assert {type(leaf) for leaf in found} <= {str, int, float, bool, type(None)}
