"""Tests of workers see only promises that they made themselves: they have a database of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from registry import create_app
from registry.settings import Settings
from registry.storage.database import Database
from tests.conftest import clone
from tests.house import House


@pytest.fixture(scope="session")
def settings(servers: tuple[str, str], template: str) -> Iterator[Settings]:
    for url in clone(servers, template):
        yield replace(Settings(), database_url=url, redis_url=servers[1], ranking_debounce=0.0)


@pytest.fixture(scope="session")
def house(settings: Settings) -> Iterator[House]:
    database = Database(settings, name="tests")
    yield House(create_app(settings), database, settings)
    database.close()


@pytest.fixture
def large(house: House) -> House:
    """A house in which every experiment is too large for its cells."""
    return House(house.app, house.database, replace(house.settings, ranking_work=0, ranking_cells=0))
