"""The gap between two grids, against statsmodels, scipy and enumeration."""

import itertools
import json
import statistics
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from registry.grids.grid import Axis, Grid, Level, Metric
from registry.plans.closed_forms import TwoSamples, score_interval
from tests.workers.statistics.documents import ends, gap
from tests.workers.statistics.reference_numbers import PERCENT, TRIALS, agrees, each, having, leaves, seed_grid, seeds
from workers.statistics.noise import uncertainty
from workers.statistics.ranks import score

LOSS = Metric("loss", "nats", "lower")
BENCHMARKS = [(f"s2/r1-llama/{name}", f"s4/r1-qwen/{name}", trials) for name, trials in TRIALS.items()]


def axis(name: str, *places: Any, kind: Any = "numeric", **more: Any) -> Axis:
    numeric = kind == "numeric"
    return Axis(name, kind, tuple(Level(str(p), float(p) if numeric else None) for p in places), **more)


def grid(values: Any, *axes: Axis, metric: Metric = PERCENT, **more: Any) -> Grid:
    flat = np.array(values, dtype=object).ravel().tolist()
    return Grid(metric, axes, tuple(None if v is None else float(v) for v in flat), **more)


def line(*values: Any, metric: Metric = PERCENT, **more: Any) -> Grid:
    return grid(values, axis("x", *range(len(values))), metric=metric, **more)


def common(first: str, second: str) -> list[tuple[float, float]]:
    """The values of two seed tables where both have one."""
    one, other = seeds()[first], seeds()[second]
    rows, columns = ([str(v) for v in other[way]["values"]] for way in "yx")
    found = []
    for row, level in zip(one["values"], one["y"]["values"], strict=True):
        for value, place in zip(row, one["x"]["values"], strict=True):
            if str(level) in rows and str(place) in columns:
                theirs = other["values"][rows.index(str(level))][columns.index(str(place))]
                if value is not None and theirs is not None:
                    found.append((value, theirs))
    return found


# --- against other libraries ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("first, second, trials", BENCHMARKS)
def test_the_seed_models_gap_agrees_with_the_paired_reference_with_the_pooled_test_and_with_kendall(
    first, second, trials
):
    (entry,) = having("paired_common_support")
    expected = entry["output"]["per_benchmark"][first.rsplit("/", 1)[1]]
    found = gap(seed_grid(first, trials), seed_grid(second, trials), ("model",))
    assert (found["status"], found["differs"]) == ("ok", ["model"])
    agrees(found, expected, "n_common=n wins ties losses mean=mean_diff")
    pairs = common(first, second)
    assert found["median"] == pytest.approx(statistics.median(round(b - a, 9) for a, b in pairs), rel=1e-9)
    for cell, (a, b) in zip(found["cells"], pairs, strict=True):
        k1, k2 = round(a * trials / 100), round(b * trials / 100)
        share = (k1 + k2) / trials / 2
        spread = share * (1 - share) * 2 / trials * 2 * trials / (2 * trials - 1)
        p = 2 * stats.norm.sf(abs(b - a) / 100 / np.sqrt(spread)) if spread else 1.0
        assert (cell["gap"], cell["p"]) == pytest.approx((round(b - a, 9), p), rel=1e-9)
        assert cell["test"] == "score"
    tau = stats.kendalltau(*zip(*pairs, strict=True)).statistic
    assert found["agreement"]["tau"] == pytest.approx(tau, rel=1e-9)
    assert found["only_in_contender"]["count"] == 12
    assert found["only_in_baseline"] == {"count": 0, "at": []}


