"""Comparisons: which revisions are compared, who may see them, and what is never served."""

from __future__ import annotations

import csv
import io
import time
import uuid
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from sqlalchemy import func, select, update
from werkzeug.test import TestResponse

from registry.api.shapes import COMPONENTS
from registry.demo import _data
from registry.storage.tables import cached_results
from tests.house import ACCURACY, House, Project
from workers import comparisons


@pytest.fixture(autouse=True)
def _nothing_due(house: House) -> None:
    """Promises that other tests left are kept first."""
    with house.database.transaction() as connection:
        fresh = {"lease": None, "leased_until": None, "due_at": func.now(), "attempts": 0}
        connection.execute(update(cached_results).where(cached_results.c.state == "pending").values(fresh))
    house.compute()


def ask(project: Project, baseline: Any, contender: Any, suffix: str = "", **more: Any) -> TestResponse:
    options = {name: more.pop(name) for name in ("headers",) if name in more}
    query = {"baseline": baseline["id"], "contender": contender["id"]} | more
    return project.get(f"projects/{project.slug}/comparisons{suffix}", query_string=query, **options)


def answered(project: Project, baseline: Any, contender: Any, **more: Any) -> dict[str, Any]:
    """The answer, computed now if it is due."""
    until = time.monotonic() + 10
    while (found := ask(project, baseline, contender, **more)).status_code == 202 and time.monotonic() < until:
        project.house.compute()
    assert found.status_code == 200, found.text
    document: dict[str, Any] = found.get_json()
    name = "Comparison" if document["state"] == "ready" else "Failed"
    promised = {"$ref": f"#/components/schemas/{name}", "components": {"schemas": COMPONENTS}}
    faults = Draft202012Validator(promised).iter_errors(document)
    assert [f"{list(fault.absolute_path)}: {fault.message}" for fault in faults] == []
    assert name == "Failed" or document.keys() <= COMPONENTS[name]["properties"].keys()
    return document


def score(project: Project, value: Any, **changes: Any) -> dict[str, Any]:
    """A single score; the same identity unless told."""
    names = {"experiment": "leaderboard", "benchmark": "GSM8K", "model": "A", "variant": ""}
    return project.published(**names | {"axes": [], "values": value, "trials": None} | changes)


