"""`registry doctor` sees which dispatchers and workers live, and of which releases they are."""

from __future__ import annotations

import pytest
from sqlalchemy import delete, insert

from registry.operations.doctor_of_processes import check_processes
from registry.storage.tables import new_id, processes
from results_registry import __version__
from tests.house import House


def found(house: House, *rows: dict[str, object]) -> dict[str, tuple[str, str, str]]:
    """State, finding and advice by the name of each check, when these processes and no others report."""
    usual = {"host": "h1", "pid": 7, "version": __version__, "methods_version": "9", "broker_up": None}
    with house.database.transaction() as connection:
        connection.execute(delete(processes))
        for row in rows:
            connection.execute(insert(processes).values(usual | {"id": new_id()} | row))
        told = {one.name: (one.state, one.found, one.advice) for one in check_processes(connection, 1)}
        connection.execute(delete(processes))
    return told


def test_a_whole_registry_is_good(house: House) -> None:
    rows = [{"role": "dispatcher", "broker_up": True}, {"role": "worker"}, {"role": "worker", "host": "h2"}]
    told = found(house, *rows)
    assert {state for state, _, _ in told.values()} == {"good"}
    assert told["workers"][1] == "2 on h1, h2"
    assert told["versions"][1] == __version__


def test_without_a_dispatcher_nothing_is_computed(house: House) -> None:
    state, said, advice = found(house)["dispatcher"]
    assert (state, said) == ("bad", "none ever reported")
    assert "registry dispatch" in advice


def test_the_inline_worker_is_no_worker(house: House) -> None:
    told = found(house, {"role": "dispatcher", "broker_up": False}, {"role": "inline-worker"})
    assert told["workers"][:2] == ("doubtful", "only the inline worker")
    assert told["broker of dispatcher"][0] == "doubtful"


@pytest.mark.parametrize(
    ("column", "check", "state"),
    [("version", "versions", "doubtful"), ("methods_version", "methods of workers", "bad")],
)
def test_a_worker_of_an_older_release_is_named(house: House, column: str, check: str, state: str) -> None:
    told = found(house, {"role": "dispatcher"}, {"role": "worker", "host": "old", "pid": 42, column: "0.0.1"})
    assert told[check][0] == state
    assert "old" in told[check][1] + told[check][2]
    assert "42" in told[check][1] + told[check][2]
