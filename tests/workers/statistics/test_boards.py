"""Rankings of many names at once: the orders that exact rankings have, and those of other libraries."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm, rankdata

import workers.statistics.board
from registry.renderings.ranking import page
from registry.renderings.sheet import text
from registry.results.codec import from_document, to_document
from registry.results.ranking import Ranking
from workers.statistics import ScoreMatrix, rank
from workers.statistics.board import rank_board
from workers.statistics.ranking_methods import METHODS, MISSING


def board(
    models: int = 14,
    sizes: tuple[int, ...] = (1, 3, 1, 2, 1, 4, 1, 1, 2),
    share: float = 0.75,
    seed: int = 1,
    **more: Any,
) -> ScoreMatrix:
    """Whole numbers, so that there are ties; half of the benchmarks miss whole models, half miss cells; slots mixed."""
    chance = np.random.default_rng(seed)
    owners = np.repeat(np.arange(len(sizes)), sizes)
    values = np.round(50 + chance.normal(0, 6, models)[:, None] + chance.normal(0, 9, (models, owners.size)))
    whole = (np.arange(len(sizes)) % 2 == 0)[owners]
    absent = np.where(
        whole, chance.random((models, len(sizes)))[:, owners] >= share, chance.random(values.shape) >= share
    )
    values[absent] = np.nan
    mixed = chance.permutation(owners.size)
    names = tuple(f"m{i:03}" for i in range(models))
    benchmarks = tuple(f"b{i}" for i in range(len(sizes)))
    policy: dict[str, Any] = {"direction": "higher"} | more
    return ScoreMatrix(names, values[:, mixed], owners[mixed], benchmarks, **policy)


def of_board(standings: ScoreMatrix, *policy: Any) -> Any:
    return to_document(rank_board(standings, *policy))


def in_one_order(found: Any, exact: Any) -> None:
    names = ("rank", "name", "cells", "wins", "ties", "losses", "component", "pool")
    assert found["status"] == exact["status"]
    for one, other in zip(found["ranking"], exact["ranking"], strict=True):
        assert [one[name] for name in names] == [other[name] for name in names]
        assert one["score"] == pytest.approx(other["score"], rel=1e-9, abs=1e-9)


def test_every_method_and_policy_has_the_order_that_an_exact_ranking_has(subtests: Any) -> None:
    for (place, method), missing in product(enumerate(METHODS), MISSING):
        direction = ("higher", "lower")[(place + MISSING.index(missing)) % 2]
        standings = board(7, (1, 3, 1, 2, 4, 1, 2), direction=direction)
        with subtests.test(method, missing=missing, direction=direction):
            found = of_board(standings, method, missing, 0.05, "rerun")
            exact = to_document(rank(standings, method, missing))
            assert found.get("slots") == exact.get("slots")
            in_one_order(found, exact)


@pytest.mark.parametrize("method", METHODS)
def test_names_with_one_number_each_are_in_its_order_however_many_they_are(method: str) -> None:
    names = 1_266 if method in ("mean_difference", "bradley_terry") else 3_000
    values = np.random.default_rng(3).integers(0, 1_000, (names, 1)) / 10
    standings = ScoreMatrix(
        tuple(f"m{i:04}" for i in range(names)), values, np.array([0]), ("b",), direction="higher", lower=0, upper=100
    )
    found = of_board(standings, method, "matched", 0.05, "rerun")
    ranks = dict(zip(standings.names, rankdata(-values[:, 0], method="min"), strict=True))
    assert (found["status"], [row["rank"] for row in found["ranking"]]) == ("ok", sorted(ranks.values()))
    assert all(row["rank"] == ranks[row["name"]] for row in found["ranking"])
    # One difference has no sign that is rare: every rank is left open, and nobody is separated from anybody.
    assert {(row["rank_low"], row["rank_high"]) for row in found["ranking"]} == {(1, names)}
    together = [names] if names < 1_500 and method != "mean_difference" else []
    assert [len(group) for group in found["groups"]] == together
    if names > 1_500:
        told = "no pair was tested, so every rank is left open: more than 1,500 names are not tested against each other"
        assert told in text(page(from_document(Ranking, found)))


def test_an_order_without_pairs_is_the_order_with_them(monkeypatch: Any, subtests: Any) -> None:
    for method, missing in product(METHODS, MISSING):
        for share in (1.0, 0.75):
            standings = board(9, (1, 3, 1, 2), share=share)
            found = []
            for most in (9, 8):
                monkeypatch.setattr(workers.statistics.board, "MOST_PAIRED", most)
                found.append(of_board(standings, method, missing, 0.05, "rerun"))
            if "it compares pairs" in (found[1].get("reason") or ""):
                assert method in ("mean_difference", "win_rate", "bradley_terry")
                assert share < 1 or method == "bradley_terry"
                continue
            with subtests.test(method, missing=missing, share=share):
                in_one_order(*found)


@pytest.mark.parametrize("target", ["rerun", "new_benchmarks"])
@pytest.mark.parametrize("method", ["mean_difference", "borda"])
def test_the_pairs_have_the_differences_leads_and_counts_of_exact_ones(method: str, target: str) -> None:
    missing = "zero_points" if method == "borda" else "matched"
    found = of_board(board(share=0.9), method, missing, 0.05, target)["pairs"]
    exact = to_document(rank(board(share=0.9), method, missing, target=target))["pairs"]
    assert len(found) == 14 * 13 // 2
    names = ("a", "b", "n_common", "benchmarks", "wins", "ties", "losses", "estimand")
    for one, other in zip(found, exact, strict=True):
        assert [one[name] for name in names] == [other[name] for name in names]
        assert one["lead"] == pytest.approx(other["lead"], abs=1e-12)
        if other["difference"] is not None:
            assert one["difference"] == pytest.approx(other["difference"], abs=1e-9)


@pytest.mark.parametrize("target", ["rerun", "new_benchmarks"])
def test_p_of_leads_is_that_of_the_sign_flip_in_its_normal_limit(target: str) -> None:
    """Each slot's sign over the slots of its benchmark; benchmark by benchmark if these are new."""
    standings = board(6, (1, 3, 1, 2, 1, 4, 1, 1, 2, 1, 1, 1), 0.9, seed=8)
    for pair in of_board(standings, "borda", "zero_points", 0.05, target)["pairs"]:
        a, b = (standings.values[standings.names.index(pair[side])] for side in "ab")
        shared = np.isfinite(a) & np.isfinite(b)
        moves = np.sign(a - b)
        parts = [moves[shared & (standings.benchmarks == one)] for one in np.unique(standings.benchmarks[shared])]
        terms = np.array([one.mean() for one in parts])
        if target == "rerun":
            terms = np.concatenate([one / one.size for one in parts])
        normal = 2 * norm.sf(abs(terms.sum()) / np.sqrt(np.sum(terms**2))) if terms.any() else 1.0
        assert pair["p"] == pytest.approx(max(normal, pair["min_attainable_p"]), rel=1e-6)


