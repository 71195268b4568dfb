"""Properties: what must not change does not, and what must be plain is."""

import dataclasses
import json
import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from registry.grids.grid import Axis, Grid, Level, Metric
from registry.results.codec import to_document
from tests.workers.statistics.documents import describe
from tests.workers.statistics.reference_numbers import PERCENT, leaves, line, one_series
from workers.statistics import Parameters, describe_all
from workers.statistics.judging import benjamini_hochberg, holm
from workers.statistics.pairs import sign_flip
from workers.statistics.proportions import fisher_p
from workers.statistics.ranks import exact_p, score
from workers.statistics.terms import decimals_of, ticks_of

percents = st.integers(0, 1000).map(lambda tenths: tenths / 10)
cells = st.one_of(st.none(), percents)


@st.composite
def grids(draw: st.DrawFn, kinds: tuple[str, ...] = ("numeric", "ordinal", "nominal")) -> Grid:
    """Ragged grids of 0 to 4 axes with and without trials."""
    axes = []
    for i in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(kinds))
        numbers = sorted(draw(st.sets(st.integers(0, 50), min_size=1, max_size=5)))
        levels = tuple(Level(str(n), float(n) if kind == "numeric" else None) for n in numbers)
        axes.append(Axis("abcd"[i], kind, levels, scale=draw(st.sampled_from(["linear", "log"]))))
    size = math.prod(len(axis.levels) for axis in axes)
    values = tuple(draw(st.lists(cells, min_size=size, max_size=size)))
    trials = draw(st.one_of(st.none(), st.sampled_from([1, 40, 1000])))
    metric = draw(st.sampled_from([PERCENT, Metric("e", "%", "lower", 0, 100), Metric("m", None, "higher")]))
    return Grid(metric, tuple(axes), values, trials)


@given(grids())
def test_any_grid_has_a_plain_finite_document(grid):
    found = describe(grid)
    json.dumps(found, allow_nan=False)
    assert {type(leaf) for leaf in leaves(found)} <= {str, int, float, bool, type(None)}
    assert not [leaf for leaf in leaves(found) if isinstance(leaf, float) and not math.isfinite(leaf)]


@given(st.lists(st.floats(-1e300, 1e300), min_size=1, max_size=12))
def test_any_number_is_survived(values):
    json.dumps(describe(line(values, metric=Metric("m", None, "higher"))), allow_nan=False)


@given(st.lists(percents, min_size=1, max_size=12), st.sampled_from([None, 50, 300]))
def test_the_mirrored_metric_has_the_mirrored_answer(values, trials):
    up = describe(line(values, trials=trials))
    down = describe(line([100 - v for v in values], metric=Metric("e", "%", "lower", 0, 100), trials=trials))
    assert up["peaks"]["best"]["at"] == down["peaks"]["best"]["at"]
    (rising,), (falling,) = up["series"], down["series"]
    assert rising["mann_kendall"]["s"] == -falling["mann_kendall"]["s"]
    assert mirrored(rising["direction"]) == falling["direction"]
    if rising["onset"]:
        for name in ("until", "by", "level"):
            assert rising["onset"][name] == falling["onset"][name]
    if up["peaks"]["probability_best"]:
        mine, other = (found["peaks"]["probability_best"] for found in (up, down))
        for name in ("probability", "if_unrelated"):
            assert [c[name] for c in mine] == pytest.approx([c[name] for c in other], rel=1e-6)
        assert up["peaks"]["best_set"]["size"] == down["peaks"]["best_set"]["size"]


def mirrored(word: str) -> str:
    """The word of the series that falls where this one rises."""
    turns = {"falls_then_rises": "rises_then_falls", "rises_then_falls": "falls_then_rises"}
    if "creasing" not in word:
        return turns.get(word, word)
    return word.replace("in", "de", 1) if "increasing" in word else word.replace("decreasing", "increasing")


HITS = st.lists(st.integers(0, 50), min_size=2, max_size=9)
SHARE = Metric("accuracy", None, "higher", 0, 1)


@given(HITS, st.sampled_from([None, 50, 100]))
def test_fractions_and_percent_say_the_same(hits, trials):
    """Changing the unit with the bounds changes sizes by a hundred, and no p, no word and no set."""
    percent = describe(line([100 * k / 50 for k in hits], trials=trials))
    share = describe(line([k / 50 for k in hits], metric=SHARE, trials=trials))
    (mine,), (theirs,) = percent["series"], share["series"]
    assert mine["direction"] == theirs["direction"]
    assert mine["mann_kendall"] == theirs["mann_kendall"]
    assert mine["slope"] == pytest.approx(100 * theirs["slope"], rel=1e-9, abs=1e-10)
    assert [c["sharp"] for c in mine["changes"]] == [c["sharp"] for c in theirs["changes"]]
    if trials:
        assert (mine["trend_p"] or 2.0) == pytest.approx(theirs["trend_p"] or 2.0, rel=1e-9)
        adjusted, others = ([c["p_holm"] for c in one["changes"]] for one in (mine, theirs))
        assert adjusted == pytest.approx(others, rel=1e-9)
        for name in ("fitted_change", "end_change"):
            change, other = (one[name] and one[name]["value"] for one in (mine, theirs))
            assert (change is None) == (other is None)
            assert change is None or change == pytest.approx(100 * other, rel=1e-9, abs=1e-9)
        assert percent["peaks"]["best_set"] == share["peaks"]["best_set"]


