"""The OpenAPI document: valid, complete, and the same as what is served."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from flask import Flask
from openapi_spec_validator import OpenAPIV31SpecValidator
from ruamel.yaml import YAML

from registry.api.openapi import openapi_yaml
from tests.house import House, Project

METHODS = ("get", "post", "patch", "put", "delete")


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, item in document["paths"].items():
        for method, operation in item.items():
            if method in METHODS:
                yield f"{method} {path}", operation


@pytest.fixture(scope="module")
def document(house: House) -> dict[str, Any]:
    found: dict[str, Any] = house.call("GET", "/openapi.json").get_json()
    return found


def test_the_document_is_valid_openapi_3_1(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    assert [error.message for error in OpenAPIV31SpecValidator(document).iter_errors()] == []


def test_it_is_the_same_as_yaml(document: dict[str, Any], house: House) -> None:
    assert yaml.safe_load(house.call("GET", "/openapi.yaml").text) == document


def strings(value: Any) -> Iterator[str]:
    match value:
        case str():
            yield value
        case dict():
            for name, one in value.items():
                yield name
                yield from strings(one)
        case list():
            for one in value:
                yield from strings(one)


NUMBERS = [
    "0193",
    "1e3",
    "0o17",
    "0x1f",
    "0b1",
    ".5",
    "1.",
    "-0",
    "+1",
    "1_000",
    "1:20",
    ".inf",
    "yes",
    "~",
    "null",
    "",
]


def test_every_string_of_it_is_one_by_yaml_1_2_too(document: dict[str, Any], house: House) -> None:
    written = sorted({*strings(document), *NUMBERS})
    app = Flask(__name__)
    app.extensions["openapi"] = {"strings": written}
    reader = YAML(typ="safe", pure=True)
    assert reader.load(openapi_yaml(app)) == {"strings": written}


def test_a_picture_for_vega_is_an_object(document: dict[str, Any], project: Project) -> None:
    answers = document["paths"]["/api/v1/grids/{grid}/heatmap.vl.json"]["get"]["responses"]["200"]
    [schema] = [one["schema"] for one in answers["content"].values()]
    found = project.get(f"grids/{project.published()['id']}/heatmap.vl.json")
    assert (schema, type(json.loads(found.data))) == ({"type": "object"}, dict)


def test_operation_ids_are_unique(document: dict[str, Any]) -> None:
    ids = [operation["operationId"] for _, operation in operations(document)]
    assert len(ids) == len(set(ids)) >= 30


def test_every_operation_says_what_it_does_and_how_it_fails(document: dict[str, Any]) -> None:
    for name, operation in operations(document):
        assert operation["summary"], name
        assert "default" in operation["responses"] or "503" in operation["responses"], name
        assert any(status.startswith("2") for status in operation["responses"]), name


def test_every_route_of_the_application_is_described(document: dict[str, Any], house: House) -> None:
    described = {name for name, _ in operations(document)}
    for rule in house.app.url_map.iter_rules():
        if rule.rule.startswith("/api/"):
            path = rule.rule
            while "<" in path:
                before, _, rest = path.partition("<")
                inside, _, after = rest.partition(">")
                path = f"{before}{{{inside.rpartition(':')[2]}}}{after}"
            for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}:
                assert f"{method.lower()} {path}" in described


def test_every_body_and_every_answer_has_an_example(document: dict[str, Any]) -> None:
    without = []
    for name, operation in operations(document):
        contents = {"body": operation.get("requestBody", {}).get("content", {})}
        contents |= {s: r.get("content", {}) for s, r in operation["responses"].items() if s.startswith("2")}
        for place, content in contents.items():
            json_content = content.get("application/json")
            if json_content is not None and json_content.get("example") is None and not json_content.get("examples"):
                without.append(f"{name} {place}")
    assert without == []


def test_the_document_is_readable_as_a_page(house: House) -> None:
    page = house.call("GET", "/docs")
    assert (page.status_code, page.mimetype) == (200, "text/html")
    assert "/api/v1/projects/{project}/grids" in page.text
    assert page.text.count("<script") == page.text.count('<script src="/assets/')
