"""Which keys of protocols bind in an experiment: declared, read back, logged, and every question asked again."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text
from werkzeug.test import TestResponse

from tests.house import House, Project
from tests.registry.test_notes import acts
from tests.workers.asking import computed

NOTHING = {"binding": [], "free": [], "required": False}


def rules(project: Project, experiment: str = "type-by-length") -> str:
    return f"projects/{project.slug}/experiments/{experiment}"


def declare(project: Project, experiment: str = "type-by-length", **sent: Any) -> TestResponse:
    return project.call("PATCH", rules(project, experiment), json={"protocol": sent})


def logged(project: Project) -> list[dict[str, Any]]:
    return [one["detail"] for one in acts(project, "experiment.protocol_set")]


def test_declared_keys_are_read_back_in_the_form_in_which_they_are_compared(project: Project) -> None:
    project.published()
    assert project.get(rules(project)).get_json()["protocol"] == NOTHING
    answer = declare(project, binding=["Shots", "cafe\u0301", "shots"], free=["GIT_HASH"], required=True)
    wanted = {"binding": ["caf\u00e9", "shots"], "free": ["git_hash"], "required": True}
    assert answer.get_json()["protocol"] == wanted
    read = project.get(rules(project))
    assert (read.get_json(), read.headers["ETag"]) == (answer.get_json(), answer.headers["ETag"])
    assert project.get(rules(project), headers={"If-None-Match": read.headers["ETag"]}).status_code == 304
    assert declare(project).get_json()["protocol"] == NOTHING
    for _ in range(2):
        assert declare(project, binding=["shots"]).status_code == 200
    assert logged(project) == [NOTHING | {"binding": ["shots"]}, NOTHING, wanted], "each change once"


REFUSED: list[tuple[Any, str]] = [
    ({"binding": "shots"}, "/binding"),
    ({"binding": ["a=b"]}, "/binding/0"),
    ({"binding": ["ok", ""]}, "/binding/1"),
    ({"free": [5]}, "/free/0"),
    ({"free": ["\n"]}, "/free/0"),
    ({"binding": [f"k{i}" for i in range(33)]}, "/binding"),
    ({"binding": ["shots"], "free": ["SHOTS"]}, "/free"),
    ({"required": "perhaps"}, "/required"),
    ({"keys": []}, "/keys"),
    ([], ""),
]


def test_what_cannot_be_meant_is_refused_at_its_place(project: Project, subtests: pytest.Subtests) -> None:
    project.published()
    for sent, pointer in REFUSED:
        with subtests.test(sent=sent):
            answer = project.call("PATCH", rules(project), json={"protocol": sent})
            assert answer.status_code == 422
            assert [one["pointer"] for one in answer.get_json()["errors"]] == [f"/protocol{pointer}"]
    assert project.get(rules(project, "type-by-lenght")).status_code == 404, "nobody published it"
    assert declare(project, "type-by-lenght", binding=["shots"]).status_code == 404
    assert logged(project) == []


def generations(house: House, project: Project) -> dict[str, int]:
    statement = text("SELECT query ->> 'kind' AS kind, generation FROM cached_results WHERE project_id = :project")
    with house.database.reading() as connection:
        return {row.kind: row.generation for row in connection.execute(statement, {"project": project.id})}


def test_another_declaration_is_a_new_generation_of_every_question(project: Project, house: House) -> None:
    for model in "ab":
        project.published(model=model)
    scope = "experiment=type-by-length&metric=accuracy"
    asked = [
        f"projects/{project.slug}/rankings?{scope}",
        f"projects/{project.slug}/aggregates?{scope}&group_by=model",
        f"projects/{project.slug}/comparisons?{scope}&baseline_model=a&contender_model=b",
    ]
    house.compute()
    for path in asked:
        project.get(path)
    house.compute()
    assert {project.get(path).status_code for path in asked} == {200}
    before = generations(house, project)
    assert len(before) == len(asked)
    declare(project, binding=["shots"])
    assert project.get(asked[0]).status_code == 202, "an answer by other rules is not given"
    house.compute()
    assert generations(house, project) == {kind: number + 1 for kind, number in before.items()}
    declare(project, binding=["shots"])
    house.compute()
    assert generations(house, project) == {kind: number + 1 for kind, number in before.items()}


def test_the_page_of_an_experiment_says_which_keys_bind(project: Project) -> None:
    project.published()
    path = f"/projects/{project.slug}/experiments/type-by-length"
    assert "protocols agree" not in project.get(path).get_data(as_text=True)
    declare(project, binding=["judge", "shots"], free=["git_hash"], required=True)
    page = project.get(path).get_data(as_text=True)
    assert "Compared where protocols agree in <b>judge, shots</b>" in page
    assert "free: git_hash" in page


def test_a_chart_leaves_out_what_the_table_leaves_out(project: Project) -> None:
    asked = {"lines": "metric=accuracy", "trade-offs": "x=metric:accuracy&y=metric:accuracy&x.at.Type=1&y.at.Type=2"}
    charts = [f"projects/{project.slug}/{one}?experiment=type-by-length&{query}" for one, query in asked.items()]
    for model, shots in (("a", 5), ("b", 3), ("c", 5)):
        project.published(model=model, protocol={"shots": shots, "git_hash": model})

    def told(field: str) -> list[list[dict[str, Any]]]:
        return [computed(project, path).get(field, []) for path in charts]

    differ = "Grids of one benchmark were measured by protocols that differ in git_hash and shots; no such key binds."
    assert [warnings[0]["detail"] for warnings in told("warnings")] == [differ] * 2
    declare(project, binding=["shots"], free=["git_hash"])
    assert [[one["model"] for one in grids] for grids in told("incomparable")] == [["b"]] * 2
