"""Hostile requests: each is answered 4xx as a problem, names the place where it can, and stores nothing."""

from __future__ import annotations

import copy
import gzip
import json
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import text
from werkzeug.test import TestResponse

from registry import create_app
from registry.settings import Settings
from tests.house import ACCURACY, WEBHOOK, House, Project, publication

CELLS = {"cells": [{"at": {"Type": "1", "Length": 1}, "value": 50.0, "trials": 300}]}
VALID: dict[str, Any] = {
    "make a project": {"slug": "never-made", "name": "Never made", "visibility": "private"},
    "change a project": {"name": "Never changed", "visibility": "public"},
    "make a token": {"name": "never made", "role": "writer", "days": 30},
    "make an alias": {"kind": "model", "alias": "never", "name": "ever"},
    "set a suite": {"benchmarks": ["never", "ever"]},
    "make a share": {"path": "/api/v1/projects/never/cells", "expires_in": 3600},
    "publish": publication(
        model="never stored",
        labels={"git_sha": "4f2c1e9"},
        description="never said",
        source={"format": "csv", "name": "never.csv", "sha256": "0" * 64},
    ),
    "publish cells": {name: value for name, value in publication(model="never").items() if name != "values"} | CELLS,
    "amend": CELLS,
    "add items": {
        "set": {"name": "never", "count": 3, "ids": ["a", "b", "c"]},
        "cells": [{"at": {"Type": "1", "Length": 1}, "outcomes": [1, 0.5, 0], "repeats": 2}],
    },
    "describe an experiment": {"description": "never said", "labels": {"a": "b"}},
    "describe a grid": {"description": "never said", "labels": {"a": "b"}},
    "batch": [publication(model="never stored")],
    "declare what binds": {"binding": ["never"], "free": ["ever"]},
    "set a baseline": {
        "experiment": "type-by-length",
        "metric": "accuracy",
        "subject": {"model": "Qwen-2.5 3B"},
        "policy": {"kind": "non_inferior", "margin": 1, "per": "benchmark"},
    },
    "judge a grid": publication(model="never stored"),
    "answer an alert": {"state": "dismissed", "reason": "noise", "note": "never said"},
    "make a webhook": WEBHOOK | {"filter": {"model": ["never"]}, "format": "slack", "description": "never"},
    "change a webhook": {"state": "disabled", "types": ["claim.*"]},
    "recover": {"since": 7},
    "judge a claim": {
        "kind": "value",
        "about": {"experiment": "type-by-length", "metric": "accuracy"},
        "of": "max",
        "is": {"op": ">", "number": 5},
    },
    "keep a claim": {
        "kind": "value",
        "about": {"experiment": "type-by-length", "metric": "accuracy"},
        "of": "max",
        "is": {"op": ">", "number": 6},
    },
    "keep a claim about a grid": {
        "kind": "cells",
        "where": {"Length": {"from": 0, "to": 1}},
        "is": {"between": [1, 99]},
        "cells_hold": {"at_least": 2},
        "text": "Never kept.",
    },
    "describe a claim": {"text": "Never said.", "source": {"url": "README.md", "line": 3, "digest": "abc"}},
    "parse a text": {"text": "Type 1 falls with length.", "about": {"experiment": "type-by-length"}},
    "plan": {"question": {"kind": "rates", "first": 0.5, "second": 0.6}, "power": 0.8},
}
COUNTS = text("""
    SELECT (SELECT count(*) FROM projects), (SELECT max(updated_at) FROM projects), (SELECT count(*) FROM tokens),
           (SELECT count(*) FROM aliases), (SELECT count(*) FROM grids), (SELECT count(*) FROM revisions),
           (SELECT count(*) FROM names), (SELECT count(*) FROM idempotency_keys),
           (SELECT count(*) FROM shares), (SELECT count(*) FROM suites),
           (SELECT count(*) FROM experiments), (SELECT count(*) FROM grids WHERE description <> ''),
           (SELECT count(*) FROM item_outcomes), (SELECT count(*) FROM item_ids), (SELECT count(*) FROM baselines),
           (SELECT count(*) FROM claims), (SELECT max(updated_at) FROM claims),
           (SELECT count(*) FROM alerts WHERE state <> 'open'), (SELECT count(*) FROM webhooks),
           (SELECT sum(version) FROM webhooks), (SELECT count(*) FROM deliveries)
""")


