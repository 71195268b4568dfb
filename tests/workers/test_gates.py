"""Gates: a pass is shown, an alarm keeps its rate, and no answer is an answer of its own."""

from __future__ import annotations

import math
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from scipy import stats
from sqlalchemy import func, select

from registry.api.shapes import COMPONENTS
from registry.storage.tables import cached_results, stored_revisions
from tests.house import House, Project, publication
from tests.workers.test_comparisons_of_models import computed

LENGTHS = [{"name": "Length", "kind": "numeric", "levels": [1, 2, 3, 4]}]
Z = stats.norm.isf(0.05)


def put(project: Project, model: str, values: Any, benchmark: str = "X", **changes: Any) -> dict[str, Any]:
    axes = LENGTHS if isinstance(values, list) else []
    names = {"experiment": "e", "variant": "", "model": model, "benchmark": benchmark}
    return project.published(**names | {"axes": axes, "values": values, "trials": 1_000} | changes)


def baseline(project: Project, more: dict[str, Any] | None = None, **policy: Any) -> None:
    sent = {"experiment": "e", "metric": "accuracy", "subject": {"model": "A"}, "policy": policy} | (more or {})
    answer = project.call("PUT", f"projects/{project.slug}/baselines/main", json=sent)
    assert answer.status_code in (200, 201), answer.text


def gate(project: Project, contender: str = "B") -> dict[str, Any]:
    path = f"projects/{project.slug}/baselines/main/gate"
    return checked(computed(project, path, query_string={"contender": contender}))


def checked(found: dict[str, Any]) -> dict[str, Any]:
    promised = {"$ref": "#/components/schemas/Gate", "components": {"schemas": COMPONENTS}}
    faults = Draft202012Validator(promised).iter_errors(found)
    assert [f"{list(fault.absolute_path)}: {fault.message}" for fault in faults] == []
    return found


def verdict(project: Project, contender: str = "B") -> tuple[str, bool | None]:
    found = gate(project, contender)
    return found["verdict"], found["passes"]


def refused(project: Project, contender: str) -> dict[str, str]:
    answer = project.get(f"projects/{project.slug}/baselines/main/gate", query_string={"contender": contender})
    assert answer.status_code == 422, answer.text
    return {one["pointer"]: one["detail"] for one in answer.get_json()["errors"]}


@pytest.mark.parametrize("per", ["benchmark", "cell"])
def test_a_baseline_says_in_advance_what_its_gate_shows_at_equal_scores_where_repeats_vary_more(
    project: Project, per: str
) -> None:
    """Five seeds of 200 trials that vary by twice what 200 trials explain: the interval of a gap of 0 reaches down to
    the margin that was told."""
    seeds = {"repeats": [5] * 4, "sd": [6.5] * 4, "trials": 1_000}
    for model in ("A", "B"):
        put(project, model, [70.0] * 4, **seeds)
    baseline(project, kind="non_inferior", margin=50.0, margin_unit="points", per=per)
    told = project.get(f"projects/{project.slug}/baselines/main").get_json()["margin_shown_at_equal_scores"]
    judged = gate(project)["per"]
    assert [-one["low"] for one in judged] == pytest.approx([told] * len(judged), rel=0.02)
    without = 100 * 1.645 * (2 * 0.7 * 0.3 / 1_000) ** 0.5 / (1 if per == "cell" else 4**0.5)
    assert told > 1.9 * without


