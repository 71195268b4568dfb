"""What is said of a whole grid: `questions`, `design_effect`, `derived`; and names that should have said it."""

from __future__ import annotations

from typing import Any

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


def test_what_is_said_of_a_grid_is_answered_and_read_back(project: Project, house: House) -> None:
    columns = select(*(revisions.c[name] for name in MEMBERS))
    members = {"questions": 60, "design_effect": 1.5, "derived": ["GPQA", "AIME"]}
    there = members | {"derived": ["AIME", "GPQA"]}
    for sent in (publication(**members), tidy(300, cell("1", 0, 99.3), model="other", **members)):
        answer = project.publish(sent)
        assert (answer.status_code, said(answer.get_json())) == (201, there), answer.text
        assert said(project.get(answer.headers["Location"]).get_json()) == there
        listed = project.get(f"projects/{project.slug}/grids?id={answer.get_json()['id']}").get_json()["items"]
        assert [said(one) for one in listed] == [there]
        with house.database.reading() as connection:
            mine = columns.where(revisions.c.grid_id == answer.get_json()["id"])
            assert connection.execute(mine).one() == (60, 1.5, ["AIME", "GPQA"])


def test_what_is_not_said_is_absent_and_leaves_the_digest_as_it_was(project: Project, house: House) -> None:
    grid = project.published()
    assert said(grid) == {}
    # The digest that the release 0.1.0 gives this publication.
    assert grid["digest"] == "sha256:b4d3114d37898c6a279d5476cb772495e48a7e28a8c79594b729e4bb08445098"
    protocols = ({"protocol": nothing} for nothing in (None, {}, {"shots": None}))
    for nothing in ({"derived": False}, dict.fromkeys(MEMBERS), *protocols):
        answer = project.publish(publication(**nothing))
        assert (answer.status_code, answer.get_json()["digest"]) == (200, grid["digest"])
    with house.database.reading() as connection:
        null = text("SELECT count(*) FROM revisions WHERE derived = 'null'::jsonb")
        assert connection.scalar(null) == 0


def test_what_is_said_belongs_to_the_content_of_a_revision(project: Project) -> None:
    members: list[dict[str, Any]] = [
        {"questions": 30},
        {"design_effect": 1},
        {"derived": True},
        {"derived": ["b", "a"]},
    ]
    for model, member in enumerate(members):
        first = project.published(model=str(model))
        answer = project.publish(publication(model=str(model), **member))
        assert (answer.status_code, answer.get_json()["revision"]) == (201, 2)
        assert answer.get_json()["digest"] != first["digest"]
        found = project.get(f"grids/{first['id']}/difference?from=1&to=2").get_json()
        assert {name: found[f"{name}_changed"] for name in MEMBERS} == {name: name in member for name in MEMBERS}
        assert (found["labels_changed"], found["changed"]) == (False, [])
    # The names that a grid is made of are a set.
    assert project.publish(publication(model="3", derived=["a", "b"])).get_json()["revision"] == 2


def test_what_cannot_be_meant_is_refused_at_its_place(project: Project) -> None:
    for wrong in (0, 2.5, "30", True, 2**31, 301):
        assert fault(project, publication(questions=wrong))[0] == "/questions", wrong
    for wrong in (0.99, 1.1e6, "2"):
        assert fault(project, publication(design_effect=wrong))[0] == "/design_effect", wrong
    for wrong in ("Average", {}, 1, [], ["a", "a"], [str(i) for i in range(MOST_PARTS + 1)]):
        assert fault(project, publication(derived=wrong))[0] == "/derived", wrong
    for wrong, place in ((["a", ""], 1), (["a\x01"], 0), ([1], 0), (["x" * 201], 0)):
        assert fault(project, publication(derived=wrong))[0] == f"/derived/{place}", wrong
    for name in ("questions", "design_effect"):
        assert fault(project, publication(trials=None, **{name: 2})) == (f"/{name}", "goes with trials")
        assert fault(project, tidy(None, cell("1", 0, 99.3), **{name: 2}))[0] == f"/{name}"
    assert project.get(f"projects/{project.slug}/grids").get_json()["items"] == []
    limits = {"questions": 300, "design_effect": 1e6, "derived": [f"{i}" for i in range(MOST_PARTS)]}
    assert said(project.published(**limits))["questions"] == 300


def test_no_cell_has_fewer_trials_than_the_grid_has_questions(project: Project) -> None:
    trials = [[300, 300, 40], [None, 300, 300]]
    pointer, detail = fault(project, publication(trials=trials, questions=41))
    assert (pointer, detail) == ("/questions", "is above 40, the smallest number of trials of a cell")
    assert project.publish(publication(trials=trials, questions=40)).status_code == 201
    assert fault(project, tidy(300, cell("1", 0, 90.0, trials=20), cell("1", 1, 90.0), questions=21))[0] == "/questions"


def test_repeats_of_a_cell_answer_the_same_questions(project: Project) -> None:
    """Their trials are added up: 5 runs of 30 questions are 150 trials about 30 questions."""
    runs = [cell("1", 0, value, trials=30) for value in (50.0, 60.0, 40.0, 50.0, 50.0)]
    made = project.publish(tidy(None, *runs, questions=30)).headers["Location"]
    assert project.get(made).get_json()["trials"] == [[150]]


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


def doubts(document: dict[str, Any]) -> list[tuple[str, str | None]]:
    return [(one["code"], one.get("pointer")) for one in document["warnings"]]


def test_what_is_named_like_an_average_is_doubted_until_it_is_declared(project: Project) -> None:
    grid = project.published(benchmark="Macro average")
    assert doubts(grid) == [("looks_derived", "/benchmark")]
    assert "derived" in grid["warnings"][0]["detail"]
    assert doubts(project.published(benchmark="Macro average", derived=True)) == []
    axes = publication()["axes"]
    named = [axes[0] | {"levels": ["1", "Overall"]}, axes[1]]
    assert doubts(project.published(axes=named)) == [("looks_derived", "/axes/0/levels/1")]
    assert doubts(project.published(model="Average")) == [("looks_derived", "/model")]
    assert doubts(project.published(variant="mean")) == [("looks_derived", "/variant")]
    assert doubts(project.published(benchmark="Overall-v2 tasks")) == []
    # A name that fills pages is none.
    assert doubts(project.published(benchmark="x" * 120 + " mean")) == []
    assert doubts(project.published(benchmark="x" * 20 + " \u00a0  mean")) == [("looks_derived", "/benchmark")]


def test_the_demonstration_declares_its_average() -> None:
    read = [read_submission({"axes": []} | one, Limits()) for one in demo_grids()]
    [average] = [one for one in read if one.grid.derived]
    others = {one.names.benchmark for one in read if one.names.experiment == average.names.experiment}
    assert isinstance(average.grid.derived, tuple)
    assert {*average.grid.derived, average.names.benchmark} == others
    assert not any(warning.code == "looks_derived" for one in read for warning in one.warnings)