class Target:
    """A project with one grid, and the route of every write."""

    def __init__(self, project: Project) -> None:
        self.project, self.house = project, project.house
        self.grid, self.alert = project.published()["id"], project.alerted()
        assert self.house.operator
        self.webhook, _ = project.hooked()
        home = f"projects/{project.slug}"
        self.routes = {
            "make a project": ("POST", "projects"),
            "change a project": ("PATCH", home),
            "make a token": ("POST", f"{home}/tokens"),
            "make an alias": ("POST", f"{home}/aliases"),
            "set a suite": ("PUT", f"{home}/suites/never"),
            "make a share": ("POST", f"{home}/shares"),
            "publish": ("POST", f"{home}/grids"),
            "publish cells": ("POST", f"{home}/grids"),
            "amend": ("PATCH", f"grids/{self.grid}/cells"),
            "add items": ("POST", f"grids/{self.grid}/items"),
            "describe an experiment": ("PATCH", f"{home}/experiments/type-by-length"),
            "describe a grid": ("PATCH", f"grids/{self.grid}"),
            "batch": ("POST", f"{home}/grids/batch"),
            "declare what binds": ("PUT", f"{home}/experiments/type-by-length/protocol"),
            "set a baseline": ("PUT", f"{home}/baselines/never"),
            "judge a grid": ("POST", f"{home}/baselines/main/gate"),
            "answer an alert": ("PATCH", f"{home}/alerts/{self.alert}"),
            "make a webhook": ("POST", f"{home}/webhooks"),
            "change a webhook": ("PATCH", f"{home}/webhooks/{self.webhook}"),
            "recover": ("POST", f"{home}/webhooks/{self.webhook}/recover"),
            "judge a claim": ("POST", f"{home}/claims/judge"),
            "keep a claim": ("POST", f"{home}/claims"),
            "keep a claim about a grid": ("POST", f"grids/{self.grid}/claims"),
            "parse a text": ("POST", f"{home}/claims/parse"),
            "plan": ("POST", f"{home}/plan"),
        }
        claim = project.call("POST", f"{home}/claims", json=VALID["judge a claim"]).get_json()["id"]
        self.routes["describe a claim"], self.claim = ("PATCH", f"claims/{claim}"), claim
        baseline = {name: VALID["set a baseline"][name] for name in ("experiment", "metric", "subject")}
        assert project.call("PUT", f"{home}/baselines/main", json=baseline).status_code == 201

    def send(self, route: str, body: bytes, **headers: str) -> TestResponse:
        method, path = self.routes[route]
        headers = {"Content-Type": "application/json"} | {k.replace("_", "-"): v for k, v in headers.items()}
        token = self.house.operator if route == "make a project" else self.project.tokens["admin"]
        return self.house.call(method, path, token=token, data=body, headers=headers)

    def refused(self, route: str, body: bytes, **headers: str) -> dict[str, Any]:
        """The problem with which a request is refused; nothing is stored."""
        before = self.stored()
        answer = self.send(route, body, **headers)
        assert 400 <= answer.status_code < 500, (answer.status_code, answer.text[:500])
        assert answer.content_type == "application/problem+json"
        assert self.stored() == before
        problem: dict[str, Any] = answer.get_json()
        assert {"type", "title", "status", "detail", "instance"} <= problem.keys()
        assert problem["status"] == answer.status_code
        if answer.status_code == 422:
            assert problem["errors"]
            assert all(e["pointer"] == "" or e["pointer"].startswith("/") for e in problem["errors"]), problem
            assert all(e["detail"] for e in problem["errors"])
        return problem

    def stored(self) -> tuple[Any, ...]:
        with self.house.database.reading() as connection:
            return tuple(connection.execute(COUNTS).one())


@pytest.fixture(scope="module")
def target(house: House) -> Target:
    return Target(house.make_project())


def _zipped(body: bytes) -> bytes:
    return gzip.compress(body, mtime=0)


