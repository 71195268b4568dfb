"""The OpenAPI document: valid, complete, the same as what is served, and the shape of the answers."""

import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml
from jsonschema import Draft202012Validator

from registry.api.openapi import openapi_for_clients
from registry.api.shapes import COMPONENTS
from registry.demo import demo_grids
from registry.grids.grid import Axis, Grid, Level, Metric
from registry.grids.intake import Limits, read_submission
from registry.results.codec import from_document, to_document
from registry.results.statistics import GridStatistics
from registry.storage.rows import axis_document, metric_document
from results_registry import __version__
from tests.house import House
from workers.statistics import describe

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


def test_it_is_the_same_as_yaml_small_enough_to_be_read_and_begins_with_what_it_is(
    document: dict[str, Any], house: House
) -> None:
    """What operations share must not be written twice."""
    written = house.call("GET", "/openapi.yaml").text
    assert yaml.load(written, getattr(yaml, "CSafeLoader", yaml.SafeLoader)) == document  # noqa: S506 (both are safe)
    assert len(written.encode()) <= 425_000
    assert list(document)[:5] == ["openapi", "info", "servers", "paths", "components"]
    assert (document["openapi"][:3], document["info"]["version"]) == ("3.1", __version__)
    assert len(list(operations(document))) <= 90
    assert len(document["components"]["schemas"]) <= 220


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


def test_every_operation_says_what_it_does_and_how_it_fails(document: dict[str, Any]) -> None:
    for name, operation in operations(document):
        assert next(iter(operation)) == "summary", name
        assert operation["summary"], name
        assert operation.get("description"), name
        assert "default" in operation["responses"] or "503" in operation["responses"], name
        assert any(status.startswith("2") for status in operation["responses"]), name


def unknown_fields(value: Any, schema: Any, document: dict[str, Any], place: str) -> Iterator[str]:
    """Fields of an example that its schema does not have."""
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    if isinstance(value, list):
        for one in value:
            yield from unknown_fields(one, schema.get("items", {}), document, place)
    known = schema.get("properties")
    if isinstance(value, dict) and known and "allOf" not in schema and not schema.get("additionalProperties"):
        yield from (f"{place}.{name}" for name in value.keys() - known.keys())
        for name in value.keys() & known.keys():
            yield from unknown_fields(value[name], known[name], document, f"{place}.{name}")


def test_examples_have_no_field_that_is_not_described(client_view: dict[str, Any]) -> None:
    """They are recorded answers: `python -m tests.record_examples` records them anew."""
    schemas = client_view["components"]["schemas"]
    examples = {name: one["value"] for name, one in client_view["components"]["examples"].items() if name in schemas}
    assert len(examples) >= 20
    for name, value in examples.items():
        assert list(unknown_fields(value, schemas[name], client_view, name)) == []


def spelled(rule: str) -> Iterator[str]:
    """The paths of a rule as the document writes them, one for each form."""
    before, opening, rest = rule.partition("<")
    if not opening:
        yield rule
        return
    inside, _, after = rest.partition(">")
    converter, _, name = inside.rpartition(":")
    words = (
        converter.removeprefix("any(").removesuffix(")").split(",")
        if converter.startswith("any(") and name != "kind"
        else None
    )
    for one in words or [f"{{{name}}}"]:
        yield from spelled(f"{before}{one}{after}")


def test_every_route_of_the_application_is_described(
    document: dict[str, Any], client_view: dict[str, Any], house: House
) -> None:
    described = {name for one in (document, client_view) for name, _ in operations(one)}
    missing = [
        f"{method.lower()} {path}"
        for rule in house.app.url_map.iter_rules()
        if rule.rule.startswith("/api/") and not rule.endpoint.startswith("moved.")
        for path in spelled(rule.rule)
        for method in (rule.methods or set()) - {"HEAD", "OPTIONS"}
        if f"{method.lower()} {path}" not in described
    ]
    assert {one for one in missing if not one.endswith(".json")} == set()


