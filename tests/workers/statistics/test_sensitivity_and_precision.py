"""Shares of variance, adjusted means, implied trials and trends over whole grids."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize, special, stats

from registry.grids.grid import Axis, Grid, Level, Metric
from registry.results.codec import to_document
from tests.workers.statistics.documents import describe, ends
from tests.workers.statistics.reference_numbers import PERCENT, agrees, described, each, having, line, seed_grid, seeds
from workers.statistics.additive import Layout, left_over
from workers.statistics.common_direction import grid_trends, rows_along, stratified
from workers.statistics.proportions import shares_and_variances, wilson_limits
from workers.statistics.sensitivity import sensitivity as of_table
from workers.statistics.table import Table

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


def of_grid(grid: Grid) -> dict:
    """The tests of the axes by themselves, before the report of the grid opens them."""
    return to_document(of_table(Table.of(grid)))


def sensitivity(values: object, **more: object) -> dict:
    return of_grid(nominal(values, **more))


@each("two_way")
def test_shares_agree_with_least_squares(entry):
    grid, expected = entry["grid"], entry["output"]
    found = of_grid(seed_grid(grid, entry["options"]["n"]))
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
    found = of_grid(seed_grid(grid, entry["options"]["n"]))
    for way, name in (("y", "adjusted_row_means"), ("x", "adjusted_col_means")):
        assert levels(found, grid, way, "logit_mean") == pytest.approx(list(expected[name].values()), rel=1e-9)


def test_an_adjusted_proportion_stays_below_its_bound():
    found = sensitivity([[99.0, N, N], [60.0, 50.0, 40.0], [N, 88.0, 70.0]], trials=100)["axes"]["b"]["levels"]
    assert all(0 < level["logit_mean"] < 100 for level in found)


@pytest.mark.parametrize(
    "rows", [[[90.0, 70.0, 50.0]], [[90.0], [70.0], [50.0]], [[90.0, N], [70.0, 60.0], [N, 50.0]], [[1.0, N], [N, 2.0]]]
)
def test_an_axis_explains_nothing_where_it_has_one_level_or_each_cell_an_effect_of_its_own(rows):
    """Noise alone would be explained whole: 100 % by one axis, 0 % by the other."""
    found = sensitivity(rows, trials=100)
    assert (found["status"], found["axes"]) == ("insufficient", None)


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


def test_a_crossing_is_an_interaction_although_no_axis_matters():
    """Each nominal axis is tested against the crossing and shows nothing; chi-squared with one df of the crossing is
    far beyond noise, and is held against a twentieth of alpha."""
    crossing = describe(nominal([[90.0, 50.0], [50.0, 90.0]], trials=300))["sensitivity"]
    assert crossing["residual"]["logit"]["p"] < 1e-40
    slight = describe(nominal([[52.0, 48.0], [47.0, 54.0]], trials=300))["sensitivity"]["residual"]["logit"]["p"]
    assert slight > 0.05


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


@pytest.mark.parametrize("effect", [None, 2.0])
@pytest.mark.parametrize("trials", [20, (20, 200, 20, 5, 20, 20, 1_000, 20)])
def test_a_mean_of_cells_has_one_interval_wherever_it_stands(trials, effect):
    """As the series along the other axis has it; near the end, where errors to either side missed in 8.5 %."""
    axes = Axis("a", "numeric", (Level("0", 0.0), Level("1", 1.0))), nominal([1.0] * 4).axes[0]
    values = (95.0, 100.0, 90.0, 80.0, 85.0, 75.0, 93.5, 90.0)
    found = describe(Grid(PERCENT, (axes[0], replace(axes[1], name="b")), values, trials, design_effect=effect))
    of_levels = [end for one in found["sensitivity"]["axes"]["b"]["levels"] for end in ends(one["interval"])]
    rows = [one["summary"]["mean_interval"] for one in found["series"] if one["along"] == "a"]
    of_series = [end for row in rows for end in ends(row)]
    assert of_levels == pytest.approx(of_series, rel=1e-12)
    assert len(of_levels) == 8


@pytest.mark.parametrize(
    ("trials", "rates"),
    [((20, 20), (0.9, 0.9)), ((5,) * 5, (0.995,) * 5), ((5, 500), (0.7, 0.7)), ((20,) * 4, (0.5, 0.9, 0.95, 0.99))],
)
def test_the_interval_of_a_mean_misses_in_six_percent_at_most_near_the_end_too(trials, rates):
    """Drawn from the binomial law, and each count looked up once."""
    random = np.random.default_rng(7)
    n, truth = np.array(trials, dtype=float), np.mean(rates)
    k = random.binomial(trials, rates, (20_000, len(trials))).astype(float)
    share, variance = shares_and_variances(k, n)
    sums = share.mean(axis=1), variance.sum(axis=1) / n.size**2
    low, high = wilson_limits((k / n).mean(axis=1), *sums, 0.05, True)
    missed = np.mean((truth < low) | (truth > high))
    assert missed < 0.06 + 4 * np.sqrt(0.06 * 0.94 / 20_000)


@pytest.mark.parametrize("gap", [None, 7])
def test_unequal_errors_weigh_the_tests(gap):
    """Least squares of numpy on cells that are divided by their errors, one row of which has five times the others'."""
    error = np.repeat([1.0, 1.0, 1.0, 5.0], 5)
    values = np.add.outer([0.0, 5, 10, 15], [0.0, 20, 5, 10, 30]).ravel() + error * np.random.default_rng(6).normal(
        size=20
    )
    kept = np.arange(20) != gap
    plain = nominal(np.where(kept, values, N).reshape(4, 5), Metric("score"))
    found = of_grid(replace(plain, stderr=tuple(error.tolist())))
    rows, columns = np.divmod(np.arange(20), 5)
    one_hot = np.column_stack([np.eye(4)[rows], np.eye(5)[columns]])[kept] / error[kept, None]
    full, less = (np.linalg.lstsq(x, (values / error)[kept]) for x in (one_hot, one_hot[:, 4:]))
    rest, without = (
        float(np.sum((x @ fit[0] - (values / error)[kept]) ** 2))
        for x, fit in ((one_hot, full), (one_hot[:, 4:], less))
    )
    df = int(kept.sum()) - 8
    assert found["residual"]["over_noise"] == pytest.approx(rest / df, rel=1e-9)
    assert found["residual"]["p"] == pytest.approx(float(stats.chi2.sf(rest, df)), rel=1e-9)
    expected = float(stats.f.sf((without - rest) / 3 / (rest / df), 3, df))
    assert found["axes"]["a"]["p"] == pytest.approx(expected, rel=1e-6)