GOOD = json.dumps(publication(model="never stored")).encode()
UNREADABLE: dict[str, bytes] = {
    "nothing": b"",
    "spaces": b"   \n",
    "a word": b"grid",
    "an open object": b"{",
    "an open list": b"[1, 2",
    "an open text": b'{"slug": "abc',
    "a trailing comma": b'{"name": "x",}',
    "a comma in a list": b"[1,]",
    "single quotes": b"{'name': 'x'}",
    "a bare key": b'{name: "x"}',
    "a comment": b'{"name": "x" /* why */}',
    "two values": b"{} {}",
    "NaN": b'{"name": NaN}',
    "minus NaN": b'{"name": -NaN}',
    "Infinity": b'{"name": Infinity}',
    "minus Infinity": b'{"name": -Infinity}',
    "1e400": b'{"name": 1e400}',
    "minus 1e400": b'{"name": -1e400}',
    "a hexadecimal number": b'{"name": 0x10}',
    "a leading zero": b'{"name": 010}',
    "a leading plus": b'{"name": +1}',
    "a bare point": b'{"name": .5}',
    "a number of 5,000 digits": b'{"name": ' + b"9" * 5000 + b"}",
    "True of Python": b'{"name": True}',
    "undefined": b'{"name": undefined}',
    "a byte order mark": b"\xef\xbb\xbf" + GOOD,
    "UTF-16": GOOD.decode().encode("utf-16"),
    "UTF-16 without a mark": GOOD.decode().encode("utf-16-le"),
    "UTF-32": GOOD.decode().encode("utf-32"),
    "Latin-1": '{"name": "é"}'.encode("latin-1"),
    "an overlong encoding": b'{"name": "\xc0\xaf"}',
    "an encoded surrogate": b'{"name": "\xed\xa0\x80"}',
    "half a character": b'{"name": "\xe2\x82"}',
    "a byte of no character": b'{"name": "\xff"}',
    "a lone high surrogate": b'{"name": "\\ud800"}',
    "a lone low surrogate": b'{"name": "\\udc00x"}',
    "a wrong pair of surrogates": b'{"name": "\\ud800\\ud800"}',
    "NUL in a text": b'{"name": "a\\u0000b"}',
    "NUL in a key": b'{"na\\u0000me": "b"}',
    "a NUL byte in a text": b'{"name": "a\x00b"}',
    "a NUL byte behind the end": b'{"name": "a"}\x00',
    "a NUL byte before the beginning": b'\x00{"name": "a"}',
    "a line break in a text": b'{"name": "a\nb"}',
    "a tab in a text": b'{"name": "a\tb"}',
    "an unknown escape": b'{"name": "\\x41"}',
    "half an escape": b'{"name": "\\u00"}',
    "a repeated key": b'{"name": "a", "name": "b"}',
    "a repeated unknown key": b'{"zzz": 1, "zzz": 1}',
    "a key repeated with an escape": b'{"name": "a", "n\\u0061me": "b"}',
    "a repeated key within": b'{"metric": {"name": "a", "name": "b"}}',
    "a repeated key of a list's item": b'[{"name": "a", "name": "b"}]',
    "lists 13 deep": b"[" * 13 + b"]" * 13,
    "objects 13 deep": b'{"a":' * 13 + b"1" + b"}" * 13,
    "lists 13 deep in a field": b'{"values": ' + b"[" * 12 + b"]" * 12 + b"}",
    "lists 100,000 deep": b"[" * 100_000 + b"]" * 100_000,
    "open lists 100,000 deep": b"[" * 100_000,
    **{f"open lists {depth} deep": b"[" * depth for depth in (13, 500, 1000)},
    "open objects 100,000 deep": b'{"a":' * 100_000,
    "closed before it was opened": b"]" * 1000,
    "a form": b"slug=abc&name=x",
    "XML": b"<?xml version='1.0'?><grid/>",
    "YAML": b"slug: abc\nname: x\n",
    "random bytes": bytes(range(256)),
    "gzip that does not say so": _zipped(GOOD),
    "quotes that nobody closes": b'"' + b'\\"' * 200_000,
    "quotes that nobody closes, and half an escape": b'"' + b'\\"' * 200_000 + b"\\",
}


@pytest.mark.parametrize("route", VALID)
@pytest.mark.parametrize("body", UNREADABLE)
def test_a_body_that_is_not_json_is_400(target: Target, route: str, body: str) -> None:
    assert target.refused(route, UNREADABLE[body])["status"] == 400


@pytest.mark.parametrize("opened", [b"[" * 500, b"[1," * 100, b"[" * 1000, b"[" * 2000, b'{"a":' * 2000])
def test_brackets_that_nobody_closes_are_nested_too_deep_as_those_that_are(target: Target, opened: bytes) -> None:
    closed = b"[" * 500 + b"]" * 500
    assert target.refused("publish", opened)["detail"] == target.refused("publish", closed)["detail"]


WRONG_SHAPES: list[Any] = [
    None, True, False, 0, 1, -1, -0.5, 1.5, 1e308, 2**63, 2**64, 10**300, "", "x", "{}", "null",
    [], [[]], [None], [1], ["x"],
    [{}], [[[]]], [True], [{"surplus": 1}], {}, {"": 1}, {"surplus": None}, {"__proto__": {}}, {"$ref": "#"},
    {"_schema": 1}, {"~": 1, "/": 1}, {"name": None, "NAME": 1}, {"x" * 1000: 1}, {"values": [], "surplus": 2},
    {f"k{i}": i for i in range(1000)}, [0] * 2000,
]  # fmt: skip


@pytest.mark.parametrize("route", VALID)
@pytest.mark.parametrize("body", WRONG_SHAPES, ids=lambda body: json.dumps(body)[:30])
def test_json_of_another_shape_is_refused(target: Target, route: str, body: Any) -> None:
    if route == "batch" and isinstance(body, list) and 1 <= len(body) <= 1000:
        answer = target.send(route, json.dumps(body).encode())
        assert [item["status"] for item in answer.get_json()["items"]] == [422] * len(body)
    elif (route, body) == ("declare what binds", {}):
        assert target.send(route, b"{}").get_json()["binding"] == []  # what is not said is not declared
    else:
        assert target.refused(route, json.dumps(body).encode())["status"] == 422


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _places(inner, (*path, key))
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _places(inner, (*path, place))


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for part in path:
        value = value[part]
    return value


