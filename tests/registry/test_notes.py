"""What is said of a grid and of an experiment: members, descriptions, sources and labels."""

from hashlib import sha256
from typing import Any

import pytest
from sqlalchemy import Connection, select, text

from registry.demo import demo_grids
from registry.grids.intake import Limits, read_submission
from registry.grids.intake.members import MOST_PARTS
from registry.operations.audit_log import COMMAND
from registry.operations.purge import purge
from registry.storage.tables import revisions
from tests.house import House, Project, publication
from tests.registry.test_amending import amend, cell
from tests.registry.test_publishing_tables import PERCENT, PIVOT, post

DIGEST = sha256(b"some file").hexdigest()
SOURCE = {"format": "lm-eval", "name": "results é.json", "sha256": DIGEST}
TEXT = "# A title\n\n\tindented, *with* [a link](https://example.org) — 数学 שלום 🎉\n"


def acts(project: Project, act: str) -> list[dict[str, Any]]:
    entries = project.call("GET", f"projects/{project.slug}/audit", "admin").get_json()["items"]
    return [entry for entry in entries if entry["act"] == act]


def test_a_source_and_a_description_are_read_back_everywhere(project: Project) -> None:
    made = project.published(source=SOURCE, description=TEXT)
    path = f"grids/{made['id']}"
    [listed] = project.get(f"projects/{project.slug}/grids").get_json()["items"]
    for told in (made, project.get(path).get_json(), listed):
        assert (told["source"], told["description"]) == (SOURCE, TEXT)
    plain = project.published(model="another")
    assert ("source" in plain, plain["description"]) == (False, "")
    assert plain["digest"] == made["digest"], "neither is part of the content"
    assert project.publish(project.get(path).get_json()).status_code == 200
    copy = project.published(**{**project.get(path).get_json(), "model": "copy"})
    assert (copy["source"], copy["description"]) == (SOURCE, TEXT)


def test_each_revision_keeps_its_own_source(project: Project) -> None:
    path = f"grids/{project.published(source=SOURCE)['id']}"
    again = project.publish(publication(source={"name": "copy.json"}))
    assert (again.status_code, again.get_json()["source"], again.get_json()["revision"]) == (200, SOURCE, 1)
    assert project.get(path).get_json()["source"] == SOURCE, "the same content from elsewhere changes nothing"
    assert project.published(source={"name": "again.csv"}, trials=100)["revision"] == 2
    cells = {"cells": [{"at": {"Type": "2", "Length": 0}, "value": 50.0}]}
    assert "source" not in project.call("PATCH", f"{path}/cells", json=cells).get_json(), "no file has this cell"
    listed = project.get(f"{path}/revisions").get_json()["items"]
    assert [one.get("source") for one in listed] == [SOURCE, {"name": "again.csv"}, None]
    assert project.get(f"{path}?revision=1").get_json()["source"] == SOURCE
    assert project.published(model="m1", source={"sha256": DIGEST.upper()})["source"] == {"sha256": DIGEST}
    assert "source" not in project.published(model="m2", source={})
    assert "source" not in project.published(model="m3", source=None)


WRONG: dict[str, list[Any]] = {
    "/source/sha256": [DIGEST[:-1], "g" * 64, f"sha256:{DIGEST}", DIGEST + "\n"],
    "/source/name": ["a\nb", "x" * 1_025],
    "/source/format": ["x" * 65, ""],
    "/source/path": ["x"],
    "/source": ["results.csv"],
    "/description": ["x" * 8_001, "a\x07b", "line\nline\x1b[31m", 5],
}


def test_what_is_no_source_and_no_description_is_refused_with_its_place(project: Project) -> None:
    for pointer, values in WRONG.items():
        _, name, *inner = pointer.split("/")
        for value in values:
            answer = project.publish(publication(**{name: {inner[0]: value} if inner else value}))
            pointers = [one["pointer"] for one in answer.get_json()["errors"]]
            assert (answer.status_code, pointers) == (422, [pointer]), value
    assert project.get(f"projects/{project.slug}/grids").get_json()["items"] == []


