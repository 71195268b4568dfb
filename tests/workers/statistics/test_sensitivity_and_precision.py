"""Shares of variance, adjusted means, implied trials and trends over whole grids."""

from __future__ import annotations

import numpy as np
import pytest
from reference_numbers import PERCENT, described, having, line, name_of, seeds
from scipy import special, stats

from registry.grids.grid import Axis, Grid, Level, Metric
from tests.workers.statistics.documents import describe


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


def test_no_trials_are_invented_for_a_score_at_its_bound():
    """An area under a curve of 1.0 along a level, without trials: the logit scale has no place for it."""
    axes = tuple(Axis(n, "nominal", tuple(Level(str(i)) for i in range(2))) for n in "ab")
    metric = Metric("auc", None, "higher", 0, 1)
    found = describe(Grid(metric, axes, (1.0, 1.0, 0.8, 0.9)))["sensitivity"]["axes"]["a"]["levels"]
    assert [level["logit_mean"] for level in found] == [None, None]
    inside = describe(Grid(metric, axes, (0.6, 0.7, 0.8, 0.9)))["sensitivity"]["axes"]["a"]["levels"]
    assert all(level["logit_mean"] is not None for level in inside)


def test_effects_that_add_up_on_the_logit_scale_are_no_interaction():
    """In percent they bend near the bound: there the same table has an interaction beyond any doubt."""
    effects = np.linspace(0, 2.2, 7)[:, None] + np.linspace(0, 2.2, 10)
    values = np.round(100 * special.expit(effects), 1)
    axes = (Axis("a", "nominal", tuple(Level(str(i)) for i in range(7))), line([0.0] * 10).axes[0])
    rest = describe(Grid(PERCENT, axes, tuple(values.ravel().tolist()), 1000))["sensitivity"]["residual"]
    assert rest["p"] < 1e-6
    assert rest["logit"]["p"] > 0.99


def test_an_axis_is_tested_against_what_is_left():
    """Without trials F of an additive analysis of variance, by hand on a full 3 x 4 table."""
    table = np.array([[1.0, 2.5, 2.0, 3.0], [2.0, 3.0, 4.5, 4.0], [5.0, 5.5, 6.0, 8.0]])
    axes = tuple(Axis(n, "nominal", tuple(Level(str(i)) for i in range(size))) for n, size in (("a", 3), ("b", 4)))
    found = describe(Grid(Metric("loss"), axes, tuple(table.ravel())))["sensitivity"]
    rows, columns = table.mean(axis=1, keepdims=True), table.mean(axis=0)
    rest = ((table - rows - columns + table.mean()) ** 2).sum() / 6
    f = 4 * ((rows - table.mean()) ** 2).sum() / 2 / rest
    assert found["axes"]["a"]["p"] == pytest.approx(float(stats.f.sf(f, 2, 6)), rel=1e-9)
    assert found["axes"]["a"]["test"] == "f"
    level = found["axes"]["a"]["levels"][0]["interval"]
    assert [level["low"], level["high"]] == pytest.approx(
        stats.t.interval(0.95, 3, loc=table[0].mean(), scale=stats.sem(table[0])), rel=1e-9
    )


def test_an_axis_with_trials_is_tested_on_the_logit_scale():
    """Two levels of one column each: the likelihood ratio of two proportions, with half a trial on either side."""
    axes = (Axis("a", "nominal", (Level("0"), Level("1"))), Axis("b", "nominal", (Level("0"), Level("1"))))
    found = describe(Grid(PERCENT, axes, (80.0, 60.0, 79.0, 61.0), 200))["sensitivity"]
    k, n = np.array([[160.5, 120.5], [158.5, 122.5]]), 201.0
    lr = stats.chi2_contingency([k.sum(axis=0), (n - k).sum(axis=0)], correction=False, lambda_="log-likelihood")
    assert found["residual"]["logit"]["p"] > 0.05
    assert found["axes"]["b"]["test"] == "lr_logit"
    assert found["axes"]["b"]["p"] == pytest.approx(lr.pvalue, rel=1e-2)


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