def _replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    changed = copy.deepcopy(value)
    _at(changed, path[:-1])[path[-1]] = new
    return changed


def _wrong_for(value: Any) -> list[Any]:
    """What may stand nowhere that this value stands."""
    never: list[Any] = [True, False, {"surplus": 1}, [{"surplus": 1}], [True], "\x01", "x\x7fy", "\x85"]
    if isinstance(value, str):
        return [*never, 1.5, ["x"], [], {}, "x" * 10_000]
    if isinstance(value, list):
        return [*never, 1.5, "[1]", {}, [[[[[[1]]]]]]]
    if isinstance(value, dict):
        return [*never, 1.5, "{}", [], [[]], {"": ""}, {"a": 1, "b": 2}]
    return [*never, "5", "1_0", "NaN", {}, [], [[1]], 10**400]


def _mutants(route: str) -> Iterator[tuple[str, Any]]:
    valid = VALID[route]
    for path in _places(valid):
        if path == (0,):
            continue
        for wrong in _wrong_for(_at(valid, path)):
            if ("levels" in path or "at" in path) and wrong in (1.5, "5"):
                continue  # a level may be written as a number and as a text
            if path == ("labels",) and wrong == {"": ""}:
                continue
            if path[:1] == ("filter",) and len(path) == 2 and isinstance(wrong, str):
                continue  # one text stands for a list of it
            yield f"{'.'.join(map(str, path))}={json.dumps(wrong)[:20]}", _replaced(valid, path, wrong)
        if isinstance(_at(valid, path), dict) and path[0] != "labels" and path[-1] != "labels":
            changed = copy.deepcopy(valid)
            _at(changed, path)["surplus"] = None
            yield f"{'.'.join(map(str, path))}+surplus", changed


MUTANTS = [(route, name, body) for route in VALID if route != "batch" for name, body in _mutants(route)]


@pytest.mark.parametrize("route, body", [pytest.param(r, b, id=f"{r}: {name}") for r, name, b in MUTANTS])
def test_a_wrong_type_anywhere_is_refused_with_its_place(target: Target, route: str, body: Any) -> None:
    assert target.refused(route, json.dumps(body).encode())["status"] in (400, 422)


@pytest.mark.parametrize("body", [pytest.param(b, id=name) for route, name, b in MUTANTS if route == "publish"])
def test_a_wrong_type_in_a_batch_is_refused_for_its_grid(target: Target, body: Any) -> None:
    before = target.stored()
    answer = target.send("batch", json.dumps([body]).encode())
    statuses = [item["status"] for item in answer.get_json()["items"]] if answer.status_code == 200 else [400]
    assert statuses in ([400], [422])
    assert target.stored() == before


REQUIRED = {
    "make a project": ["slug"],
    "make a token": ["name"],
    "make an alias": ["kind", "alias", "name"],
    "set a suite": ["benchmarks"],
    "publish": ["experiment", "benchmark", "model", "metric", "values"],
    "amend": ["cells"],
}


@pytest.mark.parametrize("route, field", [(route, field) for route, fields in REQUIRED.items() for field in fields])
def test_a_missing_field_is_refused(target: Target, route: str, field: str) -> None:
    body = {name: value for name, value in VALID[route].items() if name != field}
    problem = target.refused(route, json.dumps(body).encode())
    assert problem["status"] == 422
    assert problem["errors"][0]["pointer"] in (f"/{field}", "")


def _publication(**changes: Any) -> bytes:
    return json.dumps(publication(model="never stored", **changes)).encode()