@each("gap_stratified")
def test_mantel_haenszel_and_breslow_day_agree_with_statsmodels(entry):
    (first, second), expected, trials = entry["target"], entry["output"], entry["options"]["n"]
    found = gap(seed_grid(first, trials), seed_grid(second, trials))
    ratio, alike = found["odds_ratio"], found["breslow_day"]
    assert (found["n_common"], ratio["strata"]) == (expected["common"], expected["strata"])
    agrees(ratio, expected, "value=odds_ratio")
    assert ends(ratio["interval"]) == pytest.approx(expected["odds_ratio_ci"], rel=1e-9)
    agrees(alike, expected, "chi2=tarone chi2_uncorrected=breslow_day")
    assert alike["df"] == expected["strata"] - 1
    assert alike["p"] == pytest.approx(stats.chi2.sf(expected["tarone"], alike["df"]), rel=1e-9)
    assert alike["p_uncorrected"] == pytest.approx(stats.chi2.sf(expected["breslow_day"], alike["df"]), rel=1e-9)
    share = sum(cell["p_holm"] < 0.05 for cell in found["cells"]) / len(found["cells"])
    for cell in found["cells"]:
        k1, k2 = (round(cell[side] * trials / 100) for side in ("contender", "baseline"))
        tail = (0.05 * share if cell["p_holm"] < 0.05 else 0.05) / 2
        wanted = score_interval(TwoSamples(k1, trials, k2, trials), tail)
        assert cell["interval"]["level"] == pytest.approx(1 - 2 * tail)
        assert ends(cell["interval"]) == pytest.approx([100 * end for end in wanted], abs=0.35), (
            "of counts, not of rounded values"
        )


def test_the_difference_is_that_of_the_ranking_reference():
    """Types 1 and 2 of the first seed as two lines: the pair (1, 2) of the reference, whose p are of counts."""
    (entry,) = having("rank_confidence")
    expected = entry["output"]["pairs"][0]
    rows = seeds()["s0/core/qwen2.5-3b"]["values"]
    found = gap(line(*rows[1], trials=300), line(*rows[0], trials=300))
    agrees(found, expected, "n_common")
    assert found["test"]["difference"] == pytest.approx(expected["diff_pp"], abs=0.05)
    assert found["test"]["stderr"] == pytest.approx(expected["se_pp"], rel=0.02)


def test_the_slope_of_one_series_is_theil_and_sens_with_the_exact_test():
    a, b = (seeds()["s0/core/qwen2.5-3b"]["values"][i] for i in (3, 6))
    found = gap(line(*a), line(*b))
    pairs = [(i, y - x) for i, (x, y) in enumerate(zip(a, b, strict=True)) if x is not None and y is not None]
    x, y = zip(*pairs, strict=True)
    expected = stats.theilslopes(np.round(y, 6), x, 0.95, method="separate")
    (trend,) = found["along"]
    assert trend["slope"] == pytest.approx(expected.slope, rel=1e-9)
    assert ends(trend["slope_interval"]) == pytest.approx((expected.low_slope, expected.high_slope), rel=1e-9)
    assert trend["series"][0]["slope_interval"] == trend["slope_interval"]
    assert trend["mann_kendall"]["p"] == pytest.approx(trend["series"][0]["mann_kendall"]["p"], rel=1e-9)


def test_the_trend_of_several_series_is_tested_over_all_orders_within_them():
    window, ratio = axis("window", 500, 1000, 2000, 3000), axis("ratio", 0.1, 0.5)
    gaps = [[1.0, 0.5], [2.5, 0.5], [2.0, 3.0], [4.0, None]]
    base = grid([[10.0] * 2] * 4, window, ratio)
    contender = grid([[None if v is None else 10.0 + v for v in row] for row in gaps], window, ratio)
    (along_window, _) = gap(base, contender)["along"]
    rows = [[row[i] for row in gaps if row[i] is not None] for i in (0, 1)]
    seen = sum(score(np.array(row)) for row in rows)
    orders = [[score(np.array(o)) for o in itertools.permutations(row)] for row in rows]
    sums = [a + b for a, b in itertools.product(*orders)]
    assert along_window["mann_kendall"]["s"] == seen
    assert along_window["mann_kendall"]["p"] == pytest.approx(sum(abs(s) >= seen for s in sums) / len(sums), rel=1e-12)
    numbers = [500, 1000, 2000, 3000]
    slopes = [
        (row[j] - row[i]) / (numbers[j] - numbers[i])
        for row in rows
        for i, j in itertools.combinations(range(len(row)), 2)
    ]
    assert along_window["slope"] == pytest.approx(statistics.median(slopes), rel=1e-12)
    assert along_window["series_count"] == 2


