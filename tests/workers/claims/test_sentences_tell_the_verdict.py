"""The sentence of a judgement agrees with its verdict, and its numbers with what decided it."""

import math
from typing import Any

import pytest
from scipy.stats import theilslopes
from syrupy.assertion import SnapshotAssertion

from tests.workers.claims.scenes import SIDES, facts_of, judged, of, rows_of

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


@pytest.mark.parametrize(("word", "which", "number"), [("small", "largest", 20), ("present", "smallest", 10)])
def test_an_effect_by_two_axes_has_the_number_that_decides(word: str, which: str, number: int) -> None:
    square = of([90.0, 80.0], [70.0, 60.0], stderr=(1.0,) * 4)
    told = judged(square, {"kind": "effect", "axes": ["T", "L"], "is": word, "within": 3})["sentence"]
    assert f"the {which} width of the means by T, L, " in told
    assert f" is {number} (claimed" in told
    # Two axes at 2.5 % each: 2.2414 standard errors of 1 to either side.
    assert f"beyond noise: {number - 2.2414:.4g} to {number + 2.2414:.4g} at 95 % confidence" in told


@pytest.mark.parametrize(("number", "verdict"), [(60, "Supported"), (2, "Contradicted")])
def test_a_last_level_is_told_beside_the_number_that_is_claimed(number: float, verdict: str) -> None:
    claim = {"kind": "coverage", "axis": "L", "is": "last_below", "number": number, "level": 3}
    told = judged(of([90.0, 80.0, 70.0]), claim)["sentence"]
    assert told == f"{verdict} as posted: the last level with a cell is 2 (claimed: below {number})."


def test_what_is_claimed_of_cells_is_not_told_as_if_it_were_so() -> None:
    for says, told in (
        ({"axis": "L", "is": "levels", "levels": [0, 1]}, "the levels with a cell (claimed: 0, 1)"),
        ({"axis": "L", "is": "span", "levels": [0, 1]}, "the first and the last level with a cell (claimed: 0, 1)"),
        ({"is": "ragged"}, "whether cells are missing (claimed: yes)"),
    ):
        found = judged(of([90.0, 80.0, 70.0]), {"kind": "coverage", **says})["sentence"]
        assert found == f"Contradicted as posted: {told}."


def test_a_width_that_each_pair_shows_has_the_bound_by_which_it_is_shown() -> None:
    """The widest pair is .225 apart, with an error of 100 sqrt(2 x .09 / 20,000) = .3: 1.96 of them are .59; over all
    ten pairs it would be 2.81 of them."""
    series = of([90.005, 90.1, 89.9, 90.0, 90.125], trials=20_000)
    claim = {"kind": "stable", "along": "L"}
    shown = judged(series, claim | {"within": 0.85})["sentence"]
    assert "Supported beyond noise: 0 to 0.8163 at 95 % confidence" in shown
    left = judged(series, claim | {"within": 0.8})["sentence"]
    assert "it is within the noise: 0 to 1.07 at 95 % confidence" in left


def test_a_trend_of_too_few_points_tells_the_smallest_p() -> None:
    """Of n different values one ordering in n! rises all the way, and one falls: two-sided 2/n!."""
    claim = {"kind": "trend", "along": "L", "goes": "up"}
    for points in (2, 3, 4):
        found = judged(of([10.0, 20.0, 40.0, 50.0][:points]), claim)
        layers = (found["as_posted"], found["beyond_noise"], found["reason"])
        assert layers == ("supported", "not_decidable", "too_few_points")
        p = 2 / math.factorial(points)
        assert f"there are too few points: with {points} the smallest p is {p:.3g}." in found["sentence"]
    five = judged(of([10.0, 20.0, 40.0, 50.0, 60.0]), claim)
    assert five["beyond_noise"] == "supported"
    # One of 5, and one other: 2 / 5 of the orderings are as far.
    tied = judged(of([10.0, 20.0, 20.0, 20.0, 20.0]), claim)["sentence"]
    assert "there are too many ties: with 5 points the smallest p is 0.4." in tied


def test_a_trend_tells_that_its_change_is_fitted() -> None:
    values = [100.0, 99.3, 99.7, 99.7, 99.0, 100.0, 98.3, 99.3, 99.3, 98.3, 98.3, 98.7, 98.0, 97.7, 97.7, 98.7, 98.7,
              98.3, 97.7]  # fmt: skip
    assert theilslopes(values)[0] * 18 == pytest.approx(-1.8)
    for margin, verdict in ((2, "supported"), (1.7, "contradicted")):
        found = judged(of(values, trials=300), {"kind": "trend", "along": "L", "goes": "flat", "margin": margin})
        assert found["as_posted"] == verdict
        assert f"the change by the median slope along L is -1.8 (claimed: stays within {margin})" in found["sentence"]
    # The last cell less the first is another statement.
    assert (
        judged(of(values, trials=300), {"kind": "value", "of": "change", "is": {"op": "=", "number": -2.3}})[
            "as_posted"
        ]
        == "supported"
    )