@pytest.mark.parametrize(
    ("value", "margin", "word", "passes"),
    [
        (80.0, 3.0, "improved", True),
        (70.0, 10.0, "equivalent", True),
        (72.0, 4.0, "non_inferior", True),
        (64.0, 20.0, "worse_within_margin", True),
        (60.0, 3.0, "regressed", False),
        (68.0, 3.0, "inconclusive", None),
    ],
)
def test_each_verdict_is_what_one_sided_ends_show(
    project: Project, value: float, margin: float, word: str, passes: bool | None
) -> None:
    put(project, "A", 70.0)
    put(project, "B", value)
    baseline(project, margin=margin)
    found = gate(project)
    rates = [0.7, value / 100]
    se = 100 * math.sqrt(sum(p * (1 - p) for p in rates) / 1_000)
    assert found["gap"] == pytest.approx(value - 70)
    assert found["low"] == pytest.approx(value - 70 - Z * se, abs=0.02)
    assert found["high"] == pytest.approx(value - 70 + Z * se, abs=0.02)
    assert (found["verdict"], found["passes"]) == (word, passes)
    assert (found["trials_needed"] is None) == (passes is not None)


def test_an_answer_names_its_policy_its_inputs_and_says_a_sentence(project: Project) -> None:
    grids = [put(project, "A", 70.0), put(project, "B", 60.0)]
    baseline(project, margin=3.0)
    found = gate(project)
    assert (found["baseline"], found["policy_version"], found["contender"]) == ("main", 1, "B")
    assert [(one["grid"], one["revision"], one["side"], one["digest"]) for one in found["inputs"]] == [
        (grids[0]["id"], 1, "baseline", grids[0]["digest"]),
        (grids[1]["id"], 1, "contender", grids[1]["digest"]),
    ]
    assert found["sentence"].startswith(
        "B is worse than the baseline main by more than 3 points: -10, with 95 % confidence"
    )
    baseline(project, margin=20.0)
    assert (gate(project)["policy_version"], gate(project)["verdict"]) == (2, "worse_within_margin")


def test_a_new_revision_of_either_side_is_judged_anew(project: Project) -> None:
    put(project, "A", 70.0)
    put(project, "B", 60.0)
    baseline(project, margin=3.0)
    assert verdict(project) == ("regressed", False)
    put(project, "B", 80.0)
    assert verdict(project) == ("improved", True)
    put(project, "A", 95.0)
    assert verdict(project) == ("regressed", False)


def test_an_inconclusive_verdict_says_what_decides_it(project: Project) -> None:
    """-2 points with 3 allowed: 1 point from the limit; (1.645 + 0.842) se / 1, squared, times 1,000 trials."""
    put(project, "A", 70.0)
    put(project, "B", 68.0)
    baseline(project, margin=3.0)
    needed = gate(project)["trials_needed"]
    se = 100 * math.sqrt((0.7 * 0.3 + 0.68 * 0.32) / 1_000)
    assert needed["effect"] == pytest.approx(1.0)
    assert needed["factor"] == pytest.approx((2.486475 * se) ** 2, rel=0.01)
    assert needed["trials"] == pytest.approx(1_000 * (2.486475 * se) ** 2, rel=0.01)


def test_lower_is_better_turns_the_gap_and_not_its_sign(project: Project) -> None:
    loss = {"name": "accuracy", "unit": None, "direction": "lower", "lower": None, "upper": None}
    for model, value in (("A", 2.0), ("B", 2.5)):
        put(project, model, value, metric=loss, trials=None, stderr=0.05)
    baseline(project, margin=0.1)
    found = gate(project)
    se = math.hypot(0.05, 0.05)
    assert (found["verdict"], found["gap"]) == ("regressed", pytest.approx(0.5))
    assert (found["low"], found["high"]) == (pytest.approx(0.5 - Z * se), pytest.approx(0.5 + Z * se))
    put(project, "B", 1.5, metric=loss, trials=None, stderr=0.05)
    assert verdict(project) == ("improved", True)


def test_over_benchmarks_and_on_each(project: Project) -> None:
    for benchmark, a, b in (("X", 70.0, 80.0), ("Y", 70.0, 60.0)):
        put(project, "A", a, benchmark)
        put(project, "B", b, benchmark)
    baseline(project, margin=4.0)
    assert verdict(project) == ("equivalent", True)
    baseline(project, margin=4.0, per="benchmark")
    found = gate(project)
    assert (found["verdict"], found["judged"], found["failed"], found["undecided"]) == ("regressed", 2, 1, 0)
    assert [(one["benchmark"], one["verdict"]) for one in found["per"]] == [("Y", "regressed"), ("X", "improved")]
    baseline(project, {"benchmarks": ["X"]}, margin=4.0, per="benchmark")
    assert verdict(project) == ("improved", True)