def two_seeds(project: Project, aliases: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """R1-Llama and R1-Qwen on AIME'24, which the two tables spell differently."""
    data = _data()
    found = [
        project.publish(grid).get_json()
        for grid in data["grids"]
        if grid["benchmark"] in ("AIME24", "AIME'24") and grid["experiment"] == "window-by-ratio"
    ]
    for alias in data["aliases"] if aliases else []:
        assert project.call("POST", f"projects/{project.slug}/aliases", "admin", json=alias).status_code == 201
    return found[0], found[1]


def test_the_seed_models_are_compared_on_the_eight_cells_that_both_have(project: Project) -> None:
    """Counted by hand in the tables: 3 wins, 1 tie, 4 losses of R1-Qwen, -0.625 points on average."""
    llama, qwen = two_seeds(project, aliases=True)
    document = answered(project, llama, qwen)
    assert (document["status"], document["differs"]) == ("ok", ["model"])
    assert (document["n_common"], document["wins"], document["ties"], document["losses"]) == (8, 3, 1, 4)
    assert document["mean"] == pytest.approx(-0.625, rel=1e-12)
    assert document["mantel_haenszel"]["odds_ratio"]["value"] == pytest.approx(0.9734618957052501, rel=1e-9)
    assert document["breslow_day"]["chi2"] == pytest.approx(2.901785396466377, rel=1e-9)
    assert (document["baseline"]["model"], document["contender"]["model"]) == ("R1-Llama", "R1-Qwen")
    assert document["baseline"]["benchmark"] == "AIME'24"


def test_without_the_alias_they_differ_in_two_things_and_the_alias_answers_anew(project: Project) -> None:
    llama, qwen = two_seeds(project, aliases=False)
    assert (document := answered(project, llama, qwen))["status"] == "confounded"
    assert document["differs"] == ["model", "benchmark"]
    alias = {"kind": "benchmark", "alias": "AIME24", "name": "AIME'24"}
    project.call("POST", f"projects/{project.slug}/aliases", "admin", json=alias)
    assert ask(project, llama, qwen).status_code == 202
    assert answered(project, llama, qwen)["differs"] == ["model"]


def test_the_answer_names_revisions_and_digests(project: Project) -> None:
    a, b = score(project, 50.0), score(project, 60.0, model="B")
    document = answered(project, a, b)
    assert document["inputs"] == [{"grid": one["id"], "revision": 1, "digest": one["digest"]} for one in (a, b)]
    assert document["state"] == "ready"
    assert document["methods_version"]


def test_the_current_revisions_are_compared_and_never_older_ones_in_their_place(project: Project) -> None:
    a, b = score(project, 50.0), score(project, 60.0, model="B")
    assert answered(project, a, b)["mean"] == 10.0
    score(project, 75.0, model="B")
    assert ask(project, a, b).status_code == 202
    document = answered(project, a, b)
    assert (document["mean"], document["contender"]["revision"]) == (25.0, 2)
    old = answered(project, a, b, contender_revision=1)
    assert (old["mean"], old["contender"]["revision"]) == (10.0, 1)


def test_two_revisions_of_one_grid_are_compared(project: Project) -> None:
    a = score(project, 50.0)
    score(project, 80.0)
    document = answered(project, a, a, baseline_revision=1)
    assert (document["status"], document["differs"], document["mean"]) == ("ok", [], 30.0)
    assert document["warnings"] == []
    same = answered(project, a, a)
    assert (same["mean"], [warning["code"] for warning in same["warnings"]]) == (0.0, ["same_revision"])


def test_an_answer_is_computed_once_and_kept_with_its_etag(project: Project, house: House) -> None:
    a, b = score(project, 50.0), score(project, 60.0, model="B")
    pending = ask(project, a, b)
    assert (pending.status_code, pending.headers["Retry-After"]) == (202, "1")
    assert pending.get_json()["kind"] == "comparison"
    followed = project.get("/" + pending.get_json()["derivation"]["href"].lstrip("/"))
    assert followed.status_code == 202
    before = answered(project, a, b)
    tag = ask(project, a, b).headers["ETag"]
    assert ask(project, a, b, headers={"If-None-Match": tag}).status_code == 304
    assert answered(project, {"id": a["id"].upper()}, b) == before
    assert answered(project, a, b, alpha=0.1)["alpha"] == 0.1
    with house.database.reading() as connection:
        mine = (cached_results.c.project_id == project.id, cached_results.c.query["kind"].astext == "comparison")
        assert connection.scalar(select(func.count()).select_from(cached_results).where(*mine)) == 2


def test_other_units_leave_coverage_and_agreement(project: Project) -> None:
    a = score(project, 50.0)
    b = score(project, 0.4, metric={"name": "loss", "unit": "nats", "direction": "lower"})
    document = answered(project, a, b)
    assert (document["status"], document["differs"], document["n_common"]) == ("undefined", ["metric"], 1)
    assert (document["mean"], document["cells"], document["by"]) == (None, [], None)


def test_two_experiments_are_not_comparable_until_an_alias_joins_them(project: Project) -> None:
    a, b = score(project, 50.0), score(project, 60.0, experiment="leaderboard-v2", model="B")
    assert answered(project, a, b)["status"] == "not_comparable"
    alias = {"kind": "experiment", "alias": "leaderboard-v2", "name": "leaderboard"}
    project.call("POST", f"projects/{project.slug}/aliases", "admin", json=alias)
    assert answered(project, a, b)["mean"] == 10.0


def test_axes_of_two_units_are_compared_with_a_warning(project: Project) -> None:
    grids = [
        score(project, [1.0, 2.0], model=unit, axes=[{"name": "Length", "unit": unit, "levels": [1, 2]}])
        for unit in ("tokens", "words")
    ]
    [warning] = answered(project, *grids)["warnings"]
    assert warning["code"] == "axis_units"
    assert "tokens" in warning["detail"]


def test_grids_that_are_not_in_the_project_are_not_found(project: Project, house: House) -> None:
    a, gone = score(project, 50.0), score(project, 60.0, model="B")
    other = score(house.make_project("public"), 70.0)
    project.call("DELETE", f"grids/{gone['id']}")
    for absent in (other, gone, {"id": str(uuid.uuid4())}):
        for pair in ((a, absent), (absent, a)):
            answer = ask(project, *pair)
            assert answer.status_code == 404
            assert absent["id"] in answer.get_json()["detail"]
    late = ask(project, a, a, contender_revision=2)
    assert (late.status_code, late.get_json()["detail"]) == (404, f"The grid {a['id']} has no revision 2.")
    with house.database.reading() as connection:
        mine = (cached_results.c.project_id == project.id, cached_results.c.query["kind"].astext == "comparison")
        assert connection.scalar(select(func.count()).select_from(cached_results).where(*mine)) == 0


@pytest.mark.parametrize(
    "wrong, pointer",
    [
        ({"baseline": "x"}, "/baseline"),
        ({"contender": "{}"}, "/contender"),
        ({"baseline_revision": "0"}, "/baseline_revision"),
        ({"contender_revision": "1.5"}, "/contender_revision"),
        ({"alpha": "1"}, "/alpha"),
        ({"model": "A"}, "/model"),
        ({"baseline": ["a", "b"]}, "/baseline"),
    ],
)
def test_a_question_that_makes_no_sense_is_refused_with_its_place(
    project: Project, wrong: dict[str, Any], pointer: str
) -> None:
    query = {"baseline": str(uuid.uuid4()), "contender": str(uuid.uuid4())} | wrong
    answer = project.get(f"projects/{project.slug}/comparisons", query_string=query)
    assert answer.status_code == 422
    assert [error["pointer"] for error in answer.get_json()["errors"]] == [pointer]


def test_both_grids_must_be_named(project: Project) -> None:
    answer = project.get(f"projects/{project.slug}/comparisons")
    assert {error["pointer"] for error in answer.get_json()["errors"]} == {"/baseline", "/contender"}


def test_a_comparison_is_read_as_text_markdown_and_csv(project: Project) -> None:
    llama, qwen = two_seeds(project, aliases=True)
    document = answered(project, llama, qwen)
    text = ask(project, llama, qwen, ".txt")
    assert text.text.startswith("R1-Qwen less R1-Llama — Pass@1 (%)\n")
    assert "the contender wins 3, ties 1, loses 4" in text.text
    assert ask(project, llama, qwen, headers={"Accept": "text/plain"}).text == text.text
    assert "## By Ratio" in ask(project, llama, qwen, ".md").text
    rows = list(csv.DictReader(io.StringIO(ask(project, llama, qwen, ".csv").text)))
    assert [float(row["gap"]) for row in rows] == [cell["gap"] for cell in document["cells"]]
    assert [row["Ratio"] for row in rows] == ["0.1", "0.5"] * 4
    tag = ask(project, llama, qwen, ".csv").headers["ETag"]
    assert ask(project, llama, qwen, ".csv", headers={"If-None-Match": tag}).status_code == 304


def test_a_comparison_that_cannot_be_computed_says_why(
    project: Project, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = score(project, 50.0), score(project, 60.0, model="B")
    house.compute()
    assert ask(project, a, b).status_code == 202

    def refuse(*_arguments: Any) -> Any:
        raise ZeroDivisionError("no comparison today")

    with monkeypatch.context() as patched:
        patched.setattr(comparisons, "gap", refuse)
        for _ in range(house.settings.attempts):
            house.compute()
            with house.database.transaction() as connection:
                here = cached_results.c.project_id == project.id
                connection.execute(update(cached_results).where(here).values(due_at=func.now()))
    document = answered(project, a, b)
    assert (document["state"], document["reason"]) == ("failed", "ZeroDivisionError: no comparison today")
    assert document["baseline"] == a["id"]
    assert "no comparison today" in ask(project, a, b, ".txt").text


def test_a_public_comparison_is_read_without_a_token(house: House) -> None:
    project = house.make_project("public")
    a, b = score(project, 50.0, metric=ACCURACY), score(project, 60.0, model="B")
    answered(project, a, b)
    path = f"projects/{project.slug}/comparisons?baseline={a['id']}&contender={b['id']}"
    assert house.call("GET", path).get_json()["mean"] == 10.0