def mteb_borda(table: Any) -> tuple[Any, Any]:
    """What mteb's `_create_table.py` does: for each task n less the average rank, summed without those that are
    missing; the final rank by the smallest."""
    points = np.zeros(len(table))
    for scores in table.T:
        has = np.isfinite(scores)
        points[has] += len(table) - rankdata(-scores[has])
    return points, rankdata(-points, method="min")


@pytest.mark.parametrize("ranked", [rank, lambda *policy: rank_board(*policy, 0.05, "rerun")])
@pytest.mark.parametrize(("models", "share"), [(12, 1.0), (12, 0.6), (40, 0.85)])
def test_borda_with_zero_points_is_the_count_of_mteb(ranked: Any, models: int, share: float) -> None:
    standings = board(models, (1,) * 20, share, seed=models)
    found = {row["name"]: row for row in to_document(ranked(standings, "borda", "zero_points"))["ranking"]}
    points, ranks = mteb_borda(standings.values)
    assert [found[name]["rank"] for name in standings.names] == ranks.tolist()
    assert [found[name]["score"] for name in standings.names] == pytest.approx(points)


def test_a_benchmark_of_several_cells_gives_points_to_those_that_have_them_all() -> None:
    """A and B have both cells, with means 5 and 6; C lacks one and has no points, however large the other is."""
    values = np.array([[4.0, 6.0], [5.0, 7.0], [np.nan, 9.0]])
    standings = ScoreMatrix(("A", "B", "C"), values, np.array([0, 0]), ("b",), direction="higher")
    found = to_document(rank(standings, "borda", "zero_points"))["ranking"]
    assert [(row["name"], row["rank"], row["score"]) for row in found] == [("B", 1, 2.0), ("A", 2, 1.0), ("C", 3, 0.0)]


