"""Ranks under resampled benchmarks, against every drawn board ranked by itself."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student

from tests.workers.statistics.documents import rank, standings
from workers.statistics import ScoreMatrix
from workers.statistics.rank_groups import components
from workers.statistics.ranking_methods import METHODS, MISSING, Method, Missing, Scores, order, prepared
from workers.statistics.ranks import shared_ranks
from workers.statistics.resampling import DRAWS, SEED, draws, expanded, ranks_again, resampling

N = math.nan
RAGGED = [
    [70.0, 61.0, N, 55.0, 90.0, 40.0, 33.0],
    [65.0, 66.0, 50.0, 52.0, N, 45.0, 31.0],
    [60.0, N, 58.0, 57.0, 85.0, 45.0, 38.0],
    [N, 64.0, 49.0, 51.0, 92.0, 30.0, 40.0],
]
OWNERS = (0, 0, 0, 1, 1, 2, 2)


def drawn(given: ScoreMatrix, draw: tuple[int, ...]) -> ScoreMatrix:
    """The slots of the drawn benchmarks; one that is drawn twice is two benchmarks."""
    slots = [(slot, place) for place, b in enumerate(draw) for slot in np.flatnonzero(given.benchmarks == b).tolist()]
    columns, owners = zip(*slots, strict=True)
    return standings(given.values[:, list(columns)], owners, direction=given.direction)


def ranks_of_draw(given: ScoreMatrix, draw: tuple[int, ...], method: Method, missing: Missing) -> list[int]:
    """The ranks of a drawn board by itself; zeros where the names fall apart or have no order."""
    again = prepared(drawn(given, draw), missing)
    scores = order(again, method, missing)
    whole = len(components(again)) == 1 and isinstance(scores, Scores) and np.isfinite(scores.goodness).all()
    return shared_ranks(scores.goodness).tolist() if whole and isinstance(scores, Scores) else [0] * len(given.names)


def resampled(given: ScoreMatrix, method: str = "mean_difference", missing: str = "matched", **more: Any) -> Any:
    (found,) = rank(given, method, missing, **more)["stability"]["resampling"]
    json.dumps(found, allow_nan=False)
    return found


def eight(count: int = 8, seed: int = 5) -> ScoreMatrix:
    """Four names a point apart over so many benchmarks of three slots."""
    chance = np.random.default_rng(seed)
    values = np.round(chance.normal(50, 5, (4, 3 * count)) + np.array([[3], [2], [1], [0]]), 1)
    return standings(values, [i // 3 for i in range(3 * count)])


@pytest.mark.parametrize("method", [m for m in METHODS if m not in ("adjusted_mean", "standardised_difference")])
def test_the_ranks_of_a_resample_are_those_of_its_benchmarks(subtests: Any, method: Method) -> None:
    sets = [(0, 1, 2), (0, 0, 1), (2, 2, 2), (1, 2, 2), (1, 1, 1), (0, 0, 0)]
    counts = np.array([[draw.count(b) for b in range(3)] for draw in sets])
    for missing in MISSING:
        given = standings(RAGGED, OWNERS, direction="lower" if missing in ("available", "complete") else "higher")
        if rank(given, method, missing)["status"] == "ok":
            with subtests.test(missing):
                found = ranks_again(given, method, missing, counts).tolist()
                assert found == [ranks_of_draw(given, draw, method, missing) for draw in sets]


@pytest.mark.parametrize("count", [2, 4, 7])
def test_below_eight_benchmarks_no_range_is_served(count: int) -> None:
    found = resampled(eight(count))
    assert (found["status"], found["names"], found["law"]) == ("insufficient", [], None)
    assert "9 to 30 %" in found["reason"]


def test_from_eight_benchmarks_up_a_fixed_generator_draws() -> None:
    found = resampled(eight())
    assert (found["law"], found["resamples"], found["seed"], found["benchmarks"]) == ("bootstrap", DRAWS, SEED, 8)
    assert found == resampled(eight())
    assert sum(one["first_share"] for one in found["names"]) >= 1.0
    counts = draws(8)
    assert counts.shape == (DRAWS, 8)
    assert set(counts.sum(axis=1)) == {8}
    assert counts.mean(axis=0) == pytest.approx(np.ones(8), abs=0.1)


def test_percentiles_are_taken_at_the_expanded_level_of_half_alpha() -> None:
    """Hesterberg (2015), table 5: n = 10 takes the 95 % interval at 0.0086 and 0.9914."""
    assert (1 - expanded(0.95, 10)) / 2 == pytest.approx(norm.cdf(-math.sqrt(10 / 9) * student.ppf(0.975, 9)))
    assert (1 - expanded(0.95, 10)) / 2 == pytest.approx(0.0086, abs=1e-4)
    found = resampled(eight())
    tail = norm.cdf(-math.sqrt(8 / 7) * student.ppf(0.9875, 7))
    for one in found["names"]:
        shares = np.zeros(5)
        for share in one["shares"]:
            shares[share["rank"]] = share["share"]
        assert shares[: one["low"]].sum() < tail <= shares[: one["low"] + 1].sum()
        assert shares[one["high"] + 1 :].sum() <= tail + 1e-9


def test_the_interval_is_at_the_level_that_was_asked() -> None:
    wide, narrow = resampled(eight()), resampled(eight(), alpha=0.6)
    assert narrow["level"] == pytest.approx(0.4)
    for one, other in zip(wide["names"], narrow["names"], strict=True):
        assert one["low"] <= other["low"] <= other["high"] <= one["high"]


def test_resamples_that_part_the_names_are_left_out_and_counted() -> None:
    """m0 and m1 meet in b0 only: seven of eight to the eighth ordered draws leave it out, about a third."""
    values = np.tile([[np.nan], [2.0], [1.0]], 8)
    values[0, 0] = 3.0
    found = resampled(standings(values, range(8)))
    assert found["status"] == "ok"
    assert found["ranked"] == pytest.approx(1 - (7 / 8) ** 8, abs=4 * 0.5 / math.sqrt(DRAWS))
    assert [one["first_share"] for one in found["names"]] == [1.0, 0.0, 0.0]


def test_one_benchmark_and_one_name_have_nothing_to_resample() -> None:
    found = resampled(standings([[1.0, 2.0], [2.0, 1.0]], (0, 0)))
    assert (found["status"], found["reason"]) == ("insufficient", "one benchmark cannot be resampled")
    found = resampled(standings([[1.0, 2.0]], (0, 1)))
    assert (found["status"], found["reason"]) == ("insufficient", "one name has one rank")


def test_what_costs_too_much_is_refused_with_the_bound() -> None:
    values = np.random.default_rng(1).normal(size=(120, 8))
    values[0, 0] = np.nan
    given = standings(values, range(8), lower=None, upper=None)
    found = resampling(given, "mean_difference", "matched", np.arange(120) + 1, 0.95, 0)
    assert found.status == "insufficient"
    assert found.reason == "the resamples would take 1.4e+09 operations; at most 1e+09 are made"
    assert (found.names, found.law) == ((), None)
    assert resampled(eight(), "adjusted_mean")["status"] == "undefined"


def test_each_component_is_resampled_by_itself() -> None:
    values = [[1.0, 2.0, np.nan], [2.0, 1.0, np.nan], [np.nan, np.nan, 5.0]]
    found = rank(standings(values, (0, 1, 2)))["stability"]["resampling"]
    assert [(one["component"], one["benchmarks"]) for one in found] == [(0, 2), (1, 1)]