def test_an_additive_truth_of_unequal_errors_interacts_as_often_as_alpha():
    """Four standard errors of 2,000 draws about 5 %."""
    error, layout = np.repeat([1.0, 1.0, 1.0, 5.0], 5), Layout(tuple(np.divmod(np.arange(20), 5)), (4, 5))
    draws = error * np.random.default_rng(7).normal(size=(2000, 20))
    p = stats.chi2.sf([left_over(layout, values, error**-2) for values in draws], 12)
    assert np.mean(p < 0.05) == pytest.approx(0.05, abs=4 * np.sqrt(0.05 * 0.95 / 2000))


def test_an_axis_with_trials_is_tested_on_the_logit_scale():
    """Two levels of one column each: the likelihood ratio of two proportions, with half a trial on either side."""
    found = sensitivity([[80.5, 60.5], [79.5, 61.5]], trials=200)
    k, n = np.array([[161.5, 121.5], [159.5, 123.5]]), 201.0
    lr = stats.chi2_contingency([k.sum(axis=0), (n - k).sum(axis=0)], correction=False, lambda_="log-likelihood")
    assert found["residual"]["logit"]["p"] > 0.05
    assert (found["axes"]["b"]["test"], found["axes"]["b"]["p"]) == ("lr_logit", pytest.approx(lr.pvalue, rel=1e-2))


def test_few_trials_are_not_pulled_to_one_half():
    """78 of 78 beside 5993 of 6000: likelihoods by scipy's minimizer and the score by numpy, with half counts that are
    shared out by trials. Neither the axis nor the interaction is more than noise."""
    trials = np.repeat([1000, 13], 6)
    hits = np.array([999, 998, 1000, 999, 997, 1000] + [13] * 6)
    plain = nominal((100 * hits / trials).reshape(2, 6))
    found = of_grid(replace(plain, trials=tuple(trials.tolist())))
    rows, columns = np.divmod(np.arange(12), 6)
    one_hot = np.column_stack([np.eye(6)[columns], rows])
    n = trials * (1 + 1 / trials.mean())
    k = hits + trials / trials.mean() / 2
    (full, share), (less, without) = (fit(one_hot, k, n), fit(one_hot[:, :6], k, n))
    weight = n * without * (1 - without)
    slope = one_hot.T @ (k - n * without)
    score = slope @ np.linalg.solve(one_hot.T @ (weight[:, None] * one_hot), slope)
    p = stats.chi2.sf(min(2 * (full - less), score), 1)
    assert (found["axes"]["a"]["p"], p > 0.6) == (pytest.approx(p, rel=1e-5), True)
    above, below = (level["logit_mean"] for level in found["axes"]["a"]["levels"])
    assert [above, below] == pytest.approx([100 * share[:6].mean(), 100 * share[6:].mean()], rel=1e-6)
    assert below > 99.88
    chi2, ratio = np.sum((k - n * share) ** 2 / (n * share * (1 - share))), 2 * (loglik(k, n, k / n) - full)
    logit = found["residual"]["logit"]
    assert (logit["chi2"], logit["p"]) == pytest.approx((chi2, stats.chi2.sf(min(chi2, ratio), 5)), rel=1e-4)


