"""Ranks under resampled benchmarks, against every ordered draw ranked by itself."""

from __future__ import annotations

import itertools
import json
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest

from workers.statistics import Standings, rank
from workers.statistics.orders import METHODS, MISSING, Method, Missing, Scores, order, prepared
from workers.statistics.ranks import shared_ranks
from workers.statistics.resampling import DRAWS, SEED, draws, multisets, resampling
from workers.statistics.separation import components

RAGGED = np.array(
    [
        [70.0, 61.0, np.nan, 55.0, 90.0, 40.0, 33.0],
        [65.0, 66.0, 50.0, 52.0, np.nan, 45.0, 31.0],
        [60.0, np.nan, 58.0, 57.0, 85.0, 45.0, 38.0],
        [np.nan, 64.0, 49.0, 51.0, 92.0, 30.0, 40.0],
    ]
)
OWNERS = (0, 0, 0, 1, 1, 2, 2)


def standings(values: Any, owners: Any, **more: Any) -> Standings:
    table = np.array(values, dtype=np.float64)
    names = tuple(f"m{i}" for i in range(len(table)))
    benchmarks = tuple(f"b{i}" for i in range(max(owners) + 1))
    given = {"direction": "higher", "lower": 0, "upper": 100} | more
    return Standings(names, table, np.array(owners, dtype=np.int64), benchmarks, **given)


def drawn(given: Standings, draw: tuple[int, ...]) -> Standings:
    """The slots of the drawn benchmarks; one that is drawn twice is two benchmarks."""
    slots = [(slot, place) for place, b in enumerate(draw) for slot in np.flatnonzero(given.benchmarks == b).tolist()]
    columns, owners = zip(*slots, strict=True)
    return standings(
        given.values[:, list(columns)], owners, direction=given.direction, lower=given.lower, upper=given.upper
    )


def by_ordered_draws(given: Standings, method: Method, missing: Missing) -> tuple[float, dict[str, dict[int, float]]]:
    """The share of draws that rank all names together, and given that the probability of each rank."""
    size = len(given.benchmark_names)
    counts: dict[str, Counter[int]] = {name: Counter() for name in given.names}
    ranked = 0
    for draw in itertools.product(range(size), repeat=size):
        again = prepared(drawn(given, draw), missing)
        scores = order(again, method, missing)
        if len(components(again)) == 1 and isinstance(scores, Scores) and np.isfinite(scores.goodness).all():
            ranked += 1
            for name, place in zip(given.names, shared_ranks(scores.goodness).tolist(), strict=True):
                counts[name][place] += 1
    shares = {name: {r: n / ranked for r, n in one.items()} for name, one in counts.items() if ranked}
    return ranked / size**size, shares


def resampled(given: Standings, method: str = "mean_difference", missing: str = "matched", **more: Any) -> Any:
    (found,) = rank(given, method, missing, **more)["stability"]["resampling"]
    json.dumps(found, allow_nan=False)
    return found


@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("method", [method for method in METHODS if method != "adjusted_mean"])
def test_the_enumerated_law_is_that_of_all_ordered_draws(method: Method, missing: Missing) -> None:
    given = standings(RAGGED, OWNERS, direction="lower" if missing in ("observed", "complete") else "higher")
    if rank(given, method, missing)["status"] != "ok":
        assert rank(given, method, missing)["stability"]["resampling"] == []
        return
    ranked, shares = by_ordered_draws(given, method, missing)
    found = resampled(given, method, missing)
    assert (found["law"], found["resamples"], found["seed"], found["benchmarks"]) == ("enumeration", 10, None, 3)
    assert found["ranked"] == pytest.approx(ranked, rel=1e-12)
    assert [one["name"] for one in found["names"]] == ["m0", "m1", "m2", "m3"]
    for one in found["names"]:
        assert {s["rank"]: s["share"] for s in one["shares"]} == pytest.approx(shares[one["name"]], rel=1e-9)
        assert one["first"] == pytest.approx(shares[one["name"]].get(1, 0.0), rel=1e-9)


