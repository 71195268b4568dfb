"""Events get dense positions in one order, whatever is written, rolled back or sequenced at the same time."""

from __future__ import annotations

import uuid
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from sqlalchemy import select

from registry.operations.events import MOST_SCANNED, Wanted, head_of, read_events
from registry.storage.arrivals import Arrival, announce
from registry.storage.database import Database
from registry.storage.tables import arrivals
from tests.house import House, Project, publication
from workers.jobs import sequencing
from workers.jobs.sequencing import sequence_arrivals


def happened(number: int, kind: str = "grid.published") -> Arrival:
    return Arrival(kind, f"grids/{number}", {"number": number})  # type: ignore[arg-type]


def told(house: House, project_id: uuid.UUID, after: int = 0, limit: int = 100_000) -> list[tuple[int, str, str]]:
    with house.database.reading() as connection:
        stretch = read_events(connection, project_id, after, limit)
    return [(one.position, one.type, one.subject) for one in stretch.events]


def write(database: Database, project_id: uuid.UUID, *numbers: int) -> None:
    with database.transaction() as connection:
        announce(connection, project_id, [happened(number) for number in numbers])


def test_a_grid_that_is_published_revised_deleted_and_restored_is_told_in_that_order(project: Project) -> None:
    grid = project.published()
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


def test_a_dry_run_and_a_publication_of_the_same_content_tell_nothing(project: Project) -> None:
    project.published()
    assert project.publish(publication(model="other"), query_string={"dry_run": "true"}).status_code == 200
    assert project.publish().status_code == 200
    sequence_arrivals(project.house.database)
    assert [kind for _, kind, _ in told(project.house, project.id) if kind.startswith("grid.")] == ["grid.published"]


def test_what_is_rolled_back_takes_no_position(project: Project) -> None:
    database = project.house.database
    write(database, project.id, 1)
    with database.transaction(rehearse=True) as connection:
        announce(connection, project.id, [happened(2)])
    write(database, project.id, 3)
    sequence_arrivals(database)
    assert [(place, subject) for place, _, subject in told(project.house, project.id)] == [
        (1, "grids/1"),
        (2, "grids/3"),
    ]


def test_an_act_that_is_committed_late_is_told_behind_what_was_told_before_it(project: Project) -> None:
    database = project.house.database
    with database.transaction() as slow:
        announce(slow, project.id, [happened(1)])
        write(database, project.id, 2)
        assert sequence_arrivals(database) >= 1
        assert [subject for *_, subject in told(project.house, project.id)] == ["grids/2"]
    sequence_arrivals(database)
    assert [subject for *_, subject in told(project.house, project.id)] == ["grids/2", "grids/1"]


def test_writers_and_sequencers_at_once_leave_no_gap_and_tell_each_act_once(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sequencing, "SEQUENCED_AT_ONCE", 7)
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


def test_projects_have_positions_of_their_own(project: Project) -> None:
    other = project.house.make_project()
    write(project.house.database, project.id, 1, 2)
    write(project.house.database, other.id, 3)
    sequence_arrivals(project.house.database)
    assert [place for place, *_ in told(project.house, project.id)] == [1, 2]
    assert told(project.house, other.id) == [(1, "grid.published", "grids/3")]
    with project.house.database.reading() as connection:
        assert head_of(connection, other.id).position == 1
        assert connection.scalars(select(arrivals.c.number).where(arrivals.c.project_id == other.id)).all() == []


def test_a_reading_goes_on_behind_what_its_types_leave_out(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MOST_SCANNED > 3
    monkeypatch.setattr("registry.operations.events.MOST_SCANNED", 3)
    with project.house.database.transaction() as connection:
        announce(connection, project.id, [happened(n) for n in range(5)] + [happened(9, "claim.flipped")])
    sequence_arrivals(project.house.database)
    with project.house.database.reading() as connection:
        first = read_events(connection, project.id, 0, 10, Wanted(["claim.*"]))
        then = read_events(connection, project.id, first.next, 10, Wanted(["claim.*"]))
        last = read_events(connection, project.id, then.next, 10, Wanted(["claim.flipped", "grid.deleted"]))
        without = read_events(connection, project.id, 3, 10, Wanted(without=["claim."]))
    assert (list(first.events), first.next) == ([], 3)
    assert ([one.subject for one in then.events], then.next) == (["grids/9"], 6)
    assert (list(last.events), last.next, last.head.position) == ([], 6, 6)
    assert [one.position for one in without.events] == [4, 5]
