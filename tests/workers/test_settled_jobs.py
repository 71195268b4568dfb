"""The queue of statistics is a small table: jobs leave it a day after they were settled, and nobody notices."""

import re
import uuid
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import ColumnElement, func, select, text, update

from registry.storage.tables import derivations, grids, statistics
from tests.house import House, Project
from workers import derive
from workers.derive import derive_due
from workers.jobs import upkeep
from workers.jobs.upkeep import delete_settled_jobs

OTHER = [[1.0, 2.0, 3.0], [None, 20.0, 9.7]]
SHOWN = [
    "/api/v1/grids/{grid}",
    "/api/v1/grids/{grid}/statistics",
    "/api/v1/grids/{grid}/revisions",
    "/api/v1/grids/{grid}?revision=1",
    "/api/v1/projects/{project}/grids",
    "/api/v1/projects/{project}/grids.ndjson",
    "/api/v1/projects/{project}/cells.csv",
    "/api/v1/projects/{project}/statistics.csv?part=trends",
    "/projects/{project}/models/two",
    "/api/v1/projects/{project}/rankings?experiment=type-by-length&metric=accuracy",
    "/grids/{grid}",
    "/grids/{grid}?revision=1",
    "/projects/{project}/experiments/type-by-length",
]
_CHANGING = re.compile(r'nonce="[^"]*"|"ms":[0-9.]+|<span id="printed">[^<]*|as_of=[^}]*')


def of(project: Project) -> ColumnElement[bool]:
    return derivations.c.grid_id.in_(select(grids.c.id).where(grids.c.project_id == project.id))


def jobs(project: Project) -> int:
    with project.house.database.reading() as connection:
        return int(connection.scalar(select(func.count()).where(of(project))) or 0)


def a_day_later(project: Project) -> None:
    then = func.now() - text("interval '25 hours'")
    with project.house.database.transaction() as connection:
        connection.execute(update(derivations).where(of(project)).values(settled_at=then))


@pytest.fixture
def public(house: House) -> Project:
    project = house.make_project("public")
    project.published(model="one")
    return project


def test_nothing_that_people_see_depends_on_jobs_that_were_settled(public: Project, house: House) -> None:
    grid = public.published(model="two")["id"]
    public.published(model="two", values=OTHER)
    house.compute()

    def shown() -> dict[str, tuple[int, str]]:
        seen = {}
        for path in SHOWN:
            answer = house.call("GET", path.format(grid=grid, project=public.slug))
            seen[path] = (answer.status_code, _CHANGING.sub("", answer.text))
        return seen

    before = shown()
    assert {status for status, _ in before.values()} == {200}
    assert jobs(public) == 3
    a_day_later(public)
    assert delete_settled_jobs(house.database, None) is None
    assert jobs(public) == 0
    assert shown() == before
    again = public.published(model="two", values=OTHER)
    assert (again["id"], again["revision"]) == (grid, 2)
    public.published(model="two")
    house.compute()
    assert public.get(f"grids/{grid}/statistics").get_json()["revision"] == 3


def test_jobs_stay_for_a_day_and_those_that_are_due_or_failed_for_good(
    public: Project, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        public.published(model=str(number))
    house.compute()
    assert delete_settled_jobs(house.database, None) is None
    assert jobs(public) == 7, "the release before could not read a grid without its job"
    a_day_later(public)
    for state in ("pending", "failed", "ready"):
        with house.database.transaction() as connection:
            connection.execute(update(derivations).where(of(public)).values(state=state))
        if state != "ready":
            assert delete_settled_jobs(house.database, None) is None
            assert jobs(public) == 7
    # Many are looked at some at a time.
    monkeypatch.setattr(upkeep, "JOBS_AT_ONCE", 2)
    monkeypatch.setattr(upkeep, "_SECONDS", -1.0)
    after, turns = None, 0
    while turns == 0 or after is not None:
        before = after
        after, turns = delete_settled_jobs(house.database, after), turns + 1
        assert after is None or before is None or after > before
    assert turns >= 4
    assert jobs(public) == 0
    assert delete_settled_jobs(house.database, (uuid.UUID(int=(1 << 128) - 1), 1)) is None, "behind the last one"


def test_a_revision_that_was_superseded_before_its_turn_is_not_computed(
    public: Project, house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.compute()
    numbers = counted(monkeypatch)
    grid = public.published(model="two")["id"]
    for first in (11.0, 12.0):
        public.published(model="two", values=[[first, 2.0, 3.0], [None, 20.0, 9.7]])
    house.compute()
    assert numbers == [1]
    listed = public.get(f"grids/{grid}/revisions").get_json()["items"]
    assert [one["derivation"]["state"] for one in listed] == ["ready"] * 3
    with house.database.reading() as connection:
        kept = connection.scalars(select(statistics.c.revision).where(statistics.c.grid_id == grid)).all()
    assert kept == [3]
    # A batch of such revisions alone is settled.
    old = (derivations.c.grid_id == grid, derivations.c.revision == 1)
    with house.database.transaction() as connection:
        connection.execute(update(derivations).where(*old).values(state="pending", attempts=0))
    while derive_due(house.database, house.settings):
        pass
    assert numbers == [1]
    with house.database.reading() as connection:
        assert connection.scalar(select(derivations.c.state).where(*old)) == "ready"


def counted(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many grids were described, for each call."""
    describe: Callable[[Any], Any] = derive.describe_all
    numbers: list[int] = []

    def counting(given: Any) -> Any:
        numbers.append(len(given))
        return describe(given)

    monkeypatch.setattr(derive, "describe_all", counting)
    return numbers