@given(HITS, st.sampled_from([50, 300]))
def test_equal_cells_are_in_or_out_of_the_best_set_together(hits, trials):
    values = [100 * k / 50 for k in hits]
    inside = {at["x"] for at in describe(line(values, trials=trials))["peaks"]["best_set"]["at"]}
    least = min(values[i] for i in inside)
    assert inside == {i for i, value in enumerate(values) if value >= least}


@given(st.lists(percents, min_size=1, max_size=12), st.sampled_from([None, 50, 300]))
def test_a_word_does_not_contradict_its_interval(values, trials):
    series = one_series(values, trials=trials)
    change = series["fitted_change"]
    if change and change["interval"]:
        low, high = change["interval"]["low"], change["interval"]["high"]
        assert low >= 0 or high <= 0 or "creasing" not in series["direction"]
        assert low <= 0 <= high or series["q"] is None or series["q"] < 0.05
    if series["direction"] in ("inconclusive", "flat"):
        for interval in (one["interval"] for one in (change, series["end_change"]) if one and one["interval"]):
            assert interval["low"] <= 0 <= interval["high"]
    if series["direction"] == "flat":
        assert series["summary"]["max"] - series["summary"]["min"] < 2


@given(st.lists(percents, min_size=2, max_size=12))
def test_a_reversed_axis_reverses_the_trend(values):
    numbers = [float(i) for i in range(len(values))]
    there, back = one_series(values, numbers=numbers), one_series(values[::-1], numbers=numbers)
    assert there["mann_kendall"]["s"] == -back["mann_kendall"]["s"]
    assert there["mann_kendall"]["p"] == back["mann_kendall"]["p"]
    assert there["slope"] == pytest.approx(-back["slope"], rel=1e-9, abs=1e-12)


@given(grids(kinds=("nominal",)), st.randoms())
def test_the_order_of_nominal_levels_means_nothing(grid, shuffler):
    if len(grid.axes) != 2:
        return
    order = list(range(len(grid.axes[0].levels)))
    shuffler.shuffle(order)
    rows = np.array(grid.values, dtype=object).reshape(grid.shape)[order]
    axis = dataclasses.replace(grid.axes[0], levels=tuple(grid.axes[0].levels[i] for i in order))
    other = dataclasses.replace(grid, axes=(axis, grid.axes[1]), values=tuple(rows.ravel()))
    mine, theirs = describe(grid), describe(other)
    assert mine["coverage"]["component_count"] == theirs["coverage"]["component_count"]
    assert mine["sensitivity"]["status"] == theirs["sensitivity"]["status"]
    if mine["sensitivity"]["status"] == "ok":
        shares = [[a["share"] for a in found["sensitivity"]["axes"].values()] for found in (mine, theirs)]
        assert shares[0] == pytest.approx(shares[1], abs=1e-9)
    best = [found["peaks"]["best"] for found in (mine, theirs)]
    assert (best[0] and best[0]["value"]) == (best[1] and best[1]["value"])


@given(st.lists(percents, min_size=1, max_size=8), st.sampled_from([None, 200]))
def test_cells_that_nobody_measured_change_nothing(values, trials):
    numbers = [float(i) for i in range(len(values))]
    wider = line([*values, None, None], numbers=[*numbers, 98.0, 99.0], trials=trials)
    mine, theirs = describe(line(values, numbers=numbers, trials=trials)), describe(wider)
    assert mine["series"] == theirs["series"]
    assert mine["peaks"] == theirs["peaks"]
    assert mine["grid_trend"] == theirs["grid_trend"]


@given(st.lists(st.integers(0, 3), min_size=2, max_size=7))
def test_the_exact_trend_is_a_count_of_orderings(values):
    seen = abs(score(np.array(values)))
    scores = [abs(score(np.array(order))) for order in permutations(values)]
    expected = sum(s >= seen for s in scores) / len(scores)
    ties = tuple(sorted(c for c in np.unique(values, return_counts=True)[1].tolist() if c > 1))
    assert exact_p(seen, len(values), ties) == pytest.approx(expected, rel=1e-12)


@given(st.lists(st.integers(-40, 40), min_size=1, max_size=250))
def test_the_long_way_to_count_inversions_agrees(values):
    longer = np.array(values * 3)
    moves = np.triu(np.sign(longer[None, :] - longer[:, None]), 1)
    assert score(longer) == moves.sum()


@given(st.integers(1, 60), st.integers(1, 60), st.data())
def test_fisher_agrees_with_scipy(n1, n2, data):
    k1, k2 = data.draw(st.integers(0, n1)), data.draw(st.integers(0, n2))
    expected = stats.fisher_exact([[k1, n1 - k1], [k2, n2 - k2]]).pvalue
    assert fisher_p(*(np.array([v]) for v in (k1, n1, k2, n2)))[0] == pytest.approx(expected, rel=1e-9)


