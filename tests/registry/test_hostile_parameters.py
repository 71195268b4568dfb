"""Every parameter that an operation has, with values that are merely wrong: none is a defect of the server."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest

from registry import create_app
from registry.api.openapi import openapi, openapi_for_clients
from registry.api.openapi_schemas import looked_up
from tests.house import House, Project

DIGITS = "9" * 5_000
QUERY = (
    *("", DIGITS, f"0.{DIGITS}", "1e999999999", f"-{DIGITS}", "%00", "%ED%A0%80", "%FF", quote("٣")),
    *(quote("http://[{'\"<"), "1,2,,", "ffffffff-ffff-7fff-bfff-ffffffffffff"),
)
HEADER = (
    *("", DIGITS, f"wait={DIGITS}", 'wait="²"', f"bytes={DIGITS}-", f"bytes=0-{DIGITS}", f"bytes=-{DIGITS}"),
    *("bytes=\u00b2-", f'"{DIGITS}"', 'W/"' * 1_000, "a/b;q=" + DIGITS, "http://[", "\0", "\xff\xfe"),
    *("Basic " + "=" * 5_000, "Bearer " + DIGITS, "," * 5_000),
)
MORE_HEADERS = (
    *("Accept", "Accept-Encoding", "Authorization", "Content-Encoding", "Content-Type", "Cookie", "If-Modified-Since"),
    *("If-None-Match", "Origin", "Prefer", "Range", "Transfer-Encoding", "X-Forwarded-For"),
)
Parameter = dict[str, Any]


def operations(document: dict[str, Any]) -> Iterator[tuple[str, str, list[Parameter]]]:
    """Each operation with its parameters; those that only read first."""
    for method in ("get", "post", "patch", "delete"):
        for path, item in document["paths"].items():
            if method in item:
                given = [*item.get("parameters", []), *item[method].get("parameters", [])]
                yield method.upper(), path, [looked_up(document, one) for one in given]


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
        "project": project.slug, "grid": grid, "experiment": "type-by-length", "suffix": "csv", "form": "md",
        "part": "peaks", "kind": "models", "baseline": "main", "claim": claim.get_json()["id"],
        "alert": project.alerted(), "webhook": project.hooked()[0], "revision": "1", "a": "1", "b": "1",
    }  # fmt: skip
    return project, values


def filled(path: str, values: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda found: values.get(found[1], "01a20000-0000-7000-8000-000000000000"), path)


REQUIRED = {
    "metric": "accuracy", "experiment": "type-by-length", "part": "peaks", "baseline": "{grid}", "contender": "{grid}",
    "from": "1", "to": "1", "group_by": "model", "x": "metric:accuracy", "y": "metric:accuracy",
}  # fmt: skip


def test_no_value_of_any_parameter_is_a_defect(named: Any, subtests: pytest.Subtests) -> None:
    """Each parameter where it is first asked for."""
    project, values = named
    tried: set[tuple[str, str]] = set()

    def sent(method: str, address: str, **headers: str) -> None:
        answer = project.house.app.test_client().open(
            address, method=method, headers={"Authorization": f"Bearer {project.tokens['admin']}"} | headers
        )
        pending = answer.status_code == 503 and answer.get_json()["type"] == "/docs#problem-pending"
        assert answer.status_code < 500 or pending, (address[:300], str(headers)[:200], answer.text)

    for document in (openapi_for_clients(project.house.app), openapi(project.house.app)):  # forms, then all resources
        for method, path, parameters in operations(document):
            place = filled(path, values)
            queried = [one for one in parameters if one["in"] == "query"]
            required = {
                one["name"]: quote(filled(REQUIRED[one["name"]], values)) for one in queried if one.get("required")
            }
            for one in parameters:
                name, key = one["name"], (one["in"], one["name"])
                if key in tried or (one["in"] == "path" and method != "GET"):
                    continue
                tried.add(key)
                with subtests.test(msg=f"{method} {path} {name}"):
                    for value in HEADER if one["in"] == "header" else QUERY:
                        if one["in"] == "path":
                            sent(method, filled(path.replace(f"{{{name}}}", value or "%20"), values))
                            continue
                        headers = {name: value} if one["in"] == "header" else {}
                        asked = {} if headers else {"label.k" if name == "labels" else name: value}
                        sent(method, f"{place}?{'&'.join(map('='.join, (required | asked).items()))}", **headers)
    assert {where for where, _ in tried} == {"query", "header", "path"}
    for name in MORE_HEADERS:
        with subtests.test(msg=name):
            for value in HEADER:
                sent("GET", f"/api/v1/projects/{project.slug}/cells.csv", **{name: value})
