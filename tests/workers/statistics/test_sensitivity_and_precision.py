"""Shares of variance, adjusted means, implied trials and trends over whole grids."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from registry.grids.grid import Axis, Grid, Level, Metric
from tests.workers.statistics.documents import describe, ends
from tests.workers.statistics.reference_numbers import PERCENT, agrees, described, each, having, line, seeds

N = np.nan


def levels(found: dict, grid: str, way: str, name: str) -> list[float]:
    return [level[name] for level in found["axes"][seeds()[grid][way]["name"]]["levels"]]


def nominal(values: object, metric: Metric = PERCENT, trials: int | None = None) -> Grid:
    """A grid of nominal axes a, b ... of these values; NaN is not measured."""
    table = np.array(values, dtype=float)
    axes = tuple(
        Axis(name, "nominal", tuple(Level(str(i)) for i in range(size)))
        for name, size in zip("abc", table.shape, strict=False)
    )
    return Grid(metric, axes, tuple(None if np.isnan(v) else v for v in table.ravel().tolist()), trials)


def sensitivity(values: object, **more: object) -> dict:
    return describe(nominal(values, **more))["sensitivity"]


@each("two_way")
def test_shares_agree_with_least_squares(entry):
    grid, expected = entry["grid"], entry["output"]
    found = described(grid, entry["options"]["n"])["sensitivity"]
    rows, columns = found["axes"].values()
    shares = [expected["shares"][name] for name in ("shapley_row", "shapley_col", "share_residual")]
    assert [rows["share"], columns["share"], found["residual"]["share"]] == pytest.approx(shares, rel=1e-9)
    agrees(found["residual"], expected["shares"], "df=df_resid")
    agrees(found["residual"], expected, "over_noise=residual_over_noise p=residual_vs_noise_p")
    assert levels(found, grid, "y", "mean") == pytest.approx(list(expected["adjusted_row_means"].values()), rel=1e-9)
    assert levels(found, grid, "y", "raw_mean") == pytest.approx(list(expected["raw_row_means"].values()), rel=1e-9)


@each("logit_adjusted_means")
def test_logit_adjusted_means_agree_with_statsmodels(entry):
    grid, expected = entry["grid"], entry["output"]
    found = described(grid, entry["options"]["n"])["sensitivity"]
    for way, name in (("y", "adjusted_row_means"), ("x", "adjusted_col_means")):
        assert levels(found, grid, way, "logit_mean") == pytest.approx(list(expected[name].values()), rel=1e-9)


def test_an_adjusted_proportion_stays_below_its_bound():
    found = sensitivity([[99.0, N, N], [60.0, 50.0, 40.0], [N, 88.0, N]], trials=100)["axes"]["b"]["levels"]
    assert all(0 < level["logit_mean"] < 100 for level in found)


def test_no_trials_are_invented_for_a_score_at_its_bound():
    """An area under a curve of 1.0 along a level, without trials: the logit scale has no place for it."""
    metric = Metric("auc", None, "higher", 0, 1)
    found, inside = (
        [level["logit_mean"] for level in sensitivity([row, [0.8, 0.9]], metric=metric)["axes"]["a"]["levels"]]
        for row in ([1.0, 1.0], [0.6, 0.7])
    )
    assert found == [None, None]
    assert None not in inside


def test_effects_that_add_up_on_the_logit_scale_are_no_interaction():
    """In percent they bend near the bound: there the same table has an interaction beyond any doubt."""
    effects = np.linspace(0, 2.2, 7)[:, None] + np.linspace(0, 2.2, 10)
    rest = sensitivity(np.round(100 * special.expit(effects), 1), trials=1000)["residual"]
    assert rest["p"] < 1e-6
    assert rest["logit"]["p"] > 0.99


def test_an_axis_is_tested_against_what_is_left():
    """Without trials F of an additive analysis of variance, by hand on a full 3 x 4 table."""
    table = np.array([[1.0, 2.5, 2.0, 3.0], [2.0, 3.0, 4.5, 4.0], [5.0, 5.5, 6.0, 8.0]])
    found = sensitivity(table, metric=Metric("loss"))["axes"]["a"]
    rows, columns = table.mean(axis=1, keepdims=True), table.mean(axis=0)
    rest = ((table - rows - columns + table.mean()) ** 2).sum() / 6
    f = 4 * ((rows - table.mean()) ** 2).sum() / 2 / rest
    assert (found["p"], found["test"]) == (pytest.approx(float(stats.f.sf(f, 2, 6)), rel=1e-9), "f")
    expected = stats.t.interval(0.95, 3, loc=table[0].mean(), scale=stats.sem(table[0]))
    assert ends(found["levels"][0]["interval"]) == pytest.approx(expected, rel=1e-9)


def test_an_axis_with_trials_is_tested_on_the_logit_scale():
    """Two levels of one column each: the likelihood ratio of two proportions, with half a trial on either side."""
    found = sensitivity([[80.0, 60.0], [79.0, 61.0]], trials=200)
    k, n = np.array([[160.5, 120.5], [158.5, 122.5]]), 201.0
    lr = stats.chi2_contingency([k.sum(axis=0), (n - k).sum(axis=0)], correction=False, lambda_="log-likelihood")
    assert found["residual"]["logit"]["p"] > 0.05
    assert (found["axes"]["b"]["test"], found["axes"]["b"]["p"]) == ("lr_logit", pytest.approx(lr.pvalue, rel=1e-2))


def test_effects_that_never_meet_are_not_adjusted():
    found = sensitivity([[1.0, 2.0, N], [3.0, 5.0, N], [N, N, 9.0]])
    assert found["axes"]["a"]["levels"][0]["mean"] is None
    assert found["axes"]["a"]["share"] + found["axes"]["b"]["share"] + found["residual"]["share"] == pytest.approx(1)


def test_three_axes_have_interactions_and_share_everything_out_where_they_are_ragged():
    found = sensitivity([[[0.0, 0.0], [0.0, 0.0]], [[0.0, 0.0], [8.0, 8.0]]])
    assert [axis["share"] for axis in found["axes"].values()] == pytest.approx([1 / 3, 1 / 3, 0])
    assert found["interactions"][0] == {"axes": ["a", "b"], "share": pytest.approx(1 / 3)}
    values = [N if i % 5 == 3 else i % 3 + 2 * (i // 9) for i in range(27)]
    found = sensitivity(np.reshape(values, (3, 3, 3)))
    assert found["method"] == "shapley"
    assert [axis["share"] for axis in found["axes"].values()] == pytest.approx([0.8, 0, 0.2], abs=0.05)
    assert found["residual"]["share"] == pytest.approx(0, abs=1e-12)


@each("mk_exact_stratified")
def test_the_trend_of_a_grid_is_exact(entry):
    if entry["grid"] not in seeds():
        return  # a reference over several grids
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
    assert described("s4/r1-qwen/AIME24")["series"][0]["logit"] is None, "they are never adopted"
    assert alone["chance"] == pytest.approx(entry["output"]["chance_rate_per_cell"], rel=1e-12)


def test_a_metric_without_bounds_has_decimals_only():
    found = describe(line([0.125, 3.5], metric=Metric("loss")))["precision"]
    assert (found["status"], found["decimals"], found["implied_trials"]) == ("ok", 3, None)