def test_no_cell_worse_passes_by_all_cells_and_fails_by_holm(project: Project) -> None:
    """46 of 100 against 70 of 100 and 5 points less: about -19 points in 6.9, z = -2.7, p = .003, and .013 by Holm; 50
    of 100: p = .015, which is no alarm among four cells."""
    put(project, "A", [70.0, 70.0, 70.0, 70.0], trials=100)
    put(project, "B", [70.0, 70.0, 46.0, 70.0], trials=100)
    baseline(project, kind="no_cell_worse", margin=5.0)
    found = gate(project)
    worst = found["per"][0]
    assert (worst["at"], worst["verdict"], worst["benchmark"]) == ({"Length": 3.0}, "regressed", "X")
    assert worst["p_holm"] == pytest.approx(4 * worst["p"])
    assert 0.002 < worst["p"] < 0.005
    assert (found["passes"], found["failed"], found["undecided"]) == (False, 1, 3)
    put(project, "B", [70.0, 70.0, 50.0, 70.0], trials=100)
    one = gate(project)
    assert (one["per"][0]["p"] < 0.05, one["passes"], one["verdict"]) == (True, None, "inconclusive")
    baseline(project, kind="no_cell_worse", margin=5.0, multiplicity="none")
    assert verdict(project) == ("regressed", False)
    baseline(project, kind="no_cell_worse", margin=40.0)
    assert gate(project)["passes"] is True


def test_a_deterministic_history_with_one_changed_cell_alarms(project: Project) -> None:
    exact = {"trials": None, "stderr": 0.0}
    put(project, "A", [70.0, 70.0, 70.0, 70.0], **exact)
    put(project, "B", [70.0, 70.0, 69.9, 70.0], **exact)
    baseline(project, kind="no_cell_worse", margin=0.0)
    found = gate(project)
    assert (found["passes"], found["failed"], found["undecided"]) == (False, 1, 0)
    assert (found["per"][0]["at"], found["per"][0]["gap"]) == ({"Length": 3.0}, pytest.approx(-0.1))
    put(project, "B", [70.0, 70.0, 70.0, 70.0], **exact)
    assert verdict(project) == ("equivalent", True)
    baseline(project, margin=0.0)
    assert verdict(project) == ("equivalent", True)
    put(project, "B", [70.0, 70.0, 70.0, 69.9], **exact)
    assert verdict(project) == ("regressed", False)


@pytest.mark.parametrize(("gaps", "decided"), [((-5.0, -6.0), True), ((-5.0, 4.0), False), ((0.0, -4.0), True)])
def test_exact_benchmarks_beside_noisy_ones_are_judged_and_planned_alike(
    project: Project, gaps: tuple[float, float], decided: bool
) -> None:
    """On X no cell has noise, on Y both sides have a standard error of 1: that of the mean over both is sqrt(2)/2."""
    for benchmark, gap, stderr in (("X", gaps[0], 0.0), ("Y", gaps[1], 1.0)):
        put(project, "A", 70.0, benchmark, trials=None, stderr=stderr)
        put(project, "B", 70.0 + gap, benchmark, trials=None, stderr=stderr)
    baseline(project, margin=0.0)
    found = gate(project)
    reach = Z * math.sqrt(2) / 2
    assert (found["low"], found["high"]) == (pytest.approx(sum(gaps) / 2 - reach), pytest.approx(sum(gaps) / 2 + reach))
    assert (found["passes"] is not None) == decided
    sides = {"baseline_model": "A", "contender_model": "B", "experiment": "e", "metric": "accuracy"}
    body = {"question": {"kind": "separate", **sides}, "one_sided": True}
    path = f"projects/{project.slug}/plan"
    answer = project.call("POST", path, json=body)
    if answer.status_code == 202:
        project.house.compute()
        answer = project.call("POST", path, json=body)
    plan = answer.get_json()
    assert (plan["decidable_now"], plan["stderr"]) == (decided, pytest.approx(math.sqrt(2) / 2))


