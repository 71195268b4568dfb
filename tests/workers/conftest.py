"""Tests of workers see only promises that they made themselves: they have a database of their own."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from sqlalchemy import func, update

from registry import create_app
from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.tables import cached_results, derivations
from tests.conftest import clone
from tests.house import House


@pytest.fixture(scope="session")
def settings(servers: tuple[str, str], template: str) -> Iterator[Settings]:
    for url in clone(servers, template):
        # Sixteen writers in one process share its connections: on a slow machine the last one waits for long.
        yield replace(Settings(), database_url=url, redis_url=servers[1], ranking_debounce=0.0, pool_timeout=30.0)


@pytest.fixture(scope="session")
def house(settings: Settings) -> Iterator[House]:
    database = Database(settings, name="tests")
    yield House(create_app(settings), database, settings)
    database.close()


@pytest.fixture(scope="session")
def large(house: House) -> House:
    """A house in which every experiment is too large for its cells."""
    return House(house.app, house.database, replace(house.settings, ranking_work=0, ranking_cells=0))


@pytest.fixture
def nothing_due(house: House) -> None:
    """Promises that other tests left are kept first."""
    with house.database.transaction() as connection:
        fresh = {"lease": None, "leased_until": None, "due_at": func.now(), "attempts": 0}
        for table in (cached_results, derivations):
            connection.execute(update(table).where(table.c.state == "pending").values(fresh))
    house.compute()
