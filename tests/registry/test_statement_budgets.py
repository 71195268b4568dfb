"""How many statements a request may send to the database, and which of them may read cells: those for one grid whose
cells are wanted, and no list.

A number here is a budget: less is welcome, more is a decision. BEGIN and COMMIT are not counted. Where tables are in
shards, a grid's project is asked for first, one statement that publishes is five, and one more lets both commit as one.
"""

import re
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from sqlalchemy import func, update

from registry.operations.stored_grids import CELLS
from registry.storage.tables import tokens
from tests.house import CITUS, House, Project, publication
from tests.recorder import statements

RANKING = "projects/{slug}/rankings?experiment=ranked&metric=accuracy"
READS_CELLS = re.compile(rf'SELECT\b.*\brevisions\."?({"|".join(CELLS)})\b', re.DOTALL)
AMENDED = {"cells": [{"at": {"Type": "1", "Length": 0}, "value": 5}]}


def public_project(house: House) -> Project:
    """A public project. The use of its tokens is noted until in an hour: that is written once a minute, beside what a
    request sends, and on a busy machine the tests take longer."""
    project = house.make_project("public")
    noted = update(tokens).where(tokens.c.project_id == project.id).values(last_used_at=func.now() + timedelta(hours=1))
    with house.database.transaction() as connection:
        connection.execute(noted)
    return project


@pytest.fixture(scope="module")
def place(house: House) -> tuple[Project, str]:
    """A public project with a grid, its statistics and a ranking, and the grid's id; every connection knows the
    prepared statements."""
    project = public_project(house)
    grid = project.published()["id"]
    for model in "ab":
        project.published(model=model, experiment="ranked")
    project.get(RANKING.format(slug=project.slug))
    house.compute()
    assert project.get(RANKING.format(slug=project.slug)).status_code == 200
    return project, grid


def sent_by(call: Callable[[], Any], *statuses: int) -> list[str]:
    """The statements of a request, which is answered with one of these statuses."""
    with statements() as seen:
        answer = call()
    assert answer.status_code in statuses, answer.text
    assert seen
    return seen


def cells_read(seen: list[str]) -> int:
    return sum(bool(READS_CELLS.search(one)) for one in seen)


def test_writing_a_grid(place: tuple[Project, str]) -> None:
    project, _ = place
    project.published(model="new before")  # its benchmark and variant are known
    seen = sent_by(lambda: project.publish(publication(model="new")), 201)
    assert (len(seen) <= 6 + 5 * CITUS, cells_read(seen)) == (True, 0), "new"
    seen = sent_by(lambda: project.publish(publication(model="new")), 200)
    assert (len(seen) <= 9, cells_read(seen)) == (True, 0), "what is there"
    assert not any("INTO stored_revisions" in one for one in seen[-3:])
    seen = sent_by(lambda: project.publish(publication(model="new", trials=301)), 201)
    assert (len(seen) <= 13, cells_read(seen)) == (True, 0), "other content"
    grid = project.published(model="new")["id"]
    seen = sent_by(lambda: project.call("PATCH", f"grids/{grid}/cells", json=AMENDED), 200)
    assert (len(seen) <= 11, cells_read(seen)) == (True, 1), "an amendment"
    assert cells_read(sent_by(lambda: project.call("DELETE", f"grids/{grid}"), 204)) == 0


def test_a_batch_takes_as_many_statements_whatever_its_size(place: tuple[Project, str]) -> None:
    project, _ = place
    path, counts = f"projects/{project.slug}/grids/batch", []
    for size in (2, 30):
        batch = [publication(model=f"batch {size} {number}") for number in range(size)]
        new, again = (sent_by(partial(project.call, "POST", path, json=batch), 200) for _ in range(2))
        assert cells_read(new) == cells_read(again) == 0
        counts.append((len(new), len(again)))
    assert counts[0] == counts[1]
    assert (counts[0][0] <= 10 + CITUS, counts[0][1] <= 9) == (True, True), counts