@pytest.mark.parametrize("noise", ["trials", "stderr", None])
def test_a_level_is_judged_as_the_grids_of_that_level_alone(noise):
    random, sides = np.random.default_rng(5), list[Grid]()
    for loss in (0.0, 0.1):
        trials, errors = random.choice([10, 30, 150], (4, 6)), random.uniform(1, 5, (4, 6))
        values = np.round(100 * random.binomial(trials, 0.8 - loss * np.arange(4)[:, None]) / trials, 6)
        more = {"trials": trials, "stderr": errors}
        known = {noise: tuple(more[noise].ravel().tolist())} if noise else {}
        sides.append(grid(values, axis("row", *range(4)), axis("x", *range(6)), **known))
    levels = gap(*sides)["by"]["row"]["levels"]
    assert {round(one["test"]["interval"]["level"], 9) for one in levels} > {0.95}
    for i, one in enumerate(levels):
        mine = slice(6 * i, 6 * i + 6)
        known = [{noise: getattr(side, noise)[mine]} if noise else {} for side in sides]
        rows = [line(*side.values[mine], **more) for side, more in zip(sides, known, strict=True)]
        alone = gap(*rows, alpha=1 - one["test"]["interval"]["level"])
        wanted = {name: alone[name] for name in ("n_common", "wins", "ties", "losses", "mean", "median", "test")}
        found = {name: one[name] for name in wanted} | {"test": one["test"] | {"p_holm": None}}
        near = [pytest.approx(leaf, rel=1e-9) if isinstance(leaf, float) else leaf for leaf in leaves(wanted)]
        assert leaves(found) == near


def test_standard_errors_give_z():
    by_z = gap(line(1.0, metric=LOSS, stderr=(0.3,)), line(0.5, metric=LOSS, stderr=(0.4,)))
    (cell,) = by_z["cells"]
    assert (cell["test"], cell["gap"], cell["better"]) == ("z", -0.5, "contender")
    assert cell["p"] == pytest.approx(2 * stats.norm.sf(1.0), rel=1e-9)
    assert cell["interval"]["low"] == pytest.approx(-0.5 - stats.norm.ppf(0.975) * 0.5, rel=1e-9)
    assert by_z["test"]["name"] == "z"


# --- what is compared with what -------------------------------------------------------------------------------------


def test_gaps_keep_their_sign_and_wins_follow_the_better_end():
    found = gap(line(0.7, 0.1, metric=LOSS), line(0.7000000000000028, 0.3, metric=LOSS))
    assert (found["wins"], found["ties"], found["losses"]) == (0, 1, 1), "ties of the submitted decimals"
    assert [cell["gap"] for cell in found["cells"]] == [0.0, 0.2]
    found = gap(line(2.0, 2.0, metric=LOSS), line(1.5, 2.5, metric=LOSS))
    assert [(cell["better"], cell["gap"]) for cell in found["cells"]] == [("contender", -0.5), ("baseline", 0.5)]
    found = gap(line(5.0, metric=Metric("tokens")), line(7.0, metric=Metric("tokens")))
    assert (found["status"], found["mean"], found["wins"], found["cells"][0]["better"]) == ("ok", 2.0, None, None)


def test_axes_match_by_name_and_levels_by_number():
    first = grid([[1, 2, 3], [4, 5, 6]], axis("t", "a", "b", kind="nominal"), axis("x", 1, 2, 3))
    turned = Axis("x", "numeric", (Level("2k", 2.0), Level("3", 3.0), Level("4", 4.0)))
    second = grid([[7, 9], [8, 8], [1, 1]], turned, axis("t", "b", "a", kind="nominal"))
    found = gap(first, second)
    gaps = {(c["at"]["t"], c["at"]["x"]): c["gap"] for c in found["cells"]}
    assert gaps == {("a", 2): 7.0, ("a", 3): 5.0, ("b", 2): 2.0, ("b", 3): 2.0}
    assert found["only_in_baseline"] == {"count": 2, "at": [{"t": "a", "x": 1}, {"t": "b", "x": 1}]}
    assert found["only_in_contender"] == {"count": 2, "at": [{"x": 4, "t": "b"}, {"x": 4, "t": "a"}]}


