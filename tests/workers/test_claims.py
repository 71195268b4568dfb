"""Claims over HTTP: judged by workers, kept until a grid changes, refused with a pointer."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.house import House, Project

ABOUT = {"experiment": "type-by-length", "metric": "accuracy"}
NOWHERE = str(uuid.UUID(int=7))


def judge(project: Project, claims: Any, caller: str = "reader") -> TestResponse:
    return project.call("POST", f"projects/{project.slug}/claims/judge", caller, json=claims)


def settled(project: Project, claims: Any) -> Any:
    """The judgements, once they are there."""
    first = judge(project, claims)
    if first.status_code == 202:
        project.house.compute()
        first = judge(project, claims)
    assert first.status_code == 200, first.text
    return first.get_json()


def at(value: float, **more: Any) -> dict[str, Any]:
    """What is said of Type 1 at Length 0, which the house publishes as 99.3."""
    where = {"Type": [1], "Length": [0]}
    return {"kind": "value", "about": ABOUT, "where": where, "is": {"op": "=", "number": value}, **more}


def test_a_claim_is_promised_and_then_judged(project: Project) -> None:
    grid = project.published()
    first = judge(project, at(99.3))
    assert (first.status_code, first.headers["Retry-After"]) == (202, "1")
    found = settled(project, at(99.3))
    assert (found["verdict"], found["as_posted"], found["beyond_noise"]) == ("supported", "supported", "not_decidable")
    assert found["inputs"] == [{"grid": grid["id"], "revision": 1, "digest": grid["digest"]}]
    assert found["state"] == "ready"
    assert found["methods_version"]
    # The same claim by the id of the grid, and in other words of the same normal form.
    by_id = settled(project, at(99.3) | {"about": {"grid": grid["id"]}})
    assert by_id["verdict"] == "supported"


def test_a_claim_is_judged_again_when_its_grid_changes(project: Project) -> None:
    grid = project.published()
    assert settled(project, at(99.3))["verdict"] == "supported"
    cells = {"cells": [{"at": {"Type": "1", "Length": 0}, "value": 99.0}]}
    assert project.call("PATCH", f"grids/{grid['id']}/cells", json=cells).status_code == 200
    assert judge(project, at(99.3)).status_code == 202
    found = settled(project, at(99.3))
    assert (found["verdict"], found["inputs"][0]["revision"]) == ("contradicted", 2)


def changed(project: Project, grid: str, value: float) -> None:
    """Another value for Type 1 at Length 0."""
    cells = {"cells": [{"at": {"Type": "1", "Length": 0}, "value": value}]}
    assert project.call("PATCH", f"grids/{grid}/cells", json=cells).status_code == 200


def test_a_claim_about_a_revision_never_changes(project: Project) -> None:
    grid = project.published()
    former = at(99.3, about={"grid": grid["id"], "revision": 1})
    first = settled(project, former)
    assert (first["verdict"], first["claim"]["about"]) == ("supported", {"grid": grid["id"], "revision": 1})
    for value in (99.0, 12.0):
        changed(project, grid["id"], value)
        assert settled(project, at(99.3))["verdict"] == "contradicted"
        again = settled(project, former)
        assert again | {"computed_at": ""} == first | {"computed_at": ""}
    assert first["inputs"] == [{"grid": grid["id"], "revision": 1, "digest": grid["digest"]}]
    assert first["sentence"].startswith("Supported as posted: the value at Length 0, Type 1, revision 1 is 99.3")


def test_a_claim_may_hold_a_revision_against_the_current_one(project: Project) -> None:
    grid = project.published()
    changed(project, grid["id"], 12.0)
    about = {"grid": grid["id"]}
    both = [at(99.3, about=about | {"revision": 1}), at(12.0, about=about), at(12.0, about=about | {"revision": 2})]
    found = settled(project, [{"kind": "all_of", "claims": both}, *both])["items"]
    assert [one["verdict"] for one in found] == ["supported"] * 4
    assert [[used["revision"] for used in one["inputs"]] for one in found] == [[2, 1], [1], [2], [2]]


def test_levels_that_only_a_former_revision_has_are_known(project: Project) -> None:
    grid = project.published()
    small = {"axes": [{"name": "Type", "levels": [1]}, {"name": "Length", "levels": [5]}], "values": [[50.0]]}
    project.published(**small)
    assert settled(project, at(99.3, about={"grid": grid["id"], "revision": 1}))["verdict"] == "supported"
    refused = judge(project, at(99.3, about={"grid": grid["id"]}))
    assert refused.get_json()["errors"][0]["pointer"] == "/where/Length"


def test_a_revision_that_a_grid_does_not_have_is_refused(project: Project) -> None:
    grid = project.published()
    refused = judge(project, {"kind": "not", "claims": [at(1.0, about={"grid": grid["id"], "revision": 7})]})
    assert refused.get_json()["errors"] == [
        {"pointer": "/claims/0/about/revision", "detail": "is no revision of this grid, whose last one is 1"}
    ]


def test_a_list_is_answered_in_its_order_and_one_statement_once(project: Project) -> None:
    project.published()
    claims = [at(99.3), at(12.0), at(99.3, text="again")]
    found = settled(project, claims)["items"]
    assert [one["verdict"] for one in found] == ["supported", "contradicted", "supported"]
    assert found[0] == found[2]


def test_claims_about_several_experiments_are_answered_together(project: Project) -> None:
    project.published()
    project.published(experiment="another")
    other = at(99.3) | {"about": ABOUT | {"experiment": "another"}}
    found = settled(project, [at(12.0), other])["items"]
    assert [one["verdict"] for one in found] == ["contradicted", "supported"]


def test_one_claim_may_be_about_several_experiments(project: Project) -> None:
    first, second = project.published(), project.published(experiment="another")
    other = at(99.3) | {"about": ABOUT | {"experiment": "another"}}
    claim = {"kind": "all_of", "claims": [at(99.3), {"kind": "not", "claims": [other]}]}
    found, alone = settled(project, [claim, at(99.3, alpha=0.025)])["items"]
    assert (found["as_posted"], found["beyond_noise"], found["reason"]) == (
        "contradicted", "not_decidable", "within_noise"
    )  # fmt: skip
    assert found["sentence"] == (
        "Contradicted as posted: 1 of 2 statements hold. Not decidable beyond noise: 0 of 2 are shown."
    )
    # Each statement has half of alpha, and its numbers are those that it has alone with that.
    assert found["alpha"] == 0.05
    assert [one["part"] for one in found["parts"]] == ["/claims/0", "/claims/1/claims/0"]
    assert found["parts"][0]["numbers"] == alone["parts"][0]["numbers"]
    assert [one["grid"] for one in found["inputs"]] == [first["id"], second["id"]]
    by_id = {"kind": "all_of", "claims": [at(99.3, about={"grid": one["id"]}) for one in (first, second)]}
    assert settled(project, by_id)["verdict"] == "supported"
    wrong = {"kind": "all_of", "claims": [at(99.3), other | {"where": {"Typ": [1]}}]}
    assert judge(project, wrong).get_json()["errors"][0]["pointer"] == "/claims/1/where/Typ"


def test_an_alias_is_followed(project: Project) -> None:
    project.published(model="new")
    alias = {"kind": "model", "alias": "old", "name": "new"}
    assert project.call("POST", f"projects/{project.slug}/aliases", json=alias).status_code == 201
    for about in ({"model": "old"}, {"model": "new"}):
        found = settled(project, at(99.3, about=ABOUT | about))
        assert found["verdict"] == "supported"
        assert found["claim"]["about"]["model"] == "new"


def test_a_name_that_is_not_published_decides_nothing_and_warns(project: Project) -> None:
    project.published(model="Qwen")
    found = settled(project, at(99.3, about=ABOUT | {"model": "Qwem"}))
    assert (found["verdict"], found["reason"]) == ("not_decidable", "not_published")
    assert found["warnings"] == [
        {"code": "unknown_name", "detail": 'No grid here has the model "Qwem"; did you mean "Qwen"?'}
    ]


@pytest.mark.parametrize(
    ("claim", "pointer", "words"),
    [
        (at(1.0) | {"where": {"Typ": [1]}}, "/where/Typ", 'did you mean "Type"?'),
        (at(1.0) | {"where": {"Length": [77]}}, "/where/Length", "no level 77"),
        (at(1.0) | {"where": {"Length": {"from": 70}}}, "/where/Length", "no level >=70"),
        ({"kind": "not", "claims": [at(1.0, about={"grid": NOWHERE})]}, "/claims/0/about/grid", "no grid"),
        ({"kind": "trend", "about": ABOUT, "along": "Lenght", "goes": "up"}, "/along", 'did you mean "Length"?'),
        ({"kind": "rank", "about": ABOUT, "by": "Type", "name": "VI"}, "/by", "no level VI"),
        ([at(1.0), at(1.0) | {"is": 5}], "/1/is", "must be an object"),
        ([], "", "1 to 100"),
        ([at(1.0)] * 101, "", "1 to 100"),
    ],
)  # fmt: skip
def test_what_no_grid_has_is_refused_with_a_pointer(project: Project, claim: Any, pointer: str, words: str) -> None:
    project.published()
    refused = judge(project, claim)
    assert refused.status_code == 422
    [fault] = [one for one in refused.get_json()["errors"] if one["pointer"] == pointer]
    assert words in fault["detail"]


def test_an_unknown_experiment_is_told_with_its_place(project: Project) -> None:
    project.published(experiment="other")
    [fault] = judge(project, at(1.0)).get_json()["errors"]
    assert fault["pointer"] == "/about/experiment"
    assert fault["detail"].endswith("there is other")
    known = at(1.0) | {"about": {"experiment": "other", "metric": "acuracy"}}
    answer = judge(project, [known, at(1.0)])
    told = {one["pointer"]: one["detail"] for one in answer.get_json()["errors"]}
    assert set(told) == {"/0/about/metric", "/1/about/experiment"}
    assert told["/0/about/metric"].endswith("there is accuracy")


def test_a_grid_of_another_project_is_no_grid_here(house: House, project: Project) -> None:
    theirs = house.make_project().published()
    refused = judge(project, at(1.0, about={"grid": theirs["id"]}))
    assert (refused.status_code, refused.get_json()["errors"][0]["pointer"]) == (422, "/about/grid")


def test_who_asks_may_wait(project: Project) -> None:
    project.published()
    path = f"projects/{project.slug}/claims/judge"
    answer = project.call("POST", path, "reader", json=at(99.3), headers={"Prefer": "wait=1"})
    assert answer.headers["Preference-Applied"] == "wait=1"
