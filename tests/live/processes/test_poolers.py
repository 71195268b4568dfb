"""Behind PgBouncer, in session and in transaction mode: everything works, and the limits are in force."""

import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from sqlalchemy import URL, create_engine, text
from sqlalchemy.pool import NullPool

from migrations.apply import migrate
from migrations.grants import grant_web_role
from registry import create_app
from registry.errors import Unavailable
from registry.operations.doctor import run_checks
from registry.settings import Settings, driver_url
from registry.storage.circuit_breaker import CircuitBreaker
from registry.storage.database import Database
from tests.house import House, publication
from tests.live.processes.poolers import pooler

LIMITS = "SELECT current_setting('statement_timeout'), current_setting('lock_timeout'), current_setting('TimeZone')"


def as_text(url: URL) -> str:
    return url.render_as_string(hide_password=False)


@pytest.fixture
def role(settings: Settings, own_database_url: str) -> Iterator[str]:
    """The role of a web process, with the parameters of its sessions."""
    name = f"registry_web_{uuid.uuid4().hex[:8]}"
    grant_web_role(own_database_url, name, None, settings.session_parameters())
    yield name
    engine = create_engine(driver_url(own_database_url), isolation_level="AUTOCOMMIT", poolclass=NullPool)
    with engine.connect() as connection:
        connection.execute(text(f"DROP OWNED BY {name}"))
        connection.execute(text(f"DROP ROLE {name}"))


@pytest.mark.parametrize(("mode", "size"), [("session", 20), ("transaction", 2)])
def test_all_works_through_a_pooler_and_the_limits_are_in_force(
    settings: Settings, own_database_url: str, role: str, mode: str, size: int
) -> None:
    """Eight threads of the web process share two connections of the server in transaction mode."""
    with pooler(own_database_url, mode, [role], size=size) as url:
        worker = replace(settings, database_url=as_text(url), pooler=mode)
        web = replace(worker, database_url=as_text(url.set(username=role)), statement_timeout=5.0)
        database = Database(worker, name="tests")
        house = House(create_app(web), database, worker)
        project = house.make_project()
        with ThreadPoolExecutor(8) as threads:
            sent = threads.map(lambda number: project.publish(publication(model=f"m-{number % 20}")), range(40))
            statuses = sorted(answer.status_code for answer in sent)
        assert statuses == [200] * 20 + [201] * 20, "the same again is the same grid"
        house.compute()
        grid = project.published(model="m-1")
        assert grid["revision"] == 1
        assert project.get(f"grids/{grid['id']}/statistics").status_code == 200
        ranking = f"projects/{project.slug}/rankings?experiment=type-by-length&metric=accuracy"
        project.get(ranking)
        house.compute()
        assert len(project.get(ranking).get_json()["ranking"]) == 20
        limited = Database(web, name="tests", breaker=CircuitBreaker(2))
        for begun in (limited.reading, limited.transaction):
            with begun() as connection:
                assert tuple(connection.execute(text(LIMITS)).one()) == ("5s", "2s", "UTC")
        limited.close()
        database.close()


def test_the_doctor_says_where_the_limits_are_not_in_force(settings: Settings, own_database_url: str) -> None:
    """The owner's role has no parameters of its own, and in transaction mode nothing else carries them."""
    with pooler(own_database_url, "transaction", []) as url:
        own = replace(settings, database_url=as_text(url), pooler="transaction")
        database = Database(own, name="tests")
        [sign] = [one for one in run_checks(own, database) if one.name == "limits"]
        assert sign.state == "bad"
        role, name = url.username, url.database
        assert f"ALTER ROLE {role} IN DATABASE {name} SET statement_timeout TO '5000ms'" in sign.advice
        database.close()


def test_without_the_setting_the_reason_names_it(settings: Settings, own_database_url: str) -> None:
    with pooler(own_database_url, "session", []) as url:
        own = replace(settings, database_url=as_text(url))
        database = Database(own, name="tests")
        with pytest.raises(Unavailable) as refused, database.reading():
            pass
        assert "unsupported startup parameter: options" in refused.value.cause
        sign = next(iter(run_checks(own, database)))
        assert (sign.name, sign.state, "REGISTRY_POOLER" in sign.advice) == ("database", "bad", True)
        database.close()


def test_a_migration_through_a_pooler_leaves_no_lock_behind(empty_database_url: str) -> None:
    with pooler(empty_database_url, "transaction", []) as url:
        migrate(as_text(url))
        migrate(as_text(url))
        with create_engine(url, poolclass=NullPool).connect() as connection:
            assert connection.scalar(text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'")) == 0