def test_a_single_score_is_compared_too():
    found = gap(grid(80.0, trials=100), grid(90.0, trials=100), ("model",))
    assert (found["n_common"], found["wins"], found["mean"], found["by"]) == (1, 1, 10.0, {})
    assert found["breslow_day"]["status"] == "insufficient"
    assert found["odds_ratio"]["value"] == pytest.approx(90 * 20 / (10 * 80))


def test_without_a_common_cell_nothing_is_comparable(subtests):
    unmeasured, unlike = "no coordinate was measured in both", "the grids have not the same axes"
    for first, second, reason in (
        (line(1.0, None), line(None, 1.0), unmeasured),
        (line(), line(), unmeasured),
        (line(1.0), grid([1.0], axis("y", 0)), unlike),
        (line(1.0), grid(1.0), unlike),
        (line(1.0), grid([1.0], axis("x", "a", kind="nominal")), unmeasured),
    ):
        with subtests.test(reason, second=second.axes):
            found = gap(first, second)
            assert (found["status"], found["reason"]) == ("not_comparable", reason)
            assert (found["n_common"], found["cells"], found["mean"]) == (0, [], None)
    found = gap(line(1.0), line(2.0), ("experiment",))
    assert (found["status"], found["n_common"], found["mean"]) == ("not_comparable", 0, None)


def test_more_than_one_difference_is_confounded_and_listed():
    found = gap(line(1.0), line(2.0), ("model", "benchmark", "variant"))
    assert (found["status"], found["differs"]) == ("confounded", ["model", "benchmark", "variant"])
    assert found["reason"] == "model, benchmark and variant differ: the gap cannot be laid to one of them"
    assert found["mean"] == 1.0


@pytest.mark.parametrize(
    "unit, direction, upper, reason",
    [
        ("share", "higher", 100, "values of different units (% and share) have no gap"),
        ("%", "lower", 100, "values of different directions (higher and lower) have no gap"),
        ("%", "higher", 1, "values of different scales (100 and 1) have no gap"),
    ],
)
def test_other_units_directions_and_scales_leave_coverage_and_agreement(unit, direction, upper, reason):
    metric = Metric("accuracy", unit, direction, 0, upper)
    found = gap(line(40.0, 30.0, 70.0, 50.0), line(0.4, 0.2, 0.9, None, metric=metric), ("metric",))
    assert (found["status"], found["reason"], found["differs"]) == ("undefined", reason, ["metric"])
    assert (found["n_common"], found["only_in_baseline"]["count"]) == (3, 1)
    assert found["agreement"] == {"status": "ok", "tau": 1.0}
    assert (found["mean"], found["wins"], found["test"], found["cells"], found["by"]) == (None, None, None, [], None)
    # A metric that changed its unit between revisions is another metric.
    assert gap(line(40.0), line(0.4, metric=metric), ("model",))["differs"] == ["model", "metric"]


def test_a_test_that_could_not_have_been_significant_says_so():
    found = gap(line(1.0, 2.0, metric=LOSS), line(2.0, 4.0, metric=LOSS))
    assert (found["test"]["name"], found["test"]["df"]) == ("t_over_cells", 1.0)
    assert found["test"]["p"] == pytest.approx(stats.ttest_1samp([1.0, 2.0], 0).pvalue)
    (trend,) = found["along"]
    assert (trend["status"], trend["mann_kendall"]["min_attainable_p"]) == ("insufficient", 1.0)
    assert trend["slope"] == 1.0


@pytest.mark.parametrize(
    "first, second", [((100.0,) * 2, (100.0,) * 2), ((0.0, 0.0), (50.0, 100.0)), ((50.0,) * 2, (0.0,) * 2)]
)
def test_perfect_and_hopeless_cells_have_no_odds_ratio_and_say_why(first, second):
    found = gap(line(*first, trials=10), line(*second, trials=10))
    ratio = found["odds_ratio"]
    assert (ratio["status"], ratio["value"], found["breslow_day"]["status"]) == ("undefined", None, "undefined")
    assert ratio["reason"]
    json.dumps(found, allow_nan=False)


