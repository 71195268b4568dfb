"""Each limit is a setting: it holds, /limits tells it, and the document that the application serves says it."""

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from werkzeug.test import TestResponse

from registry import create_app
from registry.api.openapi_schemas import looked_up
from tests.house import House, Project, publication

SMALL = {
    "max_cells": 6, "max_levels": 3, "max_body": 4_000, "max_inflated": 6_000, "max_batch": 2, "max_labels": 2,
    "max_label_length": 5, "max_name": 25, "max_description": 30, "max_outcomes": 4, "max_wait": 0, "max_page": 3,
}  # fmt: skip


@pytest.fixture(scope="module")
def small(house: House) -> Project:
    """A project behind an application whose limits are all small."""
    return replace(house, app=create_app(replace(house.settings, **SMALL))).make_project()


Send = Callable[[Project, int], TestResponse]


def _publish(**changes: Callable[[int], Any]) -> Send:
    """A publication of which some fields depend on a number."""
    return lambda project, n: project.publish(publication(**{name: make(n) for name, make in changes.items()}))


def _line(n: int) -> list[dict[str, Any]]:
    return [{"name": "A", "kind": "nominal", "levels": [*map(str, range(n))]}]


def _plane(n: int) -> list[dict[str, Any]]:
    return [*_line(n), {"name": "B", "kind": "nominal", "levels": ["0", "1"]}]


def _padded(size: int) -> str:
    return json.dumps(publication()).ljust(size)


def _body(project: Project, size: int) -> TestResponse:
    path = f"projects/{project.slug}/grids"
    return project.call("POST", path, data=_padded(size), content_type="application/json")


def _inflated(project: Project, size: int) -> TestResponse:
    headers = {"Content-Encoding": "gzip", "Content-Type": "application/json"}
    sent = gzip.compress(_padded(size).encode())
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


CASES: dict[str, tuple[Send, int, int]] = {
    # What sends so many, how many are allowed, and the status of one more.
    "max_cells": (_publish(axes=_plane, values=lambda n: [[1, 2]] * n), 3, 422),
    "max_levels": (_publish(axes=_line, values=lambda n: [1] * n), 3, 422),
    "max_body": (_body, 4_000, 413),
    "max_inflated": (_inflated, 6_000, 413),
    "max_batch": (_batch, 2, 422),
    "max_labels": (_publish(labels=lambda n: {str(place): "" for place in range(n)}), 2, 422),
    "max_label_length": (_publish(labels=lambda n: {"a": "x" * n}), 5, 422),
    "max_name": (_publish(model=lambda n: "x" * n), 25, 422),
    "max_description": (_publish(description=lambda n: "x" * n), 30, 422),
    "max_outcomes": (_outcomes, 4, 422),
    "max_page": (_page, 3, 422),
}


def test_a_limit_that_was_set_is_told_and_holds(small: Project, subtests: pytest.Subtests) -> None:
    told = small.get("limits").get_json()
    assert {name: value for name, value in told.items() if name.startswith("max_")} == SMALL
    assert CASES.keys() == SMALL.keys() - {"max_wait"}
    for name, (send, most, refused) in CASES.items():
        with subtests.test(msg=name):
            assert send(small, most).status_code in (200, 201)
            answer = send(small, most + 1)
            assert (answer.status_code, str(most) in answer.get_json()["detail"]) == (refused, True)
    grid = small.published(model="waited for")
    answer = small.get(f"grids/{grid['id']}/statistics", headers={"Prefer": "wait=3600"})
    assert answer.status_code == 202


def test_a_page_is_no_longer_than_the_limit_where_nothing_is_said(small: Project) -> None:
    for model in "abcde":
        assert small.publish(publication(model=model)).status_code == 201
    first = small.get(f"projects/{small.slug}/grids").get_json()
    assert (len(first["items"]), first["next"] is None) == (3, False)


def test_the_document_says_the_limits_of_the_application_that_serves_it(house: House, small: Project) -> None:
    document = small.get("/openapi.json").get_json()
    grid = document["components"]["schemas"]["GridIn"]["properties"]
    names = (looked_up(document, one) for one in (grid["model"], grid["derived"]["anyOf"][1]["items"]))
    assert [one["maxLength"] for one in names] == [25, 25]
    assert (grid["labels"]["maxProperties"], grid["labels"]["additionalProperties"]["maxLength"]) == (2, 5)

    def body(method: str, path: str) -> Any:
        return document["paths"][path][method]["requestBody"]["content"]["application/json"]["schema"]

    assert body("post", "/api/v1/projects/{project}/grids/batch")["maxItems"] == 2
    assert body("patch", "/api/v1/grids/{grid}/cells")["properties"]["cells"]["minItems"] == 1
    for one, page, name in ((document, 3, 25), (house.app.extensions["openapi"], 1000, 200)):
        assert one["components"]["schemas"]["Level"]["anyOf"][0]["maxLength"] == name
        given = one["paths"]["/api/v1/projects/{project}/grids"]["get"]["parameters"]
        [limit] = [found["schema"] for found in (looked_up(one, part) for part in given) if found["name"] == "limit"]
        assert (limit["minimum"], limit["maximum"], limit["default"]) == (1, page, min(page, 100))
