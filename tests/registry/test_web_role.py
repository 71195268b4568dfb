"""The web process's own role in the database: it can do all that the API does, and changes no table and no revision."""

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
from registry.operations.doctor_database import check_rights
from registry.settings import Settings, driver_url
from registry.storage.database import Database
from tests.house import House, publication
from tests.registry.test_access import OPERATIONS, Scene, _scene

PASSWORD = "only-for-this-test"


@pytest.fixture
def web_url(own_database_url: str) -> Iterator[str]:
    role = f"registry_web_{uuid.uuid4().hex[:8]}"
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
    web = replace(settings, database_url=web_url, max_wait=0)
    database = Database(owner, name="tests")
    yield _scene(House(create_app(web), database, owner), "private")
    database.close()


def test_every_operation_of_the_api_works_with_the_role(scene: Scene) -> None:
    project, grid, key = scene.project, scene.names["grid"], {"Idempotency-Key": "once"}
    assert [project.publish(publication(model="key"), headers=key).status_code for _ in range(2)] == [201, 201]
    project.house.compute()
    current = text(
        "SELECT state FROM derivations d JOIN grids g ON g.id = d.grid_id AND g.revision = d.revision WHERE g.id = :id"
    )
    for prepare in ("UPDATE derivations SET state = 'ready'", "DELETE FROM derivations"):
        with project.house.database.transaction() as connection:
            connection.execute(text(prepare))
            connection.execute(text("UPDATE statistics SET methods_version = '0'"))
        assert project.get(f"grids/{grid}/statistics").status_code == 200
        with project.house.database.reading() as connection:
            assert connection.scalar(current, {"id": grid}) == "pending", "old statistics are made due"
    answers = {}
    last = ("delete", "/api/v1/projects/{project}")
    # What is deleted is not there for the others.
    for method, path in [*sorted((one for one in OPERATIONS if one != last), key=lambda one: one[0] == "delete"), last]:
        if (method, path) != ("delete", "/api/v1/grids/{grid}"):
            answers[method, path] = scene.call("operator", method, path)
        else:
            made = project.published(model="deleted")["id"]
            assert project.call("DELETE", f"grids/{made}").status_code == 204
            assert project.published(model="deleted")["revision"] == 2
    # Nobody computes: what is no JSON says so with 503.
    pending = {one for one, answer in answers.items() if b"problem-pending" in answer.data}
    failed = {one: answer.text for one, answer in answers.items() if answer.status_code >= 500 and one not in pending}
    assert failed == {}
    done = {one: answer.status_code for one, answer in answers.items()}
    assert len([one for one, status in done.items() if status < 300 or one in pending]) > 0.9 * len(done), done


FORBIDDEN = [
    "UPDATE stored_revisions SET cell_count = 0",
    "DELETE FROM stored_revisions",
    "TRUNCATE stored_revisions CASCADE",
    "SET registry.purging = 'on'; DELETE FROM stored_revisions",
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
]


def test_the_role_changes_no_table_and_no_revision(web_url: str, subtests: pytest.Subtests) -> None:
    engine = create_engine(driver_url(web_url), poolclass=NullPool)
    for forbidden in FORBIDDEN:
        refused = pytest.raises(DBAPIError, match=r"permission denied|must be owner")
        with subtests.test(forbidden), refused, engine.begin() as connection:
            connection.execute(text(forbidden))


def test_the_doctor_names_each_right_that_the_role_lacks(own_database_url: str, web_url: str) -> None:
    role = make_url(web_url).username
    lost = {"INSERT": "arrivals", "SELECT": "grids", "UPDATE, DELETE": "aliases"}
    owner = create_engine(driver_url(own_database_url), poolclass=NullPool)
    for url in (own_database_url, web_url):
        with owner.connect() as connection:
            seen = create_engine(driver_url(url), poolclass=NullPool)
            with seen.connect() as looking:
                assert check_rights(looking).state == "good"
            for right, table in lost.items():
                connection.execute(text(f"REVOKE {right} ON {table} FROM {role}"))
            connection.commit()
            with seen.connect() as looking:
                found = check_rights(looking)
            assert (found.state, found.found) == (
                "bad",
                "; ".join(sorted(f"{role} lacks {right} on {table}" for right, table in lost.items())),
            )
            for right, table in lost.items():
                connection.execute(text(f"GRANT {right} ON {table} TO {role}"))
            connection.commit()


def test_a_role_with_other_rights_is_refused(own_database_url: str) -> None:
    """The owner of the tables cannot be held back by grants."""
    owner = make_url(own_database_url).username
    assert owner is not None
    with pytest.raises(Misconfigured, match="by other means"):
        grant_web_role(own_database_url, owner)