def test_trials_in_some_cells_test_only_those():
    some = line(50.0, 60.0, 70.0, trials=(100, None, 100))
    found = gap(some, line(55.0, 65.0, 75.0, trials=100))
    assert [cell["test"] for cell in found["cells"]] == ["score", None, "score"]
    assert (found["odds_ratio"]["strata"], found["test"]["name"]) == (2, "t_over_cells")
    assert (found["test"]["status"], found["test"]["p"]) == ("insufficient", None), "all three differ by 5"


def test_astronomic_values_keep_only_what_is_counted():
    metric = Metric("m", None, "higher")
    found = gap(line(1e300, 1.0, metric=metric), line(-1e300, 1.0, metric=metric))
    assert (found["status"], found["n_common"], found["cells"]) == ("undefined", 2, [])


def test_levels_that_share_a_number_are_told_apart_by_their_labels():
    twice = Axis("Size", "numeric", (Level("32B", 32e9), Level("32b", 32e9)))
    found = gap(grid([1.0, 2.0], twice), grid([1.5, 4.0], twice))
    assert [cell["gap"] for cell in found["cells"]] == [0.5, 2.0]


def test_a_large_grid_lists_some_cells_and_counts_all():
    x, y = axis("x", *range(150)), axis("y", *range(70))
    values = np.random.default_rng(1).integers(0, 1000, (2, 10_500)) / 10
    found = gap(grid(values[0], x, y, trials=50), grid(values[1], x, y, trials=50))
    assert (found["n_common"], len(found["cells"]), found["cells_left_out"]) == (10_500, 10_000, 500)
    assert found["mean"] == pytest.approx(float(np.mean(np.round(values[1] - values[0], 6))), rel=1e-9)
    assert found["along"][0]["series_left_out"] == 0
    assert len(found["along"][1]["series"]) == 150


# --- properties -----------------------------------------------------------------------------------------------------

tenths = st.one_of(st.none(), st.integers(0, 1000).map(lambda n: n / 10))


@st.composite
def pairs_of_grids(draw: st.DrawFn) -> tuple[Grid, Grid]:
    """Two ragged grids over levels of which some are common."""
    metric = draw(st.sampled_from([PERCENT, Metric("error", "%", "lower", 0, 100), Metric("m", None, None)]))
    trials = draw(st.sampled_from([None, 1, 40]))
    both = []
    for _ in range(2):
        numbers = sorted(draw(st.sets(st.integers(0, 5), min_size=1, max_size=4)))
        labels = draw(st.lists(st.sampled_from("abc"), min_size=1, max_size=3, unique=True))
        size = len(numbers) * len(labels)
        values = tuple(draw(st.lists(tenths, min_size=size, max_size=size)))
        axes = axis("x", *numbers), axis("t", *labels, kind="nominal")
        both.append(Grid(metric, axes, values, trials if metric.proportion_of else None))
    return both[0], both[1]


@given(pairs_of_grids())
def test_any_two_grids_have_a_plain_finite_comparison(grids):
    found = gap(*grids)
    json.dumps(found, allow_nan=False)
    assert {type(leaf) for leaf in leaves(found)} <= {str, int, float, bool, type(None)}


def turned(interval: dict[str, float] | None) -> tuple[float, float] | None:
    return None if interval is None else (-interval["high"], -interval["low"])


def near(one: Any, other: Any) -> bool:
    return one == other if one is None or other is None else one == pytest.approx(other, rel=1e-9, abs=1e-9)


