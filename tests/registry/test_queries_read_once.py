"""A query that was asked before is not read again, and still means what it says."""

from __future__ import annotations

from typing import Any
from unittest.mock import patch

from marshmallow import Schema

from registry.api.arguments import LONGEST_KEPT, MOST_KEPT
from tests.house import Project


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


def test_the_same_query_of_another_resource_is_another_query(project: Project) -> None:
    project.published()
    assert project.get(f"projects/{project.slug}/grids?limit=1").status_code == 200
    assert project.get(f"projects/{project.slug}/rankings?limit=1").status_code == 422
    assert project.get(f"projects/{project.slug}/grids?limit=1").status_code == 200


def test_a_query_with_a_fault_is_refused_every_time(project: Project) -> None:
    for _ in range(2):
        assert project.get(f"projects/{project.slug}/grids?limit=0").status_code == 422
        assert project.get(f"projects/{project.slug}/grids?nothing=1").status_code == 422


def test_what_is_kept_of_queries_is_bounded(house: Any, project: Project) -> None:
    kept = house.app.extensions["registry"].read_queries
    for number in range(MOST_KEPT + 50):
        assert listed(project, f"model=m{number}") == []
    assert len(kept) <= MOST_KEPT
    known = set(kept)
    long = "&".join(f"model={letter * 190}" for letter in "ab")
    assert len(long) > LONGEST_KEPT
    assert listed(project, long) == []
    assert set(kept) == known
