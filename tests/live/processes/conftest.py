"""One system that runs for all tests which only use it, and servers of its own for each test that breaks something."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.commands.conftest import person, ready
from tests.live.namesakes import lay
from tests.live.processes.system import Servers, System, own_servers, own_system

__all__ = ["person", "ready"]  # fixtures of commands


@pytest.fixture(scope="session")
def system(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    directory = tmp_path_factory.mktemp("live")
    with own_servers(directory / "home") as servers, own_system(servers, directory / "logs") as running:
        running.directory = lay(directory / "beside")
        running.start("web", "worker", "dispatcher")
        yield running


@pytest.fixture
def fragile_servers(tmp_path: Path) -> Iterator[Servers]:
    with own_servers(tmp_path / "home") as servers:
        yield servers


@pytest.fixture
def fragile(fragile_servers: Servers, tmp_path: Path) -> Iterator[System]:
    """A system to break: leases are short, so that what a killed worker held is free soon."""
    with own_system(fragile_servers, tmp_path / "logs", lease_seconds=3.0) as running:
        running.start("worker", "dispatcher", "web")
        yield running