def test_where_ties_make_the_median_slope_0_the_pairs_decide_where_a_trend_goes() -> None:
    def layer(values: list[float | None], goes: str) -> tuple[str, bool | None]:
        found = judged(of(values), {"kind": "trend", "along": "L", "goes": goes})
        return found["as_posted"], found["robust_to_missing"]

    # Of 28 pairs 15 tie: the median slope is 0, and 13 pairs fall.
    falls: list[float | None] = [*[100.0] * 6, 98.0, 96.0]
    assert theilslopes(falls)[0] == 0
    told = judged(of(falls), {"kind": "trend", "along": "L", "goes": "down"})["sentence"]
    assert told.startswith(
        "Supported as posted, by 13 falling pairs of 28, 0 rising: the change by the median slope along L is 0 (claimed"
    )
    assert [layer(falls, goes) for goes in ("down", "up")] == [("supported", True), ("contradicted", True)]
    assert [layer([50.0] * 5, goes)[0] for goes in ("down", "up")] == ["contradicted"] * 2
    # With 0 in place of the second cell 8 pairs rise and 16 fall; in place of a first one 7 rise and 6 fall.
    for values, robust in (([100.0, None, *falls], True), ([None, *[90.0] * 6, 89.0], False)):
        assert layer(values, "down") == ("supported", robust)


def test_statements_over_different_cells_say_over_which() -> None:
    """80.2, 74.3 and 66.1 have the mean 73.5, 77.3 and 71.2 have 74.3, but where both are the first has 3 more."""
    both = of([80.2, 74.3, 66.1], [77.3, 71.2, None])
    means = [
        {"kind": "value", "of": "mean", "where": {"T": [row]}, "is": {"op": "=", "number": mean}}
        for row, mean in ((1, 73.5), (2, 74.3))
    ]
    ahead = SIDES | {"is": "higher", "by": {"op": "=", "number": 3}}
    told = judged(both, {"kind": "all_of", "claims": [*means, ahead]})["sentence"]
    assert told.startswith("Supported as posted: 3 of 3 statements hold. ")
    assert told.endswith(
        " Each statement is over its own cells: the mean at T 1, over all 3 levels of L; the mean at T 2, over the 2 of"
        " 3 levels of L that were measured (0, 1); the mean of T 1 less that of T 2, over the 2 of 3 levels of L that"
        " both have (0, 1)."
    )
    alike = judged(of([80.2, 74.3], [77.3, 71.2]), {"kind": "all_of", "claims": [means[1], ahead]})["sentence"]
    assert "own cells" not in alike
    last = judged(both, {"kind": "value", "of": "last", "where": {"T": [2]}, "is": {"op": "=", "number": 71.2}})
    assert "the last value at T 2, at L 1, is 71.2" in last["sentence"]


@pytest.mark.parametrize(
    ("op", "number", "verdict", "rounds"),
    [(">=", 3, "supported", True), ("=", 3.0, "supported", False), (">", 3, "contradicted", False),
     (">=", 3.1, "contradicted", False), ("<=", 2.9, "contradicted", False), ("<=", 3, "supported", False)],
)  # fmt: skip
def test_a_least_number_is_not_contradicted_by_rounding(op: str, number: float, verdict: str, rounds: bool) -> None:
    """The gaps 3.1, 2.9 and 2.9 have the mean 2.97, which one decimal prints as 3.0."""
    found = judged(
        of([80.4, 74.1, 66.1], [77.3, 71.2, 63.2]), SIDES | {"is": "higher", "by": {"op": op, "number": number}}
    )
    assert (found["as_posted"], found["depends_on_reading"]) == (verdict, rounds)
    assert ("and it rounds to that)" in found["sentence"]) is rounds


def test_a_least_factor_is_not_contradicted_by_rounding_and_a_whole_number_is_no_range_of_one() -> None:
    twice = SIDES | {"is": "higher", "by": {"op": ">=", "number": 2, "unit": "factor"}}
    assert judged(of([59.9], [30.0]), twice)["as_posted"] == "supported"  # 1.997
    assert judged(of([57.1], [30.0]), twice)["as_posted"] == "contradicted"  # 1.903
    step = {"kind": "value", "of": "change", "is": {"op": "<=", "number": 2}}
    assert judged(of([95.9, 98.3]), step)["as_posted"] == "contradicted"  # 2.4, nobody prints it as 2.0


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
