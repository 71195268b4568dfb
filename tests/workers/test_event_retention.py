"""Old events go, the oldest first, and the head of the feed says from where on they are kept."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

import pytest
from sqlalchemy import delete, func, select, update

from registry.operations.events import head_of, read_events
from registry.storage.database import Database
from registry.storage.tables import event_heads, events
from tests.house import House, Project
from tests.workers.test_sequencing import write
from workers.jobs import upkeep
from workers.jobs.upkeep import delete_old_events, sequence_arrivals
from workers.verify_checks import check_events


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
