"""A grid as it was read may be published as it is, and what was doubted by others is kept with it."""

from typing import Any

import pytest

from tests.house import ACCURACY, WEBHOOK, House, Project, publication

LINE = [{"name": "Task", "kind": "ordinal", "levels": ["a", "b", "c"]}]
SENT: dict[str, dict[str, Any]] = {
    "plain": publication(),
    "no axes": publication(axes=[], values=5, trials=None),
    "no cells": {**publication(axes=LINE, cells=[]), "values": None},
    "everything": publication(
        axes=[{"name": "Size", "unit": "B", "scale": "log", "levels": [{"label": "7b", "number": 7e9}, 5, 1]}],
        values=[1.5, None, 3], trials=[10, None, 20], stderr=[0.5, None, None], labels={"a": "b"}, questions=5,
        design_effect=1.5, derived=["x", "y"],
    ),
    "repeats and reasons": {
        name: value
        for name, value in publication(
            axes=LINE,
            cells=[
                {"at": {"Task": "a"}, "value": 1.0, "trials": 100}, {"at": {"Task": "a"}, "value": 2.0, "trials": 100},
                {"at": {"Task": "b"}, "value": None, "reason": "failed"}, {"at": {"Task": "c"}, "value": 5.0},
            ],
        ).items()
        if name not in ("values", "trials")
    },
    "a large number": publication(metric={"name": "n"}, axes=[], values=2**53 + 1, trials=None),
    "an average": publication(model="Average"),
}  # fmt: skip
SENT["no cells"].pop("values")


def test_a_grid_that_was_read_is_the_same_grid_when_it_is_sent_back(house: House, subtests: pytest.Subtests) -> None:
    for case, sent in SENT.items():
        project = house.make_project()
        with subtests.test(case):
            answer = project.publish(sent)
            assert answer.status_code == 201, answer.text
            grid = project.get(f"grids/{answer.get_json()['id']}").get_json()
            again = project.publish(grid)
            assert (again.status_code, again.get_json()["digest"]) == (200, grid["digest"]), again.text
            assert again.get_json()["warnings"] == grid["warnings"]
            moved = project.publish(grid | {"model": "another"}).get_json()
            elsewhere = project.get(f"grids/{moved['id']}").get_json()
            content = ("digest", "values", "trials", "stderr", "repeats", "sd", "reasons")
            assert {name: elsewhere.get(name) for name in content} == {name: grid.get(name) for name in content}


DOUBT = {"code": "approximate", "detail": "the text calls these values approximate", "pointer": "/line/3"}


def test_warnings_of_who_read_the_values_are_kept_with_the_revision(project: Project) -> None:
    published = project.published(warnings=[DOUBT], model="Average")
    assert [one["code"] for one in published["warnings"]] == ["approximate", "looks_derived"]
    assert project.get(f"grids/{published['id']}").get_json()["warnings"] == published["warnings"]
    other = project.published(warnings=[DOUBT, DOUBT], model="other")
    assert other["warnings"] == [DOUBT]


