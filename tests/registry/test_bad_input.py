"""Hostile requests: each is answered 4xx as a problem, names the place where it can, and stores nothing."""

import copy
import gzip
import json
from collections.abc import Iterator
from itertools import groupby
from typing import Any

import pytest
from sqlalchemy import text
from werkzeug.test import TestResponse

from tests.house import ACCURACY, WEBHOOK, House, Project, publication

CELLS = {"cells": [{"at": {"Type": "1", "Length": 1}, "value": 50.0, "trials": 300}]}
ABOUT = {"experiment": "type-by-length", "metric": "accuracy"}
CLAIM = {"kind": "value", "about": ABOUT, "of": "max", "is": {"op": ">", "number": 5}}
BASELINE = ABOUT | {"subject": {"model": "Qwen-2.5 3B"}}
GRID = publication(
    model="never stored", labels={"git_sha": "4f2c1e9"}, description="never said",
    source={"format": "csv", "name": "never.csv", "sha256": "0" * 64},
)  # fmt: skip
HOME, CLAIMS = "projects/{project}", "projects/{project}/claims"
BASELINE_PATH, WEBHOOK_PATH = f"{HOME}/baselines/{{baseline}}", f"{HOME}/webhooks/{{webhook}}"
EXPERIMENT_PATH = f"{HOME}/experiments/{{experiment}}"
SAID = {"description": "never said", "labels": {"a": "b"}}
ITEMS = {
    "set": {"name": "never", "count": 3, "ids": ["a", "b", "c"]},
    "cells": [{"at": {"Type": "1", "Length": 1}, "outcomes": [1, 0.5, 0], "repeats": 2}],
}
ROUTES: dict[str, tuple[str, str, Any]] = {
    "make a project": ("POST", "projects", {"slug": "never-made", "name": "Never made", "visibility": "private"}),
    "change a project": ("PATCH", HOME, {"name": "Never changed", "visibility": "public"}),
    "make a token": ("POST", f"{HOME}/tokens", {"name": "never made", "role": "writer", "days": 30}),
    "make an alias": ("POST", f"{HOME}/aliases", {"kind": "model", "alias": "never", "name": "ever"}),
    "set a suite": ("PUT", f"{HOME}/suites/{{suite}}", {"benchmarks": ["never", "ever"]}),
    "make a share": ("POST", f"{HOME}/shares", {"path": "/api/v1/projects/x/cells", "expires_in": 3600}),
    "publish": ("POST", f"{HOME}/grids", GRID),
    "publish cells": ("POST", f"{HOME}/grids", {name: GRID[name] for name in GRID if name != "values"} | CELLS),
    "batch": ("POST", f"{HOME}/grids/batch", [GRID]),
    "amend": ("PATCH", "grids/{grid}/cells", CELLS),
    "add items": ("POST", "grids/{grid}/items", ITEMS),
    "describe an experiment": ("PATCH", EXPERIMENT_PATH, SAID),
    "describe a grid": ("PATCH", "grids/{grid}", SAID),
    "set a baseline": (
        "PUT", BASELINE_PATH, BASELINE | {"policy": {"kind": "non_inferior", "margin": 1, "per": "benchmark"}}
    ),
    "judge a grid": ("POST", f"{BASELINE_PATH}/gate", GRID),
    "compare a grid": ("POST", f"{HOME}/comparisons?baseline={{grid}}", GRID),
    "answer an alert": (
        "PATCH", f"{HOME}/alerts/{{alert}}", {"state": "dismissed", "reason": "noise", "note": "never said"}
    ),
    "make a webhook": (
        "POST", f"{HOME}/webhooks",
        WEBHOOK | {"filter": {"model": ["never"]}, "format": "slack", "description": "never"},
    ),
    "change a webhook": ("PATCH", WEBHOOK_PATH, {"state": "disabled", "types": ["claim.*"]}),
    "recover": ("POST", f"{WEBHOOK_PATH}/recover", {"since": "2026-11-21"}),
    "keep a claim": ("POST", CLAIMS, CLAIM | {"is": {"op": ">", "number": 6}}),
    "plan": ("POST", f"{HOME}/plan", {"question": {"kind": "claim", "claim": CLAIM}, "power": 0.8}),
}  # fmt: skip
MANY = ("make a token", "publish", "keep a claim")
"""Routes that meet every bad body; each other route meets one of every kind."""
TABLES = (
    "projects", "tokens", "aliases", "grids", "revisions", "names", "idempotency_keys", "shares", "suites", "arrivals",
    "experiments", "item_outcomes", "item_ids", "baselines", "claims", "webhooks", "deliveries", "audit_log",
)  # fmt: skip
COUNTS = text(f"""
    SELECT {", ".join(f"(SELECT count(*) FROM {table})" for table in TABLES)},
           (SELECT max(updated_at) FROM projects), (SELECT max(updated_at) FROM claims),
           (SELECT count(*) FROM grids WHERE description <> ''), (SELECT sum(version) FROM webhooks),
           (SELECT count(*) FROM alerts WHERE state <> 'open')
""")


