"""Events get dense positions in one order, whatever is written, rolled back or sequenced at the same time."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import select

from registry.operations.events import head_of, read_events
from registry.storage.arrivals import Arrival, announce
from registry.storage.database import Database
from registry.storage.tables import arrivals
from tests.house import House, Project, publication
from workers.jobs import upkeep
from workers.jobs.upkeep import sequence_arrivals


def happened(number: int) -> Arrival:
    return Arrival("grid.published", f"grids/{number}", {"number": number})


def told(house: House, project_id: uuid.UUID) -> list[tuple[int, str, str]]:
    with house.database.reading() as connection:
        found = read_events(connection, project_id, 0, 100_000).events
    return [(one.position, one.type, one.subject) for one in found]


def write(database: Database, project_id: uuid.UUID, *numbers: int) -> None:
    with database.transaction() as connection:
        announce(connection, project_id, [happened(number) for number in numbers])


def test_acts_on_a_grid_are_told_in_their_order_and_what_changes_nothing_is_not(project: Project) -> None:
    grid = project.published()
    assert project.publish(publication(model="other"), query_string={"dry_run": "true"}).status_code == 200
    assert project.publish().status_code == 200
    project.published(values=[[1.0, 2.0, 3.0], [None, 20.0, 9.7]])
    cells = [{"at": {"Type": "1", "Length": 0}, "value": 5.0}]
    assert project.call("PATCH", f"grids/{grid['id']}/cells", json={"cells": cells}).status_code == 200
    assert project.call("DELETE", f"grids/{grid['id']}").status_code == 204
    assert project.call("POST", f"grids/{grid['id']}/restore").status_code == 200
    sequence_arrivals(project.house.database)
    with project.house.database.reading() as connection:
        found = [one for one in read_events(connection, project.id, 0, 100).events if one.type.startswith("grid.")]
    kinds = ["grid.published", "grid.revised", "grid.revised", "grid.deleted", "grid.restored"]
    assert [(one.type, one.subject) for one in found] == [(kind, f"grids/{grid['id']}") for kind in kinds]
    assert [one.data["revision"] for one in found] == [1, 2, 3, 3, 3]
    names = {kind: grid[kind] for kind in ("experiment", "benchmark", "model", "variant")}
    said = {"grid": grid["id"], "metric": grid["metric"]["name"], **names}
    assert all(one.data.items() >= said.items() for one in found)


def test_what_is_rolled_back_takes_no_position_and_what_is_committed_late_comes_behind(project: Project) -> None:
    database, other = project.house.database, project.house.make_project()
    write(database, project.id, 1)
    with database.transaction(rehearse=True) as connection:
        announce(connection, project.id, [happened(2)])
    with database.transaction() as slow:
        announce(slow, project.id, [happened(4)])
        write(database, project.id, 3)
        write(database, other.id, 5)
        assert sequence_arrivals(database) >= 2
        assert [subject for *_, subject in told(project.house, project.id)] == ["grids/1", "grids/3"]
    sequence_arrivals(database)
    places = [(place, subject) for place, _, subject in told(project.house, project.id)]
    assert places == [(1, "grids/1"), (2, "grids/3"), (3, "grids/4")]
    assert told(project.house, other.id) == [(1, "grid.published", "grids/5")], "projects have positions of their own"
    with database.reading() as connection:
        assert head_of(connection, other.id).position == 1
        assert connection.scalars(select(arrivals.c.number).where(arrivals.c.project_id == other.id)).all() == []


def test_writers_and_sequencers_at_once_leave_no_gap_and_tell_each_act_once(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "SEQUENCED_AT_ONCE", 7)
    database, together = project.house.database, Barrier(6)

    def writes(first: int) -> None:
        together.wait()
        for number in range(first, first + 40, 2):
            write(database, project.id, number, number + 1)

    def sequences() -> None:
        together.wait()
        for _ in range(30):
            sequence_arrivals(database)

    with ThreadPoolExecutor(6) as pool:
        begun = [pool.submit(writes, 1000 * n) for n in range(3)] + [pool.submit(sequences) for _ in range(3)]
        for one in begun:
            one.result(timeout=60)
    sequence_arrivals(database)
    found = told(project.house, project.id)
    assert [place for place, *_ in found] == list(range(1, 121))
    numbers = [int(subject.removeprefix("grids/")) for *_, subject in found]
    assert sorted(numbers) == sorted(n for first in (0, 1000, 2000) for n in range(first, first + 40))
    for first in (0, 1000, 2000):
        mine = [n for n in numbers if first <= n < first + 40]
        assert mine == sorted(mine)
