"""A new version of the methods: statistics of what somebody looks at are computed again, the others when they are
read."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import and_, delete, func, select, text, update

from registry.errors import Unavailable
from registry.methods_version import METHODS_VERSION
from registry.operations.old_statistics import requeue_old
from registry.operations.read import find_statistics
from registry.storage.database import Database
from registry.storage.tables import cached_results, derivations, grids, statistics
from tests.house import House, Project
from tests.workers.feed import feed
from workers.jobs import old_methods
from workers.jobs.old_methods import requeue_old_methods

DAYS = 30
NOBODY_LOOKED = func.now() - text("interval '31 days'")


@pytest.fixture
def mine(project: Project) -> Iterator[Project]:
    """A project whose results are the only ones that are due."""
    project.house.compute()
    yield project
    # Rows of version 0 must not be requeued by another test.
    with project.house.database.transaction() as connection:
        for table in (cached_results, statistics):
            connection.execute(
                update(table).where(table.c.project_id == project.id).values(methods_version=METHODS_VERSION)
            )


def grow_old(project: Project) -> None:
    """What a release with newer methods finds."""
    project.house.compute()
    with project.house.database.transaction() as connection:
        of_project = grids.c.project_id == project.id
        old = statistics.c.grid_id.in_(select(grids.c.id).where(of_project))
        connection.execute(update(statistics).where(old).values(methods_version="0", etag="0"))
        answers = and_(cached_results.c.project_id == project.id, cached_results.c.state == "ready")
        connection.execute(update(cached_results).where(answers).values(methods_version="0"))


def requeue(project: Project) -> int:
    with project.house.database.transaction() as connection:
        return requeue_old_methods(connection, DAYS)


def states(project: Project) -> dict[str, str]:
    """State of the job of the current revision of each grid, by model."""
    query = select(grids.c.model, derivations.c.state).join(
        derivations, and_(derivations.c.grid_id == grids.c.id, derivations.c.revision == grids.c.revision)
    )
    with project.house.database.reading() as connection:
        return {row.model: row.state for row in connection.execute(query.where(grids.c.project_id == project.id))}


def row_of(project: Project, grid: str) -> Any:
    with project.house.database.reading() as connection:
        return find_statistics(connection, grid)  # type: ignore[arg-type]


def nobody_looks(project: Project, experiment: str) -> None:
    with project.house.database.transaction() as connection:
        here = (cached_results.c.project_id == project.id, cached_results.c.experiment == experiment)
        connection.execute(update(cached_results).where(*here).values(read_at=NOBODY_LOOKED))


def test_grids_of_experiments_that_nobody_looks_at_wait_and_their_rankings_do_not(mine: Project) -> None:
    mine.published(experiment="seen", model="seen")
    mine.published(experiment="archive", model="archived")
    grow_old(mine)
    nobody_looks(mine, "archive")
    requeue(mine)
    assert states(mine) == {"seen": "pending", "archived": "ready"}
    mine.house.compute()
    with mine.house.database.reading() as connection:
        versions = connection.execute(
            select(cached_results.c.experiment, cached_results.c.methods_version).where(
                cached_results.c.project_id == mine.id
            )
        ).all()
    assert set(versions) == {("seen", METHODS_VERSION), ("archive", METHODS_VERSION)}
    assert requeue(mine) == 0


def test_an_experiment_that_an_alias_joins_is_looked_at_with_the_other(mine: Project) -> None:
    mine.published(experiment="old name", model="a")
    mine.published(experiment="name", model="b")
    alias = {"kind": "experiment", "alias": "old name", "name": "name"}
    assert mine.call("POST", f"projects/{mine.slug}/aliases", "admin", json=alias).status_code == 201
    grow_old(mine)
    nobody_looks(mine, "old name")
    requeue(mine)
    assert states(mine) == {"a": "pending", "b": "pending"}


def test_who_reads_an_old_one_gets_it_and_the_new_one_comes(mine: Project) -> None:
    grid = mine.published()["id"]
    grow_old(mine)
    first = mine.get(f"grids/{grid}/statistics")
    assert (first.status_code, first.headers["ETag"]) == (200, '"0"')
    assert states(mine) == {"Qwen-2.5 3B": "pending"}
    assert mine.get(f"grids/{grid}/statistics").status_code == 200, "served until its replacement is there"
    mine.house.compute()
    assert mine.get(f"grids/{grid}/statistics").headers["ETag"].endswith(f'-s{METHODS_VERSION}"')
    assert states(mine) == {"Qwen-2.5 3B": "ready"}
    told = [event.data["methods_version"] for event in feed(mine, "statistics.ready")]
    assert told == [METHODS_VERSION, METHODS_VERSION]


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/grids/{grid}/trends.txt",
        "/api/v1/grids/{grid}/heatmap.svg",
        "/api/v1/grids/{grid}/badge.svg",
        "/grids/{grid}",
        "/projects/{project}/experiments/type-by-length",
        "/projects/{project}/comparisons?baseline={grid}&contender={other}",
    ],
)
def test_everything_that_shows_statistics_has_old_ones_computed_again(house: House, path: str) -> None:
    project = house.make_project("public")
    grid, other = project.published()["id"], project.published(model="other")["id"]
    grow_old(project)
    answer = house.call("GET", path.format(grid=grid, other=other, project=project.slug))
    assert answer.status_code in (200, 202), answer.text
    assert states(project)["Qwen-2.5 3B"] == "pending"
    house.compute()
    assert row_of(project, grid).methods_version == METHODS_VERSION


def test_a_page_shows_the_old_ones_while_the_new_ones_are_computed(house: House) -> None:
    project = house.make_project("public")
    grid = project.published()["id"]
    house.compute()
    whole = house.call("GET", f"/grids/{grid}").text
    grow_old(project)
    house.call("GET", f"/grids/{grid}")
    assert states(project) == {"Qwen-2.5 3B": "pending"}
    again = house.call("GET", f"/grids/{grid}").text
    assert "Coverage" in whole
    assert "Coverage" in again


def test_who_prefers_to_wait_gets_the_new_ones(mine: Project) -> None:
    grid = mine.published()["id"]
    grow_old(mine)
    answers = []
    reader = threading.Thread(
        target=lambda: answers.append(mine.get(f"grids/{grid}/statistics", headers={"Prefer": "wait=30"}))
    )
    reader.start()
    while states(mine) != {"Qwen-2.5 3B": "pending"}:
        assert reader.is_alive()
    mine.house.compute()
    reader.join()
    assert answers[0].headers["ETag"].endswith(f'-s{METHODS_VERSION}"')


def test_readers_at_once_make_one_job_and_touch_none_that_failed(mine: Project) -> None:
    grid = mine.published()["id"]
    grow_old(mine)
    seen = row_of(mine, grid)
    assert requeue_old(mine.house.database, [None, seen])
    assert not requeue_old(mine.house.database, [seen]), "the row was read before the other reader's job was there"
    with mine.house.database.transaction() as connection:
        connection.execute(update(derivations).where(derivations.c.grid_id == grid).values(state="failed", reason="no"))
    assert not requeue_old(mine.house.database, [seen])
    assert states(mine) == {"Qwen-2.5 3B": "failed"}


def test_statistics_that_an_operator_has_deleted_come_back(mine: Project) -> None:
    grid = mine.published()["id"]
    mine.house.compute()
    with mine.house.database.transaction() as connection:
        connection.execute(delete(statistics).where(statistics.c.grid_id == grid))
    assert mine.get(f"grids/{grid}/statistics").status_code == 202
    mine.house.compute()
    assert mine.get(f"grids/{grid}/statistics").status_code == 200


def test_a_deleted_grid_is_not_computed_again(mine: Project) -> None:
    grid = mine.published()["id"]
    grow_old(mine)
    seen = row_of(mine, grid)
    assert mine.call("DELETE", f"grids/{grid}").status_code == 204
    assert not requeue_old(mine.house.database, [seen])


def test_who_reads_where_nothing_can_be_written_gets_what_is_stored(
    mine: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = mine.published()["id"]
    grow_old(mine)

    def away(*_: object, **__: object) -> None:
        raise Unavailable("The database is away.", 1, "database")

    with monkeypatch.context() as patch:
        patch.setattr(Database, "transaction", away)
        assert mine.get(f"grids/{grid}/statistics").headers["ETag"] == '"0"'


def test_what_failed_by_older_methods_is_tried_again(mine: Project) -> None:
    grid = mine.published()["id"]
    mine.house.compute()
    with mine.house.database.transaction() as connection:
        broken = update(derivations).where(derivations.c.grid_id == grid)
        connection.execute(broken.values(state="failed", reason="no", methods_version="0"))
    requeue(mine)
    assert states(mine) == {"Qwen-2.5 3B": "pending"}


def test_a_large_experiment_is_requeued_in_turns_and_its_ranking_last(
    mine: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for model in "abc":
        mine.published(model=model)
    grow_old(mine)
    monkeypatch.setattr(old_methods, "REQUEUED_AT_ONCE", 2)
    assert requeue(mine) == 2
    assert sorted(states(mine).values()) == ["pending", "pending", "ready"]
    assert ranking_state(mine) == "ready"
    assert requeue(mine) >= 2
    assert sorted(states(mine).values()) == ["pending"] * 3
    assert ranking_state(mine) == "pending"


def ranking_state(project: Project) -> str:
    kind = cached_results.c.query["kind"].astext == "ranking"
    with project.house.database.reading() as connection:
        return str(
            connection.scalar(select(cached_results.c.state).where(cached_results.c.project_id == project.id, kind))
        )
