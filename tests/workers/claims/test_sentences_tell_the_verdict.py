"""The sentence of a judgement agrees with its verdict, and its numbers with what decided it."""

from __future__ import annotations

import math
from typing import Any

import pytest
from scipy.stats import theilslopes
from syrupy.assertion import SnapshotAssertion

from tests.workers.claims.scenes import SIDES, above, facts_of, judged, of, rows_of

pytestmark = pytest.mark.unit

ONE = of([80.0], trials=400)  # 320 of 400: exact limits 75.74 and 83.81


def test_each_sentence_tells_its_verdict_and_why(subtests: Any, snapshot: SnapshotAssertion) -> None:
    """`tellings.json` has the number that each sentence tells, calculated by hand."""
    sentences = {}
    for row in rows_of("tellings.json"):
        found = judged(facts_of(row), row["claim"])
        sentences[row["says"]] = f"{found['reason']}: {found['sentence']}"
        if "estimate" in row:
            with subtests.test(row["says"]):
                assert found["parts"][0]["numbers"]["estimate"] == pytest.approx(row["estimate"], rel=1e-4)
    assert sentences == snapshot


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
    whole = judged(ONE, above(10, over="declared"))
    assert whole["parts"][0]["numbers"]["low"] == pytest.approx(75.74, abs=0.01)


def test_noise_and_missing_cells_add_up() -> None:
    """Nine cells of 60 and a missing one of 0 or more have a mean of 54 at least, and the mean of the nine is above 55
    beyond noise; but the ninth part that is missing and the noise together leave less than 50."""
    nine, claim = of([60.0] * 9 + [None], trials=50), above(50, of="mean")
    alone = judged(nine, claim)
    assert (alone["as_posted"], alone["beyond_noise"]) == ("supported", "supported")
    assert 0.9 * alone["parts"][0]["numbers"]["low"] < 50
    found = judged(nine, claim | {"over": "declared"})
    assert (found["as_posted"], found["beyond_noise"]) == ("supported", "not_decidable")
    assert found["reason"] == "within_noise"


def test_a_lead_over_declared_cells_is_no_more_than_that_over_the_measured_rivals() -> None:
    """Three rivals: the measured one that is nearest is 5 behind, 2.394 standard errors of the difference more at
    most."""
    best = {"kind": "extreme", "which": "max", "at": [{"L": 0}], "over": "declared"}
    numbers = judged(of([90.0, 85.0, None, 80.0], stderr=(1.0,) * 4), best)["parts"][0]["numbers"]
    assert numbers["high"] == pytest.approx(5 + 2.39398 * 2**0.5, abs=1e-3)
    assert numbers["low"] == pytest.approx(-10 - 2.39398, abs=1e-3)


@pytest.mark.parametrize(("word", "which", "number"), [("small", "largest", 20), ("present", "smallest", 10)])
def test_an_effect_by_two_axes_has_the_number_that_decides(word: str, which: str, number: int) -> None:
    square = of([90.0, 80.0], [70.0, 60.0], stderr=(1.0,) * 4)
    told = judged(square, {"kind": "effect", "axes": ["T", "L"], "is": word, "within": 3})["sentence"]
    assert f"the {which} width of the means by T, L, " in told
    assert f" is {number} (claimed" in told
    # Two axes at 2.5 % each: 2.2414 standard errors of 1 to either side.
    assert f"beyond noise: {number - 2.2414:.4g} to {number + 2.2414:.4g} at 95 % confidence" in told


def test_a_trend_of_too_few_points_tells_the_smallest_p() -> None:
    """Of n different values one ordering in n! rises all the way, and one falls: two-sided 2/n!."""
    claim = {"kind": "trend", "along": "L", "goes": "up"}
    for points, p in ((2, 1.0), (3, 0.333), (4, 0.0833)):
        found = judged(of([10.0, 20.0, 40.0, 50.0][:points]), claim)
        layers = (found["as_posted"], found["beyond_noise"], found["reason"])
        assert layers == ("supported", "not_decidable", "too_few_points")
        assert found["parts"][0]["numbers"]["smallest_p"] == pytest.approx(2 / math.factorial(points))
        assert f"there are too few points: with {points} the smallest p is {p:g}." in found["sentence"]
    five = judged(of([10.0, 20.0, 40.0, 50.0, 60.0]), claim)
    assert five["beyond_noise"] == "supported"
    assert "smallest_p" not in five["parts"][0]["numbers"]


def test_a_trend_tells_that_its_change_is_fitted() -> None:
    values = [100.0, 99.3, 99.7, 99.7, 99.0, 100.0, 98.3, 99.3, 99.3, 98.3, 98.3, 98.7, 98.0, 97.7, 97.7, 98.7, 98.7,
              98.3, 97.7]  # fmt: skip
    assert theilslopes(values)[0] * 18 == pytest.approx(-1.8)
    for margin, verdict in ((2, "supported"), (1.7, "contradicted")):
        found = judged(of(values, trials=300), {"kind": "trend", "along": "L", "goes": "flat", "margin": margin})
        assert found["as_posted"] == verdict
        assert f"the fitted change along L is -1.8 (claimed: stays within {margin})" in found["sentence"]
    # The last cell less the first is another statement.
    assert (
        judged(of(values, trials=300), {"kind": "value", "of": "change", "is": {"op": "=", "number": -2.3}})[
            "as_posted"
        ]
        == "supported"
    )


@pytest.mark.parametrize("unit", ["percent", "factor"])
@pytest.mark.parametrize("direction", ["higher", "lower"])
def test_the_interval_ends_where_the_verdict_changes(unit: str, direction: str) -> None:
    values = ([80.0, 70.0], [40.0, 30.0]) if direction == "higher" else ([40.0, 30.0], [80.0, 70.0])
    both = of(*values, trials=100)

    def at(op: str, number: float) -> dict[str, Any]:
        return judged(both, SIDES | {"is": direction, "by": {"op": op, "number": number, "unit": unit}})

    numbers = at(">", 1)["parts"][0]["numbers"]
    low, high = numbers["low"], numbers["high"]
    if unit == "percent" and direction == "lower":
        low, high = -high, -low
    assert low < abs(numbers["estimate"]) < high
    assert at(">", low * 0.999)["beyond_noise"] == at("<", high * 1.001)["beyond_noise"] == "supported"
    assert at(">", low * 1.001)["beyond_noise"] == at("<", high * 0.999)["beyond_noise"] == "not_decidable"


def test_a_factor_of_what_may_be_0_has_no_upper_end() -> None:
    claim = SIDES | {"is": "higher", "by": {"op": ">", "number": 1, "unit": "factor"}}
    numbers = judged(of([50.0], [1.0], trials=100, stderr=(5.0, 5.0)), claim)["parts"][0]["numbers"]
    assert numbers["low"] > 0
    assert numbers["high"] is None


def test_the_most_significant_is_the_largest() -> None:
    assert judged(ONE, above(79, text="The most significant one is above 79"))["verdict"] == "supported"
    asked = above(79, text="The most significant is significantly above")
    assert judged(ONE, asked)["verdict"] == "not_decidable"