AXIS = {"name": "A", "kind": "nominal", "levels": ["x", "y"]}
NUMERIC = {"name": "A", "kind": "numeric", "levels": [1, 2]}
CELL = {"at": {"A": "x"}, "value": 1}
MEANINGLESS: dict[str, tuple[bytes, str]] = {
    "too few rows": (_publication(values=[[1, 2, 3]]), "/values"),
    "too many rows": (_publication(values=[[1, 2, 3]] * 3), "/values"),
    "a short row": (_publication(values=[[1, 2, 3], [1, 2]]), "/values/1"),
    "a long row": (_publication(values=[[1, 2, 3], [1, 2, 3, 4]]), "/values/1"),
    "one number for two axes": (_publication(values=5), "/values"),
    "null for two axes": (_publication(values=None), "/values"),
    "values too flat": (_publication(values=[1, 2]), "/values/0"),
    "values too deep": (_publication(values=[[[1], 2, 3], [1, 2, 3]]), "/values/0/0"),
    "a text for a number": (_publication(values=[["1", 2, 3], [1, 2, 3]]), "/values/0/0"),
    "a boolean for a number": (_publication(values=[[1, 2, True], [1, 2, 3]]), "/values/0/2"),
    "above the bounds": (_publication(values=[[1, 2, 3], [1, 100.01, 3]]), "/values/1/1"),
    "below the bounds": (_publication(values=[[-0.1, 2, 3], [1, 2, 3]]), "/values/0/0"),
    "a list without axes": (_publication(axes=[], values=[1]), "/values"),
    "five axes": (_publication(axes=[AXIS | {"name": str(i)} for i in range(5)], values=[]), "/axes"),
    "two axes of one name": (_publication(axes=[AXIS, AXIS], values=[[1, 2], [1, 2]]), "/axes/1/name"),
    "a level twice": (_publication(axes=[AXIS | {"levels": ["x", "x"]}], values=[1, 2]), "/axes/0/levels/1"),
    "a number twice": (_publication(axes=[NUMERIC | {"levels": [1, 1.0]}], values=[1, 2]), "/axes/0/levels/1"),
    "a number twice, once as text": (
        _publication(axes=[NUMERIC | {"levels": ["32b", 32e9]}], values=[1, 2]),
        "/axes/0/levels/1",
    ),
    "an empty level": (_publication(axes=[AXIS | {"levels": ["", "y"]}], values=[1, 2]), "/axes/0/levels/0"),
    "a null level": (_publication(axes=[AXIS | {"levels": [None, "y"]}], values=[1, 2]), "/axes/0/levels/0"),
    "a level that is a boolean": (_publication(axes=[AXIS | {"levels": [True]}], values=[1]), "/axes/0/levels/0"),
    "a level that is a list": (_publication(axes=[AXIS | {"levels": [["x"]]}], values=[1]), "/axes/0/levels/0"),
    "a level with a surplus field": (
        _publication(axes=[AXIS | {"levels": [{"label": "x", "unit": "m"}]}], values=[1]),
        "/axes/0/levels/0",
    ),
    "a level whose label is an object": (
        _publication(axes=[AXIS | {"levels": [{"label": {"label": "x"}}]}], values=[1]),
        "/axes/0/levels/0",
    ),
    "a level whose label is a number": (
        _publication(axes=[NUMERIC | {"levels": [{"label": 5, "number": 7}]}], values=[1]),
        "/axes/0/levels/0",
    ),
    "a level whose number is text": (
        _publication(axes=[NUMERIC | {"levels": [{"label": "x", "number": "7"}]}], values=[1]),
        "/axes/0/levels/0",
    ),
    "a numeric level that is a word": (
        _publication(axes=[NUMERIC | {"levels": ["big"]}], values=[1]),
        "/axes/0/levels/0",
    ),
    "a log scale of names": (_publication(axes=[AXIS | {"scale": "log"}], values=[1, 2]), "/axes/0/scale"),
    "trials of no proportion": (_publication(metric={"name": "loss"}), "/trials"),
    "trials of a wider range": (_publication(metric=ACCURACY | {"upper": 10}, values=[[1, 2, 3]] * 2), "/trials"),
    "no trials at all": (_publication(trials=0), "/trials"),
    "negative trials": (_publication(trials=-300), "/trials"),
    "half a trial": (_publication(trials=0.5), "/trials"),
    "trials past 2^53": (_publication(trials=2**53 + 2), "/trials"),
    "trials where nobody measured": (_publication(trials=[[1, 1, 1], [1, 1, 1]]), "/trials/1/0"),
    "trials of another shape": (_publication(trials=[300, 300]), "/trials/0"),
    "a negative stderr": (_publication(stderr=-0.1), "/stderr"),
    "a negative stderr within": (_publication(stderr=[[1, 1, 1], [None, -1, 1]]), "/stderr/1/1"),
    "stderr where nobody measured": (_publication(stderr=[[1, 1, 1], [1, 1, 1]]), "/stderr/1/0"),
    "values and cells": (_publication(cells=[]), ""),
    "bounds upside down": (_publication(metric=ACCURACY | {"lower": 100, "upper": 0}), "/metric/upper"),
    "a direction of its own": (_publication(metric=ACCURACY | {"direction": "up"}), "/metric/direction"),
    "a metric without a name": (_publication(metric={"unit": "%"}), "/metric/name"),
    "an axis without a name": (_publication(axes=[{"levels": []}], values=[]), "/axes/0/name"),
    "an axis of an unknown kind": (_publication(axes=[AXIS | {"kind": "cyclic"}], values=[1, 2]), "/axes/0/kind"),
    "65 labels": (_publication(labels={str(i): "" for i in range(65)}), "/labels"),
    "a label of 257 characters": (_publication(labels={"a": "x" * 257}), "/labels/a"),
    "a label that is a number": (_publication(labels={"a": 1}), "/labels/a"),
    "an empty experiment": (_publication(experiment=""), "/experiment"),
    "an experiment of 201 characters": (_publication(experiment="x" * 201), "/experiment"),
    "an axis of 201 characters": (_publication(axes=[AXIS | {"name": "x" * 201}], values=[1, 2]), "/axes/0/name"),
    "a level of 201 characters": (_publication(axes=[AXIS | {"levels": ["x" * 201]}], values=[1]), "/axes/0/levels/0"),
    "a null variant": (_publication(variant=None), "/variant"),
    "too many cells": (
        _publication(axes=[AXIS | {"name": n, "levels": [*map(str, range(1001))]} for n in "AB"], values=[]),
        "/axes",
    ),
    "too many levels": (
        _publication(axes=[AXIS | {"levels": [*map(str, range(10_001))]}], values=[]),
        "/axes/0/levels",
    ),
}
for _name, _cell, _pointer in [
    ("a cell without a place", {"value": 1}, "/cells/0/at"),
    ("a cell without a value", {"at": {"A": "x"}}, "/cells/0/value"),
    ("a cell that is a number", 5, "/cells/0"),
    ("a cell at another axis", CELL | {"at": {"A": "x", "B": "x"}}, "/cells/0/at/B"),
    ("a cell at no axis", CELL | {"at": {}}, "/cells/0/at"),
    ("a cell at a list", CELL | {"at": {"A": ["x"]}}, "/cells/0/at/A"),
    ("a cell at null", CELL | {"at": {"A": None}}, "/cells/0/at/A"),
    ("a cell at a boolean", CELL | {"at": {"A": True}}, "/cells/0/at/A"),
    ("a cell whose value is text", CELL | {"value": "1"}, "/cells/0/value"),
    ("a cell whose value is a boolean", CELL | {"value": True}, "/cells/0/value"),
    ("a cell beyond the bounds", CELL | {"value": 101}, "/cells/0/value"),
    ("a cell with half a trial", CELL | {"trials": 0.5}, "/cells/0/trials"),
    ("a cell with a negative stderr", CELL | {"stderr": -1}, "/cells/0/stderr"),
    ("a cell with stderr as text", CELL | {"stderr": "1"}, "/cells/0/stderr"),
    ("a measured cell with a reason", CELL | {"reason": "failed"}, "/cells/0/reason"),
    ("a missing cell with a reason of its own", CELL | {"value": None, "reason": "lost"}, "/cells/0/reason"),
    ("a missing cell with trials", CELL | {"value": None, "trials": 3}, "/cells/0"),
    ("a cell with a surplus field", CELL | {"sd": 1}, "/cells/0/sd"),
]:
    _sent = {name: value for name, value in publication(axes=[AXIS]).items() if name not in ("values", "trials")}
    MEANINGLESS[_name] = (json.dumps(_sent | {"cells": [_cell]}).encode(), _pointer)