def test_exact_cells_beside_noisy_ones_of_one_grid_have_the_noise_of_these(project: Project) -> None:
    axes = [{"name": "Length", "kind": "numeric", "levels": [1, 2]}]
    for model, values in (("A", [70.0, 70.0]), ("B", [69.0, 68.0])):
        put(project, model, values, axes=axes, trials=None, stderr=[0.0, 1.0])
    baseline(project, margin=0.0)
    found = gate(project)
    reach = Z * math.sqrt(2) / 2
    assert (found["low"], found["high"]) == (pytest.approx(-1.5 - reach), pytest.approx(-1.5 + reach))


def test_three_repeats_without_any_spread_are_exact_and_two_are_not(project: Project) -> None:
    for count, expected in ((3, ("regressed", False)), (2, ("inconclusive", None))):
        same = {"trials": None, "repeats": count, "sd": 0.0}
        put(project, "A", 70.0, **same)
        put(project, "B", 69.0, **same)
        baseline(project, kind="no_cell_worse", margin=0.5)
        assert verdict(project) == expected


def test_values_without_noise_are_no_pass(project: Project) -> None:
    for model, values in (("A", [70.0, 71.0, 72.0, 73.0]), ("B", [70.1, 71.0, 72.1, 73.0])):
        put(project, model, values, trials=None)
    baseline(project, margin=5.0)
    found = gate(project)
    assert (found["verdict"], found["passes"], found["reason"]) == ("inconclusive", None, "unknown_noise")
    assert "noise of the cells is not known" in found["sentence"]


def test_full_marks_on_both_sides_pass_a_margin_that_their_trials_show(project: Project) -> None:
    for model in "AB":
        put(project, model, 100.0)
    baseline(project, margin=1.0)
    assert gate(project)["passes"] is True
    for model in "AB":
        put(project, model, 100.0, trials=20)
    assert gate(project)["passes"] is None


def test_repeats_are_judged_by_welchs_t(project: Project) -> None:
    put(project, "A", 70.0, trials=None, repeats=4, sd=1.0)
    put(project, "B", 71.0, trials=None, repeats=3, sd=2.0)
    baseline(project, kind="no_cell_worse", margin=1.0)
    [cell] = gate(project)["per"]
    oracle = stats.ttest_ind_from_stats(71.0, 2.0, 3, 70.0 - 1.0, 1.0, 4, equal_var=False, alternative="less")
    assert cell["p"] == pytest.approx(oracle.pvalue, rel=1e-6)


def test_improving_is_more_than_not_being_worse(project: Project) -> None:
    put(project, "A", 70.0)
    put(project, "B", 71.0)
    baseline(project, kind="improves")
    assert gate(project)["passes"] is None
    put(project, "B", 80.0)
    assert verdict(project) == ("improved", True)
    baseline(project, kind="improves", margin=20.0)
    assert gate(project)["passes"] is False


def test_a_sentence_says_what_the_policy_asks(project: Project) -> None:
    put(project, "A", 70.0)
    put(project, "B", 70.0)
    baseline(project, kind="improves", margin=2.0)
    assert gate(project)["sentence"].startswith(
        "Neither that B is better than the baseline main by more than 2 points nor that it is not is shown: +0, with"
    )
    for name, value in (("A", 70.1), ("B", 70.0)):
        put(project, name, value, trials=None, stderr=0.0)
    assert gate(project)["sentence"].startswith(
        "B is worse than the baseline main, by less than 2 points: -0.1, without noise;"
    )


