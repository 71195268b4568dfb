"""Plans for a claim and for a gate over HTTP, against closed forms."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from scipy.stats import norm

from tests.house import Project
from tests.registry.test_plans import number, planned, refused
from tests.workers.test_gates import baseline, put
from tests.workers.test_gates import gate as verdict

ABOUT = {"experiment": "e", "metric": "accuracy"}
REACH = norm.ppf(0.975) + norm.ppf(0.8)
AXIS = {"name": "L", "kind": "numeric", "levels": [1, 2]}


def gap() -> dict[str, Any]:
    """That the mean of B is higher than that of A."""
    return {"kind": "compare", "about": ABOUT, "left": {"model": ["B"]}, "right": {"model": ["A"]}, "is": "higher"}


def above(limit: float, **more: Any) -> dict[str, Any]:
    return {"kind": "value", "about": ABOUT, "is": {"op": ">", "number": limit}, **more}


def of_claim(project: Project, claim: dict[str, Any], **more: Any) -> dict[str, Any]:
    return planned(project, {"kind": "claim", "claim": claim}, **more)


def of_gate(project: Project, contender: str = "B", **more: Any) -> dict[str, Any]:
    return planned(project, {"kind": "gate", "baseline": "main", "contender": contender}, **more)


def two(project: Project) -> None:
    """Errors 1 and 3 of a mean over 100 trials each: deviations 10 and 30 of one trial; the gap is 2."""
    number(project, "A", 60.0, trials=100, stderr=1.0)
    number(project, "B", 62.0, trials=100, stderr=3.0)


def test_a_claim_on_one_sum_has_the_closed_form(project: Project) -> None:
    two(project)
    found = of_claim(project, gap())
    factor = (REACH / 2) ** 2 * (1.0 + 9.0)
    assert (found["kind"], found["decidable_now"], found["alpha"], found["power"]) == ("claim", False, 0.05, 0.8)
    assert found["needed"]["factor"] == pytest.approx(factor, rel=0.01)
    assert found["needed"]["trials"] == math.ceil(100 * found["needed"]["factor"])
    assert found["total"] == 2 * found["needed"]["trials"]


def test_another_power_a_budget_and_a_number_of_items_are_other_plans(project: Project) -> None:
    two(project)
    usual, more = of_claim(project, gap()), of_claim(project, gap(), power=0.95)
    factor = ((norm.ppf(0.975) + norm.ppf(0.95)) / REACH) ** 2
    assert more["needed"]["factor"] == pytest.approx(usual["needed"]["factor"] * factor, rel=0.01)
    assert more["power"] == 0.95
    short = of_claim(project, gap(), budget=1_000)
    assert (short["affordable"], short["total"]) == (False, usual["total"])
    rich = of_claim(project, gap(), budget=10_000)
    assert (rich["affordable"], rich["total"]) == (True, usual["total"])
    assert of_claim(project, gap(), item_limit=30)["impossible"] == "item_limit"
    small = replace(project, house=replace(project.house, settings=replace(project.house.settings, ranking_work=0)))
    large = of_claim(small, gap(), power=0.5)
    assert (large["impossible"], "decidable_now" in large) == ("too_large", False)


def test_a_claim_that_is_decided_needs_nothing(project: Project) -> None:
    two(project)
    found = of_claim(project, above(20, where={"model": ["A"]}), budget=10)
    assert (found["decidable_now"], found["allocation"]) == (True, [])
    assert {"needed", "total", "affordable", "impossible", "next_cells"}.isdisjoint(found)


def test_cells_that_were_not_measured_come_first(project: Project) -> None:
    """Two models that were measured at no level in common cannot be compared."""
    grid = number(project, "A", [90.0, None], trials=100, axes=[AXIS])
    number(project, "B", [None, 80.0], trials=100, axes=[AXIS])
    sides = {"left": {"model": ["A"]}, "right": {"model": ["B"]}}
    found = of_claim(project, {"kind": "compare", "about": ABOUT, **sides, "is": "higher"})
    cell = found["next_cells"][0]
    where = {"grid": grid["id"], "benchmark": "X", "model": "A", "at": {"L": 2.0}}
    assert cell == where | {"why": "missing_for_claim"}
    assert [(one["model"], one["at"]) for one in found["next_cells"][1:]] == [("B", {"L": 1.0})]
    assert (found["decidable_now"], "needed" in found, "impossible" in found) == (False, False, False)


def test_what_trials_cannot_decide_has_a_reason(project: Project) -> None:
    number(project, "A", 60.0, trials=100)
    number(project, "B", 62.0, trials=None)
    a, b = {"model": ["A"]}, {"model": ["B"]}
    assert of_claim(project, above(60, where=a))["impossible"] == "on_boundary"
    assert of_claim(project, above(50, where=b))["impossible"] == "unknown_noise"
    nowhere = of_claim(project, above(50, about=ABOUT | {"model": "C"}))
    assert (nowhere["impossible"], nowhere["reason"]) == ("not_noise", "no cell of it was measured")


GATE = {"kind": "gate", "baseline": "main", "contender": "B"}
CLAIM = {"kind": "claim", "claim": above(1)}
WITHOUT_A_PLAN: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    ({"kind": "claim"}, {}, "/question/claim"),
    ({"kind": "claim", "claim": []}, {}, "/question/claim"),
    ({"kind": "claim", "claim": above(1) | {"guess": 1}}, {}, "/question/claim/guess"),
    ({"kind": "claim", "claim": above(1, about={"experiment": "e"})}, {}, "/question/claim/about"),
    ({"kind": "claim", "claim": above(1, where={"Nope": [1]})}, {}, "/question/claim/where/Nope"),
    ({"kind": "claim", "claim": above(1, alpha=0.4)}, {"power": 0.3}, "/question/claim/alpha"),
    (CLAIM | {"effect": 1}, {}, "/question/effect"),
    (CLAIM, {"alpha": 0.05}, "/alpha"),
    (CLAIM, {"one_sided": True}, "/one_sided"),
    ({"kind": "gate", "baseline": "main"}, {}, "/question/contender"),
    (GATE | {"baseline": "nope"}, {}, "/question/baseline"),
    (GATE | {"contender": "A"}, {}, "/question/contender"),
    (GATE | {"contender": "Nobody"}, {}, "/question/contender"),
    (GATE, {"power": 0.9}, "/power"),
    (GATE, {"budget": 10}, "/budget"),
    (GATE, {"alpha": 0.1}, "/alpha"),
    (GATE | {"kind": "separate"}, {}, "/question/baseline"),
]


def test_a_question_without_a_plan_is_refused_with_the_place(project: Project, subtests: pytest.Subtests) -> None:
    two(project)
    number(project, "C", [1.0, 2.0], axes=[AXIS])
    baseline(project, margin=3.0)
    for question, more, pointer in WITHOUT_A_PLAN:
        with subtests.test(msg=f"{question} {more}"):
            assert pointer in refused(project, question, **more)


def test_a_gate_that_is_open_says_what_decides_it(project: Project) -> None:
    """Errors of 2 on both sides: a gap of -1 against a margin of 3 is 2 above the limit, with an error of sqrt(8)."""
    for model, value in (("A", 60.0), ("B", 59.0)):
        put(project, model, value, trials=100, stderr=2.0)
    baseline(project, margin=3.0)
    found = of_gate(project)
    reach, error = norm.ppf(0.95) + norm.ppf(0.8), math.sqrt(8)
    assert (found["decidable_now"], found["one_sided"], found["alpha"]) == (False, True, 0.05)
    assert (found["observed"], found["gate"]["passes"], found["gate"]["margin"]) == (-1.0, None, 3.0)
    assert found["needed"]["effect"] == pytest.approx(2.0)
    assert found["needed"]["factor"] == pytest.approx((reach * error / 2) ** 2)
    assert found["gate"]["can_pass"] is False
    assert found["gate"]["margin_shown_at_equal_scores"] == pytest.approx(norm.ppf(0.95) * error)
    assert found["gate"]["trials_to_decide_margin"] == math.ceil(100 * (reach * error / 3) ** 2)
    assert found["gate"]["sentence"] == verdict(project)["sentence"]
    assert of_gate(project, item_limit=200)["impossible"] == "item_limit"


def test_a_gate_that_passes_or_fails_is_decided(project: Project) -> None:
    for model, value in (("A", 60.0), ("B", 60.0), ("C", 40.0), ("D", 60.0)):
        put(project, model, value, trials=100, stderr=None if model == "D" else 0.5)
    baseline(project, margin=3.0)
    for contender, passes in (("B", True), ("C", False)):
        found = of_gate(project, contender)
        assert (found["decidable_now"], found["gate"]["passes"]) == (True, passes)
        assert {"needed", "impossible"}.isdisjoint(found)


def test_what_a_gate_cannot_compare_or_has_no_noise_is_no_plan(project: Project) -> None:
    put(project, "A", 60.0, trials=None)
    put(project, "B", 59.0, trials=None)
    put(project, "C", 59.0, benchmark="Y")
    baseline(project, margin=3.0)
    blind, apart = of_gate(project), of_gate(project, "C")
    assert (blind["impossible"], blind["decidable_now"]) == ("unknown_noise", False)
    assert (apart["impossible"], apart["gate"]["passes"]) == ("not_comparable", None)