@given(pairs_of_grids())
def test_swapping_baseline_and_contender_flips_every_sign(grids):
    there, back = gap(*grids), gap(*reversed(grids))
    assert (there["wins"], there["ties"], there["losses"]) == (back["losses"], back["ties"], back["wins"])
    assert there["only_in_baseline"] == back["only_in_contender"]
    assert there["agreement"] == back["agreement"]
    if there["n_common"] == 0:
        assert there["status"] == back["status"] == "not_comparable"
        return
    assert (there["mean"], there["median"]) == (-back["mean"], -back["median"])
    assert near(there["test"]["p"], back["test"]["p"])
    assert near(ends(there["test"]["interval"]), turned(back["test"]["interval"]))
    mine = {tuple(sorted(c["at"].items())): c for c in there["cells"]}
    for cell in back["cells"]:
        other = mine[tuple(sorted(cell["at"].items()))]
        assert other["gap"] == -cell["gap"]
        assert near(other["p"], cell["p"])
        assert near(ends(other["interval"]), turned(cell["interval"]))
    for one, other in zip(there["along"], back["along"], strict=True):
        assert near(one["slope"], None if other["slope"] is None else -other["slope"])
        assert near(ends(one["slope_interval"]), turned(other["slope_interval"]))
        if one["mann_kendall"]:
            assert one["mann_kendall"]["s"] == -other["mann_kendall"]["s"]
    ratio, inverse = there["odds_ratio"], back["odds_ratio"]
    if ratio and ratio["value"]:
        assert ratio["value"] == pytest.approx(1 / inverse["value"], rel=1e-9)
        assert near(there["breslow_day"]["p"], back["breslow_day"]["p"])


@given(pairs_of_grids(), st.randoms())
def test_permuting_levels_and_axes_changes_nothing(grids, shuffler):
    base, contender = grids
    order = list(range(len(contender.axes[1].levels)))
    shuffler.shuffle(order)
    block = np.array(contender.values, dtype=object).reshape(contender.shape)[:, order].T
    levels = tuple(contender.axes[1].levels[i] for i in order)
    axes = replace(contender.axes[1], levels=levels), contender.axes[0]
    shuffled = replace(contender, axes=axes, values=tuple(block.ravel()))
    mine, theirs = gap(base, contender), gap(base, shuffled)
    for found in (mine, theirs):
        found["only_in_contender"]["at"] = sorted(sorted(at.items()) for at in found["only_in_contender"]["at"])
    assert mine == theirs


@given(pairs_of_grids(), st.integers(-20, 20))
def test_moving_both_grids_alike_leaves_the_gap(grids, steps):
    open_ended = [replace(one, metric=Metric("m", None, "higher"), trials=None) for one in grids]
    moved = [replace(g, values=tuple(None if v is None else v + steps for v in g.values)) for g in open_ended]
    mine, theirs = gap(*open_ended), gap(*moved)
    for name in ("wins", "ties", "losses"):
        assert mine[name] == theirs[name]
    assert near(mine["mean"], theirs["mean"])
    assert [c["gap"] for c in mine["cells"]] == pytest.approx([c["gap"] for c in theirs["cells"]], abs=1e-9)


# --- one law for a cell, above and below ----------------------------------------------------------------------------


@pytest.mark.parametrize("runs", [((2.04, 2.05, 2.03), (1.96, 2.11, 2.15)), ((1.97, 1.93), (2.05, 1.94, 1.90, 1.92))])
def test_a_comparison_of_one_repeated_cell_says_the_same_above_and_below(runs: Any) -> None:
    found = gap(
        *(line(statistics.mean(run), metric=LOSS, sd=(statistics.stdev(run),), repeats=(len(run),)) for run in runs)
    )
    theirs = stats.ttest_ind(*runs, equal_var=False)
    n, m = map(len, runs)
    alike = (1 / n + 1 / m) ** 2 / (1 / n**2 / (n - 1) + 1 / m**2 / (m - 1))  # Welch's, were all runs as noisy
    assert found["test"]["name"] == found["cells"][0]["test"] == "welch"
    for one in (found["test"], found["cells"][0]):
        assert one["p"] == pytest.approx(2 * stats.t.sf(abs(theirs.statistic), min(theirs.df, alike)), rel=1e-7)
    assert found["test"]["df"] == pytest.approx(min(theirs.df, alike), rel=1e-7)


def test_a_posted_error_goes_before_trials_in_cells_and_in_the_whole() -> None:
    found = gap(*(grid([value], trials=300, stderr=(8.0,)) for value in (60.0, 70.0)))
    for one in (found["test"], found["cells"][0]):
        assert one["p"] == pytest.approx(2 * stats.norm.sf(10 / 8 / np.sqrt(2)), rel=1e-9)
    assert (found["cells"][0]["test"], found["test"]["name"], found["assumes"]) == ("z", "z", [])
    assert found["odds_ratio"]["status"] == "insufficient"