BLOCK = publication(axes=LINE, values=[1, None, 3], trials=None)
FAULTS: dict[str, tuple[dict[str, Any], str]] = {
    "a warning without a code": (BLOCK | {"warnings": [{"detail": "x"}]}, "/warnings/0"),
    "a warning with a code of words": (BLOCK | {"warnings": [{"code": "a b", "detail": "x"}]}, "/warnings/0"),
    "a warning that is a text": (BLOCK | {"warnings": ["x"]}, "/warnings/0"),
    "a warning of much text": (BLOCK | {"warnings": [DOUBT | {"detail": "x" * 1001}]}, "/warnings/0"),
    "many warnings": (BLOCK | {"warnings": [DOUBT] * 101}, "/warnings"),
    "repeats without sd": (BLOCK | {"repeats": [2, None, 2]}, "/sd"),
    "sd without repeats": (BLOCK | {"sd": [2, None, 2]}, "/repeats"),
    "one number of repeats": (BLOCK | {"repeats": 2, "sd": [1, None, 1]}, "/repeats"),
    "repeats of another shape": (BLOCK | {"repeats": [2, 2], "sd": [1, None, 1]}, "/repeats"),
    "one repeat": (BLOCK | {"repeats": [1, None, None], "sd": [1, None, None]}, "/repeats/0"),
    "repeats of nothing": (BLOCK | {"repeats": [None, 2, None], "sd": [None, 1, None]}, "/repeats/1"),
    "repeats here and sd there": (BLOCK | {"repeats": [2, None, None], "sd": [None, None, 1]}, "/repeats/0"),
    "a negative sd": (BLOCK | {"repeats": [2, None, None], "sd": [-1, None, None]}, "/sd/0"),
    "a reason of a value": (BLOCK | {"reasons": [{"at": {"Task": "a"}, "reason": "failed"}]}, "/reasons/0"),
    "a reason nowhere": (BLOCK | {"reasons": [{"at": {"Task": "z"}, "reason": "failed"}]}, "/reasons"),
    "a reason at no axis": (BLOCK | {"reasons": [{"at": {}, "reason": "failed"}]}, "/reasons/0/at"),
    "a reason of its own": (BLOCK | {"reasons": [{"at": {"Task": "b"}, "reason": "lost"}]}, "/reasons/0/reason"),
    "a reason without a place": (BLOCK | {"reasons": [{"reason": "failed"}]}, "/reasons/0/at"),
    "reasons that are none": (BLOCK | {"reasons": "failed"}, "/reasons"),
    "sd of single cells": (publication(axes=LINE, cells=[], sd=[1]), "/sd"),
}
FAULTS["sd of single cells"][0].pop("values")


def test_what_does_not_go_together_is_refused_at_its_place(project: Project, subtests: pytest.Subtests) -> None:
    for case, (sent, pointer) in FAULTS.items():
        with subtests.test(case):
            answer = project.publish(sent)
            assert answer.status_code == 422, answer.text
            assert pointer in [one["pointer"] for one in answer.get_json()["errors"]]


LARGE = 2**53 + 1
ROUNDED: dict[str, tuple[dict[str, Any], str]] = {
    "a value": ({"axes": LINE, "values": [1, LARGE, None]}, "/values/1"),
    "a negative value": ({"axes": [], "values": -LARGE}, "/values"),
    "a standard error": ({"axes": LINE, "values": [1, 2, 3], "stderr": [1, 1, LARGE]}, "/stderr/2"),
    "a level": ({"axes": [{"name": "A", "levels": [1, LARGE]}], "values": [1, 2]}, "/axes/0/levels/1"),
    "a level's number": (
        {"axes": [{"name": "A", "kind": "numeric", "levels": [{"label": "x", "number": LARGE}]}], "values": [1]},
        "/axes/0/levels/0",
    ),
    "a cell": ({"axes": LINE, "cells": [{"at": {"Task": "a"}, "value": LARGE}]}, "/cells/0/value"),
    "a coordinate": (
        {"axes": [{"name": "A", "levels": [2**53]}], "cells": [{"at": {"A": LARGE}, "value": 1}]}, "/cells/0/at/A"
    ),
}  # fmt: skip


def test_a_whole_number_that_no_double_is_comes_with_a_warning(project: Project, subtests: pytest.Subtests) -> None:
    usual = {name: value for name, value in publication().items() if name not in ("values", "trials")}
    for number, (case, (content, pointer)) in enumerate(ROUNDED.items()):
        with subtests.test(case):
            sent = usual | {"metric": {"name": "n"}, "model": f"m{number}"} | content
            warnings = project.publish(sent).get_json()["warnings"]
            assert [(one["code"], one["pointer"]) for one in warnings] == [("rounded", pointer)]
            assert str(LARGE) in warnings[0]["detail"]
            assert str(2**53) in warnings[0]["detail"]
    for number in (2**53, -(2**53), 2**60, 2**63, 10**22):
        found = project.published(metric={"name": "n"}, axes=[], values=number, trials=None)
        assert found["warnings"] == [], number


def test_a_rounded_number_is_warned_of_where_the_rounded_one_is_stored_already(project: Project) -> None:
    whole = {"metric": {"name": "n"}, "axes": [], "trials": None}
    stored = project.published(**whole, values=2**53)
    for headers in ({}, {"Prefer": "wait=1"}):
        again = project.publish(publication(**whole, values=LARGE), headers=headers)
        assert (again.status_code, again.get_json()["revision"]) == (200, 1)
        assert [one["code"] for one in again.get_json()["warnings"]] == ["rounded"]
    assert project.get(f"grids/{stored['id']}").get_json()["warnings"] == []


