"""Every parameter of every operation, with values that are merely wrong: none of them is a defect of the server."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest

from registry import create_app
from registry.api.openapi import openapi, openapi_for_clients
from registry.settings import Settings
from tests.house import House, Project

DIGITS = "9" * 5_000
QUERY = {
    "empty": "",
    "digits": DIGITS,
    "fraction": f"0.{DIGITS}",
    "power": "1e999999999",
    "minus": f"-{DIGITS}",
    "nul": "%00",
    "surrogate": "%ED%A0%80",
    "not utf-8": "%FF",
    "other digits": quote("٣"),
    "brackets": quote("http://[{'\"<"),
    "list": "1,2,,",
    "id": "ffffffff-ffff-7fff-bfff-ffffffffffff",
}
HEADER = {
    "empty": "",
    "digits": DIGITS,
    "wait": f"wait={DIGITS}",
    "wait quoted": 'wait="²"',
    "range from": f"bytes={DIGITS}-",
    "range to": f"bytes=0-{DIGITS}",
    "range last": f"bytes=-{DIGITS}",
    "range other digits": "bytes=\u00b2-",
    "tag": f'"{DIGITS}"',
    "open tag": 'W/"' * 1_000,
    "weights": "a/b;q=" + DIGITS,
    "brackets": "http://[",
    "nul": "\0",
    "latin": "\xff\xfe",
    "basic": "Basic " + "=" * 5_000,
    "bearer": "Bearer " + DIGITS,
    "commas": "," * 5_000,
}
MORE_HEADERS = (
    "Accept",
    "Accept-Encoding",
    "Authorization",
    "Content-Encoding",
    "Content-Type",
    "Cookie",
    "If-Modified-Since",
    "If-None-Match",
    "Origin",
    "Prefer",
    "Range",
    "Transfer-Encoding",
    "X-Forwarded-For",
)


READ_IN_FULL = ("/api/v1/projects/{project}/grids", "/api/v1/projects/{project}/cells.csv")


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, list[dict[str, Any]]]]:
    shared = document["components"]["parameters"]
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method in ("get", "post", "patch", "delete"):
                given = [*item.get("parameters", []), *operation.get("parameters", [])]
                looked_up = [shared[one["$ref"].rsplit("/", 1)[1]] if "$ref" in one else one for one in given]
                yield method.upper(), path, looked_up


APP = create_app(Settings())
OPERATIONS = list(
    {
        one[:2]: one
        for document in (openapi_for_clients(APP), openapi(APP))  # the forms, then all of the resources
        for one in operations(document)
    }.values()
)


@pytest.fixture(scope="module")
def named(house: House) -> tuple[Project, dict[str, str]]:
    # Nobody waits: what is looked at is how parameters are read.
    project = replace(house, app=create_app(replace(house.settings, max_wait=0))).make_project()
    grid = project.published()["id"]
    subject = {"experiment": "type-by-length", "metric": "accuracy", "subject": {"model": "Qwen-2.5 3B"}}
    assert project.call("PUT", f"projects/{project.slug}/baselines/main", json=subject).status_code == 201
    about = {"about": {"experiment": "type-by-length", "metric": "accuracy"}}
    claim = project.call("POST", f"projects/{project.slug}/claims", json={"kind": "coverage", "is": "ragged"} | about)
    house.compute()
    values = {
        "project": project.slug,
        "grid": grid,
        "experiment": "type-by-length",
        "suffix": "csv",
        "form": "md",
        "part": "peaks",
        "kind": "models",
        "baseline": "main",
        "claim": claim.get_json()["id"],
        "alert": project.alerted(),
        "webhook": project.hooked()[0],
        "revision": "1",
        "a": "1",
        "b": "1",
    }
    return project, values


def filled(path: str, values: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], "01a20000-0000-7000-8000-000000000000"), path)


REQUIRED = {
    "metric": "accuracy",
    "experiment": "type-by-length",
    "value": "90",
    "baseline": "{grid}",
    "contender": "{grid}",
    "from": "1",
    "with": "{grid}",
    "to": "1",
    "group_by": "model",
    "x": "metric:accuracy",
    "y": "metric:accuracy",
}


@pytest.mark.parametrize(("method", "path", "parameters"), OPERATIONS, ids=[f"{m} {p}" for m, p, _ in OPERATIONS])
def test_no_value_of_any_parameter_is_a_defect(
    named: Any, method: str, path: str, parameters: list[dict[str, Any]]
) -> None:
    project, values = named
    place = filled(path, values)
    if method == "DELETE" and place in (
        f"/api/v1/projects/{project.slug}",
        f"/api/v1/grids/{values['grid']}",
        f"/api/v1/claims/{values['claim']}",
    ):
        place = place[:-1]  # the others still need it

    def sent(address: str, **headers: str) -> None:
        answer = project.house.app.test_client().open(
            address, method=method, headers={"Authorization": f"Bearer {project.tokens['admin']}"} | headers
        )
        assert answer.status_code < 500, (address[:300], {n: t[:50] for n, t in headers.items()}, answer.text)

    required = {
        one["name"]: filled(REQUIRED[one["name"]], values)
        for one in parameters
        if one.get("required") and one["in"] == "query"
    }
    for one in parameters:
        if one["in"] == "query":
            for value in QUERY.values():
                query = {name: quote(text) for name, text in required.items()} | {
                    "label.k" if one["name"] == "labels" else one["name"]: value
                }
                sent(place + "?" + "&".join(f"{name}={text}" for name, text in query.items()))
        elif one["in"] == "path":
            for value in QUERY.values():
                if value not in ("",) and method == "GET":
                    sent(filled(path.replace(f"{{{one['name']}}}", value), values))
    query = "?" + "&".join(f"{name}={quote(text)}" for name, text in required.items())
    documented = {one["name"] for one in parameters if one["in"] == "header"}
    for header in MORE_HEADERS if path in READ_IN_FULL else documented:
        for value in HEADER.values():
            sent(place + query, **{header: value})