def fit(x: np.ndarray, k: np.ndarray, n: np.ndarray) -> tuple[float, np.ndarray]:
    """The largest log-likelihood of a logit model, and its shares."""
    found = optimize.minimize(lambda b: -loglik(k, n, special.expit(x @ b)), np.full(x.shape[1], 1.0), tol=1e-9)
    return -found.fun, special.expit(x @ found.x)


def loglik(k: np.ndarray, n: np.ndarray, share: np.ndarray) -> float:
    return float(np.sum(special.xlogy(k, share) + special.xlogy(n - k, 1 - share)))


def test_effects_that_never_meet_are_not_adjusted():
    found = sensitivity([[1.0, 2.0, N], [3.0, 5.0, N], [N, N, 9.0]])
    assert found["axes"]["a"]["levels"][0]["mean"] is None
    assert found["axes"]["a"]["share"] + found["axes"]["b"]["share"] + found["residual"]["share"] == pytest.approx(1)


def test_an_axis_has_no_degrees_of_freedom_between_blocks_that_never_meet():
    """F by numpy's least squares and ranks: two blocks of two by two cells are two tables of one contrast an axis."""
    values = np.array([[1.0, 2.0, N, N], [3.0, 5.0, N, N], [N, N, 9.0, 4.0], [N, N, 7.0, 3.0]])
    found = sensitivity(values, metric=Metric("score"))
    rows, columns = np.nonzero(~np.isnan(values))
    one_hot = np.column_stack([np.eye(4)[columns], np.eye(4)[rows]])
    full, less = (np.linalg.lstsq(x, values[rows, columns]) for x in (one_hot, one_hot[:, :4]))
    rest, without = (
        float(np.sum((x @ fit[0] - values[rows, columns]) ** 2)) for x, fit in ((one_hot, full), (one_hot[:, :4], less))
    )
    df, left = int(full[2] - less[2]), 8 - int(full[2])
    assert (found["axes"]["a"]["df"], found["residual"]["df"]) == (df, left) == (2, 2)
    assert found["axes"]["a"]["p"] == pytest.approx(float(stats.f.sf((without - rest) / df / (rest / left), df, left)))


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
    table = Table.of(seed_grid(entry["grid"]))
    found = stratified(rows_along(table, [axis.name for axis in table.axes].index(seeds()[entry["grid"]][way]["name"])))
    assert found.s == entry["output"]["S"]
    assert found.p == pytest.approx(entry["output"]["p_two_sided"], rel=1e-9)


def test_a_shock_of_a_column_is_one_value_among_the_others():
    """Six rows of five checkpoints, the third of which is bad in all of them: the columns miss a line by more than
    noise (chi-squared of their means about a weighted line, by scipy), and the test is that of their five sums."""
    rows = np.array([[80.0, 81.0, 60.0, 82.0, 83.0]] * 6)
    found = grid_trends(Table.of(ordered(rows, 200)), 0.05)["x"]
    share = (2 * rows[0] + 0.5) / 201
    weight = 6 / (share * (1 - share) / 200) / 1e4
    centre = np.average(np.arange(5), weights=weight)
    away = np.arange(5) - centre
    slope = (weight * away) @ rows[0] / (weight @ away**2)
    rest = rows[0] - np.average(rows[0], weights=weight) - slope * away
    assert found.shared_p == pytest.approx(float(stats.chi2.sf(weight @ rest**2, 3)), rel=1e-9)
    assert (found.over, found.rows, found.s) == ("columns", 6, 6)
    assert found.p == pytest.approx(stats.kendalltau(range(5), rows[0], method="exact").pvalue, rel=1e-9)
    straight = grid_trends(Table.of(ordered(np.array([[80.0, 81.0, 80.5, 82.0, 83.0]] * 6), 200)), 0.05)["x"]
    assert (straight.over, straight.s) == ("series", 48)
    assert straight.shared_p > 0.05


def test_without_noise_columns_are_held_against_what_rows_and_columns_leave():
    """F of the columns' means about a line over the interaction, by hand."""
    rows = np.array([[1.0, 2.0, 9.0, 4.0], [1.5, 2.0, 9.5, 4.0], [1.0, 2.6, 9.0, 4.5]])
    found = grid_trends(Table.of(ordered(rows, None, Metric("loss"))), 0.05)["x"]
    means = rows.mean(axis=0)
    line_ss = np.polyfit(range(4), means, 1, full=True)[1][0] * 3
    rest = ((rows - rows.mean(axis=1, keepdims=True) - means + rows.mean()) ** 2).sum() / 6
    assert found.shared_p == pytest.approx(float(stats.f.sf(line_ss / 2 / rest, 2, 6)), rel=1e-9)


def ordered(rows: np.ndarray, trials: int | None, metric: Metric = PERCENT) -> Grid:
    """Nominal rows of cells along a numeric axis x."""
    axes = (
        Axis("row", "nominal", tuple(Level(str(i)) for i in range(len(rows)))),
        Axis("x", "numeric", tuple(Level(str(i), float(i)) for i in range(rows.shape[1]))),
    )
    return Grid(metric, axes, tuple(rows.ravel().tolist()), trials)


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