class Target:
    """A project with one of everything, and what was sent to it."""

    def __init__(self, project: Project) -> None:
        self.project, self.house = project, project.house
        self.sent: list[tuple[str, bytes, dict[str, str]]] = []
        self.grid, home = project.published()["id"], f"projects/{project.slug}"
        assert project.call("PUT", f"{home}/baselines/main", json=BASELINE).status_code == 201
        self.names = {
            "project": project.slug, "grid": self.grid, "alert": project.alerted(), "webhook": project.hooked()[0],
            "claim": project.call("POST", f"{home}/claims", json=CLAIM).get_json()["id"],
            "suite": "never", "experiment": "type-by-length", "baseline": "main",
        }  # fmt: skip
        alias = project.call("POST", f"{home}/aliases", json={"kind": "model", "alias": "a1", "name": "b1"})
        self.alias = alias.get_json()["id"]
        assert self.house.operator

    def send(self, route: str, body: bytes, **headers: str) -> TestResponse:
        self.sent.append((route, body, headers))
        method, path, _ = ROUTES[route]
        headers = {"Content-Type": "application/json"} | {k.replace("_", "-"): v for k, v in headers.items()}
        token = self.house.operator if route == "make a project" else self.project.tokens["admin"]
        return self.house.call(method, path.format_map(self.names), token=token, data=body, headers=headers)

    def refused(self, route: str, body: bytes, **headers: str) -> dict[str, Any]:
        """The problem with which a request is refused."""
        answer = self.send(route, body, **headers)
        assert 400 <= answer.status_code < 500, (answer.status_code, answer.text[:500])
        assert answer.content_type == "application/problem+json"
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
def shared(house: House) -> Target:
    return Target(house.make_project())


@pytest.fixture
def target(shared: Target) -> Iterator[Target]:
    """Whatever a test sends stores nothing; if something was stored, each is sent again to find which did it."""
    shared.sent.clear()
    before = shared.stored()
    yield shared
    if shared.stored() != before:
        for route, body, headers in list(shared.sent):
            before = shared.stored()
            shared.send(route, body, **headers)
            assert shared.stored() == before, (route, body[:200], headers)
        pytest.fail("something was stored, and not again")


def _zipped(body: bytes) -> bytes:
    return gzip.compress(body, mtime=0)