def test_equivalence_fails_on_a_better_contender_too(project: Project) -> None:
    put(project, "A", 70.0)
    put(project, "B", 90.0)
    baseline(project, kind="equivalent", margin=5.0)
    assert verdict(project) == ("improved", False)
    put(project, "B", 70.0)
    assert verdict(project) == ("equivalent", True)


def test_a_floor_is_reached_by_the_exact_bound(project: Project) -> None:
    """29 of 29 show 90 % one-sided at 95 %, and 28 of 28 do not: .9^29 = .047, .9^28 = .052."""
    put(project, "A", 50.0)
    baseline(project, kind="floor", margin=90.0)
    for trials, passes in ((29, True), (28, None)):
        put(project, "B", 100.0, trials=trials)
        assert gate(project)["passes"] is passes
    put(project, "B", 80.0)
    found = gate(project)
    assert (found["verdict"], found["passes"]) == ("regressed", False)
    assert found["sentence"].startswith("B is below the floor 90 %")
    put(project, "B", 95.0, trials=None, stderr=1.0)
    low = gate(project)["low"]
    assert low == pytest.approx(5 - Z)


@pytest.mark.parametrize(("trials", "passes"), [(15, True), (14, None)])
def test_a_floor_of_a_mean_is_no_surer_than_its_cell_with_the_fewest_trials(
    project: Project, trials: int, passes: bool | None
) -> None:
    """Where one cell never fails and the other does in 20 of 100, their mean is 90, and both pass with .8^n: .035 for
    15, .044 for 14 too; but the bound holds for all rates, with .9^(2 n): .042 and .052."""
    axes = [{"name": "Length", "kind": "numeric", "levels": [1, 2]}]
    put(project, "A", [50.0, 50.0], axes=axes)
    put(project, "B", [100.0, 100.0], axes=axes, trials=[trials, 1_000])
    baseline(project, kind="floor", margin=90.0)
    assert gate(project)["passes"] is passes


def test_percent_is_of_the_baseline(project: Project) -> None:
    put(project, "A", 50.0, trials=100_000)
    put(project, "B", 48.0, trials=100_000)
    baseline(project, margin=5.0, margin_unit="percent")
    found = gate(project)
    assert (found["verdict"], found["margin"]) == ("worse_within_margin", pytest.approx(2.5))
    assert "by less than 5 percent of the baseline: -2," in found["sentence"]
    put(project, "A", 0.0, trials=100_000)
    assert (gate(project)["verdict"], gate(project)["reason"]) == ("not_comparable", "zero_baseline")


def test_missing_cells_are_refused_or_counted(project: Project) -> None:
    put(project, "A", [70.0, 70.0, 70.0, 70.0])
    put(project, "B", [80.0, 80.0, 80.0, None])
    baseline(project, margin=3.0)
    found = gate(project)
    assert (found["verdict"], found["reason"], found["common_share"]) == ("not_comparable", "missing_cells", 0.75)
    baseline(project, margin=3.0, missing="common")
    assert (verdict(project), gate(project)["common_share"]) == (("improved", True), 0.75)
    baseline(project, margin=3.0, missing="common", common_share=0.8)
    found = gate(project)
    assert found["reason"] == "missing_cells"
    assert "both have 75 % of the baseline's cells, and the policy asks for at least 80 %." in found["sentence"]


def test_a_contender_without_results_is_never_a_pass(project: Project) -> None:
    put(project, "A", 70.0)
    put(project, "B", 70.0, "Y")
    for policy in ({"margin": 50.0}, {"margin": 50.0, "missing": "common", "common_share": 0.0}):
        baseline(project, **policy)
        found = gate(project)
        assert (found["verdict"], found["passes"], found["reason"]) == ("not_comparable", None, "no_common_cells")
    project.published(experiment="e", model="B", benchmark="X", variant="", axes=LENGTHS, values=[None] * 4)
    assert gate(project)["reason"] == "no_common_cells"