@pytest.mark.parametrize("case", MEANINGLESS)
def test_what_makes_no_grid_is_refused_with_a_pointer(target: Target, case: str) -> None:
    body, pointer = MEANINGLESS[case]
    problem = target.refused("publish", body)
    assert problem["status"] == 422
    assert pointer in [error["pointer"] for error in problem["errors"]], problem["errors"]


@pytest.mark.parametrize("route", VALID)
@pytest.mark.parametrize(
    "content_type",
    ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml",
     "application/octet-stream", "text/html", "json", "application/jsonx", "*/*"],
)  # fmt: skip
def test_another_content_type_is_415(target: Target, route: str, content_type: str) -> None:
    body = json.dumps(VALID[route]).encode()
    assert target.refused(route, body, Content_Type=content_type)["status"] == 415


@pytest.mark.parametrize("route", VALID)
@pytest.mark.parametrize("coding", ["deflate", "br", "zstd", "gzip, gzip", "x", "identity, gzip"])
def test_another_content_coding_is_415(target: Target, route: str, coding: str) -> None:
    body = json.dumps(VALID[route]).encode()
    assert target.refused(route, body, Content_Encoding=coding)["status"] == 415


BROKEN_GZIP = {
    "plain": GOOD,
    "nothing": b"",
    "cut off": _zipped(GOOD)[:-5],
    "half": _zipped(GOOD)[:40],
    "only a header": _zipped(GOOD)[:10],
    "with something behind": _zipped(GOOD) + b"x",
    "with a wrong checksum": _zipped(GOOD)[:-8] + b"\0" * 8,
    "random": bytes(range(255)),
    "gzip within gzip": _zipped(_zipped(GOOD)),
}


@pytest.mark.parametrize("route", VALID)
@pytest.mark.parametrize("body", BROKEN_GZIP)
def test_broken_gzip_is_400(target: Target, route: str, body: str) -> None:
    assert target.refused(route, BROKEN_GZIP[body], Content_Encoding="gzip")["status"] == 400


@pytest.mark.parametrize("route", VALID)
def test_a_gzip_bomb_is_413(target: Target, route: str) -> None:
    bomb = gzip.compress(b" " * (65 * 1024 * 1024), compresslevel=6)
    assert len(bomb) < 100_000
    assert target.refused(route, bomb, Content_Encoding="gzip")["status"] == 413