def test_another_description_makes_no_revision_and_is_logged(project: Project) -> None:
    first = project.publish(publication(description="one"))
    grid = first.get_json()["id"]
    again = project.publish(publication(description="two\r\nlines"))
    assert (again.status_code, again.get_json()["description"], again.get_json()["revision"]) == (200, "two\nlines", 1)
    assert again.headers["ETag"] != first.headers["ETag"]
    assert project.published()["description"] == "two\nlines", "who says nothing changes nothing"
    assert project.published(values=[[1, 2, 3], [4, 5, 6]])["description"] == "two\nlines", "at any revision"
    batch = [publication(description="three", model=name) for name in ("Qwen-2.5 3B", "new", "new")]
    items = project.call("POST", f"projects/{project.slug}/grids/batch", json=batch).get_json()["items"]
    assert [one["status"] for one in items] == [201, 201, 200]
    assert {one["grid"]["description"] for one in items} == {"three"}
    assert project.published(description="")["description"] == ""
    logged = acts(project, "grid.updated")
    assert [one["detail"]["description"] for one in logged] == ["0 characters", "5 characters", "9 characters"]
    assert {one["subject"] for one in logged} == {grid}


def test_a_description_changes_by_patch_without_a_revision(project: Project) -> None:
    path = f"grids/{project.published()['id']}"
    old = project.get(path).headers["ETag"]
    changed = project.call("PATCH", path, json={"description": TEXT})
    assert (changed.status_code, changed.get_json()["description"], changed.get_json()["revision"]) == (200, TEXT, 1)
    tag = changed.headers["ETag"]
    assert project.get(path).headers["ETag"] == tag != old
    assert project.get(path, headers={"If-None-Match": old}).status_code == 200
    assert project.get(path, headers={"If-None-Match": tag}).status_code == 304
    assert project.call("PATCH", path, json={"description": TEXT}).headers["ETag"] == tag
    assert len(acts(project, "grid.updated")) == 1, "what changes nothing is not logged"


def test_changed_labels_are_content_and_make_a_revision_with_the_same_values(project: Project) -> None:
    sent = publication(labels={"sha": "1", "keep": "k"}, source=SOURCE, model="Average")
    before = project.publish(sent).get_json()
    path = f"grids/{before['id']}"
    changed = project.call("PATCH", path, json={"labels": {"sha": "2", "url": "https://example.org/", "none": None}})
    found = changed.get_json()
    assert (found["revision"], found["labels"]) == (2, {"sha": "2", "keep": "k", "url": "https://example.org/"})
    assert found["digest"] != before["digest"]
    assert (found["source"], found["warnings"]) == (SOURCE, before["warnings"])
    assert project.get(f"{path}?revision=1").get_json()["labels"] == sent["labels"]
    again = project.call("PATCH", path, json={"labels": {"sha": "2", "none": None}})
    assert (again.status_code, again.get_json()["revision"]) == (200, 2)
    project.call("PATCH", path, json={"labels": {"sha": None, "url": None, "keep": None}})
    grid = project.get(path).get_json()
    assert (grid["labels"], grid["values"]) == ({}, sent["values"])
    found = project.get(f"projects/{project.slug}/grids", query_string={"label.sha": "2"}).get_json()["items"]
    assert found == []
    difference = project.get(f"{path}/difference?from=1&to=2").get_json()
    assert (difference["labels_changed"], difference["changed"]) == (True, [])


@pytest.mark.parametrize("what", ["grid", "experiment", "project"])
def test_who_read_it_before_it_changed_or_sends_what_cannot_be_is_refused(project: Project, what: str) -> None:
    grid, home = project.published()["id"], f"projects/{project.slug}"
    paths = {"grid": f"grids/{grid}", "experiment": f"{home}/experiments/type-by-length", "project": home}

    def sent(document: dict[str, Any], **headers: str) -> Any:
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        return project.call("PATCH", paths[what], "admin", json=document, headers=given)

    tag = project.get(paths[what]).headers["ETag"]
    first = sent({"description": "mine"}, If_Match=tag)
    assert first.status_code == 200
    assert sent({"description": "theirs"}, If_Match=tag).status_code == 412
    if what == "project":
        assert project.call("DELETE", paths[what], "admin", headers={"If-Match": tag}).status_code == 412
    for header in (first.headers["ETag"], "*"):
        assert sent({"labels": {header[:3]: "x"}}, If_Match=header).status_code == 200
    before = project.get(paths[what]).get_json()
    assert (before["description"], len(before["labels"])) == ("mine", 2)
    many = {f"label {number}": "" for number in range(63)}
    wrong = {"a": 1}, {"a\n": "x"}, None
    for document in ({}, {"title": "x"}, {"labels": many}, *({"labels": labels} for labels in wrong)):
        assert sent(document).status_code == 422, document
    assert project.get(paths[what]).get_json() == before