def test_what_a_client_need_not_send_is_not_required_by_the_types_of_openapi_typescript(
    client_view: dict[str, Any],
) -> None:
    """It takes a property with a default for one that is always there."""
    for name, schema in client_view["components"]["schemas"].items():
        assert [one for one, said in schema.get("properties", {}).items() if "default" in said] == [], name


def test_the_view_for_clients_has_one_media_type_an_answer_and_one_path_a_request(client_view: dict[str, Any]) -> None:
    for name, operation in operations(client_view):
        bodies = operation.get("requestBody", {}).get("content", {"application/json": None})
        answers = [one.get("content", {}) for status, one in operation["responses"].items() if status == "200"]
        assert list(bodies) == ["application/json"], name
        assert all(len(content) == 1 for content in answers), name
    templates = [re.sub(r"\{\w+\}", "{}", path) for path in client_view["paths"]]
    assert len(set(templates)) == len(templates)
    assert [path for path in client_view["paths"] if "{suffix}" in path or "{form}" in path or "}..{" in path] == []


def undescribed(schemas: dict[str, Any]) -> Iterator[str]:
    """Every field that has no description, neither of its own nor of the component that it refers to."""

    def walk(schema: dict[str, Any], path: str) -> Iterator[str]:
        for name, field in schema.get("properties", {}).items():
            refers = "$ref" in field or any("$ref" in one or "description" in one for one in field.get("anyOf", []))
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


def unions(node: Any) -> Iterator[list[Any]]:
    """Every `anyOf` and `oneOf`."""
    if isinstance(node, dict):
        yield from (node[key] for key in ("anyOf", "oneOf") if isinstance(node.get(key), list))
    for one in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from unions(one)


def test_generators_can_tell_what_the_view_for_clients_has(client_view: dict[str, Any]) -> None:
    """Two names in other letters are one type to some, and lists of two depths one branch."""
    components = client_view["components"]
    for kind, found in components.items():
        assert len({name.lower() for name in found}) == len(found), kind
    for union in unions(client_view):
        members = [components["schemas"][one["$ref"].rpartition("/")[2]] if "$ref" in one else one for one in union]
        assert sum(one.get("type") == "array" for one in members) <= 1, union


def test_no_schema_field_or_parameter_lacks_a_description(document: dict[str, Any]) -> None:
    assert list(undescribed(document["components"]["schemas"])) == []
    inline = [one for _, operation in operations(document) for one in operation.get("parameters", [])]
    shared = document["components"]["parameters"].values()
    described = [one for one in [*inline, *shared] if "$ref" not in one and one["in"] != "path"]
    assert {one["name"] for one in described if not one.get("description")} == set()


def test_another_view_is_refused(house: House) -> None:
    answer = house.call("GET", "/openapi.json?view=clients")
    assert answer.status_code == 422
    assert answer.get_json()["errors"] == [{"pointer": "/view", "detail": "must be one of whole, client"}]


def is_page(document: dict[str, Any], schema: dict[str, Any]) -> bool:
    named = document["components"]["schemas"].get(schema.get("$ref", "").rpartition("/")[2], schema)
    return {"items", "next"} <= named.get("properties", {}).keys()


def test_every_body_and_every_answer_has_an_example(document: dict[str, Any]) -> None:
    without = []
    for name, operation in operations(document):
        contents = {"body": operation.get("requestBody", {}).get("content", {})}
        contents |= {s: r.get("content", {}) for s, r in operation["responses"].items() if s.startswith("2")}
        for place, content in contents.items():
            json_content = content.get("application/json")
            if json_content is None or is_page(document, json_content["schema"]):
                continue  # of what a page has there is an example elsewhere
            if json_content.get("example") is None and not json_content.get("examples"):
                without.append(f"{name} {place}")
    assert without == []


def test_the_document_is_readable_as_a_page(house: House) -> None:
    page = house.call("GET", "/docs").text
    assert "/api/v1/projects/{project}/grids" in page
    assert page.count("<script") == page.count('<script src="/assets/')


