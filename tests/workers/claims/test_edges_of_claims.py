"""Claims at the edges: cells of nothing or everything, ties, one cell, sides that cannot be compared."""

from typing import Any

import pytest

from registry.grids.grid import Metric
from tests.workers.claims.scenes import above, facts_of, judged, of, rows_of, source, table
from workers.claims.facts import Facts

pytestmark = [pytest.mark.unit, pytest.mark.usefixtures("unplanned")]

YES, NO, OPEN = "supported", "contradicted", "not_decidable"


def layers(facts: Facts, claim: dict[str, Any]) -> tuple[str, str, str | None]:
    found = judged(facts, claim)
    return found["as_posted"], found["beyond_noise"], found["reason"]


def test_claims_at_the_edges(subtests: Any) -> None:
    """`edges.json` has the verdict as posted, the one beyond noise, and the reason where one is expected."""
    for row in rows_of("edges.json"):
        with subtests.test(row["edge"], claim=row["claim"]):
            expected = tuple(row["expected"])
            assert layers(facts_of(row), row["claim"])[: len(expected)] == expected


def test_too_many_cells_are_not_judged() -> None:
    wide = of(*[[50.0] * 401] * 50)
    assert layers(wide, {"kind": "trend", "along": "L", "goes": "up", "for": {"T": "*"}})[2] == "too_large"
    assert layers(wide, {"kind": "cells", "is": {"op": "=", "number": 50.0}})[0] == YES


def models(*metrics: Metric, benchmarks: tuple[str, str] = ("B", "B")) -> Facts:
    """Model M1 with 80 and 90, model M2 with 40 and 30."""
    sources = []
    for place, (metric, benchmark) in enumerate(zip(metrics, benchmarks, strict=True)):
        grid = table([[[80.0, 90.0], [40.0, 30.0]][place]], ["1"], [0.0, 1.0], metric=metric, trials=400)
        sources.append(source(grid, place, model=f"M{place + 1}", benchmark=benchmark))
    return Facts.of(sources)


PERCENT = Metric("accuracy", "%", "higher", 0.0, 100.0)
HIGHER: dict[str, Any] = {"kind": "compare", "left": {"model": ["M1"]}, "right": {"model": ["M2"]}, "is": "higher"}
TURNED = HIGHER | {"left": HIGHER["right"], "right": HIGHER["left"], "is": "lower"}
RANK = {"kind": "rank", "by": "model", "name": "M1"}


def test_a_difference_in_points_in_percent_and_as_a_factor(subtests: Any) -> None:
    # Means 85 and 35: 50 points, 142.86 percent of the right side, 2.4286 times it; 35 is 58.8 percent below 85.
    for claim, size, expected in (
        (HIGHER, {"op": "=", "number": 50}, (YES,)),
        (HIGHER, {"op": "=", "number": 51}, (NO,)),
        (HIGHER, {"op": ">", "number": 50}, (NO,)),
        (HIGHER, {"op": "=", "number": 142.9, "unit": "percent"}, (YES,)),
        (HIGHER, {"op": "=", "number": 142.8, "unit": "percent"}, (NO,)),
        (HIGHER, {"op": "=", "number": 2.43, "unit": "factor"}, (YES,)),
        (HIGHER, {"op": ">=", "number": 2.5, "unit": "factor"}, (NO,)),
        (HIGHER, {"between": [2.4, 2.5], "unit": "factor"}, (YES,)),
        (HIGHER, {"op": "<", "number": 2.4, "unit": "factor"}, (NO,)),
        (TURNED, {"op": "=", "number": 58.8, "unit": "percent"}, (YES,)),
        (TURNED, {"op": "=", "number": 2.43, "unit": "factor"}, (YES,)),
        (HIGHER | {"is": "better"}, {"op": ">", "number": 40}, (YES, YES)),
    ):
        with subtests.test(by=size):
            assert layers(models(PERCENT, PERCENT), claim | {"by": size})[: len(expected)] == expected
    assert layers(models(PERCENT, PERCENT), HIGHER | {"is": "worse"})[:2] == (NO, NO)
    assert layers(models(PERCENT, PERCENT), HIGHER | {"everywhere": "all"})[:2] == (YES, YES)


def test_models_are_compared_and_ranked_where_they_can_be(subtests: Any) -> None:
    lower, share = Metric("accuracy", "%", "lower", 0.0, 100.0), Metric("accuracy", None, "higher", 0.0, 1.0)
    aimless = Metric("accuracy", "%", None, 0.0, 100.0)
    apart, alike = models(PERCENT, PERCENT, benchmarks=("B", "C")), models(PERCENT, PERCENT)
    sides = {"left": {"model": ["M1"], "benchmark": ["B"]}, "right": {"model": ["M2"], "benchmark": ["C"]}}
    for facts, claim, expected in (
        (models(PERCENT, lower), HIGHER, (OPEN, OPEN, "not_comparable")),
        (models(PERCENT, share), HIGHER, (OPEN, OPEN, "not_comparable")),
        (models(aimless, aimless), HIGHER | {"is": "better"}, (OPEN, OPEN, "no_direction")),
        (models(aimless, aimless), RANK, (OPEN, OPEN, "no_direction")),
        (models(aimless, aimless), HIGHER, (YES, YES, None)),
        (apart, HIGHER | sides, (OPEN, OPEN, "confounded")),
        (alike, RANK, (YES, YES, None)),
        (alike, RANK | {"place": "last"}, (NO, NO, None)),
    ):
        with subtests.test(claim=claim, expected=expected):
            assert layers(facts, claim) == expected
    assert layers(alike, RANK | {"name": "M3"})[2] in ("missing_cells", "not_published")


def test_models_are_compared_on_the_benchmarks_that_both_have() -> None:
    scores = [("M1", "B", 80.0), ("M1", "C", 70.0), ("M1", "D", 10.0), ("M2", "B", 60.0), ("M2", "C", 50.0)]
    sources = [
        source(table([[score]], ["1"], [0.0], metric=PERCENT, trials=400), place, model=model, benchmark=benchmark)
        for place, (model, benchmark, score) in enumerate(scores)
    ]
    found = judged(Facts.of(sources), HIGHER)
    assert (found["as_posted"], found["beyond_noise"]) == (YES, YES)
    assert found["parts"][0]["numbers"]["estimate"] == 20
    assert found["parts"][0]["numbers"]["over"] == "over the 2 of 3 levels of benchmark that both have (B, C)"


def test_what_depends_on_the_reading_of_a_range_is_said() -> None:
    # 90.6 rounds to 91 and is no number from 91 to 92.
    for low, depends in ((91, True), (90, False)):
        found = judged(of([90.6]), {"kind": "value", "is": {"between": [low, 92]}})
        assert (found["as_posted"], found["depends_on_reading"]) == (YES, depends)


def test_an_ill_posed_part_makes_the_whole_ill_posed() -> None:
    found = judged(of([1.0]), {"kind": "all_of", "claims": [above(5), {"kind": "ill_posed"}]})
    assert (found["verdict"], found["parts"]) == ("ill_posed", [])


def test_the_headline_is_the_layer_that_was_asked_for() -> None:
    one = of([80.0], trials=10)
    assert judged(one, above(70))["verdict"] == YES
    assert judged(one, above(70, strength="noise"))["verdict"] == OPEN
