"""Texts read as claims over HTTP: by the names of the project, refused with a pointer, and nothing stored."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from werkzeug.test import TestResponse

from tests.house import Project

NOWHERE = str(uuid.UUID(int=7))


def parse(project: Project, body: Any) -> TestResponse:
    return project.call("POST", f"projects/{project.slug}/claims/parse", "reader", json=body)


def read(project: Project, text: str, **about: Any) -> Any:
    answer = parse(project, {"text": text} | ({"about": about} if about else {}))
    assert answer.status_code == 200, answer.text
    return answer.get_json()


def test_a_sentence_is_read_and_judged_as_it_is(project: Project) -> None:
    grid = project.published()
    found = read(project, "Type 1 is 99.3% at Length 0, and not all types have data for all lengths. It sings.")
    [candidate] = found["candidates"]
    assert candidate["span"] == [0, 72]
    assert candidate["claim"]["about"] == {"experiment": "type-by-length", "metric": "accuracy"}
    assert candidate["read_as"] == [{"phrase": "99.3%", "read_as": "every value that prints as this number"}]
    assert [one["text"] for one in found["unparsed"]] == ["It sings"]
    assert {"phrase": "mid 80s", "read_as": "[83.5, 86.5]"} in found["dictionary"]
    path = f"projects/{project.slug}/claims/judge"
    assert project.call("POST", path, "reader", json=candidate["claim"]).status_code == 202
    project.house.compute()
    judged = project.call("POST", path, "reader", json=candidate["claim"]).get_json()
    assert judged["verdict"] == "supported", judged["sentence"]
    assert judged["read_as"][0]["phrase"] == "/claims/0/is"
    assert judged["read_as"][0]["read_as"].startswith("[99.25, 99.35]: ")
    again = read(project, "Type 1 is 99.3% at Length 0.", grid=grid["id"])["candidates"]
    assert again[0]["claim"]["about"] == {"grid": grid["id"]}


def test_aliases_and_other_spellings_name_what_they_stand_for(project: Project) -> None:
    project.published(model="R1-Qwen", benchmark="AIME'24")
    project.published(model="R1-Llama", benchmark="AIME'24")
    alias = {"kind": "model", "alias": "Deep Q", "name": "R1-Qwen"}
    assert project.call("POST", f"projects/{project.slug}/aliases", json=alias).status_code == 201
    [found] = read(project, "Deep-Q outperforms r1 llama on AIME24.")["candidates"]
    claim = found["claim"]
    assert (claim["left"], claim["right"]) == ({"model": ["R1-Qwen"]}, {"model": ["R1-Llama"]})
    assert claim["about"]["benchmark"] == "AIME'24"


def test_an_axis_is_left_open_only_where_the_grids_meant_have_it(project: Project) -> None:
    project.published(model="wide")
    lengths = {"axes": [{"name": "Length", "levels": [1, 2, 3]}], "values": [9.0, 8.0, 7.0]}
    project.published(model="narrow", **lengths)
    assert read(project, "wide declines with length.")["candidates"] == []
    [found] = read(project, "narrow declines with length.")["candidates"]
    assert (found["claim"]["kind"], found["claim"]["along"]) == ("trend", "Length")


def about(**named: Any) -> dict[str, Any]:
    return {"text": "Type 1 falls", "about": named}


REFUSED: list[tuple[Any, str, str]] = [
    ({}, "", "text"),
    ({"text": ""}, "/text", "no words"),
    ({"text": " \n"}, "/text", "no words"),
    ({"text": "x" * 2001}, "/text", "2,000"),
    ({"text": 5}, "/text", "text"),
    ({"text": ["Type 1 falls"]}, "/text", "text"),
    ({"text": "Type 1 falls", "txt": 1}, "/txt", "no field"),
    ({"text": "Type 1 falls", "about": "x"}, "/about", "object"),
    (about(grid="x"), "/about/grid", "no id"),
    (about(grid=NOWHERE), "/about/grid", "no grid"),
    (about(grid=NOWHERE, model="M"), "/about", "not both"),
    (about(experiment="type-by-lenght"), "/about/experiment", "type-by-length"),
    (about(metric="loss"), "/about/metric", "accuracy"),
    (about(modle="M"), "/about/modle", "model"),
    ("Type 1 falls", "", "object"),
]


def test_what_cannot_be_asked_has_a_pointer(project: Project, subtests: pytest.Subtests) -> None:
    project.published()
    for body, pointer, words in REFUSED:
        with subtests.test(str(body)[:60]):
            answer = parse(project, body)
            assert answer.status_code == 422, answer.text
            told = {one["pointer"]: one["detail"] for one in answer.get_json()["errors"]}
            assert words in told[pointer]


def test_many_experiments_ask_for_one(project: Project) -> None:
    assert read(project, "Type 1 falls.")["unparsed"][0]["reason"] == "names nothing of the project"
    for number in range(11):
        project.published(experiment=f"experiment {number}")
    answer = parse(project, {"text": "Type 1 falls."})
    assert answer.status_code == 422
    assert "11" in answer.get_json()["errors"][0]["detail"]
    [found] = read(project, "Type 1 falls.", experiment="experiment 3")["candidates"]
    assert found["claim"]["about"]["experiment"] == "experiment 3"
