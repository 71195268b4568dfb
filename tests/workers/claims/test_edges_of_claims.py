"""Claims at the edges: cells of nothing or everything, ties, one cell, sides that cannot be compared."""

from __future__ import annotations

from typing import Any

import pytest

from registry.grids.grid import Metric
from tests.workers.claims.scenes import judged, source, table
from workers.claims.facts import Facts

pytestmark = pytest.mark.unit

YES, NO, OPEN = "supported", "contradicted", "not_decidable"


def of(values: list[list[float | None]], **content: Any) -> Facts:
    rows, columns = [str(row + 1) for row in range(len(values))], [float(c) for c in range(len(values[0]))]
    return Facts.of([source(table(values, rows, columns, **content))])


def layers(facts: Facts, **claim: Any) -> tuple[str, str, str | None]:
    found = judged(facts, claim)
    return found["as_posted"], found["beyond_noise"], found["reason"]


def is_(op: str, number: float) -> dict[str, Any]:
    return {"is": {"op": op, "number": number}}


def test_no_success_and_no_failure_still_have_noise() -> None:
    nothing, everything = of([[0.0]], trials=50), of([[100.0]], trials=50)
    # 1 - 0.025^(1/50): the exact limit of 0 of 50 is 7.1 %.
    assert layers(nothing, kind="value", **is_("<", 7.2))[:2] == (YES, YES)
    assert layers(nothing, kind="value", **is_("<", 7.0))[:2] == (YES, OPEN)
    assert layers(everything, kind="value", **is_(">", 92.8))[:2] == (YES, YES)
    assert layers(everything, kind="value", **is_(">", 93.0))[:2] == (YES, OPEN)


def test_cells_that_are_judged_together_have_wider_limits() -> None:
    one, ten = of([[0.0]], trials=50), of([[0.0] * 10], trials=50)
    # Ten at once: by Sidak's share of each, 0.95^(1/10) = 0.994884, so 1 - 0.002558^(1/50) = 11.25 %.
    assert layers(one, kind="cells", **is_("<", 7.2))[1] == YES
    assert layers(ten, kind="cells", **is_("<", 11.2))[1] == OPEN
    assert layers(ten, kind="cells", **is_("<", 11.3))[1] == YES


def test_statements_that_are_judged_together_share_alpha() -> None:
    one = of([[0.0]], trials=50)
    part = {"kind": "value", **is_("<", 7.2)}
    # Two statements: 1 - 0.0125^(1/50) is 8.4 %.
    assert layers(one, kind="all_of", claims=[part, part])[1] == OPEN
    wider = {"kind": "value", **is_("<", 8.5)}
    assert layers(one, kind="all_of", claims=[wider, wider])[1] == YES


def test_a_posted_error_goes_before_trials() -> None:
    # 80 +- 1.96 * 5 reaches to 70.2; 300 trials alone would reach to 75.
    both = of([[80.0]], trials=300, stderr=(5.0,))
    assert layers(both, kind="value", **is_(">", 72.0))[1] == OPEN
    assert layers(both, kind="value", **is_(">", 70.0))[1] == YES


def test_repeats_have_students_t() -> None:
    # sd 1 of 4 repeats: 0.5 * t(3) 3.182 = 1.59 to either side; a normal law would reach 0.98.
    loss = Metric("loss", None, "lower")
    repeated = of([[10.0]], metric=loss, repeats=(4,), sd=(1.0,))
    assert layers(repeated, kind="value", **is_("<", 11.5))[1] == OPEN
    assert layers(repeated, kind="value", **is_("<", 11.6))[1] == YES


def test_a_design_effect_widens() -> None:
    # 80 of 100: up to 87.3; as 20 of 25 up to 93.2.
    assert layers(of([[80.0]], trials=100), kind="value", **is_("<", 88.0))[1] == YES
    assert layers(of([[80.0]], trials=100, design_effect=4.0), kind="value", **is_("<", 92.0))[1] == OPEN
    assert layers(of([[80.0]], trials=100, design_effect=4.0), kind="value", **is_("<", 93.3))[1] == YES


@pytest.mark.parametrize("content", [{}, {"repeats": (2,), "sd": (0.0,)}])
def test_unknown_noise_is_no_certainty(content: dict[str, Any]) -> None:
    assert layers(of([[80.0]], **content), kind="value", **is_(">", 1.0)) == (YES, OPEN, "noise_unknown")


