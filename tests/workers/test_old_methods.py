"""A new version of the methods: statistics of what somebody looks at are computed again, the others when they are
read."""

import threading
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import ColumnElement, Table, and_, delete, func, select, text, update

from registry.errors import Unavailable
from registry.methods_version import METHODS_VERSION
from registry.operations.health import requeue_old
from registry.operations.read import find_statistics
from registry.storage.database import Database
from registry.storage.tables import cached_results, derivations, grids, statistics
from tests.house import House, Project
from tests.workers.asking import join
from tests.workers.feed import feed
from tests.workers.test_rankings import stored
from workers.jobs import invalidation
from workers.jobs.invalidation import requeue_old_methods


@pytest.fixture
def mine(house: House) -> Iterator[Project]:
    """A public project whose results are the only ones that are due."""
    house.compute()
    project = house.make_project("public")
    yield project
    # Rows of version 0 must not be requeued by another test.
    change(project, [cached_results, statistics], methods_version=METHODS_VERSION)


def grow_old(project: Project) -> None:
    """What a release with newer methods finds."""
    project.house.compute()
    change(project, [statistics], methods_version="0", etag="0")
    change(project, [cached_results], cached_results.c.state == "ready", methods_version="0")


def requeue(project: Project) -> int:
    with project.house.database.transaction() as connection:
        return requeue_old_methods(connection, 30)


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


def change(project: Project, tables: Sequence[Table], *only: ColumnElement[bool], **values: Any) -> None:
    """Write into all rows of the project in some tables, or into some of them."""
    with project.house.database.transaction() as connection:
        for table in tables:
            connection.execute(update(table).where(table.c.project_id == project.id, *only).values(values))


def test_what_nobody_looks_at_waits_and_what_failed_by_older_methods_is_tried_again(mine: Project) -> None:
    """Not so its rankings, nor an experiment that an alias joins to one that somebody looks at."""
    grid = mine.published(experiment="seen", model="seen")["id"]
    failed = mine.published(experiment="seen", model="failed")["id"]
    for experiment in ("archive", "old name", "name"):
        mine.published(experiment=experiment, model=experiment)
    join(mine, "experiment", "old name", "name")
    grow_old(mine)
    for experiment in ("archive", "old name"):
        of_experiment = cached_results.c.experiment == experiment
        change(mine, [cached_results], of_experiment, read_at=func.now() - text("interval '31 days'"))
    change(mine, [derivations, cached_results], due_at=func.now() - timedelta(days=365))
    of_failed = derivations.c.grid_id == failed
    change(mine, [derivations], of_failed, state="failed", reason="no", methods_version="0")
    requeue(mine)
    assert states(mine) == dict.fromkeys(("seen", "failed", "old name", "name"), "pending") | {"archive": "ready"}
    # They have waited since they were requeued, however old their grids are, and are served meanwhile.
    assert mine.house.call("GET", "/readyz").get_json()["derivations"]["oldest_seconds"] < 86_400
    assert mine.get(f"grids/{grid}").get_json()["derivation"]["state"] == "pending"
    ranking = f"projects/{mine.slug}/rankings?experiment=archive&metric=accuracy"
    assert {mine.get(path).status_code for path in (f"grids/{grid}/statistics", ranking)} == {200}
    mine.house.compute()
    assert {version for (version,) in stored(mine, cached_results.c.methods_version)} == {METHODS_VERSION}
    assert requeue(mine) == 0


def test_a_stored_question_by_a_method_that_went_says_which_there_are(mine: Project) -> None:
    """An older release answered it; nobody can ask it any more."""
    mine.published()
    grow_old(mine)
    gone = func.jsonb_set(cached_results.c.query, "{method}", '"adjusted_mean"')
    change(mine, [cached_results], query=gone)
    requeue(mine)
    for _ in range(mine.house.settings.attempts):
        mine.house.compute()
        change(mine, [cached_results], due_at=func.now())
    asked = mine.get(f"projects/{mine.slug}/rankings?experiment=type-by-length&metric=accuracy&method=adjusted_mean")
    assert asked.status_code == 422
    five = "mean_difference, mean, win_rate, bradley_terry, borda"
    [(state, reason)] = stored(mine, cached_results.c.state, cached_results.c.reason)
    assert (state, five in reason, five in asked.text) == ("failed", True, True)


