"""Plans of differences, claims and gates: how many trials the next measurement takes."""

import math
from dataclasses import replace
from typing import Any
from urllib.parse import urlencode

import pytest
from scipy.optimize import brentq
from scipy.stats import binom, norm

from registry.plans.closed_forms import Goal, TwoSamples, score_interval
from registry.plans.noise import repeats_factor
from registry.renderings.numbers import rough
from tests.house import ACCURACY, Project
from tests.registry.plans.test_promised_power import shown
from tests.registry.test_items import bits
from tests.workers.asking import described, faults_of
from tests.workers.test_gates import baseline, put
from tests.workers.test_gates import gate as verdict

POINTS = ACCURACY | {"lower": None, "upper": None}
AXIS = {"name": "L", "kind": "numeric", "levels": [1, 2]}

NAMES = {"experiment": "e", "metric": "accuracy", "baseline_model": "A", "contender_model": "B"}
SEPARATE = {"kind": "separate", **NAMES}


def number(project: Project, model: str, value: Any, **more: Any) -> Any:
    names = {"experiment": "e", "variant": "", "model": model, "benchmark": "X"}
    return project.published(**names | {"axes": [], "values": value, "trials": 200} | more)


def planned(project: Project, question: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The plan, computed now if its comparison is due."""
    sent = {"json": {"question": question, **more}}
    answer = project.call("POST", f"projects/{project.slug}/plan", "reader", **sent)
    if answer.status_code == 202:
        assert ("Location" in answer.headers, answer.headers["Retry-After"]) == (False, "1")
        project.house.compute()
        answer = project.call("POST", f"projects/{project.slug}/plan", "reader", **sent)
    assert answer.status_code == 200, answer.text
    return described(answer.get_json(), "Plan")


def refused(project: Project, question: dict[str, Any], **more: Any) -> dict[str, str]:
    """The faults by their pointers."""
    return faults_of(project.call("POST", f"projects/{project.slug}/plan", json={"question": question, **more}))


def two(project: Project, first: Any, second: Any, **more: Any) -> list[str]:
    """The ids of the grids of A and B."""
    return [number(project, model, value, **more)["id"] for model, value in (("A", first), ("B", second))]


def _error(p: float, q: float) -> float:
    """Of the difference of two rates of 200 trials each, with Miettinen and Nurminen's factor."""
    return math.sqrt((p * (1 - p) + q * (1 - q)) / 200 * 400 / 399)


def _seen(critical: float) -> float:
    """The difference that is found with 80 %: the least that is rejected, and its error, both below .72."""
    least = brentq(lambda d: critical * _error(0.72 - d / 2, 0.72 - d / 2) - d, 0, 0.5)
    return float(brentq(lambda d: least + 0.8416212 * _error(0.72, 0.72 - d) - d, 0, 0.5))


def test_two_models_that_are_not_told_apart_get_the_factor_that_tells_them_apart(project: Project) -> None:
    """70 and 74 of 100 at 200 trials: se = sqrt(.7 x .3/200 + .74 x .26/200) = 4.4849 points; were both 72, the score
    test has sqrt(.72 x .28 x 2/200 x 400/399)."""
    pair = dict(zip(("baseline", "contender"), two(project, 70.0, 74.0), strict=True))
    found = planned(project, SEPARATE)
    se = 100 * math.sqrt((0.7 * 0.3 + 0.74 * 0.26) / 200)
    factor = ((1.959964 * 100 * _error(0.72, 0.72) + 0.8416212 * se) / 4.0) ** 2
    assert (found["decidable_now"], found["observed"], found.get("cautious")) == (False, pytest.approx(4.0), None)
    assert found["stderr"] == pytest.approx(se, rel=1e-3)
    assert found["detectable"] == pytest.approx(100 * _seen(1.959964), rel=1e-3)
    assert found["needed"]["factor"] == pytest.approx(factor, rel=1e-3)
    assert found["needed"]["trials"] == pytest.approx(200 * factor, rel=1e-3)
    assert found["total"] == pytest.approx(400 * (factor - 1), rel=1e-3)
    [one] = found["allocation"]
    assert (one["benchmark"], one["share"], one["trials_now"], len(one["grids"])) == ("X", 1.0, 200.0, 2)
    assert planned(project, {"kind": "separate", **pair})["needed"] == found["needed"]
    told = project.call("GET", f"projects/{project.slug}/comparisons.txt?{urlencode(pair)}", "reader").text
    assert f"takes about {rough(factor)} times the trials" in " ".join(told.split())
    by_ids = planned(project, {"kind": "separate", **pair}, one_sided=True)
    assert (by_ids["observed"], by_ids["one_sided"]) == (pytest.approx(4.0), True)
    assert by_ids["formula"].startswith("n x ((z(1 - alpha) + z(power))")
    assert by_ids["detectable"] == pytest.approx(100 * _seen(1.6448536), rel=1e-3)
    limited = planned(project, SEPARATE, item_limit=200)
    assert (limited["impossible"], "200 items" in limited["reason"]) == ("item_limit", True)
    assert "impossible" not in planned(project, SEPARATE, item_limit=100_000)
    for effect in (1e-200, 5e-324):
        assert planned(project, SEPARATE | {"effect": effect})["impossible"] == "not_worth"
    told = refused(project, SEPARATE | {"contender_model": "Bb"})
    assert "there are B, A" in told["/question/contender_model"]


def test_items_of_one_cell_are_planned_by_their_exact_test(project: Project) -> None:
    """Nineteen of sixty won and none lost: 24 items are shown to differ in 80 %, for six must; by the normal law the
    plan was 18, which are in 53 %."""
    rows = {"A": [0] * 60, "B": [1] * 19 + [0] * 41}
    ids = []
    for model, row in rows.items():
        grid = number(project, model, 100 * sum(row) / 60, trials=60)
        ids.append(grid["id"])
        sent = {"set": {"name": "s", "count": 60, "digest": "ab" * 32}, "cells": [{"at": {}, "outcomes": bits(*row)}]}
        assert project.call("POST", f"grids/{grid['id']}/items", json=sent).status_code == 201
    for question in (SEPARATE, {"kind": "separate", "baseline": ids[0], "contender": ids[1]}):
        found = planned(project, question)
        assert (found["needed"]["trials"], found["decidable_now"], found["total"]) == (24, True, 0)
        assert found["assumptions"] == ["independent_items"]
        assert found["needed"]["factor"] == pytest.approx(24 / 60)
        assert [round(100 * binom.sf(5, count, 19 / 60)) for count in (18, 23, 24)] == [53, 78, 82]
        assert found["detectable"] == pytest.approx(20.6, abs=0.05)
        assert planned(project, question | {"effect": found["detectable"] * 1.0001})["needed"]["trials"] == 60
        assert planned(project, question | {"effect": 0.0001})["impossible"] == "not_worth"
        assert planned(project, question | {"effect": 101})["impossible"] == "beyond_scale"
    path = f"projects/{project.slug}/comparisons?baseline={ids[0]}&contender={ids[1]}"
    told = project.call("GET", path, "reader").get_json()
    assert told["test"]["detectable"] == pytest.approx(found["detectable"], rel=0.01)


def test_repeats_are_planned_by_the_t_that_judges_them(project: Project) -> None:
    """Three repeats a side of sd 1, one apart: the normal law says 5.2 times as many, 16 repeats, whose t finds 78 % of
    it if the standard deviation is 1; that it was estimated from four degrees of freedom takes more."""
    cells = {"axes": [], "trials": None, "repeats": 3, "sd": 1.0, "metric": POINTS}
    pair = dict(zip(("baseline", "contender"), two(project, 10.0, 11.0, **cells), strict=True))
    for question in (SEPARATE, {"kind": "separate", **pair}):
        found = planned(project, question)
        assert found["needed"]["factor"] == pytest.approx(repeats_factor(math.sqrt(2 / 3), 1.0, Goal(), 4, 3), rel=1e-6)
        assert 7 < found["needed"]["factor"] < 10
        assert "Student" in found["formula"]
        assert found["assumptions"] == ["independent_cells", "equal_scaling"]
        again = planned(project, question | {"effect": found["detectable"]})
        assert again["needed"]["factor"] == pytest.approx(1.0, rel=0.02)


@pytest.mark.parametrize(
    ("measured", "trials", "effect", "then"),
    [
        ((98.0, 98.5), 200, -5.0, (0.98, 0.93)),
        ((98.0, 98.5), 200, -10.0, (0.98, 0.88)),
        ((97.0, 97.0), 100, 5.0, (0.97, 0.92)),
        ((90.0, 91.0), 100, -5.0, (0.9, 0.85)),
        ((90.0, 91.0), 100, 5.0, (0.95, 0.9)),
    ],
)
def test_a_wished_effect_is_found_at_the_rates_that_it_implies(
    project: Project, measured: tuple[float, float], trials: int, effect: float, then: tuple[float, float]
) -> None:
    """With the error of the measured rates it was in 29 to 89 %."""
    pair = dict(zip(("baseline", "contender"), two(project, *measured, trials=trials), strict=True))
    for question in (SEPARATE, {"kind": "separate", **pair}):
        needed = planned(project, question | {"effect": effect})["needed"]
        assert needed["effect"] == abs(effect)
        assert 0.77 < shown(needed["trials"], then) < 0.85


def test_a_gap_that_was_found_is_planned_for_the_near_end_of_its_interval_too(project: Project) -> None:
    two(project, 50.0, 70.0)
    found = planned(project, SEPARATE)
    near, _ = score_interval(TwoSamples(140, 200, 100, 200), 0.025)
    assert found["decidable_now"] is True
    assert found["cautious"]["effect"] == pytest.approx(100 * near)
    assert found["cautious"]["factor"] > found["needed"]["factor"]


def test_total_shares_trials_and_affordable_are_of_one_design(project: Project) -> None:
    """With errors s1 and s2 of the gap of one trial a side on X and Y, the error of the mean gap is
    sqrt(s1^2/n1 + s2^2/n2) / 2: in proportion to s1 : s2 it takes (s1 + s2)^2 / (2 effect / 2.8)^2 of a side, where X
    has no more than that already. Of fewer trials Y alone gets some."""
    for benchmark, value, trials in (("X", 50.0, 500), ("Y", 95.0, 100)):
        two(project, value, value + 1, benchmark=benchmark, trials=trials)

    def errors(effect: float) -> list[float]:
        """At the rates of the effect; of Y, where 95 % and 5.6 points are above 100, of that below."""
        pairs = ((0.5, 0.5 + effect / 100), (0.95, 0.95 + (effect if effect < 5 else -effect) / 100))
        return [100 * math.sqrt(a * (1 - a) + b * (1 - b)) for a, b in pairs]

    def added(plan: dict[str, Any]) -> dict[str, int]:
        return {one["benchmark"]: one["trials"] for one in plan["allocation"]}

    def reaches(plan: dict[str, Any], effect: float) -> bool:
        n, (s1, s2) = added(plan), errors(effect)
        return 2.8015852 * math.sqrt(s1**2 / (500 + n["X"]) + s2**2 / (100 + n["Y"])) / 2 <= effect * 1.005

    found, (s1, s2) = planned(project, SEPARATE | {"effect": 2.0}), errors(2.0)
    assert found["total"] == pytest.approx(2 * (s1 + s2) ** 2 * (2.8015852 / (2 * 2.0)) ** 2 - 1_200, rel=0.01)
    ratio = (500 + added(found)["X"]) / (100 + added(found)["Y"])
    assert ratio == pytest.approx(s1 / s2, rel=0.01)
    assert found["total"] < 0.95 * 2 * (500 + 100) * (found["needed"]["factor"] - 1)
    few = planned(project, SEPARATE | {"effect": 5.6})
    assert (added(few)["X"], few["total"]) == (0, 2 * added(few)["Y"])
    assert planned(project, SEPARATE | {"effect": 9.0})["total"] == 0, "what there is finds it"
    for one, effect, budget, enough in (
        *((found, 2.0, found["total"], True), (found, 2.0, found["total"] + 999, True)),
        *((found, 2.0, found["total"] * 9 // 10, False), (few, 5.6, few["total"] // 2, False)),
    ):
        plan = planned(project, SEPARATE | {"effect": effect}, budget=budget)
        spent = sum(each["cells"] * each["trials"] for each in plan["allocation"])
        assert (plan["total"], plan["affordable"], reaches(plan, effect)) == (one["total"], enough, enough)
        assert budget - 4 <= spent <= budget
        assert [each["share"] for each in plan["allocation"]] == pytest.approx(
            [each["cells"] * each["trials"] / spent for each in plan["allocation"]]
        )


@pytest.mark.parametrize(
    ("values", "noise"),
    [
        ((70.0, 69.85), {"stderr": 0.0, "metric": POINTS}),
        ((70.0, 69.85), {"repeats": 3, "sd": 0.0}),
        ((70.0, 69.85), {}),
        (([70.0, 70.0], [69.85, 74.0]), {"axes": [AXIS]}),
    ],
)
def test_what_a_comparison_cannot_test_is_not_planned(project: Project, values: Any, noise: dict[str, Any]) -> None:
    """Nor what it tests over cells: the gaps of these stay as far apart, however many trials they get."""
    first, second = two(project, *values, trials=None, **noise)
    pair = {"kind": "separate", "baseline": first, "contender": second}
    for question in (SEPARATE, pair, SEPARATE | {"effect": 0.01}):
        found = planned(project, question)
        assert (found["decidable_now"], found["impossible"]) == (False, "unknown_noise")


def test_a_gap_of_nothing_needs_an_effect_and_one_beyond_the_scale_is_none(project: Project) -> None:
    two(project, 50.0, 50.0)
    assert planned(project, SEPARATE | {"effect": 2.0})["needed"]["effect"] == 2.0
    assert "needed where the measured gap is 0" in refused(project, SEPARATE)["/question/effect"]
    assert planned(project, SEPARATE | {"effect": 101.0})["impossible"] == "beyond_scale"
    assert planned(project, SEPARATE | {"effect": 1e-7})["impossible"] == "not_worth"
    pair = dict(zip(("baseline", "contender"), two(project, 100.0, 100.0, benchmark="Y"), strict=True))
    reach = norm.ppf(0.975) * math.sqrt(2 * 0.975 * 0.025) + norm.ppf(0.8) * math.sqrt(0.95 * 0.05)
    found = planned(project, {"kind": "separate", **pair, "effect": -5.0})
    assert found["needed"]["trials"] == math.ceil((reach / 0.05) ** 2), "1 and .95"
    tiny = planned(project, {"kind": "separate", **pair, "effect": 1e-200})
    assert tiny["impossible"] == "not_worth"


WITHOUT_A_PLAN: list[tuple[dict[str, Any], dict[str, Any], str]] = [
    (SEPARATE | {"effect": 0}, {}, "/question/effect"),
    ({"kind": "separate", "experiment": "e"}, {}, "/question/metric"),
    (SEPARATE, {"alpha": 0}, "/alpha"),
    (SEPARATE, {"power": 0.01}, "/power"),
    (SEPARATE, {"budget": 0}, "/budget"),
    ({"kind": "guess"}, {}, "/question/kind"),
]


def test_a_question_that_has_no_plan_is_refused_with_the_place(project: Project, subtests: pytest.Subtests) -> None:
    for question, more, pointer in WITHOUT_A_PLAN:
        with subtests.test(msg=f"{question} {more}"):
            assert pointer in refused(project, question, **more)


ABOUT = {"experiment": "e", "metric": "accuracy"}
REACH = norm.ppf(0.975) + norm.ppf(0.8)


def gap() -> dict[str, Any]:
    """That the mean of B is higher than that of A."""
    return {"kind": "compare", "about": ABOUT, "left": {"model": ["B"]}, "right": {"model": ["A"]}, "is": "higher"}


def above(limit: float, **more: Any) -> dict[str, Any]:
    return {"kind": "value", "about": ABOUT, "is": {"op": ">", "number": limit}, **more}


def of_claim(project: Project, claim: dict[str, Any], **more: Any) -> dict[str, Any]:
    return planned(project, {"kind": "claim", "claim": claim}, **more)


def of_gate(project: Project, contender: str = "B", **more: Any) -> dict[str, Any]:
    return planned(project, {"kind": "gate", "baseline": "main", "contender": contender}, **more)


def two_models(project: Project) -> None:
    """Errors 1 and 3 of a mean over 100 trials each: deviations 10 and 30 of one trial; the gap is 2."""
    number(project, "A", 60.0, trials=100, stderr=1.0)
    number(project, "B", 62.0, trials=100, stderr=3.0)


def test_a_claim_on_one_sum_has_the_closed_form(project: Project) -> None:
    two_models(project)
    found = of_claim(project, gap())
    factor = (REACH / 2) ** 2 * (1.0 + 9.0)
    assert (found["kind"], found["decidable_now"], found["alpha"], found["power"]) == ("claim", False, 0.05, 0.8)
    assert found["needed"]["factor"] == pytest.approx(factor, rel=0.01)
    assert found["needed"]["trials"] == math.ceil(100 * found["needed"]["factor"])
    assert found["total"] == 2 * (found["needed"]["trials"] - 100)


def test_another_power_a_budget_and_a_number_of_items_are_other_plans(project: Project) -> None:
    two_models(project)
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
    two_models(project)
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
NO_VERDICT_PLANNED: list[tuple[dict[str, Any], dict[str, Any], str]] = [
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
    two_models(project)
    number(project, "C", [1.0, 2.0], axes=[AXIS])
    baseline(project, margin=3.0)
    for question, more, pointer in NO_VERDICT_PLANNED:
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