READ = {
    "grids/{grid}": 2,
    "grids/{grid}/statistics": 2,
    RANKING: 2,
    "projects/{slug}/grids?limit=100": 3,
    "projects/{slug}/grids?experiment=ranked&sort=model": 5,
    "projects/{slug}/names/models": 4,
    "projects/{slug}/grids?q=type": 5,
    "projects/{slug}/names/models?q=a": 6,
    "grids/{grid}/revisions": 4,
}


def test_reading(place: tuple[Project, str], subtests: pytest.Subtests) -> None:
    """What the caller has already takes no more."""
    project, grid = place
    for path, budget in READ.items():
        full = path.format(slug=project.slug, grid=grid)
        with subtests.test(path):
            seen = sent_by(lambda full=full: project.get(full), 200)
            asked_first = CITUS and "grids" in path
            assert (len(seen) <= budget + asked_first, cells_read(seen)) == (True, path == "grids/{grid}")
            if budget == 2:
                headers = {"If-None-Match": project.get(full).headers["ETag"]}
                assert len(sent_by(partial(project.get, full, headers=headers), 304)) <= 2 + asked_first


def test_what_is_not_computed_yet_reads_no_cells(house: House, subtests: pytest.Subtests) -> None:
    project = public_project(house)
    grid = project.published()["id"]
    about = "rankings?experiment=type-by-length&metric=accuracy"
    for path in (
        f"grids/{grid}/statistics?part=thresholds&value=90",
        f"projects/{project.slug}/{about}",
        f"/projects/{project.slug}",
        f"/projects/{project.slug}/{about}",
        f"/projects/{project.slug}/comparisons",
    ):
        with subtests.test(path):
            assert cells_read(sent_by(partial(project.get, path), 200, 202)) == 0


def test_a_list_of_many_grids_is_one_statement_without_arrays(house: House) -> None:
    project = public_project(house)
    batch = [publication(model=f"model {number}") for number in range(30)]
    assert project.call("POST", f"projects/{project.slug}/grids/batch", json=batch).status_code == 200
    seen = sent_by(lambda: project.get(f"projects/{project.slug}/grids?limit=100"), 200)
    listing = [one for one in seen if "FROM grids" in one]
    assert len(listing) == 1
    assert not re.search(rf"\brevisions\.({'|'.join(CELLS)})\b", listing[-1])


PAGES = {
    "/grids/{grid}": (13, 1),
    "/": (4, 0),
    "/projects/{few}": (15, 0),
    "/projects/{slug}/search?q=type": (20, 0),
    "/projects/{slug}/models": (6, 0),
    "/projects/{slug}/models/a": (14, 0),
    # One of them reads the names of the experiment, by which the page hears of its events.
    "/" + RANKING: (24, 0),
}


def test_a_page(place: tuple[Project, str], subtests: pytest.Subtests) -> None:
    project, grid = place
    few = public_project(project.house)  # of the only one the front page is the overview
    few.published()
    project.house.compute()
    paths = {path: path.format(slug=project.slug, grid=grid, few=few.slug) for path in PAGES}
    for full in paths.values():
        project.get(full)
    project.house.compute()
    for path, (budget, cells) in PAGES.items():
        with subtests.test(path):
            seen = sent_by(partial(project.get, paths[path]), 200)
            assert (len(seen) <= budget, cells_read(seen)) == (True, cells)
    other = project.published(model="baseline")["id"]
    seen = sent_by(lambda: project.get(f"/projects/{project.slug}/comparisons?contender={grid}&baseline={other}"), 200)
    assert cells_read(seen) == 2


def test_the_page_of_an_experiment_takes_as_many_statements_whatever_its_panels(house: House) -> None:
    counts = []
    for models in (2, 6):
        project = public_project(house)
        batch = [publication(model=f"model {number}") for number in range(models)]
        assert project.call("POST", f"projects/{project.slug}/grids/batch", json=batch).status_code == 200
        page = f"/projects/{project.slug}/results?view=heatmaps&experiment=type-by-length&metric=accuracy"
        for _ in range(3):  # what it asks for is computed, and then asked for again
            project.get(page)
            house.compute()
        counts.append(len(sent_by(partial(project.get, page), 200)))
    assert counts[0] == counts[1] <= 35