def test_where_all_are_equal_each_is_the_largest_and_none_alone() -> None:
    equal = of([[50.0, 50.0]], trials=50)
    first, every = [{"T": 1, "L": 0}], [{"T": 1, "L": 0}, {"T": 1, "L": 1}]
    assert layers(equal, kind="extreme", which="max", at=first, alone=False)[0] == YES
    assert layers(equal, kind="extreme", which="max", at=first)[0] == NO
    assert layers(equal, kind="extreme", which="max", at=every)[0] == YES
    assert judged(equal, {"kind": "extreme", "which": "max", "at": first})["parts"][0]["numbers"]["ties"] == 2


def test_one_cell_is_the_best_and_no_trend() -> None:
    alone = of([[50.0]], trials=50)
    assert layers(alone, kind="extreme", which="max", at=[{"T": 1, "L": 0}])[0] == YES
    assert layers(alone, kind="trend", along="L", goes="up") == (OPEN, OPEN, "too_few_points")
    assert layers(alone, kind="stable", along="L", within=1) == (OPEN, OPEN, "too_few_points")


def test_nothing_measured_supports_no_all() -> None:
    empty = of([[None, None]])
    for claim in (
        {"kind": "cells", **is_(">", 0)},
        {"kind": "value", "of": "min", **is_(">", 0)},
        {"kind": "lie", "matching": {"op": ">", "number": 0}, "inside": [{"T": [1]}]},
        {"kind": "cells", **is_(">", 0), "for": {"T": "*"}},
    ):
        assert layers(empty, **claim)[2] == "missing_cells", claim
    assert layers(empty, kind="not", claims=[{"kind": "cells", **is_(">", 0)}])[0] == OPEN


def test_cells_above_a_number_that_none_reaches_lie_nowhere() -> None:
    low = of([[1.0, 2.0]])
    claim = {"kind": "lie", "matching": {"op": ">", "number": 50}, "inside": [{"T": [1]}]}
    assert judged(low, claim)["as_posted"] == OPEN
    assert judged(low, claim | {"cells_hold": "none"})["as_posted"] == OPEN


def test_several_series_are_not_one() -> None:
    two = of([[1.0, 2.0], [2.0, 1.0]])
    assert layers(two, kind="trend", along="L", goes="up")[2] == "vague"
    assert layers(two, kind="value", **is_(">", 0))[2] == "vague"
    assert layers(two, kind="trend", along="L", goes="up", **{"for": {"T": "*"}, "holds": {"exactly": 1}})[0] == YES


def test_too_many_cells_are_not_judged() -> None:
    wide = of([[50.0] * 401 for _ in range(50)])
    trend = {"kind": "trend", "along": "L", "goes": "up", "for": {"T": "*"}}
    assert layers(wide, **trend)[2] == "too_large"
    assert layers(wide, kind="cells", **is_("=", 50.0))[0] == YES


def models(*metrics: Metric, benchmarks: tuple[str, str] = ("B", "B")) -> Facts:
    """Model M1 with 80 and 90, model M2 with 40 and 30."""
    values = [[80.0, 90.0]], [[40.0, 30.0]]
    return Facts.of(
        [
            source(
                table(one, ["1"], [0.0, 1.0], metric=metric, trials=400), place, model=f"M{place + 1}", benchmark=where
            )
            for place, (one, metric, where) in enumerate(zip(values, metrics, benchmarks, strict=True))
        ]
    )


PERCENT = Metric("accuracy", "%", "higher", 0.0, 100.0)
SIDES: dict[str, Any] = {"kind": "compare", "left": {"model": ["M1"]}, "right": {"model": ["M2"]}}


