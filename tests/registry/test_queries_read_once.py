"""A query that was asked before is not read again, and still means what it says."""

from __future__ import annotations

from unittest.mock import patch

import pytest
from marshmallow import Schema

from registry.api import arguments
from tests.house import House, Project


def listed(project: Project, query: str) -> list[str]:
    answer = project.get(f"projects/{project.slug}/grids?{query}")
    assert answer.status_code == 200, answer.text
    return [one["model"] for one in answer.get_json()["items"]]


def test_a_query_is_read_once_and_answers_alike(project: Project) -> None:
    for model in "ab":
        project.published(model=model)
    first = listed(project, "model=a&sort=model")
    with patch.object(Schema, "load", side_effect=AssertionError("read again")):
        assert listed(project, "model=a&sort=model") == first == ["a"]
    assert listed(project, "model=b&sort=model") == ["b"]
    assert listed(project, "model=a&model=b&sort=model") == ["a", "b"]


def test_a_query_is_of_one_resource_and_refused_every_time(project: Project) -> None:
    project.published()
    assert project.get(f"projects/{project.slug}/grids?limit=1").status_code == 200
    assert project.get(f"projects/{project.slug}/rankings?limit=1").status_code == 422
    for _ in range(2):
        assert project.get(f"projects/{project.slug}/grids?limit=1").status_code == 200
        assert project.get(f"projects/{project.slug}/grids?limit=0").status_code == 422
        assert project.get(f"projects/{project.slug}/grids?nothing=1").status_code == 422


def test_what_is_kept_of_queries_is_bounded(house: House, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arguments, "MOST_KEPT", 10)
    kept = house.app.extensions["registry"].read_queries
    kept.clear()
    for number in range(25):
        assert listed(project, f"model=m{number}") == []
        assert 0 < len(kept) <= 10
    known = set(kept)
    long = "&".join(f"model={letter * 190}" for letter in "ab")
    assert len(long) > arguments.LONGEST_KEPT
    assert listed(project, long) == []
    assert set(kept) == known
