"""Comparisons: which revisions are compared, who may see them, and what is never served."""

import csv
import io
import uuid
from typing import Any

import pytest
from sqlalchemy import func, select
from werkzeug.test import TestResponse

from registry.demo import demo_aliases, demo_grids
from registry.storage.tables import cached_results
from tests.house import House, Project
from tests.workers.asking import answer_due, computed, described, faults_of, join

pytestmark = pytest.mark.usefixtures("nothing_due")


def ask(project: Project, baseline: Any, contender: Any, suffix: str = "", **more: Any) -> TestResponse:
    options = {name: more.pop(name) for name in ("headers",) if name in more}
    query = {"baseline": baseline["id"], "contender": contender["id"]} | more
    return project.get(f"projects/{project.slug}/comparisons{suffix}", query_string=query, **options)


def answered(project: Project, baseline: Any, contender: Any, **more: Any) -> dict[str, Any]:
    """The answer, computed now if it is due."""
    query = {"baseline": baseline["id"], "contender": contender["id"]} | more
    document = computed(project, f"projects/{project.slug}/comparisons", query_string=query)
    if document["state"] == "ready":
        described(document, "Comparison")
    return document


def score(project: Project, value: Any, **changes: Any) -> dict[str, Any]:
    """A single score; the same identity unless told."""
    names = {"experiment": "leaderboard", "benchmark": "GSM8K", "model": "A", "variant": ""}
    return project.published(**names | {"axes": [], "values": value, "trials": None} | changes)


def two_seeds(project: Project) -> tuple[dict[str, Any], dict[str, Any]]:
    """R1-Llama and R1-Qwen on AIME'24, which the two tables spell differently."""
    both = [
        project.publish(grid).get_json()
        for grid in demo_grids()
        if grid["benchmark"] in ("AIME24", "AIME'24") and grid["experiment"] == "window-by-ratio"
    ]
    return both[0], both[1]


def kept(project: Project) -> int:
    mine = (cached_results.c.project_id == project.id, cached_results.c.query["kind"].astext == "comparison")
    with project.house.database.reading() as connection:
        return connection.scalar(select(func.count()).select_from(cached_results).where(*mine)) or 0


def test_the_seed_models_are_compared_on_the_eight_cells_that_both_have_once_an_alias_joins_them(
    project: Project,
) -> None:
    """Counted by hand in the tables: 3 wins, 1 tie, 4 losses of R1-Qwen, -0.625 points on average."""
    llama, qwen = two_seeds(project)
    document = answered(project, llama, qwen)
    assert (document["status"], document["differs"]) == ("confounded", ["model", "benchmark"])
    for alias in demo_aliases():
        join(project, **alias)
    assert ask(project, llama, qwen).status_code == 202
    document = answered(project, llama, qwen)
    assert (document["status"], document["differs"]) == ("ok", ["model"])
    assert (document["n_common"], document["wins"], document["ties"], document["losses"]) == (8, 3, 1, 4)
    assert document["mean"] == pytest.approx(-0.625, rel=1e-12)
    assert document["odds_ratio"]["value"] == pytest.approx(0.9734618957052501, rel=1e-9)
    assert document["breslow_day"]["chi2"] == pytest.approx(2.901785396466377, rel=1e-9)
    assert (document["baseline"]["model"], document["contender"]["model"]) == ("R1-Llama", "R1-Qwen")
    assert document["baseline"]["benchmark"] == "AIME'24"
    text = ask(project, llama, qwen, ".txt").text
    assert text.startswith("R1-Qwen vs R1-Llama — Pass@1 (%)\n")
    assert "the contender wins 3, ties 1, loses 4" in text
    assert ask(project, llama, qwen, headers={"Accept": "text/plain"}).text == text
    assert "## By Ratio" in ask(project, llama, qwen, ".md").text
    table = ask(project, llama, qwen, ".csv")
    rows = list(csv.DictReader(io.StringIO(table.text)))
    assert [float(row["gap"]) for row in rows] == [cell["gap"] for cell in document["cells"]]
    assert [row["Ratio"] for row in rows] == ["0.1", "0.5"] * 4
    again = ask(project, llama, qwen, ".csv", headers={"If-None-Match": table.headers["ETag"]})
    assert again.status_code == 304


