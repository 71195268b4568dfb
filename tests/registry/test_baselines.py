"""Baselines: set, versioned, read, listed, deleted; and whether their policies can pass."""

import math
from typing import Any

import pytest
from scipy import stats
from sqlalchemy import select
from werkzeug.test import TestResponse

from registry.storage.tables import audit_log
from tests.house import ACCURACY, Project
from tests.workers.asking import described, faults_of

LENGTHS = [{"name": "Length", "kind": "numeric", "levels": [1, 2]}]
Z = stats.norm.isf(0.05)


def number(project: Project, value: float = 70.0, benchmark: str = "X", **changes: Any) -> dict[str, Any]:
    names = {"experiment": "e", "variant": "", "model": "A", "benchmark": benchmark}
    return project.published(**names | {"axes": [], "values": value, "trials": 200} | changes)


def body(**policy: Any) -> dict[str, Any]:
    return {"experiment": "e", "metric": "accuracy", "subject": {"model": "A"}, "policy": policy}


def put(project: Project, sent: Any, name: str = "main", **options: Any) -> TestResponse:
    return project.call("PUT", f"projects/{project.slug}/baselines/{name}", json=sent, **options)


def made(project: Project, sent: Any, name: str = "main") -> dict[str, Any]:
    answer = put(project, sent, name)
    assert answer.status_code in (200, 201), answer.text
    return described(answer.get_json(), "Baseline")


def refused(project: Project, sent: Any) -> dict[str, str]:
    return faults_of(put(project, sent))


def test_a_baseline_is_set_changed_by_versions_listed_and_deleted(project: Project) -> None:
    number(project)
    path = f"projects/{project.slug}/baselines"
    first = put(project, body(margin=0.5))
    assert (first.status_code, first.get_json()["policy_version"]) == (201, 1)
    same = put(project, body(margin=0.5))
    assert (same.status_code, same.get_json()["policy_version"]) == (200, 1)
    second = put(project, body(margin=2.0), headers={"If-Match": first.headers["ETag"]})
    assert (second.status_code, second.get_json()["policy_version"]) == (200, 2)
    assert put(project, body(margin=3.0), headers={"If-Match": first.headers["ETag"]}).status_code == 412
    assert put(project, body(margin=3.0), "other", headers={"If-Match": "*"}).status_code == 412
    now, older = (project.get(f"{path}/main{query}") for query in ("", "?policy_version=1"))
    assert (now.get_json()["policy"]["margin"], older.get_json()["policy"]["margin"]) == (2.0, 0.5)
    assert now.headers["ETag"] == second.headers["ETag"] != older.headers["ETag"]
    assert project.get(f"{path}/main?policy_version=3").status_code == 404
    put(project, body(), "release-1.2")
    assert [one["name"] for one in project.get(path).get_json()["items"]] == ["main", "release-1.2"]
    assert project.call("DELETE", f"{path}/main", headers={"If-Match": first.headers["ETag"]}).status_code == 412
    assert project.call("DELETE", f"{path}/main").status_code == 204
    gone = project.get(f"{path}/main")
    assert (gone.status_code, gone.get_json()["detail"]) == (
        404,
        'The project has no baseline "main"; there is release-1.2.',
    )
    again = put(project, body(margin=0.5))
    assert (again.status_code, again.headers["ETag"] == first.headers["ETag"]) == (201, False)


def test_the_audit_log_has_every_version_and_the_deletion(project: Project) -> None:
    number(project)
    for margin in (1.0, 1.0, 2.0):
        put(project, body(margin=margin))
    assert project.get(f"projects/{project.slug}/baselines/main").status_code == 200
    project.call("DELETE", f"projects/{project.slug}/baselines/main")
    with project.house.database.reading() as connection:
        query = select(audit_log).where(audit_log.c.project_id == project.id, audit_log.c.action.like("baseline.%"))
        rows = connection.execute(query.order_by(audit_log.c.id)).all()
    told = [(row.action, row.detail["version"], row.detail["definition"]["policy"]["margin"]) for row in rows]
    assert told == [("baseline.set", 1, 1.0), ("baseline.set", 2, 2.0), ("baseline.deleted", 2, 2.0)]


