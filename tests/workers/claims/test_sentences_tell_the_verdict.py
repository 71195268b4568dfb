"""The sentence of a judgement agrees with its verdict, and its numbers with what decided it."""

from __future__ import annotations

import math
from typing import Any

import pytest
from scipy.stats import theilslopes

from tests.workers.claims.scenes import judged, source, table
from workers.claims.facts import Facts

pytestmark = pytest.mark.unit


def of(*values: list[float | None], **content: Any) -> Facts:
    rows = [str(number + 1) for number in range(len(values))]
    return Facts.of([source(table(values, rows, [float(at) for at in range(len(values[0]))], **content))])


def above(number: float, **more: Any) -> dict[str, Any]:
    return {"kind": "value", "is": {"op": ">", "number": number}, **more}


def denied(claim: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "not", "claims": [claim]}


def test_a_denial_is_told_as_a_whole() -> None:
    one = of([80.0], trials=400)
    found = judged(one, denied(above(90)))
    assert (found["verdict"], found["beyond_noise"]) == ("supported", "supported")
    # 320 of 400: exact limits 75.74 and 83.81.
    assert found["sentence"] == (
        "Supported as posted: not (the value is 80 (claimed: above 90)), as the statement itself is contradicted. "
        "Supported beyond noise: 75.74 to 83.81 at 95 % confidence."
    )
    wrong = judged(one, denied(above(10)))["sentence"]
    assert wrong.startswith("Contradicted as posted: not (the value is 80 (claimed: above 10)), as the statement")
    twice = judged(one, denied(denied(above(10))))["sentence"]
    assert twice.startswith("Supported as posted: the value is 80 (claimed: above 10). Supported beyond noise")


def test_a_denial_of_several_statements_is_told_as_a_whole() -> None:
    both = denied({"kind": "all_of", "claims": [above(10), above(20)]})
    told = judged(of([80.0], trials=400), both)["sentence"]
    assert told.startswith("Contradicted as posted: not (2 of 2 statements hold).")


def test_what_a_claim_denies_holds_where_it_is_contradicted() -> None:
    both = {"kind": "all_of", "claims": [denied(above(10)), denied(above(90)), above(20)]}
    told = judged(of([80.0], trials=400), both)["sentence"]
    assert told.startswith(
        "Contradicted as posted: 2 of 3 statements hold; not (the value is 80 (claimed: above 10)). "
        "Contradicted beyond noise: 2 of 3 are shown."
    )


def test_a_claim_that_no_group_holds_is_told_with_its_only_group() -> None:
    none = above(90, **{"for": {"T": "*"}, "holds": "none"})
    told = judged(of([80.0], trials=400), none)["sentence"]
    assert told.startswith("Supported as posted: none of (the value at T 1 is 80 (claimed: above 90)), as the")


def test_missing_cells_have_no_interval_of_the_measured_ones() -> None:
    holes = of([80.0, None], [70.0, None], trials=400)
    for number, posted, noise in ((45, "not_decidable", "not_decidable"), (30, "supported", "supported")):
        claim = above(number, of="mean")
        alone = judged(holes, claim)["parts"][0]["numbers"]
        found = judged(holes, claim | {"over": "declared"})
        assert (found["as_posted"], found["beyond_noise"]) == (posted, noise)
        # Two of four cells are measured; the others have anything from 0 to 100.
        numbers = found["parts"][0]["numbers"]
        assert (numbers["low"], numbers["high"]) == pytest.approx((alone["low"] / 2, alone["high"] / 2 + 50))
        assert found["sentence"].endswith("at 95 % confidence, whatever the missing cells are.")
        assert found["reason"] == ("missing_cells" if posted == "not_decidable" else None)
    whole = judged(of([80.0], trials=400), above(10, over="declared"))
    assert whole["parts"][0]["numbers"]["low"] == pytest.approx(75.74, abs=0.01)


