"""Suites: named lists of benchmarks of a project, over which rankings are asked."""

from typing import Any

import pytest
from marshmallow import ValidationError, fields, validate

from registry.api.fields import Few
from registry.api.schemas import SuiteIn
from registry.grids.slices import member_text, read_members, slice_document
from tests.house import House, Project
from tests.workers.asking import faults_of, join
from tests.workers.test_rankings import answered, ask, score


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
    assert project.get(path).get_json()["items"] == []


MEMBERS: list[tuple[str, str, dict[str, list[str]]]] = [
    ("HumanEval pass@1", "HumanEval pass@1", {}),
    ("a@b, c=d", "a@b, c=d", {}),
    ("STS22@subset=en", "STS22", {"subset": ["en"]}),
    ("pass@1@split=test,subset=en,split=dev", "pass@1", {"split": ["dev", "test"], "subset": ["en"]}),
    ("R@Context=>=64000,Context=<128000", "R", {"Context": ["<128000", ">=64000"]}),
    ("X@score=pass@10", "X", {"score": ["pass@10"]}),
]
"""A text, and the benchmark and the levels that it names."""
NO_MEMBERS = {
    "@subset=en": "no benchmark before",
    "X@subset=": '"subset="',
    "X@subset=en,de": '"de"',
    "X@subset=en,": '""',
    "X@a=1@b=2": '"@a=" and "@b="',
    "X@Context>=64000": "written Context=>=64000",
}


def test_a_member_is_a_benchmark_or_one_at_its_own_levels() -> None:
    for text, benchmark, levels in MEMBERS:
        [one] = read_members([text])
        assert (one.text, one.benchmark, slice_document(one.levels)) == (text, benchmark, levels)
        [again] = read_members([member_text(one.benchmark, one.levels)])
        assert again.levels == one.levels
    assert [one.text for one in read_members(["X@b=1,a=2", "Y", "X@a=2,b=1"])] == ["X@b=1,a=2", "Y"]


def test_what_can_be_no_member_is_refused_at_its_place(project: Project) -> None:
    texts = ["A", *NO_MEMBERS, "A@x=1"]
    faults = faults_of(project.call("PUT", f"projects/{project.slug}/suites/x", json={"benchmarks": texts}))
    assert list(faults) == [f"/benchmarks/{place}" for place in range(1, len(texts))]
    for told, wanted in zip(faults.values(), [*NO_MEMBERS.values(), "once more, with other levels"], strict=True):
        assert wanted in told


def test_members_that_an_alias_has_made_one_are_refused_where_their_levels_differ(project: Project) -> None:
    score(project, "A", 9.0, benchmark="X")
    put(project, "s", "X", "Y@split=dev")
    join(project, "benchmark", "Y", "X")
    assert "made one benchmark" in faults_of(ask(project, suite="s"))["/suite"]


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


def test_too_many_benchmarks_are_refused_before_any_is_read() -> None:
    class Unread(fields.Field[Any]):
        def _deserialize(self, *_given: Any, **_options: Any) -> Any:
            raise AssertionError("was read")

    with pytest.raises(ValidationError, match="has 1 to 3"):
        Few(Unread(), validate=validate.Length(1, 3, error="has 1 to 3")).deserialize([1, 2, 3, 4])
    assert type(SuiteIn().fields["benchmarks"]) is Few
