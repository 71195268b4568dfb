"""Each limit is a setting: it holds, /limits tells it, and the document that the application serves says it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest
from werkzeug.test import TestResponse

from registry import create_app
from registry.api.openapi_references import looked_up
from registry.settings import Settings
from tests.house import House, Project, publication

SMALL = {
    "max_cells": 6, "max_levels": 3, "max_body": 4_000, "max_inflated": 6_000, "max_batch": 2, "max_labels": 2,
    "max_label_length": 5, "max_name": 25, "max_description": 30, "max_outcomes": 4, "max_wait": 0, "max_page": 3,
}  # fmt: skip


@pytest.fixture(scope="module")
def small(house: House) -> Project:
    """A project behind an application whose limits are all small."""
    settings = replace(house.settings, **SMALL)
    return House(create_app(settings), house.database, settings).make_project()


def test_the_limits_are_told_as_they_were_set(small: Project) -> None:
    told = small.get("limits").get_json()
    assert {name: told[name] for name in SMALL} == SMALL
    assert set(SMALL) == {name for name in told if name.startswith("max_")}


@dataclass(frozen=True)
class Case:
    """Two requests, one at the limit and one beyond it, and the status of the second."""

    send: Callable[[Project, int], TestResponse]
    most: int
    refused: int = 422


def _publish(**changes: Callable[[int], Any]) -> Callable[[Project, int], TestResponse]:
    """A publication of which some fields depend on a number."""
    return lambda project, n: project.publish(publication(**{name: make(n) for name, make in changes.items()}))


def _line(n: int) -> list[dict[str, Any]]:
    return [{"name": "A", "kind": "nominal", "levels": [*map(str, range(n))]}]


def _plane(n: int) -> list[dict[str, Any]]:
    return [
        {"name": name, "kind": "nominal", "levels": [*map(str, range(size))]} for name, size in (("A", n), ("B", 2))
    ]


def _body(project: Project, size: int) -> TestResponse:
    """A publication padded to so many bytes."""
    body = json.dumps(publication())
    path = f"projects/{project.slug}/grids"
    return project.call("POST", path, data=body + " " * (size - len(body)), content_type="application/json")


def _inflated(project: Project, size: int) -> TestResponse:
    body = json.dumps(publication())
    sent = gzip.compress((body + " " * (size - len(body))).encode())
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    return project.call("POST", f"projects/{project.slug}/grids", data=sent, headers=headers)


def _batch(project: Project, size: int) -> TestResponse:
    grids = [publication(model=str(n), axes=[], values=5) for n in range(size)]
    return project.call("POST", f"projects/{project.slug}/grids/batch", json=grids)


def _page(project: Project, size: int) -> TestResponse:
    return project.get(f"projects/{project.slug}/grids?limit={size}")


def _outcomes(project: Project, size: int) -> TestResponse:
    made = project.published(model=f"of {size} items", axes=[], values=100.0, trials=None)
    sent = {"set": {"name": "x", "count": size, "digest": "ab" * 32}, "cells": [{"at": {}, "outcomes": [1] * size}]}
    return project.call("POST", f"grids/{made['id']}/items", json=sent)


CASES = {
    "max_cells": Case(_publish(axes=_plane, values=lambda n: [[1, 2]] * n), 3),
    "max_levels": Case(_publish(axes=_line, values=lambda n: [1] * n), 3),
    "max_body": Case(_body, 4_000, 413),
    "max_inflated": Case(_inflated, 6_000, 413),
    "max_batch": Case(_batch, 2),
    "max_labels": Case(_publish(labels=lambda n: {str(place): "" for place in range(n)}), 2),
    "max_label_length": Case(_publish(labels=lambda n: {"a": "x" * n}), 5),
    "max_name": Case(_publish(model=lambda n: "x" * n), 25),
    "max_description": Case(_publish(description=lambda n: "x" * n), 30),
    "max_outcomes": Case(_outcomes, 4),
    "max_page": Case(_page, 3),
}


def test_every_limit_that_is_told_is_tried() -> None:
    assert CASES.keys() == SMALL.keys() - {"max_wait"}  # of which the test below is


@pytest.mark.parametrize("name", CASES)
def test_a_limit_that_was_set_holds(small: Project, name: str) -> None:
    case = CASES[name]
    assert case.send(small, case.most).status_code in (200, 201)
    assert case.send(small, case.most + 1).status_code == case.refused


def test_a_page_is_no_longer_than_the_limit_where_nothing_is_said(small: Project) -> None:
    for model in "abcde":
        assert small.publish(publication(model=model)).status_code == 201
    first = small.get(f"projects/{small.slug}/grids").get_json()
    assert (len(first["items"]), first["next"] is None) == (3, False)


def test_nobody_waits_longer_than_the_limit(small: Project) -> None:
    grid = small.published(model="waited for")
    answer = small.get(f"grids/{grid['id']}/statistics", headers={"Prefer": "wait=3600"})
    assert answer.status_code == 202


def _parameter(document: dict[str, Any], path: str, name: str) -> dict[str, Any]:
    given = [looked_up(document, one) for one in document["paths"][path]["get"]["parameters"]]
    return next(one["schema"] for one in given if one.get("name") == name)


def test_the_document_says_the_limits_of_the_application_that_serves_it(small: Project) -> None:
    document = small.get("/openapi.json").get_json()
    schemas = document["components"]["schemas"]
    assert schemas["GridIn"]["properties"]["model"]["maxLength"] == 25
    assert schemas["GridIn"]["properties"]["derived"]["anyOf"][1]["items"]["maxLength"] == 25
    assert schemas["GridIn"]["properties"]["labels"]["maxProperties"] == 2
    assert schemas["GridIn"]["properties"]["labels"]["additionalProperties"]["maxLength"] == 5
    assert schemas["Level"]["anyOf"][0]["maxLength"] == 25
    assert schemas["BatchIn"]["maxItems"] == 2
    assert schemas["CellsIn"]["properties"]["cells"]["minItems"] == 1
    limit = _parameter(document, "/api/v1/projects/{project}/grids", "limit")
    assert (limit["minimum"], limit["maximum"], limit["default"]) == (1, 3, 3)


def test_the_usual_document_says_the_usual_limits() -> None:
    document = create_app(Settings()).extensions["openapi"]
    limit = _parameter(document, "/api/v1/projects/{project}/grids", "limit")
    assert (limit["maximum"], limit["default"]) == (1000, 100)
    assert document["components"]["schemas"]["Level"]["anyOf"][0]["maxLength"] == 200
