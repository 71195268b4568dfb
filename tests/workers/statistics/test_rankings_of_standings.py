"""Rankings against the reference numbers."""

from __future__ import annotations

import json

import numpy as np
import pytest
from reference_numbers import having, seeds

from workers.statistics import Standings, rank


def standings(values, benchmarks=None, **more) -> Standings:
    """Names m0, m1 ... over slots t0, t1 ..., one benchmark unless told."""
    table = np.array(values, dtype=np.float64)
    owners = np.array(benchmarks if benchmarks is not None else [0] * table.shape[1], dtype=np.int64)
    given = {"direction": "higher", **more}
    names = tuple(f"b{i}" for i in range(int(owners.max(initial=-1)) + 1))
    return Standings(tuple(f"m{i}" for i in range(len(table))), table, owners, names, **given)


def types(trials: int | None = None) -> Standings:
    """The types of the first seed as competitors over its lengths."""
    values = np.array(seeds()["s0/core/qwen2.5-3b"]["values"], dtype=np.float64)
    given = None if trials is None else np.where(np.isfinite(values), trials, 0)
    owners = np.zeros(values.shape[1], dtype=np.int64)
    return Standings(tuple("1234567"), values, owners, ("core",), given, "higher", 0, 100)


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
        assert pair["mean_difference"] == pytest.approx(expected["pairs_mean_diff"][i][j], rel=1e-9)
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
