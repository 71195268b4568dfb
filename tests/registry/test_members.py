"""What is said of a whole grid: `questions`, `design_effect`, `derived`; and names that should have said it."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import select, text

from registry.demo import demo_grids
from registry.grids.intake import Limits, read_submission
from registry.grids.intake.members import MOST_PARTS
from registry.storage.tables import revisions
from tests.house import House, Project, publication
from tests.registry.test_amending import amend, cell
from tests.registry.test_publishing_tables import PERCENT, PIVOT, post

MEMBERS = ("questions", "design_effect", "derived")


def said(document: dict[str, Any]) -> dict[str, Any]:
    return {name: document[name] for name in MEMBERS if name in document}


def tidy(trials: int | None, *cells: dict[str, Any], **changes: Any) -> dict[str, Any]:
    axes = [{"name": "Type", "kind": "nominal"}, {"name": "Length", "kind": "numeric"}]
    sent = publication(axes=axes, cells=list(cells)) | changes
    return {name: value for name, value in sent.items() if name not in ("values", "trials")} | (
        {} if trials is None else {"trials": trials}
    )


def fault(project: Project, sent: dict[str, Any]) -> tuple[str, str]:
    answer = project.publish(sent)
    assert answer.status_code == 422, answer.text
    [only] = answer.get_json()["errors"]
    return only["pointer"], only["detail"]


@pytest.mark.parametrize("form", ["values", "cells"])
def test_what_is_said_of_a_grid_is_answered_and_read_back(project: Project, form: str) -> None:
    members = {"questions": 60, "design_effect": 1.5, "derived": ["GPQA", "AIME"]}
    sent = publication(**members) if form == "values" else tidy(300, cell("1", 0, 99.3), **members)
    answer = project.publish(sent)
    assert answer.status_code == 201, answer.text
    there = members | {"derived": ["AIME", "GPQA"]}
    assert said(answer.get_json()) == there
    assert said(project.get(answer.headers["Location"]).get_json()) == there
    [listed] = project.get(f"projects/{project.slug}/grids").get_json()["items"]
    assert said(listed) == there


def test_what_is_not_said_is_absent_and_leaves_the_digest_as_it_was(project: Project) -> None:
    grid = project.published()
    assert said(grid) == {}
    # The digest that the release 0.1.0 gives this publication.
    assert grid["digest"] == "sha256:b4d3114d37898c6a279d5476cb772495e48a7e28a8c79594b729e4bb08445098"
    for nothing in ({"derived": False}, dict.fromkeys(MEMBERS)):
        answer = project.publish(publication(**nothing))
        assert (answer.status_code, answer.get_json()["digest"]) == (200, grid["digest"])


@pytest.mark.parametrize("member", [{"questions": 30}, {"design_effect": 1}, {"derived": True}, {"derived": ["a"]}])
def test_what_is_said_belongs_to_the_content_of_a_revision(project: Project, member: dict[str, Any]) -> None:
    first = project.published()
    answer = project.publish(publication(**member))
    assert (answer.status_code, answer.get_json()["revision"]) == (201, 2)
    assert answer.get_json()["digest"] != first["digest"]
    found = project.get(f"grids/{first['id']}/revisions/1..2").get_json()
    assert {name: found[f"{name}_changed"] for name in MEMBERS} == {name: name in member for name in MEMBERS}
    assert (found["labels_changed"], found["changed"]) == (False, [])


def test_the_names_that_a_grid_is_made_of_are_a_set(project: Project) -> None:
    first = project.published(derived=["b", "a"])
    answer = project.publish(publication(derived=["a", "b"]))
    assert (answer.status_code, answer.get_json()["digest"]) == (200, first["digest"])


@pytest.mark.parametrize(
    ("member", "pointer"),
    [
        ({"questions": 0}, "/questions"),
        ({"questions": 2.5}, "/questions"),
        ({"questions": "30"}, "/questions"),
        ({"questions": True}, "/questions"),
        ({"questions": 2**31}, "/questions"),
        ({"questions": 301}, "/questions"),
        ({"design_effect": 0.99}, "/design_effect"),
        ({"design_effect": 1.1e6}, "/design_effect"),
        ({"design_effect": "2"}, "/design_effect"),
        ({"derived": "Average"}, "/derived"),
        ({"derived": {}}, "/derived"),
        ({"derived": 1}, "/derived"),
        ({"derived": []}, "/derived"),
        ({"derived": ["a", "a"]}, "/derived"),
        ({"derived": ["a", ""]}, "/derived/1"),
        ({"derived": ["a\x01"]}, "/derived/0"),
        ({"derived": [1]}, "/derived/0"),
        ({"derived": ["x" * 201]}, "/derived/0"),
        ({"derived": [str(i) for i in range(MOST_PARTS + 1)]}, "/derived"),
    ],
)
def test_what_cannot_be_meant_is_refused_at_its_place(project: Project, member: dict[str, Any], pointer: str) -> None:
    assert fault(project, publication(**member))[0] == pointer


def test_the_limits_themselves_are_allowed(project: Project) -> None:
    members = {"questions": 300, "design_effect": 1e6, "derived": [f"{i}" for i in range(MOST_PARTS)]}
    assert said(project.published(**members))["questions"] == 300


@pytest.mark.parametrize("name", ["questions", "design_effect"])
def test_questions_and_a_design_effect_go_with_trials(project: Project, name: str) -> None:
    assert fault(project, publication(trials=None, **{name: 2})) == (f"/{name}", "goes with trials")
    assert fault(project, tidy(None, cell("1", 0, 99.3), **{name: 2}))[0] == f"/{name}"


def test_no_cell_has_fewer_trials_than_the_grid_has_questions(project: Project) -> None:
    trials = [[300, 300, 40], [None, 300, 300]]
    pointer, detail = fault(project, publication(trials=trials, questions=41))
    assert (pointer, detail) == ("/questions", "is above 40, the smallest number of trials of a cell")
    assert project.publish(publication(trials=trials, questions=40)).status_code == 201
    assert fault(project, tidy(300, cell("1", 0, 90.0, trials=20), cell("1", 1, 90.0), questions=21))[0] == "/questions"


def test_repeats_of_a_cell_answer_the_same_questions(project: Project) -> None:
    """Their trials are added up: 5 runs of 30 questions are 150 trials about 30 questions."""
    runs = [cell("1", 0, value, trials=30) for value in (50.0, 60.0, 40.0, 50.0, 50.0)]
    grid = project.publish(tidy(None, *runs, questions=30)).get_json()
    assert project.get(f"grids/{grid['id']}").get_json()["trials"] == [[150]]


def test_an_amendment_keeps_what_was_said_and_checks_the_questions(project: Project) -> None:
    members = {"questions": 60, "design_effect": 2.0, "derived": True}
    grid = project.published(**members)
    assert said(amend(project, grid, cell("3", 7, 98.0)).get_json()) == members
    answer = amend(project, grid, cell("1", 0, 50.0, trials=100), cell("1", 1, 50.0, trials=50))
    assert answer.status_code == 422
    [only] = answer.get_json()["errors"]
    assert only == {"pointer": "/cells/1/trials", "detail": "is below the 60 questions of the grid"}
    gone = amend(project, grid, *(cell("1", n, None) for n in (0, 1, 2)), cell("2", 1, None), cell("2", 2, None))
    assert (gone.status_code, said(gone.get_json())) == (200, members)


def test_a_table_says_it_in_the_query(project: Project) -> None:
    members = {"questions": 60, "design_effect": 1.5, "derived": "true"}
    answer = post(project, PIVOT, columns="Length", nominal="Type", trials=300, **members, **PERCENT)
    assert answer.status_code == 201, answer.text
    assert said(answer.get_json()) == {"questions": 60, "design_effect": 1.5, "derived": True}
    same = post(project, PIVOT, columns="Length", nominal="Type", trials=300, derived="false", **PERCENT)
    assert said(same.get_json()) == {}


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ({"questions": "301", "trials": "300"}, "questions"),
        ({"questions": "0", "trials": "300"}, "questions"),
        ({"questions": "3"}, "questions"),
        ({"design_effect": "0.5", "trials": "300"}, "design_effect"),
        ({"design_effect": "nan", "trials": "300"}, "design_effect"),
        ({"derived": "perhaps"}, "derived"),
    ],
)
def test_a_query_that_cannot_be_meant_is_refused(project: Project, query: dict[str, str], name: str) -> None:
    answer = post(project, PIVOT, columns="Length", nominal="Type", **query, **PERCENT)
    assert answer.status_code == 422
    assert [one["pointer"] for one in answer.get_json()["errors"]] == [f"/{name}"]


def test_the_columns_hold_what_was_said(project: Project, house: House) -> None:
    columns = [revisions.c[name] for name in MEMBERS]
    wanted = [({}, (None, None, None)), ({"questions": 3, "design_effect": 2, "derived": True}, (3, 2.0, True))]
    wanted.append(({"derived": ["a"]}, (None, None, ["a"])))
    for members, stored in wanted:
        grid = project.published(benchmark=f"b{len(members)}", **members)
        with house.database.reading() as connection:
            assert connection.execute(select(*columns).where(revisions.c.grid_id == grid["id"])).one() == stored
    with house.database.reading() as connection:
        null = text("SELECT count(*) FROM revisions WHERE derived = 'null'::jsonb")
        assert connection.scalar(null) == 0


def doubts(document: dict[str, Any]) -> list[tuple[str, str | None]]:
    return [(one["code"], one.get("pointer")) for one in document["warnings"]]


@pytest.mark.parametrize("name", ["Average", "avg", "MATH mean", "Macro average", "Overall", "leaderboard_total"])
def test_a_benchmark_named_like_an_average_is_doubted_until_it_is_declared(project: Project, name: str) -> None:
    grid = project.published(benchmark=name)
    assert doubts(grid) == [("looks_derived", "/benchmark")]
    assert "derived" in grid["warnings"][0]["detail"]
    assert doubts(project.published(benchmark=name, derived=True)) == []


@pytest.mark.parametrize("name", ["Meaning in context", "AvgPool", "Totally new", "Mean teacher 2", "Overall-v2 tasks"])
def test_other_names_raise_no_doubt(project: Project, name: str) -> None:
    assert doubts(project.published(benchmark=name)) == []


def test_levels_models_and_variants_named_so_are_doubted_too(project: Project) -> None:
    axes = publication()["axes"]
    named = [axes[0] | {"levels": ["1", "Overall"]}, axes[1]]
    assert doubts(project.published(axes=named)) == [("looks_derived", "/axes/0/levels/1")]
    assert doubts(project.published(model="Average")) == [("looks_derived", "/model")]
    assert doubts(project.published(variant="mean")) == [("looks_derived", "/variant")]


def test_many_levels_named_so_raise_twenty_doubts(project: Project) -> None:
    levels = [f"{i} mean" for i in range(100)]
    sent = publication(axes=[{"name": "Type", "kind": "nominal", "levels": levels}], values=[50.0] * 100, trials=None)
    assert len(project.publish(sent).get_json()["warnings"]) == 20


def test_the_demonstration_declares_its_average() -> None:
    read = [read_submission({"axes": []} | one, Limits()) for one in demo_grids()]
    [average] = [one for one in read if one.grid.derived]
    others = {one.names.benchmark for one in read if one.names.experiment == average.names.experiment}
    assert isinstance(average.grid.derived, tuple)
    assert {*average.grid.derived, average.names.benchmark} == others
    assert not any(warning.code == "looks_derived" for one in read for warning in one.warnings)


def test_a_name_that_fills_pages_is_no_average(project: Project) -> None:
    assert doubts(project.published(benchmark="x" * 120 + " mean")) == []
    assert doubts(project.published(benchmark="x" * 20 + " \u00a0  mean")) == [("looks_derived", "/benchmark")]
