"""Acts get their places in order, are told once, and go by their age and number."""

import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier

import pytest
from sqlalchemy import delete, func, select, update

from registry.operations.events import head_of, read_events
from registry.storage.arrivals import Arrival, announce
from registry.storage.database import Database
from registry.storage.tables import arrivals, event_heads, events
from tests.house import House, Project, publication
from workers.jobs import upkeep
from workers.jobs.upkeep import delete_old_events, sequence_arrivals
from workers.verify_checks import check_events


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


def kept(project: Project) -> tuple[int, int, list[int]]:
    with project.house.database.reading() as connection:
        head = head_of(connection, project.id)
        found = read_events(connection, project.id, 0, 100).events
        assert list(check_events(connection, project.id)) == []
    return head.first, head.position, [one.position for one in found]


def happen(project: Project, numbers: Sequence[int]) -> None:
    write(project.house.database, project.id, *numbers)
    sequence_arrivals(project.house.database)


def age(database: Database, project: Project, until: int) -> None:
    with database.transaction() as connection:
        old = (events.c.project_id == project.id, events.c.position <= until)
        connection.execute(update(events).where(*old).values(recorded_at=func.now() - timedelta(days=31)))


def until_none_is_left(database: Database, days: int, most: int) -> None:
    """Other tests' projects have old events too."""
    while delete_old_events(database, days, most):
        pass


def test_events_go_by_their_age_and_number_and_the_feed_goes_on(
    house: House, monkeypatch: pytest.MonkeyPatch, subtests: pytest.Subtests
) -> None:
    for at_once in (2, 3, 100):
        with subtests.test(msg=f"{at_once} at once"):
            monkeypatch.setattr(upkeep, "EVENTS_AT_ONCE", at_once)
            project, database = house.make_project(), house.database
            happen(project, range(9))
            until_none_is_left(database, 30, 9)
            assert kept(project) == (1, 9, list(range(1, 10)))
            age(database, project, 4)
            until_none_is_left(database, 30, 9)
            assert kept(project) == (5, 9, [5, 6, 7, 8, 9])
            until_none_is_left(database, 30, 2)
            assert kept(project) == (8, 9, [8, 9])
            age(database, project, 9)
            until_none_is_left(database, 30, 9)
            assert kept(project) == (10, 9, [])
            happen(project, [10])
            assert kept(project) == (10, 10, [10])


def test_what_takes_long_goes_on_in_the_next_call(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upkeep, "EVENTS_AT_ONCE", 2)
    happen(project, range(9))
    monkeypatch.setattr(upkeep, "_SECONDS", -1.0)
    assert delete_old_events(project.house.database, 30, 3)
    assert kept(project)[0] == 1
    monkeypatch.setattr(upkeep, "_SECONDS", 60.0)
    until_none_is_left(project.house.database, 30, 3)
    assert kept(project)[0] == 7


def test_a_project_whose_places_are_being_given_is_left_for_the_next_time(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upkeep, "_SECONDS", 600.0)
    database = project.house.database
    happen(project, range(3))
    until_none_is_left(database, 30, 3)
    with database.transaction() as connection:
        connection.execute(select(event_heads).with_for_update())
        assert not delete_old_events(database, 30, 1)
    assert kept(project)[0] == 1


def test_verify_finds_a_gap(project: Project) -> None:
    happen(project, range(3))
    with project.house.database.transaction(rehearse=True) as connection:
        connection.execute(delete(events).where(events.c.project_id == project.id, events.c.position == 2))
        [found] = check_events(connection, project.id)
    assert found.detail == "positions 1 to 3 are kept, stored are 2 events, from 1 to 3"