def test_a_difference_in_points_in_percent_and_as_a_factor() -> None:
    # Means 85 and 35: 50 points, 142.86 percent of the right side, 2.4286 times it.
    both = models(PERCENT, PERCENT)
    for by, expected in (
        ({"op": "=", "number": 50}, YES), ({"op": "=", "number": 51}, NO), ({"op": ">", "number": 50}, NO),
        ({"op": "=", "number": 142.9, "unit": "percent"}, YES), ({"op": "=", "number": 142.8, "unit": "percent"}, NO),
        ({"op": "=", "number": 2.43, "unit": "factor"}, YES), ({"op": ">=", "number": 2.5, "unit": "factor"}, NO),
        ({"between": [2.4, 2.5], "unit": "factor"}, YES), ({"op": "<", "number": 2.4, "unit": "factor"}, NO),
    ):  # fmt: skip
        assert layers(both, **SIDES, **{"is": "higher", "by": by})[0] == expected, by
    turned = SIDES | {"left": SIDES["right"], "right": SIDES["left"]}
    # 35 is 58.8 percent of 85 below it, and 85 is 2.4286 times 35.
    assert layers(both, **turned, **{"is": "lower", "by": {"op": "=", "number": 58.8, "unit": "percent"}})[0] == YES
    assert layers(both, **turned, **{"is": "lower", "by": {"op": "=", "number": 2.43, "unit": "factor"}})[0] == YES
    assert layers(both, **SIDES, **{"is": "better", "by": {"op": ">", "number": 40}})[:2] == (YES, YES)
    assert layers(both, **SIDES, **{"is": "worse"})[:2] == (NO, NO)
    assert layers(both, **SIDES, **{"is": "higher", "everywhere": "all"})[:2] == (YES, YES)


def test_sides_that_cannot_be_compared() -> None:
    lower = Metric("accuracy", "%", "lower", 0.0, 100.0)
    share = Metric("accuracy", None, "higher", 0.0, 1.0)
    aimless = Metric("accuracy", "%", None, 0.0, 100.0)
    assert layers(models(PERCENT, lower), **SIDES, **{"is": "higher"})[2] == "not_comparable"
    assert layers(models(PERCENT, share), **SIDES, **{"is": "higher"})[2] == "not_comparable"
    assert layers(models(aimless, aimless), **SIDES, **{"is": "better"}) == (OPEN, OPEN, "no_direction")
    assert layers(models(aimless, aimless), kind="rank", by="model", name="M1")[2] == "no_direction"
    assert layers(models(aimless, aimless), **SIDES, **{"is": "higher"})[0] == YES
    apart = models(PERCENT, PERCENT, benchmarks=("B", "C"))
    crossed = SIDES | {"left": {"model": ["M1"], "benchmark": ["B"]}, "right": {"model": ["M2"], "benchmark": ["C"]}}
    assert layers(apart, **crossed, **{"is": "higher"}) == (OPEN, OPEN, "confounded")


def test_a_rank_among_models_is_over_what_they_share() -> None:
    both = models(PERCENT, PERCENT)
    assert layers(both, kind="rank", by="model", name="M1")[:2] == (YES, YES)
    assert layers(both, kind="rank", by="model", name="M1", place="last")[:2] == (NO, NO)
    assert layers(both, kind="rank", by="model", name="M3")[2] in ("missing_cells", "not_published")


def test_what_depends_on_the_reading_of_a_range_is_said() -> None:
    # 90.6 rounds to 91 and is no number from 91 to 92.
    one = of([[90.6]])
    found = judged(one, {"kind": "value", "is": {"between": [91, 92]}})
    assert (found["as_posted"], found["depends_on_reading"]) == (YES, True)
    found = judged(one, {"kind": "value", "is": {"between": [90, 92]}})
    assert (found["as_posted"], found["depends_on_reading"]) == (YES, False)


def test_decimals_are_exact() -> None:
    # 0.1 + 0.2 = 0.3 and (0.1 + 0.2 + 0.6) / 3 = 0.3, of which floating-point numbers know nothing.
    thirds = of([[0.1, 0.2, 0.6]])
    assert layers(thirds, kind="value", of="mean", **{"is": {"about": 0.3, "within": 0}})[0] == YES
    step = {"kind": "step", "along": "L", "to": 1, "goes": "up", "size": {"about": 0.1, "within": 0}}
    assert layers(thirds, **step)[0] == YES
    assert layers(thirds, kind="stable", along="L", within=0.5)[0] == YES


def test_an_ill_posed_part_makes_the_whole_ill_posed() -> None:
    one = of([[1.0]])
    found = judged(one, {"kind": "all_of", "claims": [{"kind": "value", **is_(">", 5)}, {"kind": "ill_posed"}]})
    assert (found["verdict"], found["parts"]) == ("ill_posed", [])


def test_the_headline_is_the_layer_that_was_asked_for() -> None:
    one = of([[80.0]], trials=10)
    assert judged(one, {"kind": "value", **is_(">", 70)})["verdict"] == YES
    assert judged(one, {"kind": "value", **is_(">", 70), "strength": "noise"})["verdict"] == OPEN