def test_a_body_over_16_mib_is_413(target: Target) -> None:
    assert target.refused("publish", b" " * (16 * 1024 * 1024 + 1))["status"] == 413


FLOODS = {
    "a million cells that are none": ("amend", b'{"cells": [' + b"1," * 999_999 + b"1]}"),
    "a hundred thousand unknown fields": ("publish", json.dumps({f"k{i}": i for i in range(100_000)}).encode()),
    "a million grids": ("batch", b"[" + b"1," * 999_999 + b"1]"),
    "a million labels": ("publish", _publication(labels={str(i): 1 for i in range(100_000)})),
    "wrong values": ("publish", _publication(axes=[AXIS | {"levels": [*map(str, range(9999))]}], values=["x"] * 9999)),
}
FLOODS["a cell of many unknown fields"] = (
    "amend",
    json.dumps({"cells": [{f"k{i}": i for i in range(100_000)}]}).encode(),
)
FLOODS["cells on axes of long names"] = (
    "amend",
    json.dumps({"cells": [{"at": {"x" * 100_000 + str(n): 1}, "value": 1} for n in range(50)]}).encode(),
)
FLOODS["one key of a megabyte twice"] = ("publish", b'{"%b": 1, "%b": 1}' % (b"x" * 1_000_000, b"x" * 1_000_000))
FLOODS["a million axes that are none"] = (
    "publish",
    json.dumps({k: v for k, v in publication().items() if k != "axes"}).encode()[:-1]
    + b', "axes": ['
    + b"1," * 999_999
    + b"1]}",
)


@pytest.mark.parametrize("flood", FLOODS)
def test_many_faults_are_answered_shortly(target: Target, flood: str) -> None:
    route, body = FLOODS[flood]
    problem = target.refused(route, body)
    assert len(json.dumps(problem)) < 50_000


def test_a_million_lines_are_refused(target: Target) -> None:
    assert target.refused("batch", b"1\n" * 1_000_000, Content_Type="application/x-ndjson")["status"] == 422


@pytest.mark.parametrize(
    "numbers",
    [[1e308, 1e308], [1e200, -1e200], [1e308, 1e308, -1e308], [-1.7e308, -1.7e308], [1e155] * 2 + [-1e155]],
)
def test_repeats_whose_spread_is_no_number_are_refused(target: Target, numbers: list[float]) -> None:
    cells = [{"at": {"A": "x"}, "value": value} for value in numbers]
    sent = publication(metric={"name": "loss"}, axes=[AXIS], cells=cells)
    del sent["values"], sent["trials"]
    problem = target.refused("publish", json.dumps(sent).encode())
    assert problem["status"] == 422
    assert problem["errors"][0]["pointer"].startswith("/cells/")


def test_repeats_with_more_trials_than_can_be_counted_are_refused(target: Target) -> None:
    cells = [{"at": {"A": "x"}, "value": 50, "trials": 2**53}] * 1025
    sent = publication(axes=[AXIS], cells=cells)
    del sent["values"], sent["trials"]
    assert target.refused("publish", json.dumps(sent).encode())["status"] == 422


def test_repeats_whose_errors_overflow_are_refused(target: Target) -> None:
    cells = [{"at": {"A": "x"}, "value": 50, "stderr": 1e300}] * 2
    sent = publication(axes=[AXIS], cells=cells)
    del sent["values"], sent["trials"]
    assert target.refused("publish", json.dumps(sent).encode())["status"] == 422


QUERIES = [
    "model=%00", "experiment=%00a", "benchmark=%01", "variant=%7f", "metric=%00", "label.a=%00", "label.%00=a",
    "label=a", "label.=%00", "cursor=%00", "cursor=", "cursor=x", "cursor=W10", "cursor=bnVsbA",
    "cursor=!!", "cursor=%ff%fe",
    "limit=0", "limit=-1", "limit=1001", "limit=x", "limit=", "limit=1.5", "limit=1e2", "limit=1_0",
    "limit=99999999999999999999", "limit=1&limit=2", "sort=", "sort=id", "sort=--model", "sort=model&sort=metric",
    "updated_since=", "updated_since=yesterday", "updated_since=2026-01-01T", "updated_since=2026-01-01T00:00:00+99:00",
    "updated_since=2026-13-01T00:00:00Z", "updated_since=99999-01-01T00:00:00Z", "surplus=1", "page=2", "Model=x", "=",
    "updated_since=1&updated_since=2", "limit=%D9%A3",
]  # fmt: skip


@pytest.mark.parametrize("query", QUERIES)
def test_a_bad_query_is_422_with_the_name_of_the_parameter(target: Target, query: str) -> None:
    answer = target.project.get(f"projects/{target.project.slug}/grids?{query}")
    assert answer.status_code == 422, answer.text
    assert answer.get_json()["errors"][0]["pointer"].startswith("/")