def test_a_policy_says_what_loss_it_excludes_at_equal_scores_and_the_trials_for_its_margin(project: Project) -> None:
    """70 of 100 at 200 trials on both sides: se = sqrt(2 x .7 x .3/200), and z = 1.645 of them are excluded."""
    number(project)
    se = 100 * math.sqrt(2 * 0.7 * 0.3 / 200)
    found = made(project, body(margin=0.5))
    assert found["can_pass"] is False
    assert found["margin_shown_at_equal_scores"] == pytest.approx(Z * se, rel=2e-3)
    trials = 200 * ((Z + stats.norm.isf(0.2)) * se / 0.5) ** 2
    assert found["trials_to_decide_margin"] == pytest.approx(trials, rel=3e-3)
    assert [one["code"] for one in found["warnings"]] == ["cannot_pass"]
    both = made(project, body(kind="equivalent", margin=0.5))
    trials = 200 * ((Z + stats.norm.isf(0.1)) * se / 0.5) ** 2  # beyond either end in a tenth
    assert both["trials_to_decide_margin"] == pytest.approx(trials, rel=3e-3)
    wide = made(project, body(margin=10.0))
    assert (wide["can_pass"], wide["warnings"]) == (True, [])
    assert "larger margin" in refused(project, body(margin=0.5) | {"strict": True})["/policy"]
    assert put(project, body(margin=10.0) | {"strict": True}).status_code == 200


def test_over_benchmarks_the_error_is_that_of_their_mean_and_of_each_the_largest(project: Project) -> None:
    number(project, 50.1, "X", trials=1_000)
    number(project, 90.1, "Y", trials=1_000)
    errors = [100 * math.sqrt(2 * p * (1 - p) / 1_000) for p in (0.501, 0.901)]
    overall = made(project, body(margin=1.0))
    assert overall["margin_shown_at_equal_scores"] == pytest.approx(Z * math.hypot(*errors) / 2, rel=3e-3)
    each = made(project, body(margin=1.0, per="benchmark"))
    assert each["margin_shown_at_equal_scores"] == pytest.approx(Z * errors[0], rel=3e-3)


def test_a_cell_of_proportions_is_judged_by_its_score_interval(project: Project) -> None:
    """18 of 20 on both sides: Miettinen and Nurminen's lower end is -0.1813, corrected for skewness -0.1780."""
    number(project, axes=LENGTHS, values=[90.0, 90.0], trials=20)
    found = made(project, body(kind="no_cell_worse", margin=17.0))
    assert (found["policy"]["per"], found["can_pass"]) == ("cell", False)
    assert found["margin_shown_at_equal_scores"] == pytest.approx(17.804, abs=0.001)
    assert made(project, body(kind="no_cell_worse", margin=18.5))["can_pass"] is True


def test_nothing_is_shown_of_what_has_no_noise_unless_it_is_exact(project: Project) -> None:
    number(project, trials=None)
    blind = made(project, body(margin=5.0))
    assert (blind["can_pass"], [one["code"] for one in blind["warnings"]]) == (False, ["unknown_noise"])
    number(project, trials=None, stderr=0.0, metric=ACCURACY | {"lower": None, "upper": None})
    exact = made(project, body(margin=0.0))
    assert (exact["can_pass"], exact["margin_shown_at_equal_scores"]) == (True, 0.0)
    # The standard deviation of 0.7, 0.7 and 0.7 by sums of floats.
    number(project, 0.7, trials=None, repeats=3, sd=1.3597399555105182e-16)
    rounded = made(project, body(margin=0.0))
    assert (rounded["can_pass"], rounded["margin_shown_at_equal_scores"]) == (True, 0.0)


def test_a_floor_of_90_can_be_shown_from_29_trials_on_of_all_benchmarks_together(project: Project) -> None:
    for trials, possible in ((28, False), (29, True)):
        number(project, 100.0, trials=trials)
        assert made(project, body(kind="floor", margin=90.0))["can_pass"] is possible
    for benchmark in ("X", "Y"):
        number(project, 100.0, benchmark, trials=15)
    assert made(project, body(kind="floor", margin=90.0))["can_pass"] is True
    assert made(project, body(kind="floor", margin=90.0, per="benchmark"))["can_pass"] is False


def test_nothing_improves_on_a_score_at_the_end_of_the_scale(project: Project) -> None:
    number(project, 100.0)
    found = made(project, body(kind="improves"))
    assert (found["can_pass"], "margin_shown_at_equal_scores" in found) == (False, False)
    assert "the best scores" in found["warnings"][0]["detail"]
    number(project, 50.0)
    assert made(project, body(kind="improves"))["can_pass"] is True


