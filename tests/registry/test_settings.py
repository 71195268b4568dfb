"""Settings do what they say: each is read somewhere, and each limit is one."""

from __future__ import annotations

import ast
import gzip
import json
from collections.abc import Callable
from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import TestResponse

from registry import create_app
from registry.settings import Settings
from tests.house import House, Project, publication

ROOT = Path(__file__).resolve().parents[2]

Act = Callable[[Project], TestResponse]


def publish(**changes: Any) -> Act:
    return lambda project: project.publish(publication(**changes))


def packed(project: Project) -> TestResponse:
    body = gzip.compress(json.dumps(publication()).encode())
    headers = {"Content-Encoding": "gzip"}
    path = f"projects/{project.slug}/grids"
    return project.call("POST", path, data=body, content_type="application/json", headers=headers)


def batch(project: Project) -> TestResponse:
    return project.call("POST", f"projects/{project.slug}/grids/batch", json=[publication(), publication(model="b")])


def outcomes(project: Project) -> TestResponse:
    made = project.published(axes=[], values=100.0, trials=None)
    sent = {"set": {"name": "x", "count": 3, "digest": "ab" * 32}, "cells": [{"at": {}, "outcomes": [1, 1, 1]}]}
    return project.call("POST", f"grids/{made['id']}/items", json=sent)


LIMITS: list[tuple[str, Any, Act, int]] = [
    ("max_cells", 5, publish(), 422),
    ("max_levels", 2, publish(), 422),
    ("max_body", 100, publish(), 413),
    ("max_inflated", 100, packed, 413),
    ("max_batch", 1, batch, 422),
    ("max_labels", 1, publish(labels={"a": "b", "c": "d"}), 422),
    ("max_label_length", 3, publish(labels={"a": "bcde"}), 422),
    ("max_name", 10, publish(), 422),
    ("max_outcomes", 2, outcomes, 422),
    ("max_description", 3, publish(description="four"), 422),
]


def having(house: House, **changes: Any) -> Project:
    """A project of an application with other settings."""
    other = replace(house.settings, **changes)
    return House(create_app(other), house.database, other).make_project()


@pytest.mark.parametrize(("name", "value", "act", "status"), LIMITS, ids=[name for name, *_ in LIMITS])
def test_a_limit_is_one_and_is_told(
    house: House, project: Project, name: str, value: Any, act: Act, status: int
) -> None:
    assert act(project).status_code in (200, 201)
    limited = having(house, **{name: value})
    assert act(limited).status_code == status
    assert limited.get("limits").get_json()[name] == value


def test_nobody_waits_longer_than_the_longest_wait(house: House) -> None:
    project = having(house, max_wait=1)
    grid = project.published()["id"]
    house.compute()
    answer = project.get(f"grids/{grid}/statistics", headers={"Prefer": "wait=999"})
    assert answer.headers["Preference-Applied"] == "wait=1"


def test_a_token_lives_for_the_days_that_are_usual(house: House) -> None:
    project = having(house, token_days=3)
    made = project.call("POST", f"projects/{project.slug}/tokens", "admin", json={"name": "x"}).get_json()
    lives = datetime.fromisoformat(made["expires_at"]) - datetime.now(UTC)
    assert timedelta(days=2) < lives <= timedelta(days=3)


def test_an_export_of_more_cells_is_sent_whole(house: House) -> None:
    project = having(house, max_range_cells=4)
    grid = project.published()["id"]
    answer = project.get(f"grids/{grid}/cells.csv", headers={"Range": "bytes=0-1"})
    assert (answer.status_code, answer.headers["Accept-Ranges"]) == (200, "none")


def test_addresses_begin_with_the_public_one(house: House) -> None:
    project = having(house, public_url="https://results.example.org/")
    assert project.published()["html_url"].startswith("https://results.example.org/grids/")


def test_every_setting_is_read_somewhere() -> None:
    read = set()
    for directory in ("registry", "workers", "migrations", "deploy"):
        for path in (ROOT / directory).rglob("*.py"):
            tree = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            read |= {node.attr for node in tree if isinstance(node, ast.Attribute)}
    assert {field.name for field in fields(Settings)} - read == set()


def test_every_setting_stands_in_the_manual() -> None:
    manual = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
    assert [name for name in Settings().environment() if f"`{name}`" not in manual] == []
