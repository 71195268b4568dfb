"""Rankings against the reference numbers, and what they say of standings that have no order."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize

from tests.workers.statistics.documents import ends, rank, standings
from tests.workers.statistics.reference_numbers import agrees, having, seeds
from workers.statistics import ScoreMatrix
from workers.statistics.ranking_methods import bradley_terry

OPEN = {"lower": None, "upper": None}
N = np.nan


def types(trials: int | None = None, **bounds: None) -> ScoreMatrix:
    """The types of the first seed as competitors over its lengths."""
    values = np.array(seeds()["s0/core/qwen2.5-3b"]["values"], dtype=np.float64)
    given = None if trials is None else np.where(np.isfinite(values), trials, 0)
    return standings(values, names="1234567", trials=given, **bounds)


def ratios(blocks: int = 4) -> ScoreMatrix:
    """The ratios of the four grids of the last seed as competitors over benchmark and window; with 16 blocks every
    window of a benchmark counts as a benchmark."""
    names = ["s4/r1-qwen/AIME24", "s4/r1-qwen/AIME25", "s4/r1-qwen/AMC23", "s4/r1-qwen/GPQA_D"]
    values = np.array([seeds()[name]["values"] for name in names]).reshape(16, 5).T
    return standings(values, np.repeat(np.arange(blocks), 16 // blocks), ("0.1", "0.2", "0.3", "0.4", "0.5"))


def scores(found: dict, names: tuple[str, ...]) -> list[float | None]:
    by_name = {row["name"]: row["score"] for row in found["ranking"]}
    return [by_name[name] for name in names]


def order(found: dict) -> list[str]:
    return [row["name"] for row in found["ranking"]]


# --- against other libraries -----------------------------------------------------------------------------------------


def test_pairs_with_trials_agree_with_cochran_mantel_and_haenszel():
    (entry,) = having("rank_confidence")
    posted, means = types(300), having("ragged_methods")[0]["output"]["pairs_mean_diff"]
    # The reference is of counts, of which posted values are printed with one decimal.
    found = rank(replace(posted, values=np.rint(posted.values * 3) / 3))
    for pair in rank(posted)["pairs"]:
        assert pair["difference"] == pytest.approx(means[int(pair["a"]) - 1][int(pair["b"]) - 1], rel=1e-12)
    for pair, expected in zip(found["pairs"], entry["output"]["pairs"], strict=True):
        assert (pair["a"], pair["b"]) == (str(expected["a"]), str(expected["b"]))
        assert (pair["n_common"], pair["test"]) == (expected["n_common"], "score")
        assert pair["difference"] == pytest.approx(expected["diff_pp"], rel=1e-9)
        k1, k2 = (np.rint(3 * posted.values[int(pair[side]) - 1]) for side in "ab")
        total = (k1 + k2)[np.isfinite(k1 + k2)]
        spread = 300 * 300 * total * (600 - total) / 600**2 / 599
        z = abs(float(np.nansum(k1 - k2))) / 2 / math.sqrt(float(spread.sum()))
        assert pair["p"] == pytest.approx(2 * stats.norm.sf(z), rel=1e-6)
        assert pair["p"] == pytest.approx(expected["p"], rel=0.3, abs=1e-6), "Sato's p of the reference is near"
    assert {r["name"]: [r["rank_low"], r["rank_high"]] for r in found["ranking"]} == entry["output"]["rank_interval"]
    assert [set(group) for group in found["groups"]] == [{"2", "6"}, {"4", "7"}, {"3"}, {"1", "5"}]
    assert {r["name"]: r["group"] for r in found["ranking"]}["5"] == ["D"]


def test_pairs_without_trials_use_the_common_slots_only():
    expected = having("ragged_methods")[0]["output"]
    for pair in rank(types())["pairs"]:
        i, j = int(pair["a"]) - 1, int(pair["b"]) - 1
        assert (pair["n_common"], pair["test"]) == (expected["pairs_n"][i][j], None)
        assert pair["wins"] + pair["ties"] / 2 == expected["pairs_wins"][i][j]
        assert pair["difference"] == pytest.approx(expected["pairs_mean_diff"][i][j], rel=1e-9)


def test_orders_of_ragged_slots_agree(subtests):
    (entry,) = having("ragged_methods")
    for method, missing, key in (
        ("win_rate", "matched", "pooled_winrate"),
        ("bradley_terry", "matched", "bt_log_strength"),
        ("mean", "available", "raw_mean"),
    ):
        with subtests.test(method):
            found = rank(types(), method, missing)
            assert scores(found, types().names) == pytest.approx(entry["output"][key], rel=1e-9)
            if key in entry["output"]["orders"]:
                assert [int(name) for name in order(found)] == entry["output"]["orders"][key]


def test_complete_blocks_agree_with_friedman_and_nemenyi():
    (entry,) = having("demsar")
    found, expected = rank(ratios(16), "borda"), entry["output"]
    assert found["friedman"]["mean_ranks"] == pytest.approx(expected["mean_ranks"], rel=1e-12)
    agrees(found["friedman"], expected | {"blocks": 16}, "chi2 p blocks")
    agrees(found["friedman"]["iman_davenport"], expected, "f=iman_davenport_F p=iman_davenport_p")
    agrees(found["friedman"]["critical_difference"], expected, "value=critical_difference")


def test_borda_win_rates_and_strengths_agree_on_complete_blocks():
    expected = having("bradley_terry")[0]["output"]
    assert scores(rank(ratios(16), "borda"), ratios().names) == pytest.approx(expected["borda"])
    assert scores(rank(ratios(), "win_rate"), ratios().names) == pytest.approx(expected["win_rate"])
    found = bradley_terry(np.array(expected["W"]), ~np.eye(5, dtype=bool))  # choix, without the prior
    assert found.values == pytest.approx(expected["log_strength"], rel=1e-9)
    assert np.sqrt(np.diag(found.inverse)) == pytest.approx(expected["se_fisher"], rel=1e-9)
    assert found.mle_exists


def test_edge_cases_of_wins_agree(subtests):
    methods = (("win_rate", "pooled_winrate"), ("bradley_terry", "bt_prior_half"))
    for entry in having("ranking"):
        expected = entry["output"]
        direction = "higher" if entry["options"]["direction"] == 1 else "lower"
        given = standings([[float(v) for v in row] for row in expected["V"]], direction=direction, **OPEN)
        for method, key in methods:
            with subtests.test(entry["grid"], method=method):
                found = rank(given, method)
                if found["status"] == "insufficient":  # nobody met anybody
                    assert scores(found, given.names) == [None] * len(given.names)
                    continue
                if method == "bradley_terry" and found["prior"] is None:
                    assert found["mle_exists"] == expected["mle_exists"]
                    assert scores(found, given.names) == pytest.approx(most_likely(np.array(expected["W"])), abs=1e-6)
                    continue
                for score, other in zip(scores(found, given.names), expected[key], strict=True):
                    assert score == (None if other is None else pytest.approx(other, rel=1e-9, abs=1e-14))


def most_likely(wins: np.ndarray) -> np.ndarray:
    """Bradley–Terry strengths with mean 0 by a general optimiser."""

    def loss(free: np.ndarray) -> float:
        strengths = np.append(free, -free.sum())
        return float(np.sum(wins * np.logaddexp(0.0, strengths - strengths[:, None])))

    found = minimize(loss, np.zeros(len(wins) - 1), tol=1e-12) if len(wins) > 1 else None
    return np.zeros(1) if found is None else np.append(found.x, -found.x.sum())


def test_two_models_on_four_benchmarks_agree_with_the_paired_reference():
    expected = having("paired_common_support")[0]["output"]
    pairs = [(f"s4/r1-qwen/{b}", f"s2/r1-llama/{b}") for b in expected["per_benchmark"]]
    values = [[v for pair in pairs for row in seeds()[pair[i]]["values"] for v in row] for i in (0, 1)]
    given = standings(values, np.repeat(np.arange(4), 20), ("qwen", "llama"))
    pair = rank(given)["pairs"][0]
    agrees(pair, expected, "wins ties losses n_common=common_cells difference=macro_mean_diff")
    clusters = rank(given, target="new_benchmarks")["pairs"][0]
    assert ends(clusters["interval"]) == pytest.approx(expected["t_on_benchmark_means"]["ci"], rel=1e-9)
    assert clusters["test"] == "t_over_benchmarks"


# --- who is compared with whom, and where ----------------------------------------------------------------------------


def test_who_is_first_and_by_how_much(subtests):
    hard = [[90.0, N, N, 60.0], [85.0, 80.0, 70.0, N], [N, 82.0, 72.0, 62.0]]
    of_four = [[1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 2.0]]
    for fact, given, expected, ranks in (
        ("one alone is first of nobody", standings([[1.0, 2.0]]), ["m0"], [None]),
        ("remainders tie", standings([[0.7, 0.2], [0.7000000000000028, 0.2]]), ["m0", "m1"], [1, 1]),
        ("skipping the hard slots gains nothing", standings(hard), ["m2", "m0", "m1"], [1, 2, 3]),
        ("benchmarks weigh equally", standings(of_four, [0, 0, 0, 1]), ["m1", "m0"], [1, 2]),
        ("lower is better", standings([[0.3, 0.1], [0.1, 0.1]], direction="lower"), ["m1", "m0"], [1, 2]),
    ):
        with subtests.test(fact):
            found = rank(given)
            assert (order(found), [row["rank"] for row in found["ranking"]]) == (expected, ranks)
            assert given.direction == "higher" or found["ranking"][0]["score"] < 0
    (only,) = rank(standings([[1.0, 2.0]]))["ranking"]
    assert (only["rank_low"], only["rank_high"], only["score"]) == (None, None, None)
    assert rank(standings(of_four, [0, 0, 0, 1]))["pairs"][0]["difference"] == pytest.approx(-0.5)
    apart = standings([[1.0, N], [N, 2.0]])
    assert rank(apart)["slots"] == {"total": 2, "compared": 0}
    assert rank(apart, missing="complete")["status"] == "insufficient"


def test_a_sign_flip_of_wins_counts_every_assignment_of_signs():
    values = [[3.0, 5.0, 1.0, 4.0], [1.0, 1.0, 2.0, 1.0]]
    pair = rank(standings(values), "win_rate")["pairs"][0]
    assert pair["p"] == pytest.approx(10 / 16)  # signs +, +, -, +: ten of sixteen sums are at least 2 in size
    assert (pair["min_attainable_p"], pair["status"]) == (pytest.approx(1 / 8), "insufficient")
    pair = rank(standings(values, [0, 0, 1, 1]), "win_rate", target="new_benchmarks")["pairs"][0]
    told = (pair["target"], pair["test"], pair["min_attainable_p"])
    assert told == ("new_benchmarks", "sign_flip_over_benchmarks", 1.0)


def test_ranks_refuse_incomplete_blocks():
    found = rank(types(), "borda")
    assert (found["status"], found["ranking"], len(found["pairs"])) == ("undefined", [], 21)
    assert rank(types(), "borda", "complete")["friedman"]["blocks"] == 1


def test_zero_votes_cost_a_name_the_slots_that_it_skipped():
    given = standings([[9.0, N, N], [5.0, 5.0, 5.0]])
    assert rank(given, "win_rate")["ranking"][0]["name"] == "m0"
    skipped = rank(given, "win_rate", "zero_votes")
    assert order(skipped) == ["m1", "m0"]
    assert scores(skipped, ("m1", "m0")) == pytest.approx([2 / 3, 1 / 3])


def test_the_worst_policy_fills_gaps_with_the_bound():
    values = [[90.0, N], [80.0, 10.0]]
    assert scores(rank(standings(values), "mean", "worst"), ("m0", "m1")) == [45.0, 45.0]
    assert scores(rank(standings(values, **OPEN), "mean", "worst"), ("m0", "m1")) == [50.0, 45.0]


def test_the_sensitivity_to_policy_names_every_order():
    found = rank(types())
    moved = {p["name"]: p for p in found["policy_sensitivity"]}
    worst = {"method": "mean_difference", "missing": "worst", "rank": 4}  # it has the most long lengths
    assert worst in moved["5"]["ranks"]
    assert (moved["5"]["rank"], moved["5"]["best"], moved["5"]["worst"]) == (7, 4, 7)
    assert {r["method"] for r in moved["5"]["ranks"]} >= {"mean", "win_rate", "bradley_terry"}
    assert all(-1 <= a["tau"] <= 1 for a in found["stability"]["agreement"])


def test_leaving_out_a_benchmark_can_change_the_order():
    found = rank(standings([[9.0, 1.0, 1.0], [0.0, 2.0, 2.0]], [0, 1, 2]))
    told = [{"name": name, "best": 1, "worst": 2} for name in ("m0", "m1")]
    assert found["stability"]["leave_one_out"] == told


# --- what has no order -----------------------------------------------------------------------------------------------


def test_what_has_no_order_is_refused_with_a_reason(subtests):
    nobody = ScoreMatrix((), np.empty((0, 0)), np.empty(0, dtype=np.int64), ())
    for given, status, reason in (
        (standings([[1.0], [2.0]], direction=None), "undefined", None),
        (standings([[float(i)] for i in range(301)]), "undefined", "more than 300 names"),
        (standings([[1e300], [-1e300]], **OPEN), "undefined", None),
        (nobody, "insufficient", "nobody to rank"),
    ):
        with subtests.test(given.names[:2], direction=given.direction):
            found = rank(given)
            assert (found["status"], found["ranking"]) == (status, [])
            assert reason is None or found["reason"] == reason


def test_tiny_standings_are_ranked_and_unknown_words_refused():
    for shape in ((0, 0), (3, 0), (1, 1)):
        json.dumps(rank(standings(np.ones(shape))), allow_nan=False)
    for word in ({"method": "elo"}, {"missing": "zero"}, {"target": "all"}):
        with pytest.raises(ValueError, match="is none of"):
            rank(standings([[1.0]]), **word)


# --- estimates as posted, and what follows from them -----------------------------------------------------------------


def board(values, trials=None, **more) -> ScoreMatrix:
    """A benchmark for each slot, with the same trials everywhere."""
    shape = np.shape(values)
    return standings(values, range(shape[1]), trials=None if trials is None else np.full(shape, trials), **more)


def test_posted_values_are_the_estimate_whatever_counts_are_behind_them():
    """54 against 46 of ten trials each: half of 5.4 and 4.6, not of 5 and 5. 46.0 % of 990 trials are 455 successes."""
    (pair,) = rank(board([[54.0], [46.0]], 10))["pairs"]
    assert pair["difference"] == pytest.approx(8.0)
    (pair,) = rank(board([[100.0] * 3, [99.0] * 3], 50))["pairs"]
    assert (pair["difference"], pair["status"]) == (pytest.approx(1.0), "ok")
    (pair,) = rank(board([[46.0], [54.0]], 990))["pairs"]
    assert pair["difference"] == -8.0
    assert pair["stderr"] == pytest.approx(100 * np.sqrt((455 * (990 - 455) + 535 * (990 - 535)) / 990**3), rel=1e-9)


def test_other_questions_are_never_surer_than_the_same_ones_again():
    """A design effect of 4 of 400 questions with one sample each: the error stays twice the binomial one."""
    effect, questions = np.full((2, 3), 4.0), np.full((2, 3), 400)
    cells = board([[80.0] * 3, [74.0] * 3], 400, questions=questions, design_effect=effect)
    again, others = (rank(cells, target=target)["pairs"][0] for target in ("rerun", "new_questions"))
    assert others["stderr"] >= again["stderr"] * (1 - 1e-3)
    assert others["p"] > 0.05


@pytest.mark.parametrize("target", ["rerun", "new_benchmarks"])
def test_equal_differences_have_no_interval_of_no_width(target):
    (pair,) = rank(board([[76.0, 77.0, 78.0], [70.0, 71.0, 72.0]]), target=target)["pairs"]
    assert pair["difference"] == pytest.approx(6.0)
    assert (pair["interval"], pair["stderr"], pair["detectable"]) == (None, None, None)


def test_where_nobody_could_be_tested_no_group_is_claimed():
    found = rank(board([[80.0, 70.0], [74.0, 71.0]], 400), target="new_questions")
    assert (found["groups"], [row["group"] for row in found["ranking"]]) == ([], [[], []])


def test_beside_one_that_diverged_the_others_keep_their_order():
    """Of unanimous blocks 6 of 1,296 arrangements are as extreme."""
    losses = standings([[8.0] * 4, [500.0] * 4, [1e12] * 4], np.arange(4), direction="lower", **OPEN)
    for method in ("mean_difference", "borda"):
        assert [row["rank"] for row in rank(losses, method)["ranking"]] == [1, 2, 3], method
    assert rank(losses, "borda")["friedman"]["exact_p"] == pytest.approx(6 / 6**4, rel=1e-12)


def test_ranks_without_a_benchmark_are_told_only_where_the_others_hang_together():
    """A on both benchmarks, B and C on the one, D on the other."""
    values = [[70.0, 60.0], [np.nan, 80.0], [np.nan, 50.0], [90.0, np.nan]]
    assert rank(board(values, 100), missing="available")["stability"]["leave_one_out"] == []


def test_the_exact_law_of_blocks_counts_the_orders_within_them():
    """Ratio 0.4 is the best of each benchmark: 42 of 1,728,000 arrangements are as extreme."""
    assert rank(ratios(), "borda")["friedman"]["exact_p"] == pytest.approx(42 / 1_728_000, rel=1e-12)