GOOD = json.dumps(publication(model="never stored")).encode()
ONE_OF_EVERY_KIND = [
    b"", b"grid", b'{"slug": "abc', b'{"name": NaN}', b'{"name": 1e400}', b'{"name": ' + b"9" * 5000 + b"}",
    b'{"name": "\xff"}', b'{"name": "\\ud800"}', b'{"name": "a\\u0000b"}', b'{"name": "a", "name": "b"}',
    b"[" * 13 + b"]" * 13, b"[" * 100_000,
]  # fmt: skip
UNREADABLE = [
    b"   \n", b"{", b"[1, 2", b'{"name": "x",}', b"[1,]", b"{'name': 'x'}", b'{name: "x"}',
    b'{"name": "x" /* why */}', b"{} {}", b'{"name": -NaN}', b'{"name": Infinity}', b'{"name": -Infinity}',
    b'{"name": -1e400}', b'{"name": 0x10}', b'{"name": 010}', b'{"name": +1}', b'{"name": .5}', b'{"name": True}',
    b'{"name": undefined}', b"\xef\xbb\xbf" + GOOD, GOOD.decode().encode("utf-16"), GOOD.decode().encode("utf-16-le"),
    GOOD.decode().encode("utf-32"), '{"name": "é"}'.encode("latin-1"),
    b'{"name": "\xc0\xaf"}',  # an overlong encoding
    b'{"name": "\xed\xa0\x80"}',  # an encoded surrogate
    b'{"name": "\xe2\x82"}', b'{"name": "\\udc00x"}', b'{"name": "\\ud800\\ud800"}', b'{"na\\u0000me": "b"}',
    b'{"name": "a\x00b"}', b'{"name": "a"}\x00', b'\x00{"name": "a"}', b'{"name": "a\nb"}', b'{"name": "a\tb"}',
    b'{"name": "\\x41"}', b'{"name": "\\u00"}', b'{"zzz": 1, "zzz": 1}', b'{"name": "a", "n\\u0061me": "b"}',
    b'{"metric": {"name": "a", "name": "b"}}', b'[{"name": "a", "name": "b"}]', b'{"a":' * 13 + b"1" + b"}" * 13,
    b'{"values": ' + b"[" * 12 + b"]" * 12 + b"}", b"[" * 100_000 + b"]" * 100_000, b'{"a":' * 100_000, b"]" * 1000,
    b"[" * 13,
    b"slug=abc&name=x", b"<?xml version='1.0'?><grid/>", b"slug: abc\nname: x\n", bytes(range(256)), _zipped(GOOD),
    b'"' + b'\\"' * 200_000, b'"' + b'\\"' * 200_000 + b"\\",
]  # fmt: skip


def test_a_body_that_is_not_json_is_400(target: Target, subtests: pytest.Subtests) -> None:
    for some, bodies in ((True, ONE_OF_EVERY_KIND), (False, UNREADABLE)):
        for route in ROUTES if some else MANY:
            with subtests.test(route):
                for body in bodies:
                    assert target.refused(route, body)["status"] == 400, body[:60]


OTHER_SHAPES: list[Any] = [None, True, 1.5, "x", [], [1], [{}], {}, {"surplus": 1}, {"": 1}]
MORE_SHAPES: list[Any] = [
    False, 0, 1, -1, -0.5, 1e308, 2**63, 2**64, 10**300, "", "{}", "null", [[]], [None], ["x"], [[[]]], [True],
    [{"surplus": 1}], {"surplus": None}, {"__proto__": {}}, {"$ref": "#"}, {"_schema": 1}, {"~": 1, "/": 1},
    {"name": None, "NAME": 1}, {"x" * 1000: 1}, {"values": [], "surplus": 2}, {f"k{i}": i for i in range(1000)},
    [0] * 2000,
]  # fmt: skip


def test_json_of_another_shape_is_refused(target: Target, subtests: pytest.Subtests) -> None:
    for some, bodies in ((True, OTHER_SHAPES), (False, MORE_SHAPES)):
        for route in ROUTES if some else MANY:
            with subtests.test(route):
                for body in bodies:
                    if route == "batch" and isinstance(body, list):
                        continue  # a list is a batch of faults, and what is not said is not declared
                    assert target.refused(route, json.dumps(body).encode())["status"] == 422, json.dumps(body)[:60]
    shapes = [*OTHER_SHAPES, *MORE_SHAPES]
    answered = target.send("batch", json.dumps(shapes).encode()).get_json()["items"]
    assert [item["status"] for item in answered] == [422] * len(shapes)


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if path:
        yield path
    for part, inner in (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    ):
        yield from _places(inner, (*path, part))


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
    if isinstance(value, str):
        return [True, 1.5, ["x"], {"surplus": 1}, "\x01", "x\x7fy", "\x85", "x" * 10_000]
    if isinstance(value, list):
        return [True, 1.5, "[1]", "\x01", {}, [True], [{"surplus": 1}], [[[[[[1]]]]]]]
    if isinstance(value, dict):
        return [True, 1.5, "{}", [], {"surplus": 1}, {"": ""}, value | {"surplus": None}]
    return [True, "5", "1_0", "NaN", {}, [[1]], 10**400]


