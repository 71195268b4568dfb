"""Claims over HTTP: judged by workers, kept until a grid changes, refused with a pointer."""

import json
import uuid
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from werkzeug.test import TestResponse

from tests.house import House, Project
from tests.workers.asking import answer_due, faults_of, join
from tests.workers.test_stored_claims import ABOUT, at

NOWHERE = str(uuid.UUID(int=7))


def judge(project: Project, claims: Any, **options: Any) -> TestResponse:
    return project.call("POST", f"projects/{project.slug}/claims?dry_run=true", "reader", json=claims, **options)


def settled(project: Project, claims: Any) -> Any:
    """The judgements, once they are there."""
    first = judge(project, claims)
    if first.status_code == 202:
        answer_due(project.house)
        first = judge(project, claims)
    assert first.status_code == 200, first.text
    return first.get_json()


def verdicts(project: Project, *claims: Any) -> list[str]:
    return [one["verdict"] for one in settled(project, list(claims))["items"]]


def test_a_claim_is_promised_and_then_judged(project: Project) -> None:
    grid = project.published()
    first = judge(project, at(99.3), headers={"Prefer": "wait=0"})
    assert (first.status_code, first.headers["Retry-After"]) == (202, "1")
    assert judge(project, at(99.3), headers={"Prefer": "wait=1"}).headers["Preference-Applied"] == "wait=1"
    found = settled(project, at(99.3))
    assert (found["verdict"], found["as_posted"], found["beyond_noise"]) == ("supported", "supported", "not_decidable")
    assert found["inputs"] == [{"grid": grid["id"], "revision": 1, "digest": grid["digest"]}]
    assert found["state"] == "ready"
    assert found["methods_version"]
    # The same claim by the id of the grid, and in other words of the same normal form.
    again = settled(project, [at(99.3), at(12.0), at(99.3, text="again"), at(99.3, about={"grid": grid["id"]})])[
        "items"
    ]
    assert [one["verdict"] for one in again] == ["supported", "contradicted", "supported", "supported"]
    assert again[0] == again[2]


def test_a_claim_is_about_one_experiment_and_several_may_be_about_several(project: Project) -> None:
    project.published()
    project.published(experiment="another")
    other = at(99.3) | {"about": ABOUT | {"experiment": "another"}}
    assert verdicts(project, at(12.0), other) == ["contradicted", "supported"]
    claim = {"kind": "all_of", "claims": [at(99.3), {"kind": "not", "claims": [other]}]}
    refused = faults_of(judge(project, claim))
    assert refused == {"": "is about several experiments or metrics; a claim is about one of each"}


def test_statements_of_a_compound_share_alpha(project: Project) -> None:
    grid = project.published()
    claim = {"kind": "all_of", "claims": [at(99.3), {"kind": "not", "claims": [at(99.3)]}]}
    found, alone = settled(project, [claim, at(99.3, alpha=0.025)])["items"]
    told = found["as_posted"], found["beyond_noise"], found["reason"]
    assert told == ("contradicted", "not_decidable", "within_noise")
    assert [one["part"] for one in found["parts"]] == ["/claims/0", "/claims/1/claims/0"]
    assert (found["alpha"], found["parts"][0]["numbers"]) == (0.05, alone["parts"][0]["numbers"])
    assert [one["grid"] for one in found["inputs"]] == [grid["id"]]
    wrong = {"kind": "all_of", "claims": [at(99.3), at(1.0) | {"where": {"Typ": [1]}}]}
    assert "/claims/1/where/Typ" in faults_of(judge(project, wrong))


def test_an_alias_is_followed_and_an_unknown_name_decides_nothing_and_warns(project: Project) -> None:
    project.published(model="Qwen")
    join(project, "model", "old", "Qwen")
    for name in ("old", "Qwen"):
        found = settled(project, at(99.3, about=ABOUT | {"model": name}))
        assert (found["verdict"], found["claim"]["about"]["model"]) == ("supported", "Qwen")
    found = settled(project, at(99.3, about=ABOUT | {"model": "Qwem"}))
    assert (found["verdict"], found["reason"]) == ("not_decidable", "not_published")
    assert found["warnings"] == [
        {"code": "unknown_name", "detail": 'No grid here has the model "Qwem"; did you mean "Qwen"?'}
    ]


WRONG: list[tuple[Any, str, str]] = [
    (at(1.0) | {"where": {"Typ": [1]}}, "/where/Typ", 'did you mean "Type"?'),
    (at(1.0) | {"where": {"Length": [77]}}, "/where/Length", "no level 77"),
    (at(1.0) | {"where": {"Length": {"from": 70}}}, "/where/Length", "no level >=70"),
    ({"kind": "not", "claims": [at(1.0, about={"grid": NOWHERE})]}, "/claims/0/about/grid", "no grid"),
    ({"kind": "trend", "about": ABOUT, "along": "Lenght", "goes": "up"}, "/along", 'did you mean "Length"?'),
    ({"kind": "rank", "about": ABOUT, "by": "Type", "name": "VI"}, "/by", "no level VI"),
    ([at(1.0), at(1.0) | {"is": 5}], "/1/is", "must be an object"),
    ([], "", "1 to 100"),
    ([at(1.0)] * 101, "", "1 to 100"),
    (at(1.0, about=ABOUT | {"experiment": "e"}), "/about/experiment", "there is type-by-length"),
    ([at(1.0, about=ABOUT | {"metric": "acuracy"}), at(1.0)], "/0/about/metric", "there is accuracy"),
    ([at(1.0), at(1.0, about=ABOUT | {"experiment": "e"})], "/1/about/experiment", "there is type-by-length"),
]


def test_what_no_grid_has_is_refused_with_a_pointer(house: House, project: Project, subtests: pytest.Subtests) -> None:
    project.published()
    for claim, pointer, words in WRONG:
        with subtests.test(msg=f"{pointer}: {words}"):
            assert words in faults_of(judge(project, claim))[pointer]
    theirs = house.make_project().published()
    assert list(faults_of(judge(project, at(1.0, about={"grid": theirs["id"]})))) == ["/about/grid"]


def test_anybody_reads_the_schema_that_claims_have(house: House) -> None:
    answer = house.call("GET", "schemas/claim")
    assert (answer.status_code, answer.mimetype) == (200, "application/schema+json")
    schema = Draft202012Validator(json.loads(answer.data))
    assert schema.is_valid(at(99.3))
    assert not schema.is_valid(at(99.3) | {"wher": {}})
