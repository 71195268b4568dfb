"""Forms of what is computed that cannot say `pending` wait and then fail: no reader of tables takes them for empty."""

import threading
from dataclasses import replace
from itertools import product
from typing import Any

import pytest
from sqlalchemy import text

from registry import create_app
from registry.api.responses import MEDIA
from registry.api.statistics import PARTS
from tests.house import House, Project

NAMES = "experiment=type-by-length&metric=accuracy"
TEXTS = ("csv", "md", "txt")
SERVED = ("rankings", "aggregates", "lines", "trade-offs", "comparisons", "gate", "statistics")
"""What the document says is pending at first and has other forms than JSON."""
QUERIES = ("", *(f"part={part}" for part in PARTS), "part=trends&at.Type=1", "part=thresholds&value=90")


def computed(project: Project) -> dict[tuple[str, str], tuple[str, ...]]:
    """The forms besides JSON of every kind of computed answer, by its path and query."""
    grid, other = (project.published(model=model)["id"] for model in ("one", "other"))
    home = f"projects/{project.slug}"
    baseline = {"experiment": "type-by-length", "metric": "accuracy", "subject": {"model": "one"}, "policy": {}}
    assert project.call("PUT", f"{home}/baselines/main", json=baseline).status_code == 201
    models = f"{NAMES}&baseline_model=one&contender_model=other"
    return {
        **{(f"grids/{grid}/statistics", query): TEXTS for query in QUERIES},
        (f"{home}/rankings", NAMES): (*TEXTS, "tex"),
        (f"{home}/aggregates", f"{NAMES}&group_by=model"): (*TEXTS, "tex", "svg", "png"),
        (f"{home}/baselines/main/gate", "contender=other"): ("txt", "md"),
        (f"{home}/lines", NAMES): TEXTS,
        (f"{home}/trade-offs", "experiment=type-by-length&x=metric:accuracy&y=metric:accuracy&at.Type=1"): TEXTS,
        (f"{home}/comparisons", models): TEXTS,
        (f"{home}/comparisons", f"baseline={grid}&contender={other}"): TEXTS,
    }


def asked(project: Project, paths: dict[tuple[str, str], tuple[str, ...]]) -> dict[str, Any]:
    """The answers to each path in each form, by suffix and by `Accept`."""
    found = {}
    for (path, query), forms in paths.items():
        for form in forms:
            found[f"{path}.{form}?{query}"] = project.get(f"{path}.{form}?{query}")
            found[f"{path}?{query} as {form}"] = project.get(
                f"{path}?{query}", headers={"Accept": MEDIA[form].split(";")[0]}
            )
    return found


def test_only_json_says_that_an_answer_is_pending_and_every_other_form_fails(
    house: House, subtests: pytest.Subtests
) -> None:
    document = house.call("GET", "/openapi.json").get_json()
    pending = {
        path
        for path, item in document["paths"].items()
        if "202" in item.get("get", {}).get("responses", {})
        and len(item["get"]["responses"]["200"].get("content", ())) > 1
    }
    assert {path.rpartition("/")[2].partition(".")[0] for path in pending} == {*SERVED}
    project = replace(house, app=create_app(replace(house.settings, max_wait=0))).make_project()
    paths = computed(project)
    for state in ("fresh", "changed"):
        for path, answer in asked(project, paths).items():
            with subtests.test(state=state, path=path):
                told = answer.status_code, answer.content_type, answer.headers.get("Retry-After")
                assert told == (503, "application/problem+json", "1")
                assert answer.get_json()["type"] == "/docs#problem-pending"
        for path, query in paths:
            assert project.get(f"{path}?{query}").status_code == 202
        house.compute()
        assert {answer.status_code for answer in asked(project, paths).values()} == {200}
        for model in ("one", "other"):
            project.published(model=model, values=[[1.0, 96.7, 98.3], [None, 100.0, 99.7]])


def test_a_table_waits_by_itself_until_it_is_computed_unless_the_caller_says_how_long(project: Project) -> None:
    grid = project.published()["id"]
    refused = project.get(f"grids/{grid}/statistics.csv?part=trends", headers={"Prefer": "wait=0"})
    assert refused.status_code == 503
    for path in (f"grids/{grid}/statistics.csv?part=trends", f"projects/{project.slug}/rankings.txt?{NAMES}"):
        later = threading.Timer(0.3, project.house.compute)
        later.start()
        answer = project.get(path)
        later.join()
        assert (answer.status_code, answer.mimetype[:5]) == (200, "text/"), path


def test_what_could_not_be_computed_is_an_error_in_every_form_but_json(project: Project) -> None:
    project.published()
    project.house.compute()
    grid, scope = project.published(experiment="another")["id"], f"projects/{project.slug}/rankings"
    assert project.get(f"{scope}?{NAMES}&alpha=0.1").status_code == 202
    with project.house.database.transaction() as connection:
        for failing in (
            "UPDATE derivations SET state = 'failed', reason = 'it broke' WHERE grid_id = :grid",
            "UPDATE cached_results SET state = 'failed', reason = 'it broke' WHERE project_id = :project",
        ):
            connection.execute(text(failing), {"grid": grid, "project": project.id})
    for path, form in product((f"grids/{grid}/statistics{{}}", f"{scope}{{}}?{NAMES}&alpha=0.1"), TEXTS):
        answer = project.get(path.format(f".{form}"))
        problem = answer.get_json()
        assert (answer.status_code, problem["type"]) == (500, "/docs#problem-failed"), path
        assert "it broke" in problem["detail"]
    assert project.get(f"grids/{grid}/statistics?part=peaks").get_json()["state"] == "failed"
