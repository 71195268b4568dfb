"""When the database drops connections: a clean 503 that says to repeat, and the next request is answered."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlalchemy import create_engine, text
from sqlalchemy.pool import NullPool

from registry import create_app
from registry.settings import Settings, driver_url
from registry.storage.database import Database
from tests.house import House, Project


@pytest.fixture
def fragile(settings: Settings, own_database_url: str) -> Iterator[House]:
    """An application on a database of its own, whose connections may be cut."""
    own = replace(settings, database_url=own_database_url)
    database = Database(own, name="tests")
    yield House(create_app(own), database, own)
    database.close()


def cut(house: House) -> None:
    """End every connection to the database, as a restart of the server does."""
    engine = create_engine(driver_url(house.settings.database_url), poolclass=NullPool)
    with engine.connect() as connection:
        others = "datname = current_database() AND pid <> pg_backend_pid()"
        connection.execute(text(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE {others}"))


@pytest.mark.parametrize("what", ["a project", "a grid", "statistics", "a ranking", "a publication"])
def test_a_cut_connection_is_503_once_and_then_all_is_well(fragile: House, what: str) -> None:
    project: Project = fragile.make_project()
    grid = project.published()
    fragile.compute()

    def send() -> int:
        if what == "a publication":
            return project.publish().status_code
        paths = {
            "a project": f"projects/{project.slug}",
            "a grid": f"grids/{grid['id']}",
            "statistics": f"grids/{grid['id']}/statistics",
            "a ranking": f"projects/{project.slug}/rankings?experiment=type-by-length&metric=accuracy",
        }
        return project.get(paths[what]).status_code

    assert send() == 200
    cut(fragile)
    seen = [send() for _ in range(4)]
    assert set(seen) <= {200, 503}
    assert seen[-1] == 200
    assert fragile.call("GET", "/healthz").status_code == 200


def test_a_database_that_is_away_is_503_with_a_time_to_come_back(settings: Settings) -> None:
    away = replace(settings, database_url="postgresql://127.0.0.1:1/nowhere")
    answer = create_app(away).test_client().get("/api/v1/projects")
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "2")
    assert answer.content_type == "application/problem+json"
    metrics = create_app(away).test_client().get("/metrics").get_data(as_text=True)
    assert "registry_database_up 0.0" in metrics