def test_noise_and_missing_cells_add_up() -> None:
    """Nine cells of 60 and a missing one of 0 or more have a mean of 54 at least, and the mean of the nine is above 55
    beyond noise; but the ninth part that is missing and the noise together leave less than 50."""
    nine = of([60.0] * 9 + [None], trials=50)
    claim = above(50, of="mean")
    alone = judged(nine, claim)
    assert (alone["as_posted"], alone["beyond_noise"]) == ("supported", "supported")
    assert 0.9 * alone["parts"][0]["numbers"]["low"] < 50
    found = judged(nine, claim | {"over": "declared"})
    assert (found["as_posted"], found["beyond_noise"]) == ("supported", "not_decidable")
    assert found["reason"] == "within_noise"


def test_a_trend_of_too_few_points_tells_the_smallest_p() -> None:
    """Of n different values one ordering in n! rises all the way, and one falls: two-sided 2/n!."""
    claim = {"kind": "trend", "along": "L", "goes": "up"}
    for points, p in ((2, 1.0), (3, 0.333), (4, 0.0833)):
        found = judged(of([10.0, 20.0, 40.0, 50.0][:points]), claim)
        assert (found["as_posted"], found["beyond_noise"], found["reason"]) == (
            "supported", "not_decidable", "too_few_points")  # fmt: skip
        assert found["parts"][0]["numbers"]["smallest_p"] == pytest.approx(2 / math.factorial(points))
        assert f"there are too few points: with {points} the smallest p is {p:g}." in found["sentence"]
    five = judged(of([10.0, 20.0, 40.0, 50.0, 60.0]), claim)
    assert five["beyond_noise"] == "supported"
    assert "smallest_p" not in five["parts"][0]["numbers"]


def test_a_trend_tells_that_its_change_is_fitted() -> None:
    values = [100.0, 99.3, 99.7, 99.7, 99.0, 100.0, 98.3, 99.3, 99.3, 98.3, 98.3, 98.7, 98.0, 97.7, 97.7, 98.7, 98.7,
              98.3, 97.7]  # fmt: skip
    fitted = theilslopes(values)[0] * 18
    assert fitted == pytest.approx(-1.8)
    for margin, verdict in ((2, "supported"), (1.7, "contradicted")):
        found = judged(of(values, trials=300), {"kind": "trend", "along": "L", "goes": "flat", "margin": margin})
        assert found["as_posted"] == verdict
        assert f"the fitted change along L is -1.8 (claimed: stays within {margin})" in found["sentence"]
    # The last cell less the first is another statement.
    change = {"kind": "value", "of": "change", "is": {"op": "=", "number": -2.3}}
    assert judged(of(values, trials=300), change)["as_posted"] == "supported"


SIDES: dict[str, Any] = {"kind": "compare", "left": {"T": [1]}, "right": {"T": [2]}}


@pytest.mark.parametrize(
    ("sides", "direction", "unit", "told"),
    [
        # 42.5 and 40.8 of 100: 1.7 points, 4.1667 % of 40.8, 1.041667 times it.
        (("left", "right"), "higher", "points", "is 1.7 (claimed"),
        (("left", "right"), "higher", "percent", "is 4.167 percent of the latter (claimed"),
        (("left", "right"), "higher", "factor", "the factor between the means of T 1 and T 2 is 1.042 times ("),
        # 40.8 is 4 % of 42.5 below it.
        (("right", "left"), "lower", "percent", "is -4 percent of the latter (claimed: lower by above 1 percent)"),
        (("right", "left"), "lower", "factor", "is 1.042 times (claimed: lower by above 1 times)"),
    ],
)
def test_a_difference_is_told_in_the_unit_that_is_claimed(sides: Any, direction: str, unit: str, told: str) -> None:
    both = of([42.5], [40.8], trials=1000)
    by = {"op": ">", "number": 1, "unit": unit}
    claim = SIDES | {"left": SIDES[sides[0]], "right": SIDES[sides[1]], "is": direction, "by": by}
    assert told in judged(both, claim)["sentence"]