def test_of_many_warnings_of_one_kind_the_first_are_named_and_the_rest_counted(project: Project) -> None:
    levels = [str(place) for place in range(100)]
    axes = [{"name": "A", "kind": "nominal", "levels": levels}]
    grid = project.published(metric={"name": "n"}, axes=axes, values=[LARGE] * 100, trials=None)
    assert [one["code"] for one in grid["warnings"]] == ["rounded"] * 21
    assert grid["warnings"][-1]["detail"] == "and 80 more of these"


MEANT: dict[str, tuple[dict[str, Any], str, str]] = {
    "a metric that is a text": (publication(metric="acc"), "/metric", '{"name": "accuracy"}'),
    "an axis that is a text": (publication(axes=["Type"]), "/axes/0", '{"name": "Length"'),
    "a field that is nearly one": (publication(lables={}), "/lables", '"labels"'),
    "a field of a metric": (publication(metric=ACCURACY | {"direktion": "higher"}), "/metric/direktion", '"direction"'),
    "a field of an axis": (publication(axes=[{"name": "T", "level": [1]}]), "/axes/0/level", '"levels"'),
    "a field of a cell": (
        {**BLOCK, "cells": [{"at": {"Task": "a"}, "value": 1, "trails": 5}]}, "/cells/0/trails", '"trials"'
    ),
}  # fmt: skip


def test_a_fault_says_what_was_likely_meant_and_what_to_send(project: Project, subtests: pytest.Subtests) -> None:
    for case, (sent, pointer, meant) in MEANT.items():
        with subtests.test(case):
            details = {one["pointer"]: one["detail"] for one in project.publish(sent).get_json()["errors"]}
            assert meant in details[pointer]
    path = f"projects/{project.slug}/grids"
    for query, meant in (("modle=x", '"model"'), ("limt=5", '"limit"')):
        [fault] = project.get(f"{path}?{query}").get_json()["errors"]
        assert meant in fault["detail"]
    for word in ("NaN", "Infinity"):
        answer = project.call("POST", path, data=f'{{"values": [{word}]}}', content_type="application/json")
        assert answer.status_code == 400
        assert f"{word} is not JSON: send null" in answer.get_json()["detail"]
    answer = project.call("POST", path, data="# A title\n", content_type="text/markdown")
    assert [one["detail"][:30] for one in answer.get_json()["errors"]] == ["the text holds no pipe table: "]


def test_null_is_as_good_as_absent_wherever_a_member_may_be_absent(project: Project, house: House) -> None:
    """As programs send it that write every member of a schema: pydantic, System.Text.Json, Jackson."""
    components = house.call("GET", "/openapi.json?view=client").get_json()["components"]["schemas"]

    def whole(name: str, sent: dict[str, Any]) -> dict[str, Any]:
        return dict.fromkeys(components[name]["properties"]) | sent

    first = project.published()
    sent = whole("GridIn", publication())
    sent["metric"] = whole("MetricIn", sent["metric"])
    sent["axes"] = [whole("AxisIn", axis) for axis in sent["axes"]]
    sent["source"] = whole("SourceIn", {"name": "results.json"})
    sent["warnings"] = [whole("WarningIn", {"code": "odd", "detail": "It was odd."})]
    answer = project.publish(sent)
    assert (answer.status_code, answer.get_json()["digest"]) == (200, first["digest"]), answer.text
    for name, place, more in (
        ("TokenIn", "tokens", {"name": "nightly"}),
        ("SuiteIn", "suites/maths", {"benchmarks": ["x"]}),
        (
            "BaselineIn",
            "baselines/main",
            {"experiment": "type-by-length", "metric": "accuracy", "subject": {"model": first["model"]}},
        ),
        ("WebhookIn", "webhooks", WEBHOOK),
        ("ProjectChange", "", {"name": "Named"}),
    ):
        method = "PATCH" if name == "ProjectChange" else "POST" if name in ("TokenIn", "WebhookIn") else "PUT"
        path = f"projects/{project.slug}/{place}".rstrip("/")
        answer = project.call(method, path, "admin", json=whole(name, more))
        assert answer.status_code in (200, 201), (name, answer.text)