def experiment(project: Project, name: str) -> dict[str, Any]:
    return project.get(f"projects/{project.slug}/experiments/{name}").get_json()


def test_an_experiment_says_what_it_holds(project: Project) -> None:
    for model, benchmark in (("A", "X"), ("A", "Y"), ("B", "X")):
        project.published(experiment="e/1 é", model=model, benchmark=benchmark)
    project.published(experiment="e/1 é", axes=[], values=1, metric={"name": "loss"}, trials=None)
    project.published(experiment="other", model="C")
    found = experiment(project, "e%2F1%20%C3%A9")
    counts = {"grids": 4, "benchmarks": 3, "models": 3, "variants": 1, "metrics": 2, "axes": 2}
    assert {name: found[name] for name in counts} == counts
    assert (found["name"], found["project"], found["aliases"]) == ("e/1 é", project.slug, [])
    assert (found["description"], found["labels"], found["updated_at"]) == ("", {}, None)
    missing = project.get(f"projects/{project.slug}/experiments/e")
    assert (missing.status_code, "e/1 é" in missing.get_json()["detail"]) == (404, True)
    assert project.call("PATCH", f"projects/{project.slug}/experiments/e", json={"description": "x"}).status_code == 404


def test_what_is_written_about_an_experiment_stays_without_its_grids_until_a_purge(project: Project) -> None:
    grid = project.published()["id"]
    path = f"projects/{project.slug}/experiments/type-by-length"
    old = project.get(path).headers["ETag"]
    changed = project.call("PATCH", path, json={"description": TEXT, "labels": {"a": "b"}})
    assert changed.get_json()["description"] == TEXT
    assert project.get(path).headers["ETag"] == changed.headers["ETag"] != old
    [entry] = acts(project, "experiment.updated")
    assert (entry["subject"], entry["detail"]["labels"]) == ("type-by-length", {"a": "b"})
    project.call("PATCH", path, json={"description": TEXT})
    assert len(acts(project, "experiment.updated")) == 1
    project.call("DELETE", f"grids/{grid}")
    found = experiment(project, "type-by-length")
    assert (found["description"], found["grids"], found["axes"]) == (TEXT, 0, 0)
    with project.house.database.transaction() as connection:
        purge_all(connection)
    assert project.get(path).status_code == 404


def purge_all(connection: Connection) -> None:
    """Purge what this test and those before it have deleted: one call takes a bounded number of grids."""
    while purge(connection, COMMAND, older_than_days=0):
        pass


def test_joined_experiments_have_one_description(project: Project) -> None:
    project.published(experiment="new", model="A", benchmark="X'")
    project.published(experiment="old", model="B", benchmark="X")
    for alias, name, kind in (("old", "new", "experiment"), ("X'", "X", "benchmark")):
        project.call("POST", f"projects/{project.slug}/aliases", json={"kind": kind, "alias": alias, "name": name})
    project.call("PATCH", f"projects/{project.slug}/experiments/old", json={"description": "of both"})
    for name in ("old", "new"):
        found = experiment(project, name)
        assert (found["name"], found["aliases"], found["description"]) == ("new", ["old"], "of both")
        assert (found["grids"], found["models"], found["benchmarks"]) == (2, 2, 1)
    for grid in project.get(f"projects/{project.slug}/grids?model=A").get_json()["items"]:
        project.call("DELETE", f"grids/{grid['id']}")
    with project.house.database.transaction() as connection:
        purge_all(connection)
    assert experiment(project, "new")["description"] == "of both", "grids of its alias are left"


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