def test_two_benchmarks_have_three_multisets_of_known_weight() -> None:
    """m0 wins the first by 3, m1 the second by 1: m1 is ahead only where the second is drawn twice, a quarter."""
    found = resampled(standings([[4.0, 1.0], [1.0, 2.0]], (0, 1)))
    assert (found["status"], found["resamples"], found["ranked"]) == ("ok", 3, 1.0)
    first, second = found["names"]
    assert first["shares"] == [{"rank": 1, "share": 0.75}, {"rank": 2, "share": 0.25}]
    assert (first["rank"], first["low"], first["median"], first["high"], first["first"]) == (1, 1, 1, 2, 0.75)
    assert (second["low"], second["median"], second["high"], second["first"]) == (1, 2, 2, 0.25)


def test_the_interval_is_at_the_level_that_was_asked() -> None:
    given = standings([[4.0, 1.0], [1.0, 2.0]], (0, 1))
    assert resampled(given, alpha=0.6)["names"][0]["high"] == 1
    assert resampled(given, alpha=0.6)["level"] == pytest.approx(0.4)


@pytest.mark.parametrize("size", range(2, 8))
def test_multisets_and_their_weights_are_complete(size: int) -> None:
    counts, weights = multisets(size)
    assert len(counts) == math.comb(2 * size - 1, size) == len(np.unique(counts, axis=0))
    assert set(counts.sum(axis=1)) == {size}
    assert weights.sum() == size**size


def test_from_eight_benchmarks_up_a_fixed_generator_draws() -> None:
    chance = np.random.default_rng(5)
    values = np.round(chance.normal(50, 5, (4, 24)) + np.array([[3], [2], [1], [0]]), 1)
    given = standings(values, [i // 3 for i in range(24)])
    found = resampled(given)
    assert (found["law"], found["resamples"], found["seed"], found["benchmarks"]) == ("bootstrap", DRAWS, SEED, 8)
    assert found == resampled(given)
    assert sum(one["first"] for one in found["names"]) >= 1.0
    counts, _ = draws(8)
    assert counts.shape == (DRAWS, 8)
    assert set(counts.sum(axis=1)) == {8}
    assert counts.mean(axis=0) == pytest.approx(np.ones(8), abs=0.1)


def test_the_bootstrap_agrees_with_the_enumeration_where_both_can_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    given = standings(RAGGED, OWNERS)
    exact = resampled(given)
    monkeypatch.setattr("workers.statistics.resampling.ENUMERATED", 1)
    drawn_ = resampled(given)
    assert drawn_["law"] == "bootstrap"
    for one, other in zip(exact["names"], drawn_["names"], strict=True):
        assert one["first"] == pytest.approx(other["first"], abs=4 * 0.5 / math.sqrt(DRAWS))


def test_resamples_that_part_the_names_are_left_out_and_counted() -> None:
    """m0 and m1 meet in b0, m1 and m2 in b1: only draws with both link them, half of four."""
    found = resampled(standings([[1.0, np.nan], [2.0, 1.0], [np.nan, 2.0]], (0, 1)))
    assert (found["status"], found["ranked"]) == ("ok", 0.5)
    assert [one["first"] for one in found["names"]] == [0.0, 0.0, 1.0]


def test_one_benchmark_and_one_name_have_nothing_to_resample() -> None:
    found = resampled(standings([[1.0, 2.0], [2.0, 1.0]], (0, 0)))
    assert (found["status"], found["reason"]) == ("insufficient", "one benchmark cannot be resampled")
    found = resampled(standings([[1.0, 2.0]], (0, 1)))
    assert (found["status"], found["reason"]) == ("insufficient", "one name has one rank")


def test_what_costs_too_much_is_refused_with_the_bound() -> None:
    values = np.random.default_rng(1).normal(size=(120, 7))
    values[0, 0] = np.nan
    given = standings(values, range(7), lower=None, upper=None)
    found = resampling(given, "mean_difference", "matched", np.arange(120) + 1, 0.95, 0)
    assert found.status == "insufficient"
    assert found.reason == "the resamples would take 1.2e+09 operations; at most 1e+09 are made"
    assert (found.names, found.law) == ((), None)
    assert resampled(standings(RAGGED, OWNERS), "adjusted_mean")["status"] == "undefined"


def test_each_component_is_resampled_by_itself() -> None:
    values = [[1.0, 2.0, np.nan], [2.0, 1.0, np.nan], [np.nan, np.nan, 5.0]]
    found = rank(standings(values, (0, 1, 2)))["stability"]["resampling"]
    assert [(one["component"], one["status"], one["benchmarks"]) for one in found] == [
        (0, "ok", 2),
        (1, "insufficient", 1),
    ]