def test_the_current_revisions_are_compared_and_never_older_ones_in_their_place(project: Project) -> None:
    a, b = score(project, 50.0), score(project, 60.0, model="B")
    document = answered(project, a, b)
    assert document["inputs"] == [{"grid": one["id"], "revision": 1, "digest": one["digest"]} for one in (a, b)]
    assert (document["mean"], document["state"]) == (10.0, "ready")
    assert document["methods_version"]
    score(project, 75.0, model="B")
    assert ask(project, a, b).status_code == 202
    document = answered(project, a, b)
    assert (document["mean"], document["contender"]["revision"]) == (25.0, 2)
    old = answered(project, a, b, contender_revision=1)
    assert (old["mean"], old["contender"]["revision"]) == (10.0, 1)
    revisions = answered(project, b, b, baseline_revision=1)
    assert (revisions["status"], revisions["differs"], revisions["mean"]) == ("ok", [], 15.0)
    assert revisions["warnings"] == []
    same = answered(project, a, a)
    reason = "baseline and contender are one revision of one grid"
    assert (same["status"], same["reason"], same["test"], same["cells"]) == ("not_comparable", reason, None, [])


def test_an_answer_is_computed_once_and_kept_with_its_etag(project: Project) -> None:
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
    assert kept(project) == 2


def test_what_is_not_of_one_kind_is_not_compared_until_an_alias_joins_it(project: Project) -> None:
    a, axes = score(project, 50.0), [{"name": "Length", "unit": "tokens", "levels": [1, 2]}]
    loss = score(project, 0.4, metric={"name": "loss", "unit": "nats", "direction": "lower"})
    document = answered(project, a, loss)
    assert (document["status"], document["differs"], document["n_common"]) == ("undefined", ["metric"], 1)
    assert (document["mean"], document["cells"], document["by"]) == (None, [], None)
    b = score(project, 60.0, experiment="leaderboard-v2", model="B")
    assert answered(project, a, b)["status"] == "not_comparable"
    join(project, "experiment", "leaderboard-v2", "leaderboard")
    assert answered(project, a, b)["mean"] == 10.0
    tokens = score(project, [1.0, 2.0], model="tokens", axes=axes)
    words = score(project, [1.0, 2.0], model="words", axes=[axes[0] | {"unit": "words"}])
    [warning] = answered(project, tokens, words)["warnings"]
    assert (warning["code"], "tokens" in warning["detail"]) == ("axis_units", True)


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
    assert kept(project) == 0


def test_a_question_that_makes_no_sense_is_refused_with_its_place(project: Project, subtests: pytest.Subtests) -> None:
    path, ids = f"projects/{project.slug}/comparisons", {"baseline": str(uuid.uuid4()), "contender": str(uuid.uuid4())}
    assert set(faults_of(project.get(path))) == {"/baseline", "/contender"}
    numbers = [("baseline_revision", "0"), ("contender_revision", "1.5"), ("alpha", "1")]
    for name, value in [*numbers, ("baseline", "x"), ("contender", "{}"), ("model", "A"), ("baseline", ["a", "b"])]:
        with subtests.test(msg=f"{name}={value}"):
            assert list(faults_of(project.get(path, query_string=ids | {name: value}))) == [f"/{name}"]


def test_a_grid_that_is_not_published_is_compared_as_if_it_were_and_nothing_of_it_stays(project: Project) -> None:
    """Shown against the same grid, published: but for its id and revision, every number and word is the same."""
    llama, _ = two_seeds(project)
    sent = next(grid for grid in demo_grids() if grid["benchmark"] == "AIME'24")
    qwen = sent | {"variant": "of a pull request"}
    path = f"projects/{project.slug}/comparisons"

    def posted(body: dict[str, Any], status: int = 200, **more: Any) -> Any:
        asked = {"query_string": {"baseline": llama["id"]} | more, "json": body}
        if project.call("POST", path, "reader", **asked).status_code == 202:
            answer_due(project.house)
        answer = project.call("POST", path, "reader", **asked)
        assert answer.status_code == status, answer.text
        return answer.get_json()

    before = kept(project)
    document = described(posted(qwen), "Comparison")
    assert kept(project) == before
    assert [one["grid"] for one in document["inputs"]] == [llama["id"]]
    assert (document["contender"]["grid"], document["contender"]["revision"]) == (None, None)
    published = answered(project, llama, project.published(**qwen))
    of_contender = ("computed_at", "contender", "inputs")
    assert {k: v for k, v in document.items() if k not in of_contender} == {
        k: v for k, v in published.items() if k not in of_contender
    }
    assert posted(qwen, alpha=0.2)["alpha"] == 0.2
    axes = [{"name": name, "kind": "numeric", "levels": list(range(142))} for name in "LM"]
    large = {"axes": axes, "values": [[1.0] * 142] * 142}
    assert "20,000" in str(posted(qwen | large, 422))
    assert "has no revision 7" in str(posted(qwen, 404, baseline_revision=7))