@pytest.mark.parametrize("unit", ["percent", "factor"])
@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_the_interval_ends_where_the_verdict_changes(unit: str, direction: str) -> None:
    values = ([80.0, 70.0], [40.0, 30.0]) if direction == "higher" else ([40.0, 30.0], [80.0, 70.0])
    both = of(*values, trials=100)

    def at(op: str, number: float) -> dict[str, Any]:
        by = {"op": op, "number": number, "unit": unit}
        return judged(both, SIDES | {"is": direction, "by": by})

    numbers = at(">", 1)["parts"][0]["numbers"]
    low, high = numbers["low"], numbers["high"]
    if unit == "percent" and direction == "lower":
        low, high = -high, -low
    assert low < abs(numbers["estimate"]) < high
    assert at(">", low * 0.999)["beyond_noise"] == "supported"
    assert at(">", low * 1.001)["beyond_noise"] == "not_decidable"
    assert at("<", high * 1.001)["beyond_noise"] == "supported"
    assert at("<", high * 0.999)["beyond_noise"] == "not_decidable"


def test_a_factor_of_what_may_be_0_has_no_upper_end() -> None:
    claim = SIDES | {"is": "higher", "by": {"op": ">", "number": 1, "unit": "factor"}}
    numbers = judged(of([50.0], [1.0], trials=100, stderr=(5.0, 5.0)), claim)["parts"][0]["numbers"]
    assert numbers["low"] > 0
    assert numbers["high"] is None


def test_means_say_over_which_cells_they_are() -> None:
    """Of five lengths the first two have all three, and the other lengths turn the order."""
    three = of([90.0, 90.0, 99.0, 99.0, None], [92.0, 92.0, None, None, 80.0], [80.0, 80.0, None, None, None])
    rank = {"kind": "rank", "by": "T", "name": 1, "stat": "mean"}
    matched, own = (judged(three, {**rank, "missing": missing}) for missing in ("matched", "observed"))
    assert (matched["as_posted"], own["as_posted"]) == ("contradicted", "supported")
    over = "over the 2 of 5 levels of L that all have (0, 1)"
    assert matched["sentence"].startswith(
        f"Contradicted as posted: the rank of T 1 by mean, {over}, is 2 (claimed: place 1)."
    )
    assert matched["parts"][0]["numbers"]["over"] == over
    assert "by mean, each over its own cells (4 of T 1, 2 to 3 of the others), is 1 (" in own["sentence"]
    best = {"kind": "extreme", "which": "max", "of": "T", "at": [2]}
    assert (
        f"the lead of the maximum named by mean, {over}, is 2 (claimed: the only one)"
        in judged(three, best)["sentence"]
    )
    pair = {"kind": "compare", "left": {"T": [1]}, "right": {"T": [2]}, "is": "lower"}
    # Lengths 0 and 1 again; those two have four and three of the five.
    assert (
        "less that of T 2, over the 2 of 5 levels of L that both have (0, 1), is -2 ("
        in judged(three, pair)["sentence"]
    )
    halves = {
        "kind": "compare",
        "left": {"L": {"to": 1}},
        "right": {"L": {"from": 2}},
        "is": "lower",
        "where": {"T": [1]},
    }
    assert "at T 1, over 2 and 2 cells, is -9 (" in judged(three, halves)["sentence"]
    both = of([90.0, 91.0], [92.0, 93.0])
    assert "T 2, over all 2 levels of L, is -2 (" in judged(both, pair)["sentence"]


def test_counts_say_of_how_many_and_which_cells_are_otherwise() -> None:
    row = of([90.0, 80.0, 95.0, None])
    cells = judged(row, {"kind": "cells", "is": {"op": ">", "number": 85}})
    assert "cells is 2 of 3; 80 at L 1 is not (claimed: all of the cells above 85)" in cells["sentence"]
    assert (cells["parts"][0]["numbers"]["estimate"], cells["parts"][0]["numbers"]["out_of"]) == (2, 3)
    most = judged(row, {"kind": "cells", "is": {"op": ">", "number": 85}, "cells_hold": "most"})
    assert "is 2 of 3 (claimed" in most["sentence"]
    none = judged(row, {"kind": "cells", "is": {"op": ">", "number": 85}, "cells_hold": "none"})
    assert "is 2 of 3; 90 at L 0; 95 at L 2 are (claimed" in none["sentence"]
    lie = judged(row, {"kind": "lie", "matching": {"op": ">", "number": 85}, "inside": [{"L": [1]}]})
    assert "cells inside is 0 of 2; 90 at L 0; 95 at L 2 are outside (claimed" in lie["sentence"]


