"""Properties of rankings: what must not change an order does not."""

import json
import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from registry.results.terms import OF_UNITS
from tests.workers.statistics.documents import rank
from tests.workers.statistics.documents import standings as standings_of
from workers.statistics import ScoreMatrix
from workers.statistics.ranking_methods import METHODS, MISSING

few = settings(max_examples=max(3, settings.default.max_examples // 8))
"""For each method: together they have as many examples as any other property."""
every_method = pytest.mark.parametrize("method", METHODS)
percents = st.integers(0, 1000).map(lambda tenths: tenths / 10)
tables = st.tuples(st.integers(1, 4), st.integers(1, 5)).flatmap(
    lambda size: st.lists(
        st.lists(st.one_of(percents, percents, st.just(math.nan)), min_size=size[1], max_size=size[1]),
        min_size=size[0],
        max_size=size[0],
    )
)
policies = st.sampled_from(MISSING)


def standings(values: Any, names: Any = None, owners: Any = None, **more: Any) -> ScoreMatrix:
    """Names over slots of three benchmarks in turn, unless told."""
    return standings_of(values, np.arange(np.shape(values)[1]) % 3 if owners is None else owners, names, **more)


def told(found: dict[str, Any], renamed: dict[str, str] | None = None) -> dict[str, Any]:
    """What a ranking says about each name and pair, whatever order it says it in; names by their old name."""
    old = {new: name for name, new in (renamed or {}).items()}

    def known(name: str) -> str:
        return old.get(name, name)

    pairs: dict[tuple[str, str], Any] = {}
    for pair in found["pairs"]:
        a, b = known(pair["a"]), known(pair["b"])
        difference, wins = pair["difference"], (pair["wins"], pair["losses"])
        if a > b:
            a, b, wins = b, a, wins[::-1]
            difference = None if difference is None else -difference
        record = [pair["n_common"], *wins, pair["ties"]]
        pairs[a, b] = [pair["status"], pair["test"], *rounded([*record, difference, pair["p"], pair["p_holm"]])]
    rows = {
        known(row["name"]): rounded(
            [row[n] for n in ("rank", "score", "rank_low", "rank_high", "cells", "wins", "ties", "losses")]
        )
        for row in found["ranking"]
    }
    stable = found["stability"]
    return {
        "status": found["status"],
        "rows": rows,
        "pairs": pairs,
        "groups": {frozenset(map(known, group)) for group in found["groups"]},
        "components": {frozenset(map(known, part)) for part in found["components"]},
        "policies": {
            known(one["name"]): (one["best"], one["worst"], sorted(map(str, one["ranks"])))
            for one in found["policy_sensitivity"]
        },
        "left_out": {known(one["name"]): (one["best"], one["worst"]) for one in stable["leave_one_out"]},
    }


def rounded(values: list[Any]) -> list[Any]:
    """Numbers to nine significant digits, so that only the order of additions may differ."""
    return [v or 0 if not isinstance(v, float) else 0 if abs(v) < 1e-12 else float(f"{v:.9g}") for v in values]


@every_method
@few
@given(tables, policies, st.permutations(["p", "q", "r", "s", "t"]), st.randoms())
def test_other_names_and_another_order_of_names_and_slots_mean_nothing(method, values, missing, letters, shuffler):
    table = np.array(values)
    rows, columns = list(range(len(table))), list(range(table.shape[1]))
    shuffler.shuffle(rows)
    shuffler.shuffle(columns)
    renamed = {f"m{i}": letters[i] for i in range(len(values))}
    mixed_up = standings(table[np.ix_(rows, columns)], [f"m{i}" for i in rows], (np.arange(len(columns)) % 3)[columns])
    plain = rank(standings(values), method, missing)
    json.dumps(plain, allow_nan=False)
    assert told(plain) == told(rank(mixed_up, method, missing))
    assert told(plain) == told(rank(standings(values, renamed.values()), method, missing), renamed)


@every_method
@few
@given(tables, st.sampled_from(["matched", "available"]), percents)
def test_a_name_that_shares_no_slot_changes_nothing_for_the_others(method, values, missing, alone):
    table = np.array(values)
    assume(np.isfinite(table).any())
    wide = np.full((len(table) + 1, table.shape[1] + 1), np.nan)
    wide[:-1, :-1], wide[-1, -1] = table, alone
    owners = [*(np.arange(table.shape[1]) % 3), 0]
    before = rank(standings(table), method, missing)
    after = rank(standings(wide, [*(f"m{i}" for i in range(len(table))), "stranger"], owners), method, missing)
    mine, theirs = told(before), told(after)
    assert theirs["status"] == mine["status"]
    assert {k: v for k, v in theirs["pairs"].items() if "stranger" not in k} == mine["pairs"]
    assert {v[0] for k, v in theirs["pairs"].items() if "stranger" in k} <= {"not_comparable"}
    for part in ("rows", "policies", "left_out"):
        theirs[part].pop("stranger", None)
        assert theirs[part] == mine[part]


@every_method
@few
@given(tables, policies)
def test_negated_values_and_the_other_direction_are_the_same_contest(method, values, missing):
    up = rank(standings(values, upper=None), method, missing)
    down = rank(standings(-np.array(values), direction="lower", lower=None, upper=0), method, missing)
    for name in ("status", "groups", "components"):
        assert up[name] == down[name]
    for one, other in zip(up["ranking"], down["ranking"], strict=True):
        for name in ("name", "rank", "rank_low", "rank_high", "wins", "ties", "losses"):
            assert one[name] == other[name]
    for one, other in zip(up["pairs"], down["pairs"], strict=True):
        assert rounded([one["p"], one["wins"], one["losses"]]) == rounded([other["p"], other["wins"], other["losses"]])
    assert told(up)["left_out"] == told(down)["left_out"]


@every_method
def test_names_that_tie_everywhere_share_the_first_rank_and_one_group(subtests, method):
    for missing, count in product(MISSING, (2, 4)):
        with subtests.test(missing, count=count):
            trials = np.full((count, 3), 100)
            found = rank(standings([[50.0, 60.0, 70.0]] * count, trials=trials), method, missing)
            if (method in OF_UNITS and missing == "zero_votes") or (method != "borda" and missing == "zero_points"):
                assert found["status"] == "undefined"
                continue
            names = [f"m{i}" for i in range(count)]
            ranks = [(row["rank"], row["rank_low"], row["rank_high"]) for row in found["ranking"]]
            assert ranks == [(1, 1, count)] * count
            assert found["groups"] == found["components"] == [names]
            json.dumps(found, allow_nan=False)


@every_method
def test_a_name_that_wins_everything_is_first_with_a_finite_score(subtests, method):
    values = np.array([[99.0, 98.0, 97.0, 99.5], [50.0, 60.0, 40.0, 55.0], [60.0, 50.0, 55.0, 40.0]])
    for missing, direction in product([one for one in MISSING if not one.startswith("zero_")], ("higher", "lower")):
        with subtests.test(missing, direction=direction):
            given_ = values if direction == "higher" else 100 - values
            found = rank(standings(given_, direction=direction), method, missing)
            first = found["ranking"][0]
            assert (first["name"], first["rank"], first["wins"], first["losses"]) == ("m0", 1, 8, 0)
            assert math.isfinite(first["score"])
            if method == "bradley_terry":
                assert found["mle_exists"] is False


@every_method
def test_names_that_share_nothing_have_no_place(method):
    values = [[1.0, np.nan, np.nan], [np.nan, 2.0, np.nan], [np.nan, np.nan, 3.0]]
    found = rank(standings(values), method)
    assert found["components"] == [["m0"], ["m1"], ["m2"]]
    assert (found["status"], found["groups"]) == ("insufficient", [])
    assert [(row["rank"], row["score"]) for row in found["ranking"]] == [(None, None)] * 3
    assert {pair["status"] for pair in found["pairs"]} == {"not_comparable"}


@every_method
def test_mixed_units_have_wins_and_ranks_and_no_means(method):
    found = rank(standings([[1.0, 200.0], [2.0, 300.0], [0.5, 100.0]], mixed=True, lower=None, upper=None), method)
    if method in OF_UNITS:
        assert (found["status"], found["ranking"]) == ("undefined", [])
        assert found["reason"] == "slots of different units have wins and ranks, but no means"
    else:
        assert [row["name"] for row in found["ranking"]] == ["m1", "m0", "m2"]
    assert [pair["difference"] for pair in found["pairs"]] == [None] * 3
    assert [(pair["wins"], pair["losses"]) for pair in found["pairs"]] == [(0, 2), (2, 0), (2, 0)]