def _wrong_bodies(route: str) -> Iterator[tuple[tuple[Any, ...], Any, bytes]]:
    """A place, what is wrong there, and the body with it."""
    valid = ROUTES[route][2]
    for path in _places(valid):
        for wrong in _wrong_for(_at(valid, path)):
            if ("levels" in path or "at" in path) and wrong in (1.5, "5"):
                continue  # a level may be written as a number and as a text
            if path == ("labels",) and isinstance(wrong, dict) and wrong != {"surplus": 1}:
                continue  # labels have any names
            if path[0] == "filter" and (len(path) > 2 or (len(path) == 2 and isinstance(wrong, str))):
                continue  # one text stands for a list of it, and faults are told of the list
            yield path, wrong, json.dumps(_replaced(valid, path, wrong)).encode()


def _tells_of(problem: dict[str, Any], path: tuple[Any, ...]) -> bool:
    """Whether a fault is at this place or in it; what is not even JSON has no place."""
    place = "/" + "/".join(map(str, path))
    told = [error["pointer"] for error in problem.get("errors", ())]
    return problem["status"] == 400 or any(one == place or one.startswith(f"{place}/") for one in told)


def test_a_wrong_type_anywhere_is_refused_with_its_place(target: Target, subtests: pytest.Subtests) -> None:
    for route in ROUTES:
        for path, wrong_bodies in groupby(_wrong_bodies(route), key=lambda one: one[0]):
            if route == "batch" or (len(path) > 1 and route in ("publish", "publish cells", "judge a grid")):
                continue  # a whole grid: the places in it are wrong below, in one request
            with subtests.test(route=route, path=path):
                for _, wrong, body in wrong_bodies:
                    problem = target.refused(route, body)
                    assert problem["status"] in (400, 422), wrong
                    assert _tells_of(problem, path), (wrong, problem)


@pytest.mark.parametrize("route", ["publish", "publish cells"])
def test_a_wrong_type_in_a_batch_is_refused_for_its_grid(target: Target, subtests: pytest.Subtests, route: str) -> None:
    wrong_bodies = list(_wrong_bodies(route))
    lines = b"\n".join(body for _, _, body in wrong_bodies)
    items = target.send("batch", lines, Content_Type="application/x-ndjson").get_json()["items"]
    for item, (path, wrong, _) in zip(items, wrong_bodies, strict=True):
        with subtests.test(path=path, wrong=str(wrong)[:60]):
            assert item["status"] == item["problem"]["status"] in (400, 422)
            assert _tells_of(item["problem"], path), item


def _publication(**changes: Any) -> dict[str, Any]:
    return publication(model="never stored", **changes)


def _one_axis(values: Any, **axis: Any) -> dict[str, Any]:
    return _publication(axes=[AXIS | axis], values=values)


def _cells(*cells: Any, **changes: Any) -> dict[str, Any]:
    sent = publication(axes=[AXIS], cells=list(cells), **changes)
    return {name: value for name, value in sent.items() if name not in ("values", "trials")}