OPEN, PERCENT = Metric("a", None, "higher"), Metric("a", "%", "higher", 0, 100)


def numeric(size: int, name: str = "x") -> Axis:
    return Axis(name, "numeric", tuple(Level(str(i), float(i)) for i in range(size)))


def noisy(*shape: int) -> Grid:
    """A grid of losses with standard errors."""
    chance = random.Random(1)
    axes = tuple(numeric(size, f"x{i}") for i, size in enumerate(shape))
    values: list[float] = [1.0]
    for size in shape:
        values = [chance.random() for _ in values for _ in range(size)]
    return Grid(Metric("loss", None, "lower", 0), axes, tuple(values), None, tuple(0.1 for _ in values))


GRIDS = {
    "one number": Grid(OPEN, (), (1.0,)),
    "no number": Grid(OPEN, (), (None,)),
    "one axis with a gap": Grid(OPEN, (numeric(5),), (1.0, 2.0, None, 2.0, 5.0)),
    "an axis without levels": Grid(OPEN, (numeric(0),), ()),
    "a nominal axis": Grid(OPEN, (Axis("w", "nominal", (Level("a"), Level("b"))),), (1.0, 2.0)),
    "no better end": Grid(Metric("a"), (Axis("w", "ordinal", (Level("a"), Level("b"), Level("c"))),), (1.0, 2.0, 3.0)),
    "three axes with errors": noisy(4, 3, 2),
    "four axes with errors": noisy(3, 2, 2, 2),
    "separated successes": Grid(PERCENT, (numeric(4),), (0.0, 0.0, 100.0, 100.0), 10),
    "all equal with trials": Grid(PERCENT, (numeric(3),), (50.0, 50.0, 50.0), 10),
    "astronomic": Grid(OPEN, (numeric(3),), (1e300, 2.0, 3.0)),
    "repeats": Grid(OPEN, (numeric(3),), (1.0, 2.0, 3.0), repeats=(3, 3, None), sd=(0.1, 0.2, None)),
} | {
    f"of document {sent['labels']['seed']}": read_submission({"axes": []} | sent, Limits()).grid
    for sent in demo_grids()
}

HEAD = {
    "grid": "0193a1b2-0000-7000-8000-000000000000",
    "revision": 1,
    "digest": "sha256:" + "0" * 64,
    "state": "ready",
    "methods_version": "1",
    "computed_at": "2026-11-22T00:00:00Z",
}


def test_a_description_has_the_promised_shape_and_no_other_field_and_is_read_as_it_was_written(
    house: House, subtests: pytest.Subtests
) -> None:
    to_clients = openapi_for_clients(house.app)["components"]["schemas"]
    checks = [
        Draft202012Validator({"$ref": "#/components/schemas/Statistics", "components": {"schemas": schemas}})
        for schemas in (COMPONENTS, to_clients)
    ]
    for name, grid in GRIDS.items():
        with subtests.test(name):
            statistics = describe(grid)
            described = to_document(statistics)
            told = {"metric": metric_document(grid.metric), "axes": [axis_document(axis) for axis in grid.axes]}
            written = orjson.dumps(described)
            document = HEAD | told | orjson.loads(written)
            for check in checks:
                faults = [f"{list(one.absolute_path)}: {one.message}" for one in check.iter_errors(document)]
                assert faults == [], check.schema["$ref"]
            assert described.keys() <= COMPONENTS["Statistics"]["properties"].keys()
            for series in described["series"]:
                assert series.keys() <= COMPONENTS["Series"]["properties"].keys()
            for part, shape in (("peaks", "Peaks"), ("coverage", "Coverage"), ("sensitivity", "Sensitivity")):
                assert described[part].keys() <= COMPONENTS[shape]["properties"].keys()
            again = from_document(GridStatistics, orjson.loads(written))
            assert orjson.dumps(to_document(again)) == written
            assert (again.series, again.peaks) == (statistics.series, statistics.peaks)
