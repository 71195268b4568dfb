"""Differences, their errors and what follows from them, against hand computations and scipy."""

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, stats

from registry.plans.closed_forms import TwoSamples, score_interval
from registry.results.codec import to_document
from tests.workers.statistics.documents import ends, rank, standings
from workers.statistics import ScoreMatrix, heterogeneity
from workers.statistics.board import rank_board
from workers.statistics.pairs import pair_table, sign_flip
from workers.statistics.ranking_methods import METHODS, MISSING
from workers.statistics.versus import errors_alike


def only_pair(given_: ScoreMatrix, **more: Any) -> dict[str, Any]:
    [pair] = rank(given_, **more)["pairs"]
    return pair


# --- the rank is within its range ------------------------------------------------------------------------------------

values = st.one_of(st.integers(0, 1000).map(lambda tenths: tenths / 10), st.just(math.nan))
boards = st.tuples(st.integers(2, 5), st.integers(1, 8)).flatmap(
    lambda size: st.tuples(
        st.lists(st.lists(values, min_size=size[1], max_size=size[1]), min_size=size[0], max_size=size[0]),
        st.lists(st.sampled_from([0, 30, 300, 9000]), min_size=size[1], max_size=size[1]),
        st.lists(st.integers(0, 2), min_size=size[1], max_size=size[1]),
    )
)