def test_a_trend_without_a_step_back_counts_its_steps() -> None:
    row = of([90.0, 95.0, 94.0, 96.0, 97.0])
    claim = {"kind": "trend", "along": "L", "goes": "up", "monotone": True, "where": {"L": {"to": 3}}}
    # 90 95 94 96: up, down, up.
    assert judged(row, claim)["sentence"].startswith(
        "Contradicted as posted: the number of steps that do not fall along L (at most 3) is 2 of 3; "
        "not from 95 at L 1 to 94 at L 2 (claimed: rises without a step back)."
    )
    strict = of([90.0, 90.0, 91.0])
    found = judged(strict, {"kind": "trend", "along": "L", "goes": "up", "strictly": True})
    assert "the number of steps that rise along L is 1 of 2; not from 90 at L 0 to 90 at L 1 (" in found["sentence"]


@pytest.mark.parametrize(
    ("values", "said", "told"),
    [
        ([80.1, 80.2, 80.2], {"op": ">", "number": 80}, "is 80.167 ("),  # 240.5 / 3 = 80.1666...
        ([0.5, 0.25, 0.25], {"op": ">", "number": 0.3}, "is 0.3333 ("),
        ([1, 0, 0], {"op": ">", "number": 0.333}, "is 0.3333 ("),  # 0.333 would not be above 0.333
        ([80, 80, 80.001], {"op": ">", "number": 80}, "is 80.00033 ("),
    ],
)
def test_a_number_has_two_decimals_more_than_the_posted_ones(values: list[float], said: Any, told: str) -> None:
    assert told in judged(of(values), {"kind": "value", "of": "mean", "is": said})["sentence"]


def test_several_that_tie_are_not_told_as_the_only_one() -> None:
    claim = {"kind": "extreme", "which": "max", "at": [{"T": 1, "L": 0}, {"T": 1, "L": 1}]}
    told = judged(of([90.0, 90.0, 80.0]), claim)["sentence"]
    assert "(claimed: these 2 tie, and no other is as good)" in told


def test_a_sentence_begins_with_the_layer_that_its_claim_asks_for() -> None:
    one = of([80.0], trials=400)
    claim = above(79, text="It is significantly above 79")
    found = judged(one, claim)
    assert found["verdict"] == "not_decidable"
    assert found["sentence"].startswith(
        "Not decidable beyond noise, it is within the noise: the value is 80 (claimed: above 79); "
        "75.74 to 83.81 at 95 % confidence. As posted it is supported."
    )
    both = judged(one, {"kind": "all_of", "claims": [above(79), above(10)], "strength": "noise"})
    assert both["sentence"].startswith(
        "Not decidable beyond noise: 1 of 2 statements are shown. As posted it is supported: 2 of 2 statements hold."
    )


def test_the_most_significant_is_the_largest() -> None:
    one = of([80.0], trials=400)
    assert judged(one, above(79, text="The most significant one is above 79"))["verdict"] == "supported"
    assert judged(one, above(79, text="The most significant is significantly above"))["verdict"] == "not_decidable"


@pytest.mark.parametrize("more", [{}, {"for": {"L": "*"}}])
def test_nothing_measured_is_told_in_one_wording(more: Any) -> None:
    empty = Facts.of([source(table([[], []], ["1", "2"], []))])
    found = judged(empty, {"kind": "cells", "is": {"op": ">", "number": 5}, **more})
    assert (found["sentence"], found["reason"]) == ("Not decidable: no cell of it was measured.", "not_published")