AXIS = {"name": "A", "kind": "nominal", "levels": ["x", "y"]}
CELL = {"at": {"A": "x"}, "value": 1}
MEANINGLESS: dict[str, tuple[dict[str, Any], str]] = {
    "too few rows": (_publication(values=[[1, 2, 3]]), "/values"),
    "too many rows": (_publication(values=[[1, 2, 3]] * 3), "/values"),
    "a short row": (_publication(values=[[1, 2, 3], [1, 2]]), "/values/1"),
    "a long row": (_publication(values=[[1, 2, 3], [1, 2, 3, 4]]), "/values/1"),
    "one number for two axes": (_publication(values=5), "/values"),
    "null for two axes": (_publication(values=None), "/values"),
    "values too flat": (_publication(values=[1, 2]), "/values/0"),
    "above the bounds": (_publication(values=[[1, 2, 3], [1, 100.01, 3]]), "/values/1/1"),
    "below the bounds": (_publication(values=[[-0.1, 2, 3], [1, 2, 3]]), "/values/0/0"),
    "a list without axes": (_publication(axes=[], values=[1]), "/values"),
    "five axes": (_publication(axes=[AXIS | {"name": str(i)} for i in range(5)], values=[]), "/axes"),
    "two axes of one name": (_publication(axes=[AXIS, AXIS], values=[[1, 2], [1, 2]]), "/axes/1/name"),
    "a level twice": (_one_axis([1, 2], levels=["x", "x"]), "/axes/0/levels/1"),
    "a number twice": (_one_axis([1, 2], kind="numeric", levels=[1, 1.0]), "/axes/0/levels/1"),
    "a number twice, once as text": (_one_axis([1, 2], kind="numeric", levels=["32b", 32e9]), "/axes/0/levels/1"),
    "an empty level": (_one_axis([1, 2], levels=["", "y"]), "/axes/0/levels/0"),
    "a null level": (_one_axis([1, 2], levels=[None, "y"]), "/axes/0/levels/0"),
    "a level with a surplus field": (_one_axis([1], levels=[{"label": "x", "unit": "m"}]), "/axes/0/levels/0"),
    "a level whose label is an object": (_one_axis([1], levels=[{"label": {"label": "x"}}]), "/axes/0/levels/0"),
    "a label that is a number": (
        _one_axis([1], kind="numeric", levels=[{"label": 5, "number": 7}]), "/axes/0/levels/0"
    ),
    "a number that is text": (
        _one_axis([1], kind="numeric", levels=[{"label": "x", "number": "7"}]), "/axes/0/levels/0"
    ),
    "a numeric level that is a word": (_one_axis([1], kind="numeric", levels=["big"]), "/axes/0/levels/0"),
    "a log scale of names": (_one_axis([1, 2], scale="log"), "/axes/0/scale"),
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
    "an axis of an unknown kind": (_one_axis([1, 2], kind="cyclic"), "/axes/0/kind"),
    "65 labels": (_publication(labels={str(i): "" for i in range(65)}), "/labels"),
    "a label of 257 characters": (_publication(labels={"a": "x" * 257}), "/labels/a"),
    "an empty experiment": (_publication(experiment=""), "/experiment"),
    "an experiment of 201 characters": (_publication(experiment="x" * 201), "/experiment"),
    "an axis of 201 characters": (_one_axis([1, 2], name="x" * 201), "/axes/0/name"),
    "a level of 201 characters": (_one_axis([1], levels=["x" * 201]), "/axes/0/levels/0"),
    "too many cells": (
        _publication(axes=[AXIS | {"name": n, "levels": [*map(str, range(1001))]} for n in "AB"], values=[]), "/axes"
    ),
    "too many levels": (_one_axis([], levels=[*map(str, range(10_001))]), "/axes/0/levels"),
    "a cell without a place": (_cells({"value": 1}), "/cells/0/at"),
    "a cell without a value": (_cells({"at": {"A": "x"}}), "/cells/0/value"),
    "a cell at another axis": (_cells(CELL | {"at": {"A": "x", "B": "x"}}), "/cells/0/at/B"),
    "a cell at no axis": (_cells(CELL | {"at": {}}), "/cells/0/at"),
    "a cell at null": (_cells(CELL | {"at": {"A": None}}), "/cells/0/at/A"),
    "a cell beyond the bounds": (_cells(CELL | {"value": 101}), "/cells/0/value"),
    "a cell with half a trial": (_cells(CELL | {"trials": 0.5}), "/cells/0/trials"),
    "a cell with trials of no proportion": (
        _cells({"at": {"A": "y"}, "value": 1}, CELL | {"trials": 3}, metric={"name": "loss"}), "/cells/1/trials"
    ),
    "a cell with a negative stderr": (_cells(CELL | {"stderr": -1}), "/cells/0/stderr"),
    "a cell with stderr as text": (_cells(CELL | {"stderr": "1"}), "/cells/0/stderr"),
    "a measured cell with a reason": (_cells(CELL | {"reason": "failed"}), "/cells/0/reason"),
    "a missing cell with a reason of its own": (_cells(CELL | {"value": None, "reason": "lost"}), "/cells/0/reason"),
    "a missing cell with trials": (_cells(CELL | {"value": None, "trials": 3}), "/cells/0"),
    "repeats of many trials": (_cells(*[CELL | {"value": 50, "trials": 2**53}] * 1025), "/cells/1024"),
    "repeats whose errors overflow": (_cells(*[CELL | {"value": 50, "stderr": 1e300}] * 2), "/cells/1"),
    **{
        f"repeats whose spread is no number, {numbers}": (
            _cells(*[CELL | {"value": value} for value in numbers], metric={"name": "loss"}),
            f"/cells/{len(numbers) - 1}",
        )
        for numbers in ((1e308, 1e308), (1e200, -1e200), (1e308, 1e308, -1e308), (-1.7e308, -1.7e308), (1e155, -1e155))
    },
}  # fmt: skip


