"""Rankings against the reference numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest
from reference_numbers import having, seeds
from scipy.optimize import minimize

from tests.workers.statistics.documents import rank
from workers.statistics import ScoreMatrix
from workers.statistics.strengths import bradley_terry


def standings(values, benchmarks=None, **more) -> ScoreMatrix:
    """Names m0, m1 ... over slots t0, t1 ..., one benchmark unless told."""
    table = np.array(values, dtype=np.float64)
    owners = np.array(benchmarks if benchmarks is not None else [0] * table.shape[1], dtype=np.int64)
    given = {"direction": "higher", **more}
    names = tuple(f"b{i}" for i in range(int(owners.max(initial=-1)) + 1))
    return ScoreMatrix(tuple(f"m{i}" for i in range(len(table))), table, owners, names, **given)


def types(trials: int | None = None) -> ScoreMatrix:
    """The types of the first seed as competitors over its lengths."""
    values = np.array(seeds()["s0/core/qwen2.5-3b"]["values"], dtype=np.float64)
    given = None if trials is None else np.where(np.isfinite(values), trials, 0)
    owners = np.zeros(values.shape[1], dtype=np.int64)
    return ScoreMatrix(tuple("1234567"), values, owners, ("core",), given, "higher", 0, 100)


def test_pairs_with_trials_agree_with_mantel_and_haenszel():
    (entry,) = having("rank_confidence")
    found = rank(types(300))
    for pair, expected in zip(found["pairs"], entry["output"]["pairs"], strict=True):
        assert (pair["a"], pair["b"]) == (str(expected["a"]), str(expected["b"]))
        assert pair["n_common"] == expected["n_common"]
        assert pair["difference"] == pytest.approx(expected["diff_pp"], rel=1e-9)
        assert pair["p"] == pytest.approx(expected["p"], rel=1e-9 if expected["p"] > 1e-30 else 1e-6)
        assert pair["p_holm"] == pytest.approx(expected["holm"], rel=1e-9 if expected["holm"] > 1e-30 else 1e-6)
        assert pair["test"] == "mantel_haenszel"


def test_rank_intervals_and_groups_agree():
    (entry,) = having("rank_confidence")
    found = rank(types(300))
    assert {r["name"]: [r["rank_low"], r["rank_high"]] for r in found["ranking"]} == entry["output"]["rank_interval"]
    assert [set(group) for group in found["groups"]] == [{"2", "6"}, {"4", "7"}, {"3"}, {"1", "5"}]
    assert {r["name"]: r["group"] for r in found["ranking"]}["5"] == ["D"]


def test_pairs_without_trials_use_the_common_slots_only():
    (entry,) = having("ragged_methods")
    expected = entry["output"]
    for pair in rank(types())["pairs"]:
        i, j = int(pair["a"]) - 1, int(pair["b"]) - 1
        assert pair["n_common"] == expected["pairs_n"][i][j]
        assert pair["wins"] + pair["ties"] / 2 == expected["pairs_wins"][i][j]
        assert pair["difference"] == pytest.approx(expected["pairs_mean_diff"][i][j], rel=1e-9)
        assert pair["test"] == "sign_flip"


def test_one_name_is_first_of_one():
    found = rank(standings([[1.0, 2.0]]))
    (only,) = found["ranking"]
    assert (only["rank"], only["rank_low"], only["rank_high"], only["score"]) == (1, 1, 1, 0.0)
    assert found["pairs"] == []


def test_names_that_all_tie_share_the_first_rank():
    found = rank(standings([[0.7, 0.2], [0.7000000000000028, 0.2], [0.7, 0.2]]))
    assert [r["rank"] for r in found["ranking"]] == [1, 1, 1]
    assert found["pairs"][0]["ties"] == 2
    assert found["groups"] == [["m0", "m1", "m2"]]


def test_names_that_never_meet_are_not_ranked_against_each_other():
    found = rank(standings([[1.0, np.nan], [np.nan, 2.0]]))
    assert found["pairs"][0]["status"] == "not_comparable"
    assert found["components"] == [["m0"], ["m1"]]
    assert [r["rank"] for r in found["ranking"]] == [1, 1]
    assert found["slots"] == {"total": 2, "compared": 0}


def test_skipping_the_hard_slots_gains_nothing():
    found = rank(standings([[90.0, np.nan, np.nan, 60.0], [85.0, 80.0, 70.0, np.nan], [np.nan, 82.0, 72.0, 62.0]]))
    assert [r["name"] for r in found["ranking"]] == ["m2", "m0", "m1"]


def test_benchmarks_weigh_equally():
    found = rank(standings([[1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 2.0]], benchmarks=[0, 0, 0, 1]))
    assert found["pairs"][0]["difference"] == pytest.approx(-0.5)
    assert found["ranking"][0]["name"] == "m1"


def test_the_lower_score_wins_where_lower_is_better():
    found = rank(standings([[0.1, 0.2], [0.3, 0.1], [0.2, 0.3]], direction="lower"))
    assert [r["name"] for r in found["ranking"]] == ["m0", "m1", "m2"]
    assert found["ranking"][0]["score"] < 0


def test_without_a_better_end_nothing_is_ranked():
    found = rank(standings([[1.0], [2.0]], direction=None))
    assert found["status"] == "undefined"
    assert found["ranking"] == []


def test_a_sign_flip_counts_every_assignment_of_signs():
    pair = rank(standings([[3.0, 5.0, 1.0, 4.0], [1.0, 1.0, 2.0, 1.0]]))["pairs"][0]
    assert pair["p"] == pytest.approx(4 / 16)  # differences 2, 4, -1, 3: sums of at least 8 in size are +-10 and +-8
    assert pair["min_attainable_p"] == pytest.approx(1 / 8)
    assert pair["status"] == "insufficient"


def test_clusters_answer_for_new_benchmarks():
    values = [[3.0, 5.0, 1.0, 4.0], [1.0, 1.0, 2.0, 1.0]]
    pair = rank(standings(values, benchmarks=[0, 0, 1, 1]), target="new_benchmarks")["pairs"][0]
    assert pair["target"] == "new_benchmarks"
    assert pair["test"] == "sign_flip_over_benchmarks"
    assert pair["min_attainable_p"] == 0.5


@pytest.mark.parametrize("shape", [(0, 0), (3, 0), (1, 1)])
def test_tiny_standings_are_ranked(shape):
    json.dumps(rank(standings(np.ones(shape))), allow_nan=False)


def ratios(blocks: int = 4) -> ScoreMatrix:
    """The ratios of the four grids of the last seed as competitors over benchmark and window; with 16 blocks every
    window of a benchmark counts as a benchmark."""
    names = ["s4/r1-qwen/AIME24", "s4/r1-qwen/AIME25", "s4/r1-qwen/AMC23", "s4/r1-qwen/GPQA_D"]
    values = np.array([seeds()[name]["values"] for name in names]).reshape(16, 5).T
    levels = ("0.1", "0.2", "0.3", "0.4", "0.5")
    owners = np.repeat(np.arange(blocks), 16 // blocks)
    return ScoreMatrix(levels, values, owners, tuple(str(i) for i in range(blocks)), None, "higher", 0, 100)


def scores(found: dict, names: tuple[str, ...]) -> list[float | None]:
    by_name = {row["name"]: row["score"] for row in found["ranking"]}
    return [by_name[name] for name in names]


@pytest.mark.parametrize(
    "method, missing, key",
    [
        ("helm_win_rate", "matched", "helm_win_rate"),
        ("win_rate", "matched", "pooled_winrate"),
        ("bradley_terry", "matched", "bt_log_strength"),
        ("mean", "observed", "raw_mean"),
    ],
)
def test_orders_of_ragged_slots_agree(method, missing, key):
    (entry,) = having("ragged_methods")
    found = rank(types(), method, missing)
    assert scores(found, types().names) == pytest.approx(entry["output"][key], rel=1e-9)
    if key in entry["output"]["orders"]:
        assert [int(row["name"]) for row in found["ranking"]] == entry["output"]["orders"][key]


def test_adjusted_means_agree_on_the_logit_scale():
    expected = having("logit_adjusted_means", "s0/core/qwen2.5-3b")[0]["output"]["adjusted_row_means"]
    found = rank(types(300), "adjusted_mean")
    assert scores(found, types().names) == pytest.approx(list(expected.values()), rel=1e-9)


def test_adjusted_means_without_bounds_are_additive():
    (entry,) = having("ragged_methods")
    values = types().values
    open_ended = ScoreMatrix(tuple("1234567"), values, np.zeros(20, dtype=np.int64), ("core",), None, "higher")
    found = rank(open_ended, "adjusted_mean")
    assert scores(found, open_ended.names) == pytest.approx(entry["output"]["adjusted_mean"], rel=1e-9)


def test_complete_blocks_agree_with_friedman_and_nemenyi():
    (entry,) = having("demsar")
    found, expected = rank(ratios(16), "mean_rank"), entry["output"]
    assert scores(found, ratios().names) == pytest.approx(expected["mean_ranks"], rel=1e-12)
    friedman = found["friedman"]
    assert friedman["chi2"] == pytest.approx(expected["chi2"], rel=1e-9)
    assert friedman["p"] == pytest.approx(expected["p"], rel=1e-9)
    assert friedman["iman_davenport"]["f"] == pytest.approx(expected["iman_davenport_F"], rel=1e-9)
    assert friedman["iman_davenport"]["p"] == pytest.approx(expected["iman_davenport_p"], rel=1e-9)
    assert friedman["critical_difference"]["value"] == pytest.approx(expected["critical_difference"], rel=1e-9)
    assert friedman["blocks"] == 16


def test_borda_and_win_rate_agree_on_complete_blocks():
    (entry,) = having("bradley_terry")
    assert scores(rank(ratios(16), "borda"), ratios().names) == pytest.approx(entry["output"]["borda"])
    assert scores(rank(ratios(), "win_rate"), ratios().names) == pytest.approx(entry["output"]["win_rate"])


def test_bradley_terry_agrees_with_choix_without_the_prior():
    (entry,) = having("bradley_terry")
    wins = np.array(entry["output"]["W"])
    found = bradley_terry(wins, ~np.eye(5, dtype=bool))
    assert found.values == pytest.approx(entry["output"]["log_strength"], rel=1e-9)
    assert np.sqrt(np.diag(found.inverse)) == pytest.approx(entry["output"]["se_fisher"], rel=1e-9)
    assert found.mle_exists


@pytest.mark.parametrize("entry", having("ranking"), ids=lambda e: e["grid"])
def test_edge_cases_of_wins_agree(entry):
    expected = entry["output"]
    direction = "higher" if entry["options"]["direction"] == 1 else "lower"
    given = standings([[float(v) for v in row] for row in expected["V"]], direction=direction)
    for method, key in (("helm_win_rate", "helm"), ("win_rate", "pooled_winrate"), ("bradley_terry", "bt_prior_half")):
        found = rank(given, method)
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


def test_a_name_that_wins_everything_is_finite():
    found = rank(standings([[9.0] * 3, [1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]), "bradley_terry")
    assert found["mle_exists"] is False
    assert found["ranking"][0]["score"] == pytest.approx(1.2972734327035422, rel=1e-9)


def test_ranks_refuse_incomplete_blocks():
    found = rank(types(), "mean_rank")
    assert found["status"] == "undefined"
    assert found["ranking"] == []
    assert len(found["pairs"]) == 21
    complete = rank(types(), "mean_rank", "complete")
    assert complete["friedman"]["blocks"] == 1


def test_mixed_units_have_wins_but_no_means():
    mixed = standings([[1.0, 200.0], [2.0, 100.0]], mixed=True)
    assert rank(mixed)["status"] == "undefined"
    assert rank(mixed, "win_rate")["status"] == "ok"
    assert rank(mixed, "win_rate")["pairs"][0]["difference"] is None


def test_zero_votes_cost_a_name_the_slots_that_it_skipped():
    given = standings([[9.0, np.nan, np.nan], [5.0, 5.0, 5.0]])
    assert rank(given, "win_rate")["ranking"][0]["name"] == "m0"
    skipped = rank(given, "win_rate", "zero_votes")
    assert [(r["name"], r["score"]) for r in skipped["ranking"]] == [
        ("m1", pytest.approx(2 / 3)),
        ("m0", pytest.approx(1 / 3)),
    ]
    assert rank(given, "mean", "zero_votes")["status"] == "undefined"


def test_the_worst_policy_fills_gaps_with_the_bound():
    given = standings([[90.0, np.nan], [80.0, 10.0]], lower=0, upper=100)
    found = rank(given, "mean", "worst")
    assert scores(found, given.names) == [45.0, 45.0]
    open_ended = rank(standings([[90.0, np.nan], [80.0, 10.0]]), "mean", "worst")
    assert scores(open_ended, given.names) == [50.0, 45.0]


def test_nothing_in_common_leaves_no_complete_slot():
    found = rank(standings([[1.0, np.nan], [np.nan, 2.0]]), missing="complete")
    assert found["status"] == "insufficient"


def test_the_sensitivity_to_policy_names_every_order():
    found = rank(types())
    moved = {p["name"]: p for p in found["policy_sensitivity"]}
    worst = {"method": "mean_difference", "missing": "worst", "rank": 4}  # it has the most long lengths
    assert worst in moved["5"]["ranks"]
    assert (moved["5"]["rank"], moved["5"]["best"], moved["5"]["worst"]) == (7, 4, 7)
    assert {r["method"] for r in moved["5"]["ranks"]} >= {"mean", "win_rate", "bradley_terry", "adjusted_mean"}
    assert all(-1 <= a["tau"] <= 1 for a in found["stability"]["agreement"])


def test_leaving_out_a_benchmark_can_change_the_order():
    values = [[9.0, 1.0, 1.0], [0.0, 2.0, 2.0]]
    found = rank(standings(values, benchmarks=[0, 1, 2]))
    assert found["stability"]["leave_one_out"] == [
        {"name": "m0", "best": 1, "worst": 2},
        {"name": "m1", "best": 1, "worst": 2},
    ]


def test_two_models_on_four_benchmarks_agree_with_the_paired_reference():
    (entry,) = having("paired_common_support")
    expected = entry["output"]
    pairs = [(f"s4/r1-qwen/{b}", f"s2/r1-llama/{b}") for b in expected["per_benchmark"]]
    values = np.array(
        [[v for pair in pairs for row in seeds()[pair[i]]["values"] for v in row] for i in (0, 1)], dtype=float
    )
    given = ScoreMatrix(("qwen", "llama"), values, np.repeat(np.arange(4), 20), tuple("abcd"), None, "higher", 0, 100)
    found = rank(given)
    pair = found["pairs"][0]
    assert (pair["wins"], pair["ties"], pair["losses"]) == (expected["wins"], expected["ties"], expected["losses"])
    assert pair["n_common"] == expected["common_cells"]
    assert pair["difference"] == pytest.approx(expected["macro_mean_diff"], rel=1e-9)
    clusters = rank(given, target="new_benchmarks")["pairs"][0]
    ends = expected["t_on_benchmark_means"]["ci"]
    assert [clusters["interval"]["low"], clusters["interval"]["high"]] == pytest.approx(ends, rel=1e-9)
    assert clusters["min_attainable_p"] == expected["wilcoxon_benchmarks_exact"]["min_attainable"]


@pytest.mark.parametrize("word", [{"method": "elo"}, {"missing": "zero"}, {"target": "all"}])
def test_unknown_words_are_refused(word):
    with pytest.raises(ValueError, match="is none of"):
        rank(standings([[1.0]]), **word)


def test_standard_errors_give_pairs_a_z():
    errors = np.array([[3.0, 4.0], [4.0, 3.0]])
    pair = rank(standings([[20.0, 30.0], [10.0, 20.0]], stderr=errors))["pairs"][0]
    assert (pair["test"], pair["difference"]) == ("z", 10.0)
    assert pair["p"] == pytest.approx(0.004677734981047266, rel=1e-9)  # 2 * (1 - Phi(10 / sqrt(12.5)))


def test_too_many_names_are_refused_with_a_reason():
    found = rank(standings([[float(i)] for i in range(301)]))
    assert (found["status"], found["ranking"], found["reason"]) == ("undefined", [], "more than 300 names")


def test_astronomic_values_are_refused():
    assert rank(standings([[1e300], [-1e300]]))["status"] == "undefined"
