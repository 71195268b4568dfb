"""Suites: named lists of benchmarks of a project, over which rankings are asked."""

from __future__ import annotations

from tests.house import House, Project
from tests.workers.test_rankings import answered, ask, records, score


def put(project: Project, name: str, *benchmarks: str) -> int:
    path = f"projects/{project.slug}/suites/{name}"
    return project.call("PUT", path, json={"benchmarks": list(benchmarks)}).status_code


def test_a_suite_is_set_read_changed_listed_and_deleted(project: Project) -> None:
    path = f"projects/{project.slug}/suites"
    name = "MTEB(eng, v1)/short"
    assert put(project, name, "B", "A", "B") == 201
    found = project.get(f"{path}/{name}").get_json()
    assert (found["name"], found["benchmarks"]) == (name, ["B", "A"])
    assert put(project, name, "C") == 200
    assert put(project, "another", "D") == 201
    listed = project.get(path, query_string={"limit": 1})
    assert [one["name"] for one in listed.get_json()["items"]] == [name]
    rest = project.get(listed.headers["Link"].split(">")[0].removeprefix("<"))
    assert [(one["name"], one["benchmarks"]) for one in rest.get_json()["items"]] == [("another", ["D"])]
    assert project.call("DELETE", f"{path}/{name}").status_code == 204
    assert project.get(f"{path}/{name}").status_code == 404


def test_a_suite_has_names_and_a_name(project: Project) -> None:
    path = f"projects/{project.slug}/suites"
    for sent in ({"benchmarks": []}, {"benchmarks": ["A", ""]}, {"benchmarks": "A"}, {"benchmarks": ["A"] * 2_001}):
        assert project.call("PUT", f"{path}/x", json=sent).status_code == 422, sent
    assert project.call("PUT", f"{path}/{'x' * 201}", json={"benchmarks": ["A"]}).status_code == 422
    assert project.call("PUT", f"{path}/x", "reader", json={"benchmarks": ["A"]}).status_code == 403
    assert project.get(path).get_json()["items"] == []


def test_a_ranking_over_a_suite_is_that_over_its_benchmarks(project: Project) -> None:
    """A wins on X and Y, B on Z: over X and Y, A is ahead by 2 wins."""
    for benchmark, a, b in (("X", 9.0, 1.0), ("Y", 8.0, 2.0), ("Z", 3.0, 7.0)):
        score(project, "A", a, benchmark=benchmark)
        score(project, "B", b, benchmark=benchmark)
    put(project, "easy", "X", "Y")
    found = answered(project, suite="easy")
    assert (found["suite"], found["benchmarks"], found["warnings"]) == ("easy", ["X", "Y"], [])
    assert records(found) == {"A": (2, 0, 0), "B": (0, 0, 2)}
    put(project, "easy", "Z")
    assert records(answered(project, suite="easy")) == {"A": (0, 0, 1), "B": (1, 0, 0)}


def test_what_a_suite_names_and_no_grid_is_about_is_said(project: Project) -> None:
    score(project, "A", 9.0, benchmark="X")
    score(project, "B", 1.0, benchmark="X")
    put(project, "wide", "X", "V", "W")
    [warning] = answered(project, suite="wide")["warnings"]
    assert warning["code"] == "suite_incomplete"
    assert '2 of the 3 benchmarks of the suite "wide": V, W.' in warning["detail"]
    put(project, "elsewhere", "V", "W")
    refused = ask(project, suite="elsewhere")
    assert refused.status_code == 422
    assert refused.get_json()["errors"][0]["pointer"] == "/suite"


def test_an_unknown_suite_is_refused_with_what_there_is(project: Project, house: House) -> None:
    """And one of another project is none."""
    score(project, "A", 9.0, benchmark="X")
    put(house.make_project(), "math", "X")
    assert ask(project, suite="math").get_json()["errors"][0]["detail"].endswith("there is none")
    put(project, "maths", "X")
    put(project, "code", "X")
    refused = ask(project, suite="math")
    detail = 'the project has no suite "math"; there are code, maths'
    assert (refused.status_code, refused.get_json()["errors"]) == (422, [{"pointer": "/suite", "detail": detail}])
    both = ask(project, suite="maths", benchmark="X")
    assert (both.status_code, both.get_json()["errors"][0]["pointer"]) == (422, "/suite")


def test_the_page_of_a_ranking_takes_a_suite(project: Project, house: House) -> None:
    project.call("PATCH", f"projects/{project.slug}", "admin", json={"visibility": "public"})
    for model, value in (("A", 9.0), ("B", 1.0)):
        for benchmark in ("X", "Y"):
            score(project, model, value, benchmark=benchmark)
    put(project, "easy", "X")
    house.compute()
    answered(project, suite="easy")
    query = "experiment=leaderboard&metric=accuracy&suite="
    page = house.app.test_client().get(f"/projects/{project.slug}/rankings?{query}easy")
    assert (page.status_code, "1 of 1 slot compared" in page.text) == (200, True)
    wrong = house.app.test_client().get(f"/projects/{project.slug}/rankings?{query}hard")
    assert (wrong.status_code, "no suite" in wrong.text) == (422, True)