def test_many_cells_without_a_correction_are_told_their_false_alarms(project: Project) -> None:
    number(project, values=[50.0, 60.0], axes=LENGTHS)
    found = made(project, body(kind="no_cell_worse", margin=20.0, multiplicity="none"))
    assert "probability up to 0.098" in found["warnings"][0]["detail"]


def test_means_of_cells_out_of_repeats_warn_of_runs_that_move_all_of_them(project: Project) -> None:
    number(project, values=[50.0, 60.0], axes=LENGTHS, trials=None, repeats=[4, 4], sd=[1.0, 2.0])
    assert [one["code"] for one in made(project, body(margin=20.0))["warnings"]] == ["independent_cells"]
    assert made(project, body(kind="no_cell_worse", margin=20.0))["warnings"] == []
    for benchmark in ("X", "Y"):
        number(project, 50.0, benchmark, trials=None, repeats=4, sd=1.0)
    assert [one["code"] for one in made(project, body(margin=20.0))["warnings"]] == ["independent_cells"]
    assert made(project, body(margin=20.0, per="benchmark"))["warnings"] == []


def test_revisions_are_pinned_at_the_ones_that_are_current(project: Project) -> None:
    grid = number(project)["id"]
    sent = body(margin=10.0) | {"subject": {"grids": [{"grid": grid}]}}
    assert made(project, sent)["subject"] == {"grids": [{"grid": grid, "revision": 1}]}
    number(project, 20.0)
    assert made(project, sent)["subject"]["grids"][0]["revision"] == 2
    twice = sent | {"subject": {"grids": [{"grid": grid}] * 2}}
    assert "is of the same benchmark" in refused(project, twice)["/subject/grids/1"]
    old = {"subject": {"grids": [{"grid": grid, "revision": 9}]}}
    assert "no revision 9" in refused(project, sent | old)["/subject/grids/0"]
    assert 'the baseline of "f"' in refused(project, sent | {"experiment": "f"})["/subject/grids/0"]


MEANINGLESS = [
    ({"kind": "no_cell_worse", "per": "overall"}, "/policy/per"),
    ({"margin": -1}, "/policy/margin"),
    ({"kind": "floor", "margin_unit": "percent"}, "/policy/margin_unit"),
    ({"alpha": 0.5}, "/policy/alpha"),
    ({"alpha": 0}, "/policy/alpha"),
    ({"common_share": 2}, "/policy/common_share"),
    ({"kind": "hopes"}, "/policy/kind"),
]


def test_what_has_no_meaning_is_refused_with_the_place_and_with_what_there_is(
    project: Project, subtests: pytest.Subtests
) -> None:
    number(project)
    assert "there is A" in refused(project, body() | {"subject": {"model": "B"}})["/subject/model"]
    assert "there is X" in refused(project, body() | {"benchmarks": ["Y"]})["/benchmarks"]
    assert "has the metric" in refused(project, body() | {"metric": "loss"})["/metric"]
    assert "no grid of this experiment" in refused(project, body() | {"variants": ["v"]})["/variants"]
    for policy, pointer in MEANINGLESS:
        with subtests.test(**policy):
            assert pointer in refused(project, body(**policy))
    for name in ("-x", "a b", "x" * 101, "é"):
        assert put(project, body(), name).status_code == 422, name


def test_a_metric_without_a_better_end_and_a_percentage_of_nothing_are_refused(project: Project) -> None:
    number(project, 0.0)
    assert "baseline of 0" in refused(project, body(margin=1, margin_unit="percent"))["/policy/margin_unit"]
    aimless = {"name": "count", "unit": None, "direction": None, "lower": None, "upper": None}
    number(project, metric=aimless, trials=None, stderr=1.0)
    sent = body(margin=1) | {"metric": "count"}
    assert "no better end" in refused(project, sent)["/metric"]
    assert put(project, sent | {"policy": {"kind": "equivalent", "margin": 1}}).status_code == 201


def test_a_baseline_whose_grids_are_gone_is_read_all_the_same(project: Project) -> None:
    grid = number(project)
    made(project, body(margin=10.0))
    project.call("DELETE", f"grids/{grid['id']}")
    found = project.get(f"projects/{project.slug}/baselines/main").get_json()
    assert (found["can_pass"], found["warnings"][0]["code"]) == (False, "gone")