@given(
    st.sampled_from(METHODS),
    boards,
    st.sampled_from(MISSING),
    st.sampled_from(["rerun", "new_questions", "new_benchmarks"]),
)
def test_a_printed_rank_lies_within_its_range(method, board, missing, target):
    cells, trials, owners = board
    table = np.array(cells)
    n = np.where(np.isfinite(table), np.array(trials), 0).astype(np.int64)
    found = rank(standings(table, owners, trials=n, questions=n // 3), method, missing, target=target)
    for row in found["ranking"]:
        assert row["rank"] is None or row["rank_low"] <= row["rank"] <= row["rank_high"]
    met = {(p["a"], p["b"]) for p in found["pairs"] if p["status"] != "not_comparable"}
    for group in found["groups"]:
        assert all(pair in met or pair[::-1] in met for pair in itertools.combinations(group, 2))


def test_a_pair_that_contradicts_the_order_is_named_and_not_counted():
    """B wins 20 slots of 30 by a little and loses ten by much: ahead by wins, behind by the mean."""
    a, b = [50.0] * 30, [50.5] * 20 + [10.0] * 10
    n = np.full((2, 30), 5000)
    found = rank(standings([a, b], trials=n), "borda", "matched")
    assert found["pairs"][0]["estimand"] == "lead"
    found = rank(standings([a, b], [0] * 20 + [1] * 10, trials=n), "mean")
    assert (found["ranking"][0]["name"], found["warnings"]) == ("m0", [])
    three = standings(
        [[60.0, 61.0, 62.0, np.nan], [50.0, 51.0, 52.0, 95.0]], [0, 1, 2, 3], trials=np.full((2, 4), 3000)
    )
    found = rank(three, "mean", "available")
    told = [(row["name"], row["rank_low"], row["rank_high"]) for row in found["ranking"]]
    assert told == [("m1", 1, 2), ("m0", 1, 2)]
    assert [warning["code"] for warning in found["warnings"]] == ["order_contradicts_pair"]
    assert found["groups"] == [["m1"], ["m0"]]


# --- errors ----------------------------------------------------------------------------------------------------------


def test_a_posted_error_goes_before_trials():
    """70 against 60 with 300 trials each and a clustered error of 8; then an error of 3 beside one of trials alone."""
    pair = only_pair(standings([[70.0], [60.0]], trials=np.full((2, 1), 300), stderr=np.full((2, 1), 8.0)))
    assert (pair["test"], pair["stderr"]) == ("z", pytest.approx(8 * math.sqrt(2)))
    assert pair["p"] == pytest.approx(2 * stats.norm.sf(10 / 8 / math.sqrt(2)), rel=1e-12)
    pair = only_pair(standings([[70.0], [60.0]], trials=np.array([[0], [300]]), stderr=np.array([[3.0], [np.nan]])))
    share = 180.5 / 301
    assert pair["stderr"] == pytest.approx(math.sqrt(9 + 1e4 * share * (1 - share) / 300), rel=1e-12)


def test_few_trials_beside_many_seldom_make_equal_models_differ_from_benchmark_to_benchmark():
    """By observed rates 20 of 20 has no error, and Q calls 45 % of these pairs unlike."""
    draws, erred = np.random.default_rng(5), 0
    for _ in range(400):
        p, n = draws.uniform(0.9, 0.98, 5), np.array([[20] * 5, [2000] * 5])
        shares = draws.binomial(n, p) / n
        board = standings(100 * shares, np.arange(5), "ab", trials=n)
        errors = errors_alike(board, "a", "b")
        found = heterogeneity((100 * (shares[0] - shares[1])).tolist(), [*errors.values()], [None] * 5)
        erred += found.p < 0.05
    assert erred <= 400 * 0.05 + 4 * math.sqrt(400 * 0.05 * 0.95)


def test_that_no_run_moves_several_cells_is_told_where_repeats_of_several_speak():
    """Of 8 cells of 5 runs that share half of their variance, a third of equal models were told apart."""
    draws = np.random.default_rng(1)
    for cells, words in ((8, ("independent_cells",)), (1, ())):
        runs = draws.normal(50, 1, (2, cells, 5))
        errors = runs.std(axis=2, ddof=1) / math.sqrt(5)
        means = np.round(runs.mean(axis=2), 3)
        board = standings(values=means, stderr=errors, repeats=np.full(means.shape, 5))
        assert pair_table(board, 0.05, "rerun").assumes == words


SEEDS = np.array([[2.04, 2.05, 2.03], [1.97, 1.93, 1.94], [1.96, 2.11, 2.15], [2.05, 1.94, 1.90]])


def test_few_repeats_have_the_t_of_welch(subtests):
    for first, second in itertools.combinations(range(4), 2):
        runs = SEEDS[[first, second]]
        errors = runs.std(axis=1, ddof=1, keepdims=True) / math.sqrt(3)
        repeated = {"stderr": errors, "repeats": np.full((2, 1), 3), "lower": None, "upper": None}
        pair = only_pair(standings(runs.mean(axis=1, keepdims=True), **repeated))
        theirs = stats.ttest_ind(*runs, equal_var=False)
        with subtests.test(first=first, second=second):
            assert pair["test"] == "welch"
            assert (pair["p"], pair["df"]) == pytest.approx((theirs.pvalue, theirs.df), rel=1e-7)
            assert ends(pair["interval"]) == pytest.approx(theirs.confidence_interval(), rel=1e-6)


def test_errors_of_several_slots_and_benchmarks_are_propagated():
    """Two slots of one benchmark, one of another: (sqrt((4 + 4) / 4)^2 + (1 + 9)) / 4 under the root."""
    errors = np.array([[1.0, np.sqrt(3), 1.0], [np.sqrt(3), 1.0, 3.0]])
    pair = only_pair(standings([[10.0, 20.0, 30.0], [8.0, 14.0, 32.0]], [0, 0, 1], stderr=errors))
    assert pair["difference"] == pytest.approx(((2 + 6) / 2 - 2) / 2)
    assert pair["stderr"] == pytest.approx(math.sqrt(((4 + 4) / 4 + 10) / 4))


def test_where_nothing_ever_failed_there_is_no_difference_within_what_so_many_trials_leave_open():
    """Of 100 and 100 trials, all successes, the score interval of one pair; slots add up as trials do."""
    pair = only_pair(standings([[100.0, 100.0], [100.0, 100.0]], [0, 1], trials=np.full((2, 2), 50)))
    low, high = score_interval(TwoSamples(100, 100, 100, 100), 0.025)
    assert (pair["status"], pair["p"], pair["test"]) == ("ok", 1.0, "score")
    assert ends(pair["interval"]) == pytest.approx((100 * low, 100 * high), rel=0.02)
    assert pair["stderr"] == pytest.approx((pair["interval"]["high"] - pair["interval"]["low"]) / 2 / 1.959964)


def test_one_who_always_succeeds_and_one_who_never_does_have_the_variance_under_equality():
    """Cochran, Mantel and Haenszel: (k1 - n / 2) / sqrt(n n t (2n - t) / (2n)^2 / (2n - 1)) with t = n."""
    pair = only_pair(standings([[100.0], [0.0]], trials=np.full((2, 1), 20)))
    z = 10 / math.sqrt(20 * 20 * 20 * 20 / 40**2 / 39)
    assert pair["test"] == "score"
    assert pair["p"] == pytest.approx(2 * stats.norm.sf(z), rel=1e-12)


def test_a_difference_that_is_shown_has_an_interval_for_what_is_selected():
    """Three models, 500 trials: one is above both others, which are equal. Two of three pairs are shown."""
    found = rank(standings([[80.0], [60.0], [60.0]], trials=np.full((3, 1), 500)))["pairs"]
    levels = {pair["a"] + pair["b"]: pair["interval"]["level"] for pair in found}
    assert levels == pytest.approx({"m0m1": 1 - 0.1 / 3, "m0m2": 1 - 0.1 / 3, "m1m2": 0.95})
    wide = score_interval(TwoSamples(400, 500, 300, 500), 0.05 / 3)
    assert ends(found[0]["interval"]) == pytest.approx([100 * end for end in wide])
    first, power = stats.norm.isf(0.025 / 3), stats.norm.isf(0.2)
    seen = found[0]["detectable"] / 100
    least = optimize.brentq(
        lambda size: size - first * math.sqrt(2 * (0.7 - size / 2) * (0.3 + size / 2) / 499.5), 0, 1
    )
    low = 0.7 - seen
    assert seen == pytest.approx(least + power * math.sqrt((0.7 * 0.3 + low * (1 - low)) / 499.5))


# --- unknown noise ---------------------------------------------------------------------------------------------------


def test_without_noise_a_rerun_has_no_error_and_the_answer_says_so():
    pair = only_pair(standings([[50.0, 60.0, 70.0], [40.0, 49.0, 61.0]], [0, 0, 1]))
    assert (pair["difference"], pair["interval"], pair["stderr"], pair["p"]) == (9.75, None, None, None)
    assert (pair["status"], "noise of some common cell is not known" in pair["reason"]) == ("insufficient", True)
    found = rank(standings([[50.0, 60.0, 70.0], [40.0, 49.0, 61.0]], [0, 0, 1]))
    assert ([(row["rank_low"], row["rank_high"]) for row in found["ranking"]], found["groups"]) == ([(1, 2)] * 2, [])


def test_other_benchmarks_have_students_interval_and_test():
    gaps = [1.0, 2.5, -0.5, 4.0, 2.0, 3.0]
    pair = only_pair(standings([[50 + gap for gap in gaps], [50.0] * 6], range(6)), target="new_benchmarks")
    theirs = stats.ttest_1samp(gaps, 0)
    assert ends(pair["interval"]) == pytest.approx(theirs.confidence_interval())
    assert (pair["p"], pair["test"]) == (pytest.approx(theirs.pvalue), "t_over_benchmarks")
    opposite = only_pair(standings([[90.0, 10.0], [10.0, 90.0]], [0, 1]), target="new_benchmarks")
    assert opposite["stderr"] == pytest.approx(80.0)
    assert opposite["detectable"] is None, "the scale has room for 100 points"
    alone = only_pair(standings([[50.0, 60.0], [49.0, 58.0]], [0, 0]), target="new_benchmarks")
    assert (alone["status"], alone["reason"]) == ("insufficient", "one benchmark says nothing of others")


@pytest.mark.parametrize("gap", [0.1, 1.0, 20.2])
def test_equal_differences_on_every_benchmark_are_not_tested_and_have_no_interval(gap):
    """Three times 0.1 over 3 is 0.10000000000000002: the mean's rounding is no spread."""
    below = [8.9, 60.0, 64.1, 70.3, 31.7, 12.4, 55.5, 26.3, 47.0, 71.9]
    for count in (2, 3, 10):
        alike = standings([[round(one + gap, 1) for one in below[:count]], below[:count]], range(count))
        board = to_document(rank_board(alike, "mean_difference", "matched", 0.05, "new_benchmarks"))
        for pair in (only_pair(alike, target="new_benchmarks"), *board["pairs"]):
            assert (pair["interval"], pair["stderr"], pair["p"]) == (None, None, None)
            assert pair["reason"] == "the difference of the two is the same everywhere, so that its error is not known"


def test_many_signs_are_tested_by_the_normal_law():
    found = sign_flip([1] * 30 + [-1] * 20, 100)
    assert (found.test, found.p) == ("sign_flip_normal", pytest.approx(2 * stats.norm.sf(10 / math.sqrt(50))))


def test_orders_of_wins_are_tested_for_wins():
    """Nine wins by a hair and one loss by much: two of 2^10 signs are as one-sided, twenty as seen."""
    given_ = standings([[50.1] * 9 + [10.0], [50.0] * 10])
    pair = only_pair(given_, method="win_rate")
    assert (pair["estimand"], pair["lead"]) == ("lead", 0.8)
    assert pair["p"] == pytest.approx(stats.binomtest(9, 10).pvalue)
    assert (pair["difference"], pair["interval"]) == (None, None)


# --- blocks, units, connections --------------------------------------------------------------------------------------


def test_twenty_cells_of_one_benchmark_do_not_outvote_three_others():
    """By slots A would lead 20 to 3; by benchmarks B leads 3 to 1."""
    a = [51.0] * 20 + [50.0] * 3
    b = [50.0] * 20 + [55.0] * 3
    owners = [0] * 20 + [1, 2, 3]
    for method in ("borda", "mean_difference"):
        found = rank(standings([a, b], owners), method)
        assert found["ranking"][0]["name"] == "m1", method
    found = rank(standings([a, b], owners), "borda")
    assert {row["name"]: row["score"] for row in found["ranking"]} == {"m0": 1.0, "m1": 3.0}
    assert (found["friedman"]["blocks"], found["friedman"]["chi2"]) == (4, pytest.approx(1.0))


def test_a_loosely_connected_bounded_board_is_refused_with_another_question():
    chain = np.full((5, 4), np.nan)
    for i in range(4):
        chain[i, i], chain[i + 1, i] = 60.0, 50.0
    found = rank(standings(chain, range(4)))
    assert (found["status"], found["ranking"], len(found["pairs"])) == ("undefined", [], 10)
    assert "only 4 of 10 pairs" in found["reason"]
    assert "method win rate" in found["reason"]
    assert rank(standings(chain, range(4), lower=None, upper=None))["status"] == "ok"
    assert rank(standings(chain, range(4)), "win_rate")["status"] == "ok"


def test_names_that_never_met_are_not_in_one_group():
    cells = [[1.0, 2.0, np.nan], [2.0, 1.0, 3.0], [np.nan, 2.0, 1.0], [np.nan, np.nan, 2.0]]
    found = rank(standings(cells, lower=None, upper=None, stderr=np.full((4, 3), 3.0)))
    assert found["never_met"] == [["m0", "m3"]]
    assert sorted(map(sorted, found["groups"])) == [["m0", "m1", "m2"], ["m1", "m2", "m3"]]
    assert [row["pool"] for row in found["ranking"]] == [4] * 4
    assert [row["pool"] for row in rank(standings(cells), "win_rate")["ranking"]] == [None] * 4


def test_bradley_terry_has_the_errors_of_slots():
    """Two names, w wins of n slots: the sandwich of the log-odds is n / (n - 1) times 1 / (n p q)."""
    wins = np.array([1.0] * 13 + [0.0] * 7)
    found = rank(standings([wins, 1 - wins]), "bradley_terry")
    p = 13 / 20
    assert found["prior"] is None
    first = found["ranking"][0]
    assert 2 * first["score"] == pytest.approx(math.log(p / (1 - p)))
    assert 2 * first["stderr"] == pytest.approx(math.sqrt(20 / 19 / (20 * p * (1 - p))))
    alone = rank(standings([[1.0, 2.0], [0.0, 0.0]]), "bradley_terry")
    assert (alone["mle_exists"], alone["prior"]) == (False, "half_tie")


def test_the_matrices_are_those_of_every_pair_by_itself():
    chance = np.random.default_rng(8)
    cells = np.round(chance.uniform(20, 90, (6, 14)), 1)
    cells[chance.random((6, 14)) < 0.3] = np.nan
    n = np.where(chance.random((6, 14)) < 0.9, 200, 0)
    owners = np.sort(chance.integers(0, 4, 14))
    every = list(itertools.combinations(range(6), 2))
    whole = {(p.a, p.b): p for p in pair_table(standings(cells, owners, trials=n), 0.05).pairs(every)}
    for i, j in every:
        [alone] = pair_table(standings(cells[[i, j]], owners, trials=n[[i, j]]), 0.05).pairs([(0, 1)])
        pair = whole[f"m{i}", f"m{j}"]
        for name in ("status", "test", "n_common", "wins", "difference", "stderr", "df", "p", "lead"):
            mine, theirs = getattr(pair, name), getattr(alone, name)
            if isinstance(theirs, str):
                assert mine == theirs
                continue
            assert mine == (theirs if theirs is None else pytest.approx(theirs, rel=1e-12)), name
