"""The OpenAPI document: valid, complete, and the same as what is served."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from flask import Flask
from openapi_spec_validator import OpenAPIV31SpecValidator
from ruamel.yaml import YAML

from registry.api.openapi import openapi_yaml
from results_registry import __version__
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


@pytest.fixture(scope="module")
def client_view(house: House) -> dict[str, Any]:
    """The document as generators of clients read it."""
    found: dict[str, Any] = house.call("GET", "/openapi.json?view=client").get_json()
    return found


def test_the_document_is_valid_openapi_3_1(document: dict[str, Any], client_view: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    for one in (document, client_view):
        assert [error.message for error in OpenAPIV31SpecValidator(one).iter_errors()] == []


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


def test_operation_ids_are_those_that_clients_were_generated_with(
    document: dict[str, Any], client_view: dict[str, Any]
) -> None:
    """A generated client names its functions by them: one that is renamed or taken away breaks who calls it."""
    told = {
        f"{operation['operationId']} {name}" for one in (document, client_view) for name, operation in operations(one)
    }
    frozen = Path(__file__).with_name("operation_ids.txt").read_text(encoding="utf-8").splitlines()
    assert sorted(told) == frozen
    ids = [line.partition(" ")[0] for line in frozen]
    assert len(ids) == len(set(ids))


def test_a_grid_to_publish_is_one_object_that_generators_can_type(document: dict[str, Any]) -> None:
    grid = document["components"]["schemas"]["GridIn"]
    assert not {"oneOf", "anyOf", "allOf"} & set(grid)
    assert {"values", "cells"} <= set(grid["properties"])
    assert "`values`" in grid["description"]
    assert "`cells`" in grid["description"]


def test_every_operation_says_what_it_does_and_how_it_fails(document: dict[str, Any]) -> None:
    for name, operation in operations(document):
        assert operation["summary"], name
        assert "default" in operation["responses"] or "503" in operation["responses"], name
        assert any(status.startswith(("2", "307")) for status in operation["responses"]), name


@pytest.mark.parametrize(
    "path, shape",
    [
        ("/api/v1/projects/{project}/webhooks/{webhook}/test", "Delivery"),
        ("/api/v1/deliveries/{delivery}/redeliver", "Delivery"),
        ("/api/v1/projects/{project}/webhooks/{webhook}/recover", "Recovery"),
    ],
)
def test_what_will_be_sent_is_described_as_what_is_answered(document: dict[str, Any], path: str, shape: str) -> None:
    accepted = document["paths"][path]["post"]["responses"]["202"]
    assert accepted["content"]["application/json"]["schema"] == {"$ref": f"#/components/schemas/{shape}"}


OLDER_SPELLING = "/api/v1/grids/{grid}/revisions/{a}..{b}"
"""Served as /difference is, and not described: its template would match what that of a revision matches."""


REDIRECTS = [
    "patch /api/v1/projects/{project}/grid/cells",
    "delete /api/v1/projects/{project}/grid",
    "post /api/v1/projects/{project}/grid/restore",
    *(f"get /api/v1/projects/{{project}}/grid.{form}" for form in ("csv", "md", "txt")),
]
"""Told in the description of the grid by its names."""


def spelled(rule: str) -> Iterator[str]:
    """The paths of a rule as the document writes them, one for each word of a list."""
    before, opening, rest = rule.partition("<")
    if not opening:
        yield rule
        return
    inside, _, after = rest.partition(">")
    converter, _, name = inside.rpartition(":")
    words = converter.removeprefix("any(").removesuffix(")").split(",") if converter.startswith("any(") else None
    for one in words or [f"{{{name}}}"]:
        yield from spelled(f"{before}{one}{after}")


def test_every_route_of_the_application_is_described(
    document: dict[str, Any], client_view: dict[str, Any], house: House
) -> None:
    described = {name for one in (document, client_view) for name, _ in operations(one)}
    missing = [
        f"{method.lower()} {path}"
        for rule in house.app.url_map.iter_rules()
        if rule.rule.startswith("/api/")
        for path in spelled(rule.rule)
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if f"{method.lower()} {path}" not in described
    ]
    assert {one for one in missing if not one.endswith(".json")} == {f"get {OLDER_SPELLING}", *REDIRECTS}


def test_the_forms_of_a_resource_are_said_where_it_is_described(document: dict[str, Any]) -> None:
    about = document["paths"]["/api/v1/grids/{grid}/cells"]["get"]["description"]
    assert "`.json`, `.txt`, `.md`, `.csv`, `.ndjson`, `.parquet`, `.arrow`" in about


def test_the_view_for_clients_has_one_media_type_an_answer(client_view: dict[str, Any]) -> None:
    for name, operation in operations(client_view):
        bodies = operation.get("requestBody", {}).get("content", {"application/json": None})
        answers = [one.get("content", {}) for status, one in operation["responses"].items() if status == "200"]
        assert list(bodies) == ["application/json"], name
        assert all(len(content) == 1 for content in answers), name


def test_no_two_paths_of_the_view_for_clients_match_the_same_request(client_view: dict[str, Any]) -> None:
    templates = [re.sub(r"\{\w+\}", "{}", path) for path in client_view["paths"]]
    assert len(set(templates)) == len(templates)
    assert [path for path in client_view["paths"] if "{suffix}" in path or "{form}" in path or "}..{" in path] == []


def undescribed(schemas: dict[str, Any]) -> Iterator[str]:
    """Every field that has no description, neither of its own nor of the component that it refers to."""

    def walk(schema: dict[str, Any], path: str) -> Iterator[str]:
        for name, field in schema.get("properties", {}).items():
            refers = "$ref" in field or any("$ref" in one for one in field.get("anyOf", []))
            if not field.get("description") and not refers:
                yield f"{path}.{name}"
            yield from walk(field, f"{path}.{name}")
        inner = [schema[key] for key in ("items", "additionalProperties") if isinstance(schema.get(key), dict)]
        for one in [*inner, *schema.get("anyOf", []), *schema.get("allOf", []), *schema.get("oneOf", [])]:
            yield from walk(one, path)

    for name, schema in schemas.items():
        if not schema.get("description"):
            yield name
        yield from walk(schema, name)


def test_no_schema_and_no_field_lacks_a_description(document: dict[str, Any]) -> None:
    assert list(undescribed(document["components"]["schemas"])) == []


def test_no_parameter_lacks_a_description(document: dict[str, Any]) -> None:
    inline = [
        one for _, operation in operations(document) for one in operation.get("parameters", []) if "$ref" not in one
    ]
    shared = document["components"]["parameters"].values()
    without = {one["name"] for one in [*inline, *shared] if not one.get("description") and one["in"] != "path"}
    assert without == set()


def test_another_view_is_refused(house: House) -> None:
    answer = house.call("GET", "/openapi.json?view=clients")
    assert answer.status_code == 422
    assert answer.get_json()["errors"] == [{"pointer": "/view", "detail": "must be one of whole, client"}]


def test_the_document_is_small_enough_to_be_read(house: House, document: dict[str, Any]) -> None:
    """What each operation may add was 250,000 bytes for 56; what operations share must not be written twice."""
    assert len(house.call("GET", "/openapi.yaml").data) <= 4_464 * len(list(operations(document)))


def test_a_reader_sees_first_what_the_document_and_an_operation_are(document: dict[str, Any], house: House) -> None:
    assert list(document)[:5] == ["openapi", "info", "servers", "paths", "components"]
    assert document["info"]["version"] == __version__
    for name, operation in operations(document):
        assert next(iter(operation)) == "summary", name


def test_every_operation_and_every_schema_says_what_it_is(document: dict[str, Any]) -> None:
    assert [name for name, operation in operations(document) if not operation.get("description")] == []


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