def test_who_reads_an_old_one_gets_it_and_the_new_one_comes(mine: Project) -> None:
    grid = mine.published()["id"]
    grow_old(mine)

    def away(*_: object, **__: object) -> None:
        raise Unavailable("The database is away.", 1, "database")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Database, "transaction", away)
        assert mine.get(f"grids/{grid}/statistics").headers["ETag"] == '"0"', "where nothing can be written, too"
    assert states(mine) == {"Qwen-2.5 3B": "ready"}
    first = mine.get(f"grids/{grid}/statistics")
    assert (first.status_code, first.headers["ETag"]) == (200, '"0"')
    assert states(mine) == {"Qwen-2.5 3B": "pending"}
    assert mine.get(f"grids/{grid}/statistics").status_code == 200, "served until its replacement is there"
    assert "Coverage" in mine.house.call("GET", f"/grids/{grid}").text
    mine.house.compute()
    assert mine.get(f"grids/{grid}/statistics").headers["ETag"].endswith(f'-s{METHODS_VERSION}"')
    assert states(mine) == {"Qwen-2.5 3B": "ready"}
    told = [event.data["methods_version"] for event in feed(mine, "statistics.ready")]
    assert told == [METHODS_VERSION, METHODS_VERSION]
    with mine.house.database.transaction() as connection:
        connection.execute(delete(statistics).where(statistics.c.grid_id == grid))
    assert mine.get(f"grids/{grid}/statistics").status_code == 202
    mine.house.compute()
    assert mine.get(f"grids/{grid}/statistics").status_code == 200, "what an operator has deleted comes back"


SHOWING = [
    "/api/v1/grids/{grid}/statistics.txt?part=trends",
    "/api/v1/grids/{grid}/heatmap.svg",
    "/grids/{grid}",
    "/projects/{project}/experiments/{model}",
    "/projects/{project}/comparisons?baseline={grid}&contender={grid}",
]


def test_everything_that_shows_statistics_has_old_ones_computed_again(mine: Project, subtests: pytest.Subtests) -> None:
    grids = [mine.published(experiment=f"e{place}", model=f"e{place}")["id"] for place in range(len(SHOWING))]
    mine.get(f"projects/{mine.slug}/comparisons?baseline={grids[-1]}&contender={grids[-1]}")
    grow_old(mine)
    for place, (path, grid) in enumerate(zip(SHOWING, grids, strict=True)):
        with subtests.test(path):
            assert states(mine)[f"e{place}"] == "ready"
            shown = path.format(grid=grid, project=mine.slug, model=f"e{place}")
            assert mine.house.call("GET", shown).status_code == 200
            assert states(mine)[f"e{place}"] == "pending"
    mine.house.compute()
    assert {row_of(mine, grid).methods_version for grid in grids} == {METHODS_VERSION}


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


def test_readers_at_once_make_one_job_and_touch_none_that_failed_or_is_deleted(mine: Project) -> None:
    grid, gone = mine.published()["id"], mine.published(model="gone")["id"]
    grow_old(mine)
    seen, deleted = row_of(mine, grid), row_of(mine, gone)
    assert requeue_old(mine.house.database, [None, seen])
    assert not requeue_old(mine.house.database, [seen]), "the row was read before the other reader's job was there"
    change(mine, [derivations], derivations.c.grid_id == grid, state="failed", reason="no")
    assert not requeue_old(mine.house.database, [seen])
    assert states(mine) == {"Qwen-2.5 3B": "failed", "gone": "ready"}
    assert mine.call("DELETE", f"grids/{gone}").status_code == 204
    assert not requeue_old(mine.house.database, [deleted])


def test_a_large_experiment_is_requeued_in_turns_and_its_ranking_last(
    mine: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    for model in "abc":
        mine.published(model=model)
    grow_old(mine)
    monkeypatch.setattr(invalidation, "REQUEUED_AT_ONCE", 2)
    kind_and_state = (cached_results.c.query["kind"].astext, cached_results.c.state)
    assert requeue(mine) == 2
    assert sorted(states(mine).values()) == ["pending", "pending", "ready"]
    assert ("ranking", "ready") in stored(mine, *kind_and_state)
    assert requeue(mine) >= 2
    assert sorted(states(mine).values()) == ["pending"] * 3
    assert ("ranking", "pending") in stored(mine, *kind_and_state)
