"""A running registry with short leases, for the tests that break it and leave it whole."""

from collections.abc import Iterator

import pytest

from tests.live.faults.stage import Stage
from tests.live.processes.conftest import fragile, fragile_servers
from tests.ports import free_port

__all__ = ["fragile", "fragile_servers", "stage"]


@pytest.fixture(scope="session")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    directory = tmp_path_factory.mktemp("stage")
    with Stage(directory, free_port(), lease_seconds=2.0, unanswered_seconds=1.0, log_level="WARNING") as running:
        yield running