def test_scales_variants_and_directions_that_do_not_fit_are_told_apart(project: Project) -> None:
    put(project, "A", 70.0)
    put(project, "B", 0.7, metric=publication()["metric"] | {"unit": None, "lower": 0, "upper": 1})
    baseline(project, margin=3.0)
    assert gate(project)["reason"] == "scale"
    put(project, "B", 70.0, metric=publication()["metric"] | {"direction": "lower"})
    assert gate(project)["reason"] == "scale"
    put(project, "B", 70.0)
    for model in "AB":
        put(project, model, 70.0, variant="v")
    assert gate(project)["reason"] == "ambiguous_variants"
    baseline(project, {"variants": ["v"]}, margin=30.0)
    assert gate(project)["passes"] is True


def test_the_baseline_itself_and_unknown_names_are_refused(project: Project) -> None:
    put(project, "A", 70.0)
    put(project, "Qwen", 70.0)
    baseline(project, margin=3.0)
    assert "baseline itself" in refused(project, "A")["/contender"]
    assert "baseline itself" in refused(project, put(project, "A", 71.0)["id"])["/contender"]
    assert "there are Qwen, A" in refused(project, "Qwem")["/contender"]
    alias = {"kind": "model", "alias": "A2", "name": "A"}
    assert project.call("POST", f"projects/{project.slug}/aliases", json=alias).status_code == 201
    assert "baseline itself" in refused(project, "A2")["/contender"]
    missing = project.get(f"projects/{project.slug}/baselines/mian/gate", query_string={"contender": "Qwen"})
    assert (missing.status_code, "there is main" in missing.get_json()["detail"]) == (404, True)


def test_an_alias_joins_two_names_of_a_contender(project: Project) -> None:
    put(project, "A", 70.0)
    put(project, "B-old", 80.0)
    baseline(project, margin=3.0)
    alias = {"kind": "model", "alias": "B-old", "name": "B"}
    assert project.call("POST", f"projects/{project.slug}/aliases", json=alias).status_code == 201
    put(project, "B", 70.0, "Y")
    assert verdict(project, "B") == ("improved", True)
    assert verdict(project, "B-old") == ("improved", True)


def test_pinned_revisions_stay_while_their_grid_goes_on(project: Project) -> None:
    grid = put(project, "A", 70.0)["id"]
    baseline(project, {"subject": {"grids": [{"grid": grid}]}}, margin=3.0)
    assert "baseline itself" in refused(project, grid)["/contender"]
    put(project, "A", 50.0)
    assert verdict(project, "A") == ("regressed", False)
    assert verdict(project, grid) == ("regressed", False)
    assert [one["revision"] for one in gate(project, grid)["inputs"]] == [1, 2]


def one_benchmark(found: dict[str, Any]) -> list[str]:
    return [one["detail"] for one in found["warnings"] if one["code"] == "one_benchmark"]


def test_one_grid_is_judged_on_its_own_benchmark(project: Project) -> None:
    for benchmark in ("X", "Y"):
        put(project, "A", 70.0, benchmark)
    contender = put(project, "B", 80.0, "Y")["id"]
    baseline(project, margin=3.0)
    found = gate(project, contender)
    assert (found["verdict"], {one["benchmark"] for one in found["inputs"]}) == ("improved", {"Y"})
    assert found["sentence"].endswith(" It was judged on Y alone, 1 of 2 benchmarks of the baseline.")
    assert one_benchmark(found) == ["It was judged on Y alone, 1 of 2 benchmarks of the baseline."]
    posted = checked(unpublished(project, benchmark="X").get_json())
    assert one_benchmark(posted) == ["It was judged on X alone, 1 of 2 benchmarks of the baseline."]
    baseline(project, {"benchmarks": ["Y"]}, margin=3.0)
    assert one_benchmark(gate(project, contender)) == []
    baseline(project, margin=3.0)
    assert gate(project)["reason"] == "missing_cells"