@given(st.integers(1, 1500), st.data())
def test_fisher_of_as_many_trials_on_both_sides_is_a_count_of_tables(n, data):
    """Against whole numbers, several pairs at once: tables that are no more probable than the one seen."""
    pairs = data.draw(st.lists(st.tuples(st.integers(0, n), st.integers(0, n)), min_size=1, max_size=4))
    expected = []
    for k1, k2 in pairs:
        total = k1 + k2
        tables = [math.comb(n, j) * math.comb(n, total - j) for j in range(max(0, total - n), min(total, n) + 1)]
        seen = math.comb(n, k1) * math.comb(n, k2)
        expected.append(float(Fraction(sum(table for table in tables if table <= seen), sum(tables))))
    k1, k2 = np.array(pairs).T
    trials = np.full(len(pairs), n)
    assert fisher_p(k1, trials, k2, trials) == pytest.approx(np.maximum(expected, 1e-300), rel=1e-9, abs=1e-300)


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=9))
def test_sign_flips_are_a_count_of_signs(differences):
    sums = [abs(sum(signed)) for signed in product(*((one, -one) for one in differences))]
    seen = sum(one >= abs(sum(differences)) for one in sums)
    assert sign_flip(differences).p == pytest.approx(seen / len(sums), rel=1e-12)


@given(st.lists(st.floats(1e-12, 1.0), min_size=1, max_size=12))
def test_adjusted_p_values_are_ordered_and_no_smaller(ps):
    for adjust in (holm, benjamini_hochberg):
        out = adjust(ps)
        assert all(p * (1 - 1e-12) <= q <= 1 for p, q in zip(ps, out, strict=True))
        assert [q for _, q in sorted(zip(ps, out, strict=True))] == sorted(out)
    assert benjamini_hochberg(ps) == pytest.approx(stats.false_discovery_control(ps).tolist(), rel=1e-12)


@given(st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=20), st.integers(0, 5))
def test_submitted_decimals_are_found_again(values, places):
    given_values = np.array([v / 10**places for v in values])
    decimals = decimals_of(given_values)
    assert decimals <= places
    assert ticks_of(given_values, decimals).tolist() == [round(v * 10.0 ** (decimals - places)) for v in values]


def test_parameters_can_be_given():
    parameters = Parameters(alpha=0.1, sharp_change=1.0, equivalence=0.5)
    grid = dataclasses.replace(line([1.0, 3.0], metric=Metric("loss")), stderr=(0.1, 0.1))
    found = describe(grid, parameters)
    assert found["params"]["alpha"] == 0.1
    assert found["series"][0]["changes"][0]["sharp"] is True
    assert found["series"][0]["changes"][0]["interval"]["level"] == pytest.approx(0.9)


@st.composite
def noisy_grids(draw: st.DrawFn) -> Grid:
    """Grids whose cells have trials of their own, errors or repeats."""
    grid = draw(grids(("numeric", "ordinal")))
    size = len(grid.values)
    each = st.lists(st.integers(1, 400), min_size=size, max_size=size).map(tuple)
    errors = st.lists(st.integers(1, 40).map(lambda tenths: tenths / 10), min_size=size, max_size=size).map(tuple)
    kind = draw(st.sampled_from(["trials", "effect", "stderr", "repeats", "none"]))
    if kind in {"trials", "effect"}:
        return dataclasses.replace(grid, trials=draw(each), design_effect=2.5 if kind == "effect" else None)
    if kind == "repeats":
        return dataclasses.replace(
            grid, trials=None, sd=draw(errors), repeats=draw(each.map(lambda n: tuple(1 + i % 4 for i in n)))
        )
    return dataclasses.replace(grid, trials=None, stderr=draw(errors) if kind == "stderr" else None)


@given(st.lists(noisy_grids(), min_size=2, max_size=4))
def test_a_grid_among_others_has_the_bytes_that_it_has_alone(several):
    together = [json.dumps(to_document(found)) for found in describe_all(several)]
    assert together == [json.dumps(describe(grid, Parameters.of(grid.metric))) for grid in several]


@given(noisy_grids())
def test_the_usual_detail_lists_the_sharp_steps_and_the_largest_both_ways(grid):
    usual, full = describe(grid, Parameters.of(grid.metric))["series"], describe(grid)["series"]
    for mine, whole in zip(usual, full, strict=True):
        sizes = [step["size"] for step in whole["changes"]]
        kept = [step for step in mine["changes"] if not step["sharp"]]
        assert [one for one in mine["changes"] if one["sharp"]] == [one for one in whole["changes"] if one["sharp"]]
        assert all(step in whole["changes"] and step["size"] in (min(sizes), max(sizes)) for step in kept)
        assert len(mine["changes"]) + mine["changes_left_out"] == len(sizes) + whole["changes_left_out"]
