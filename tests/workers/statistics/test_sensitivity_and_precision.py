"""Shares of variance, adjusted means, implied trials and trends over whole grids."""

from __future__ import annotations

import pytest
from reference_numbers import PERCENT, described, having, line, name_of, seeds

from registry.grid import Axis, Grid, Level, Metric
from workers.statistics import describe


def levels(found: dict, grid: str, way: str, name: str) -> list[float]:
    return [level[name] for level in found["axes"][seeds()[grid][way]["name"]]["levels"]]


@pytest.mark.parametrize("entry", having("two_way"), ids=name_of)
def test_shares_agree_with_least_squares(entry):
    grid, expected = entry["grid"], entry["output"]
    found = described(grid, entry["options"]["n"])["sensitivity"]
    rows, columns = found["axes"].values()
    assert rows["share"] == pytest.approx(expected["shares"]["shapley_row"], rel=1e-9)
    assert columns["share"] == pytest.approx(expected["shares"]["shapley_col"], rel=1e-9)
    assert found["residual"]["share"] == pytest.approx(expected["shares"]["share_residual"], rel=1e-9)
    assert found["residual"]["df"] == expected["shares"]["df_resid"]
    assert found["residual"]["over_noise"] == pytest.approx(expected["residual_over_noise"], rel=1e-9)
    assert found["residual"]["p"] == pytest.approx(expected["residual_vs_noise_p"], rel=1e-9)
    assert levels(found, grid, "y", "mean") == pytest.approx(list(expected["adjusted_row_means"].values()), rel=1e-9)
    assert levels(found, grid, "y", "raw_mean") == pytest.approx(list(expected["raw_row_means"].values()), rel=1e-9)


@pytest.mark.parametrize("entry", having("logit_adjusted_means"), ids=name_of)
def test_logit_adjusted_means_agree_with_statsmodels(entry):
    grid, expected = entry["grid"], entry["output"]
    found = described(grid, entry["options"]["n"])["sensitivity"]
    for way, name in (("y", "adjusted_row_means"), ("x", "adjusted_col_means")):
        assert levels(found, grid, way, "logit_mean") == pytest.approx(list(expected[name].values()), rel=1e-9)


def test_an_adjusted_proportion_stays_below_its_bound():
    axes = tuple(Axis(n, "nominal", tuple(Level(str(i)) for i in range(3))) for n in "ab")
    values = (99.0, None, None, 60.0, 50.0, 40.0, None, 88.0, None)
    found = describe(Grid(PERCENT, axes, values, 100))["sensitivity"]["axes"]["b"]["levels"]
    assert all(0 < level["logit_mean"] < 100 for level in found)


def test_effects_that_never_meet_are_not_adjusted():
    axes = tuple(Axis(n, "nominal", (Level("1"), Level("2"), Level("3"))) for n in "ab")
    values = (1.0, 2.0, None, 3.0, 5.0, None, None, None, 9.0)
    found = describe(Grid(PERCENT, axes, values))["sensitivity"]
    assert found["axes"]["a"]["levels"][0]["mean"] is None
    assert found["axes"]["a"]["share"] + found["axes"]["b"]["share"] + found["residual"]["share"] == pytest.approx(1)


def test_three_axes_have_interactions():
    axes = tuple(Axis(n, "nominal", (Level("0"), Level("1"))) for n in "abc")
    found = describe(Grid(PERCENT, axes, (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 8.0, 8.0)))["sensitivity"]
    assert [axis["share"] for axis in found["axes"].values()] == pytest.approx([1 / 3, 1 / 3, 0])
    assert found["interactions"][0] == {"axes": ["a", "b"], "share": pytest.approx(1 / 3)}


def test_a_ragged_grid_of_three_axes_shares_everything_out():
    axes = tuple(Axis(n, "nominal", (Level("0"), Level("1"), Level("2"))) for n in "abc")
    values = tuple(None if i % 5 == 3 else float(i % 3 + 2 * (i // 9)) for i in range(27))
    found = describe(Grid(PERCENT, axes, values))["sensitivity"]
    assert found["method"] == "shapley"
    assert [axis["share"] for axis in found["axes"].values()] == pytest.approx([0.8, 0, 0.2], abs=0.05)
    assert found["residual"]["share"] == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize("entry", having("mk_exact_stratified"), ids=name_of)
def test_the_trend_of_a_grid_is_exact(entry):
    if entry["grid"] not in seeds():
        pytest.skip("a reference over several grids")
    way = "x" if "x" in entry["options"]["order"] else "y"
    found = described(entry["grid"])["grid_trend"][seeds()[entry["grid"]][way]["name"]]
    assert found["s"] == entry["output"]["S"]
    assert found["p"] == pytest.approx(entry["output"]["p_two_sided"], rel=1e-9)


def test_the_lattice_of_a_proportion_implies_its_trials():
    values = [v for name in ("s2/r1-llama/AIME24", "s4/r1-qwen/AIME24") for row in seeds()[name]["values"] for v in row]
    (entry,) = having("lattice_check", "AIME24")
    found = describe(line(values))["precision"]
    assert found["candidates"] == entry["output"]["smallest_n_consistent_with_every_value"]
    given = describe(line(values, trials=150))["precision"]
    assert given["off_lattice_count"] == 1
    assert given["off_lattice"][0]["value"] == entry["output"]["off_lattice"][0]["value"]
    alone = described("s4/r1-qwen/AIME24")["precision"]
    assert alone["implied_trials"] == 150
    assert alone["chance"] == pytest.approx(entry["output"]["chance_rate_per_cell"], rel=1e-12)


def test_implied_trials_are_never_adopted():
    found = described("s4/r1-qwen/AIME24")
    assert found["series"][0]["logit"] is None


def test_a_metric_without_bounds_has_decimals_only():
    found = describe(line([0.125, 3.5], metric=Metric("loss")))["precision"]
    assert (found["status"], found["decimals"], found["implied_trials"]) == ("ok", 3, None)
