"""The web process's own role in the database: it can do all that the API does, and changes no table and no revision."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlalchemy import create_engine, make_url, text
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from migrations.grants import grant_web_role
from registry import create_app
from registry.errors import Misconfigured
from registry.settings import Settings, driver_url
from registry.storage.database import Database
from tests.house import House
from tests.registry.test_access import OPERATIONS, Scene, _scene

PASSWORD = "only-for-this-test"


@pytest.fixture(scope="module")
def role() -> str:
    return f"registry_web_{uuid.uuid4().hex[:8]}"


@pytest.fixture
def web_url(own_database_url: str, role: str) -> Iterator[str]:
    grant_web_role(own_database_url, role, PASSWORD)
    url = make_url(driver_url(own_database_url)).set(username=role, password=PASSWORD)
    yield url.render_as_string(hide_password=False)
    owner = create_engine(driver_url(own_database_url), isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with owner.connect() as connection:
        connection.execute(text(f"DROP OWNED BY {role}"))
        connection.execute(text(f"DROP ROLE {role}"))


@pytest.fixture
def scene(settings: Settings, own_database_url: str, web_url: str) -> Iterator[Scene]:
    """An application that logs in as the role; what the workers do is done by the owner."""
    owner = replace(settings, database_url=own_database_url)
    web = replace(settings, database_url=web_url)
    database = Database(owner, name="tests")
    yield _scene(House(create_app(web), database, owner), "private")
    database.close()


def test_every_operation_of_the_api_works_with_the_role(scene: Scene) -> None:
    answers = {}
    last = ("delete", "/api/v1/projects/{project}")
    # What is deleted is not there for the others.
    for method, path in [*sorted((one for one in OPERATIONS if one != last), key=lambda one: one[0] == "delete"), last]:
        if (method, path) != ("delete", "/api/v1/grids/{grid}"):
            answers[method, path] = scene.call("operator", method, path)
    failed = {one: answer.text for one, answer in answers.items() if answer.status_code >= 500}
    assert failed == {}
    done = [answer.status_code for answer in answers.values()]
    assert len([status for status in done if status < 300]) > 0.9 * len(done), done


def test_a_grid_is_published_amended_and_deleted_with_the_role(scene: Scene) -> None:
    key = {"Idempotency-Key": "once"}
    first = scene.project.publish(headers=key)
    assert (first.status_code, scene.project.publish(headers=key).status_code) == (201, 201)
    grid = first.get_json()["id"]
    assert scene.project.call("DELETE", f"grids/{grid}").status_code == 204
    assert scene.project.publish().status_code == 201


def test_old_statistics_are_made_due_with_the_role(scene: Scene) -> None:
    project, grid = scene.project, scene.names["grid"]
    project.house.compute()
    job = (
        "SELECT state FROM derivations d JOIN grids g ON g.id = d.grid_id AND g.revision = d.revision WHERE g.id = :id"
    )
    for prepare in ("UPDATE derivations SET state = 'ready'", "DELETE FROM derivations"):
        with project.house.database.transaction() as connection:
            connection.execute(text(prepare))
            connection.execute(text("UPDATE statistics SET methods_version = '0'"))
        assert project.get(f"grids/{grid}/statistics").status_code == 200
        with project.house.database.reading() as connection:
            assert connection.scalar(text(job), {"id": grid}) == "pending"


@pytest.mark.parametrize(
    "forbidden",
    [
        "UPDATE stored_revisions SET cell_count = 0",
        "DELETE FROM stored_revisions",
        "DELETE FROM revisions",
        "TRUNCATE stored_revisions CASCADE",
        "SET registry.purging = 'on'; DELETE FROM stored_revisions",
        "SET registry.purging = 'on'; DELETE FROM revisions",
        "UPDATE shapes SET axes = '[]'",
        "SET registry.purging = 'on'; DELETE FROM shapes",
        "UPDATE audit_log SET action = ''",
        "DELETE FROM audit_log",
        "CREATE TABLE mine (id int)",
        "ALTER TABLE grids ADD COLUMN mine int",
        "DROP TABLE statistics",
        "DROP TRIGGER stored_revisions_are_never_changed ON stored_revisions",
        "ALTER TABLE stored_revisions DISABLE TRIGGER ALL",
        "UPDATE alembic_version SET version_num = '0000'",
        "CREATE ROLE another",
    ],
)
def test_the_role_changes_no_table_and_no_revision(web_url: str, forbidden: str) -> None:
    engine = create_engine(driver_url(web_url), poolclass=NullPool)
    with pytest.raises(DBAPIError, match=r"permission denied|must be owner"), engine.begin() as connection:
        connection.execute(text(forbidden))


def test_a_role_with_other_rights_is_refused(own_database_url: str) -> None:
    """The owner of the tables cannot be held back by grants."""
    owner = make_url(own_database_url).username
    assert owner is not None
    with pytest.raises(Misconfigured, match="by other means"):
        grant_web_role(own_database_url, owner)