def test_what_makes_no_grid_is_refused_with_a_pointer(target: Target, subtests: pytest.Subtests) -> None:
    for case, (sent, pointer) in MEANINGLESS.items():
        with subtests.test(case):
            problem = target.refused("publish", json.dumps(sent).encode())
            assert problem["status"] == 422
            assert pointer in [error["pointer"] for error in problem["errors"]], problem["errors"]


CONTENT_TYPES = (
    "", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml",
    "application/octet-stream", "text/html", "json", "application/jsonx", "*/*",
)  # fmt: skip
CODINGS = ("deflate", "br", "zstd", "gzip, gzip", "x", "identity, gzip")


def test_another_content_type_or_coding_is_415(target: Target, subtests: pytest.Subtests) -> None:
    for route in ROUTES:
        body, count = json.dumps(ROUTES[route][2]).encode(), 99 if route in MANY else 2
        sent = [("Content_Type", one) for one in CONTENT_TYPES[:count]]
        with subtests.test(route):
            for header, value in [*sent, *(("Content_Encoding", one) for one in CODINGS[:count])]:
                assert target.refused(route, body, **{header: value})["status"] == 415, (header, value)


BROKEN_GZIP = [
    GOOD, _zipped(GOOD)[:-5], b"", _zipped(GOOD)[:40], _zipped(GOOD)[:10], _zipped(GOOD) + b"x",
    _zipped(GOOD)[:-8] + b"\0" * 8, bytes(range(255)), _zipped(_zipped(GOOD)),
]  # fmt: skip


def test_broken_gzip_is_400_and_a_bomb_is_413(target: Target, subtests: pytest.Subtests) -> None:
    bomb = gzip.compress(b" " * (17 * 1024 * 1024), compresslevel=6)
    for route in ROUTES:
        with subtests.test(route):
            for body in BROKEN_GZIP if route in MANY else BROKEN_GZIP[:2]:
                assert target.refused(route, body, Content_Encoding="gzip")["status"] == 400, body[:60]
    for route in (*MANY, "batch"):
        assert target.refused(route, bomb, Content_Encoding="gzip")["status"] == 413
    assert target.refused("publish", b" " * (16 * 1024 * 1024 + 1))["status"] == 413


def _longer(route: str, **fields: Any) -> tuple[str, bytes]:
    return route, json.dumps(ROUTES[route][2] | fields).encode()


FLOODS = {
    "many cells that are none": _longer("amend", cells=[1] * 10_000),
    "many unknown fields": ("publish", json.dumps({f"k{i}": i for i in range(10_000)}).encode()),
    "more grids than a batch has": ("batch", b"[" + b"1," * 1000 + b"1]"),
    "many labels": _longer("publish", labels={str(i): 1 for i in range(10_000)}),
    "many axes that are none": _longer("publish", axes=[1] * 10_000),
    "wrong values": ("publish", json.dumps(_one_axis(["x"] * 9999, levels=[*map(str, range(9999))])).encode()),
    "a cell of many unknown fields": _longer("amend", cells=[{f"k{i}": i for i in range(10_000)}]),
    "cells on axes of long names": _longer(
        "amend", cells=[{"at": {"x" * 9999 + str(n): 1}, "value": 1} for n in range(50)]
    ),
    "one long key twice": ("publish", b'{"%b": 1, "%b": 1}' % (b"x" * 100_000, b"x" * 100_000)),
}


def test_many_faults_are_answered_shortly(target: Target, subtests: pytest.Subtests) -> None:
    for flood, (route, body) in FLOODS.items():
        with subtests.test(flood):
            assert len(json.dumps(target.refused(route, body))) < 50_000
    assert target.refused("batch", b"1\n" * 1002, Content_Type="application/x-ndjson")["status"] == 422
    names = "&".join(f"k{n}=1" for n in range(5_000))
    for path in (f"projects/{target.project.slug}/grids", f"grids/{target.grid}/cells", "projects"):
        answer = target.project.get(f"{path}?{names}")
        assert (answer.status_code, len(answer.get_json()["errors"])) == (422, 100)