def test_a_design_effect_widens_every_test_of_trials() -> None:
    """Half the trials and half the successes: 105 and 90 of 150."""
    plain = gap(*(grid([value], trials=150) for value in (60.0, 70.0)))
    clustered = gap(*(grid([value], trials=300, design_effect=2.0) for value in (60.0, 70.0)))
    assert clustered["test"]["p"] == pytest.approx(plain["test"]["p"], rel=1e-12)
    assert clustered["cells"][0]["p"] == pytest.approx(plain["cells"][0]["p"], rel=1e-12)
    assert (plain["assumes"], clustered["assumes"]) == (["independent_trials"], [])


def test_a_slope_has_an_interval_only_where_an_ordering_could_be_significant() -> None:
    """Two of five! orderings are monotone, 2 / 120; of four, 2 / 24."""
    for count in (2, 3, 4, 5):
        [trend] = gap(line(*[50.0] * count), line(*(50.0 + i * i for i in range(count))))["along"]
        for one in (trend, *trend["series"]):
            assert (one["slope_interval"] is not None) is (count == 5), count
        assert trend["slope"] == pytest.approx(count - 1.0), "the slopes of i² are the sums of two places"


@pytest.mark.parametrize(
    ("runs", "times"), [((2, 8), 1.0), ((8, 2), 3.0), ((2, 30), 1.0), ((3, 8), 1.0), ((3, 2), 3.0)]
)
def test_few_repeats_on_one_side_raise_no_more_false_alarms(runs: tuple[int, int], times: float) -> None:
    """By Welch's degrees of freedom 6.0 to 12.5 % of equal sides, and 7.3 where two runs are three times as noisy as
    three."""
    random, worlds = np.random.default_rng(4), 20_000
    df = np.repeat(np.array(runs)[:, None] - 1.0, worlds, axis=1)
    scale = np.array([[1.0], [times**2]]) / np.array(runs)[:, None]
    variance = scale * random.chisquare(df) / df
    gap = random.normal(0, np.sqrt(scale.sum()), worlds)
    free = variance.sum(axis=0) ** 2 / uncertainty(variance[..., None], df[..., None])
    p = 2 * stats.t.sf(np.abs(gap) / np.sqrt(variance.sum(axis=0)), free)
    assert np.mean(p < 0.05) < 0.066 + 4 * 0.0018


def test_equal_numbers_of_repeats_keep_welchs_degrees_of_freedom() -> None:
    first, second = np.array([1.0, 2.0, 4.0]), np.array([1.5, 0.5, 3.5])
    expected = stats.ttest_ind(first, second, equal_var=False)
    variance = np.array([[one.var(ddof=1) / 3] for one in (first, second)])
    free = variance.sum() ** 2 / uncertainty(variance, np.full((2, 1), 2.0))
    assert free == pytest.approx(expected.df)


def test_coarsely_printed_values_still_take_their_trials_as_independent() -> None:
    """Whole percents of 1,000 trials hide up to half a point, and nobody said that the trials depend on one another."""
    found = gap(line(83, 84, 84, 79, 80, 76, trials=1000), line(80, 81, 84, 72, 80, 70, trials=1000))
    assert found["assumes"] == ["independent_trials", "rounded_values"]


def test_cells_of_unequal_trials_are_said_to_weigh_by_them() -> None:
    """Mantel and Haenszel's weights are 5 and 50: one cell gains 1 point and the other loses 40."""
    uneven = gap(line(90, 50, trials=(10, 100)), line(50, 51, trials=(10, 100)))
    assert uneven["test"]["difference"] == pytest.approx((5 * -40 + 50 * 1) / 55)
    assert uneven["assumes"] == ["independent_trials", "weighed_by_trials"]
    even = gap(line(90, 50, trials=100), line(50, 51, trials=100))
    assert even["assumes"] == ["independent_trials"]