def unpublished(project: Project, role: str = "reader", **changes: Any) -> Any:
    names = {"experiment": "e", "variant": "", "model": "pull-request", "benchmark": "X"}
    sent = publication(**names | {"axes": [], "values": 80.0, "trials": 1_000} | changes)
    path = f"projects/{project.slug}/baselines/main/gate"
    answer = project.call("POST", path, role, json=sent)
    if answer.status_code == 202:
        assert ("Location" in answer.headers, answer.get_json()["derivation"]) == (False, {"state": "pending"})
        project.house.compute()
        answer = project.call("POST", path, role, json=sent)
    return answer


def test_an_unpublished_grid_is_judged_and_nothing_of_it_stays(project: Project, house: House) -> None:
    put(project, "A", 70.0)
    baseline(project, margin=3.0)

    def stored() -> tuple[int, ...]:
        with house.database.reading() as connection:
            here = (cached_results.c.project_id == project.id, cached_results.c.query["kind"].astext == "gate")
            counts = (
                select(func.count()).select_from(stored_revisions),
                select(func.count()).select_from(cached_results).where(*here),
            )
            return tuple(connection.scalar(one) or 0 for one in counts)

    before = stored()
    found = checked(unpublished(project).get_json())
    assert (found["verdict"], found["contender"]) == ("improved", "pull-request")
    assert [one["side"] for one in found["inputs"]] == ["baseline"]
    assert checked(unpublished(project, values=50.0).get_json())["verdict"] == "regressed"
    assert stored() == before
    other = unpublished(project, experiment="f")
    assert (other.status_code, other.get_json()["errors"][0]["pointer"]) == (422, "/experiment")
    levels = {"axes": [{"name": "L", "kind": "numeric", "levels": list(range(20_001))}], "values": [1.0] * 20_001}
    assert unpublished(project, **levels).status_code == 422
    assert unpublished(project, benchmark="Z").get_json()["reason"] == "no_common_cells"


def test_strangers_judge_nothing(project: Project, house: House) -> None:
    put(project, "A", 70.0)
    baseline(project, margin=3.0)
    path = f"projects/{project.slug}/baselines/main/gate"
    assert house.call("POST", path, json=publication()).status_code == 401
    assert house.call("GET", f"{path}?contender=B").status_code == 401


def test_too_many_cells_are_said_to_be(large: House) -> None:
    project = large.make_project()
    for model in "AB":
        put(project, model, 70.0)
    baseline(project, margin=3.0)
    assert gate(project)["reason"] == "too_large"


@pytest.mark.parametrize(("more", "warned"), [({"sd": [4.0] * 4}, True), ({"sd": [1.5] * 4}, False), ({}, False)])
def test_repeats_beyond_their_trials_make_its_errors_larger(
    project: Project, more: dict[str, Any], warned: bool
) -> None:
    """Ten repeats of 1,000 trials at 0.5 have the variance 2.5 in points squared; 16 over it is 6.4, on 72 degrees of
    freedom above 6.4 * 72 / chi2.ppf(0.975, 72) = 4.7."""
    repeated = {"repeats": [10] * 4, "trials": 10_000} | more
    put(project, "A", [50.0] * 4, **repeated if more else {})
    put(project, "B", [50.0] * 4, **repeated if more else {})
    put(project, "A", [50.0] * 4, "Y")
    put(project, "B", [50.0] * 4, "Y")
    baseline(project, kind="non_inferior", margin=3.0)
    found = [one["detail"] for one in gate(project)["warnings"] if one["code"] == "noise_beyond_trials"]
    assert len(found) == warned
    if warned:
        told = "On X repeats vary more than their trials explain (variance ratio 6.4, 4.7"
        assert found[0].startswith(told)
        assert found[0].endswith("errors from trials are taken larger by as much as they show.")