def test_every_route_refuses_an_unknown_query_parameter(target: Target) -> None:
    home, grid = f"projects/{target.project.slug}", f"grids/{target.grid}"
    alias = target.project.call(
        "POST", f"{home}/aliases", json={"kind": "model", "alias": "a1", "name": "b1"}
    ).get_json()
    paths = [
        "projects", home, f"{home}/tokens", f"{home}/grids", f"{home}/aliases", f"{home}/models", f"{home}/metrics",
        f"{home}/rankings?experiment=type-by-length&metric=accuracy", f"{home}/aliases/{alias['id']}",
        grid, f"{grid}.csv", f"{grid}/cells", f"{grid}/cells.csv", f"{grid}/revisions", f"{grid}/revisions/1",
        f"{grid}/revisions/1..1", f"{grid}/statistics", f"{grid}/trends", f"{grid}/trends.md",
    ]  # fmt: skip
    for path in paths:
        answer = target.project.call("GET", path + ("&" if "?" in path else "?") + "surplus=1", "admin")
        assert (path, answer.status_code) == (path, 422)


@pytest.mark.parametrize(
    "path",
    ["projects/%00", "projects/a%00b/grids", "projects/%ff", "projects/..", "projects/a b", "projects/" + "x" * 5000,
     "grids/1", "grids/%00", "grids/00000000-0000-0000-0000-000000000000", "grids/../projects", "nothing",
     "projects/x/nothing", "grids/00000000-0000-0000-0000-000000000000/statistics.xls"],
)  # fmt: skip
def test_a_path_to_nothing_is_404_as_a_problem(target: Target, path: str) -> None:
    answer = target.house.call("GET", path, token=target.house.operator)
    assert answer.status_code == 404
    assert answer.content_type == "application/problem+json"


@pytest.mark.parametrize(
    "n", ["0", "-1", "2147483648", "99999999999999999999", "x", "1.5", "1...2", "1..", "..1", "0..1"]
)
def test_a_revision_that_cannot_be_is_404(target: Target, n: str) -> None:
    assert target.project.get(f"grids/{target.grid}/revisions/{n}").status_code == 404


def test_a_query_of_many_unknown_names_is_answered_shortly(target: Target) -> None:
    names = "&".join(f"k{n}=1" for n in range(5_000))
    for path in (f"projects/{target.project.slug}/grids", f"grids/{target.grid}/cells", "projects"):
        answer = target.project.get(f"{path}?{names}")
        assert (answer.status_code, len(answer.get_json()["errors"])) == (422, 100)


@pytest.mark.parametrize("n", ["0", "-1", "2147483648", "x", "", "1.5"])
def test_a_revision_in_the_query_that_cannot_be_is_422(target: Target, n: str) -> None:
    assert target.project.get(f"grids/{target.grid}?revision={n}").status_code == 422


@pytest.mark.parametrize("key", ["", "x" * 256, "a b", "ä", "\x7f"])
def test_an_idempotency_key_that_is_none_is_422(target: Target, key: str) -> None:
    refused = target.refused("publish", GOOD, Idempotency_Key=key)
    assert refused["status"] == 422
    assert refused["detail"] == "the header Idempotency-Key has 1 to 255 visible ASCII characters"
    assert refused["errors"] == [{"pointer": "", "detail": refused["detail"]}]


def _written_operations() -> set[tuple[str, str]]:
    """Every operation of the document that takes a JSON body."""
    return {
        (method.upper(), path.removeprefix("/api/v1/"))
        for path, item in create_app(Settings()).extensions["openapi"]["paths"].items()
        for method, operation in item.items()
        if method in ("post", "put", "patch")
        and "application/json" in operation.get("requestBody", {}).get("content", {})
    }


def test_every_route_that_takes_a_body_meets_a_hundred_and_twenty_bad_ones(target: Target) -> None:
    """A new route belongs into VALID and into the routes of `Target`."""
    slug, grid = target.project.slug, target.grid
    named = {slug: "{project}", grid: "{grid}", target.claim: "{claim}", target.alert: "{alert}"}
    named[target.webhook] = "{webhook}"
    named["suites/never"] = "suites/{suite}"
    named["experiments/type-by-length"] = "experiments/{experiment}"
    named |= dict.fromkeys(("baselines/never", "baselines/main"), "baselines/{baseline}")
    met = set()
    for method, path in target.routes.values():
        for word, place in named.items():
            path = path.replace(word, place)  # noqa: PLW2901 (one name after the other)
        met.add((method, path))
    assert met == _written_operations()
    for route in VALID:
        altered = "publish" if route == "batch" else route
        assert len(UNREADABLE) + len(WRONG_SHAPES) + sum(one == altered for one, _, _ in MUTANTS) >= 120, route