QUERIES = [
    "model=%00", "experiment=%00a", "benchmark=%01", "variant=%7f", "metric=%00", "label.a=%00", "label.%00=a",
    "label=a", "label.=%00", "cursor=%00", "cursor=", "cursor=x", "cursor=W10", "cursor=bnVsbA",
    "cursor=!!", "cursor=%ff%fe",
    "limit=0", "limit=-1", "limit=1001", "limit=x", "limit=", "limit=1.5", "limit=1e2", "limit=1_0",
    "limit=99999999999999999999", "limit=1&limit=2", "sort=", "sort=id", "sort=--model", "sort=model&sort=metric",
    "updated_since=", "updated_since=yesterday", "updated_since=2026-01-01T", "updated_since=2026-01-01T00:00:00+99:00",
    "updated_since=2026-13-01T00:00:00Z", "updated_since=99999-01-01T00:00:00Z", "surplus=1", "page=2", "Model=x", "=",
    "updated_since=1&updated_since=2", "limit=%D9%A3", "deleted=yes", "deleted=", "deleted=Only",
]  # fmt: skip
PATHS = [
    "projects/%00", "projects/a%00b/grids", "projects/%ff", "projects/..", "projects/a b", "projects/" + "x" * 5000,
    "grids/1", "grids/%00", "grids/00000000-0000-0000-0000-000000000000", "grids/../projects", "nothing",
    "projects/x/nothing", "grids/00000000-0000-0000-0000-000000000000/statistics.xls",
]  # fmt: skip


def test_a_bad_query_is_422_and_a_path_to_nothing_is_404(target: Target, subtests: pytest.Subtests) -> None:
    grid = f"grids/{target.grid}"
    wrong = [(f"projects/{target.project.slug}/grids?{query}", 422) for query in QUERIES]
    wrong += [(f"{grid}?revision={n}", 422) for n in ("0", "-1", "2147483648", "x", "", "1.5")]
    for path, status in [*wrong, *((path, 404) for path in PATHS)]:
        with subtests.test(path):
            answer = target.house.call("GET", path, token=target.house.operator)
            assert (answer.status_code, answer.content_type) == (status, "application/problem+json"), answer.text
            assert status == 404 or answer.get_json()["errors"][0]["pointer"].startswith("/")


def test_every_route_refuses_an_unknown_query_parameter(target: Target, subtests: pytest.Subtests) -> None:
    home, grid = f"projects/{target.project.slug}", f"grids/{target.grid}"
    paths = [
        "projects", home, f"{home}/tokens", f"{home}/grids", f"{home}/aliases", f"{home}/names/metrics",
        f"{home}/rankings?experiment=type-by-length&metric=accuracy", f"{grid}/cells.csv", f"{grid}/revisions",
        grid, f"{grid}.md", f"{grid}/cells", f"{grid}?revision=1",
        f"{grid}/difference?from=1&to=1", f"{grid}/statistics", f"{grid}/statistics.md?part=trends",
    ]  # fmt: skip
    for path in paths:
        with subtests.test(path):
            answer = target.project.call("GET", path + ("&" if "?" in path else "?") + "surplus=1", "admin")
            assert answer.status_code == 422


def test_an_idempotency_key_that_is_none_is_422(target: Target, subtests: pytest.Subtests) -> None:
    for key in ("", "x" * 256, "a b", "ä", "\x7f"):
        with subtests.test(key):
            refused = target.refused("publish", GOOD, Idempotency_Key=key)
            assert refused["status"] == 422
            assert refused["detail"] == "the header Idempotency-Key has 1 to 255 visible ASCII characters"
            assert refused["errors"] == [{"pointer": "", "detail": refused["detail"]}]


def test_every_route_that_takes_a_body_meets_bad_ones(house: House) -> None:
    """A new route belongs into ROUTES."""
    document = house.app.extensions["openapi"]["paths"]
    taking = {
        (method.upper(), path.removeprefix("/api/v1/"))
        for path, item in document.items()
        for method, operation in item.items()
        if method in ("post", "put", "patch")
        and "application/json" in operation.get("requestBody", {}).get("content", {})
    }
    assert taking == {(method, path.partition("?")[0]) for method, path, _ in ROUTES.values()}