def test_points_are_refused_by_methods_that_have_none() -> None:
    found = to_document(rank(board(), "win_rate", "zero_points"))
    assert (found["status"], "method Borda" in found["reason"]) == ("undefined", True)


def test_an_average_over_complete_benchmarks_is_left_without_each_as_an_exact_ranking_is() -> None:
    complete = board(9, (1,) * 12, 1.0)
    for method in ("mean_difference", "mean", "win_rate", "borda"):
        found = of_board(complete, method, "matched", 0.05, "rerun")["stability"]["leave_one_out"]
        assert found == to_document(rank(complete, method))["stability"]["leave_one_out"]


def test_leaving_one_out_with_gaps_stays_near_to_fitting_anew() -> None:
    standings = board(12, (1, 1, 2, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1), 0.85, seed=3)
    found = of_board(standings, "mean_difference", "matched", 0.05, "rerun")["stability"]["leave_one_out"]
    exact = to_document(rank(standings))["stability"]["leave_one_out"]
    for one, other in zip(found, exact, strict=True):
        assert one["name"] == other["name"]
        assert all(abs(one[end] - other[end]) <= 1 for end in ("best", "worst"))


def test_one_benchmark_that_carries_the_differences_is_said_with_its_share() -> None:
    """Sentences a second beside scores from 0 to 1: 10^4 to 10^5 against differences of 0.01."""
    chance = np.random.default_rng(5)
    values = chance.normal(0.5, 0.01, (20, 6))
    values[:, 3] = chance.uniform(1e4, 1e5, 20)
    names, benchmarks = tuple(f"m{i:02}" for i in range(20)), tuple("abcSef")
    standings = ScoreMatrix(names, values, np.arange(6), benchmarks, direction="higher")
    [told] = of_board(standings, "mean_difference", "matched", 0.05, "rerun")["warnings"]
    assert told["code"] == "one_benchmark_dominates"
    assert '"S" carries 100%' in told["detail"]
    assert "win rate and Borda" in told["detail"]
    [told] = to_document(rank(standings))["warnings"]
    assert '"S" carries 100%' in told["detail"]
    assert of_board(standings, "win_rate", "matched", 0.05, "rerun")["warnings"] == []


def test_of_many_names_the_pairs_are_those_of_neighbours_or_of_one_name() -> None:
    many = board(110, (1,) * 7, 1.0, seed=2)
    for found in (of_board(many, "mean", "matched", 0.05, "rerun"), to_document(rank(many, "mean"))):
        order = [row["name"] for row in found["ranking"]]
        assert len(found["pairs"]) == 109
        met = {frozenset((pair["a"], pair["b"])) for pair in found["pairs"]}
        assert met == {frozenset(order[i : i + 2]) for i in range(109)}
        assert any(one["part"] == "pairs" and "ask for those of one name" in one["reason"] for one in found["left_out"])
    of_one = of_board(many, "mean", "matched", 0.05, "rerun", "m007"), to_document(rank(many, "mean", pairs_of="m007"))
    for found in of_one:
        assert found["pairs_of"] == "m007"
        assert len(found["pairs"]) == 109
        assert all("m007" in (pair["a"], pair["b"]) for pair in found["pairs"])
        assert [row["name"] for row in found["ranking"]] == order
        assert found["stability"]["leave_one_out"] == []
    wrong = of_board(many, "mean", "matched", 0.05, "rerun", "nobody")
    assert (wrong["status"], '"nobody"' in wrong["reason"]) == ("undefined", True)
