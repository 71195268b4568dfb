"""What failed can be tried again, and counts as failed only while somebody could read its result."""

from __future__ import annotations

from sqlalchemy import select, update

from registry.operations.health import health_of
from registry.storage.tables import audit_log, cached_results, derivations
from tests.house import House, Project
from tests.registry.test_upkeep import command


def failed(house: House) -> tuple[int, int]:
    with house.database.reading() as connection:
        health = health_of(connection)
    return health.derivations.failed, health.cached_results.failed


def fail_everything(project: Project, *grids: str) -> None:
    """Let each revision of these grids, and each question of the project, be given up."""
    given_up = {"state": "failed", "reason": "not today", "attempts": 5}
    with project.house.database.transaction() as connection:
        connection.execute(update(derivations).where(derivations.c.grid_id.in_(grids)).values(given_up))
        connection.execute(update(cached_results).where(cached_results.c.project_id == project.id).values(given_up))


def two_revisions(project: Project) -> str:
    """A grid with a superseded revision, and its ranking."""
    project.house.compute()
    grid = project.published()
    project.published(trials=150)
    project.house.compute()
    fail_everything(project, grid["id"])
    return str(grid["id"])


def test_a_superseded_revision_a_deleted_grid_and_a_deleted_project_are_no_failures(project: Project) -> None:
    house = project.house
    before = failed(house)
    grid = two_revisions(project)
    assert failed(house) == (before[0] + 1, before[1] + 1)
    assert project.call("DELETE", f"grids/{grid}").status_code == 204
    assert failed(house)[0] == before[0]
    assert project.call("DELETE", f"projects/{project.slug}?cascade=true", "admin").status_code == 204
    assert failed(house) == before


def test_failed_jobs_are_due_again_with_all_attempts_and_the_alarm_ends(project: Project) -> None:
    house = project.house
    before = failed(house)
    grid = two_revisions(project)
    answer = project.call("POST", f"projects/{project.slug}/retry")
    assert (answer.status_code, answer.get_json()) == (200, {"derivations": 1, "answers": 1})
    again = project.call("POST", f"projects/{project.slug}/retry")
    assert again.get_json() == {"derivations": 0, "answers": 0}
    with house.database.reading() as connection:
        jobs = select(derivations.c.state, derivations.c.attempts, derivations.c.reason)
        found = connection.execute(jobs.where(derivations.c.grid_id == grid).order_by(derivations.c.revision)).all()
        mine = (audit_log.c.project_id == project.id, audit_log.c.action == "jobs.retried")
        told = connection.execute(select(audit_log.c.detail).where(*mine)).scalars().all()
    assert found == [("failed", 5, "not today"), ("pending", 0, None)]
    assert told == [{"derivations": 1, "answers": 1}]
    house.compute()
    assert failed(house) == before
    assert project.get(f"grids/{grid}/statistics").status_code == 200


def test_a_writer_retries_the_failures_of_the_project_only(project: Project, house: House) -> None:
    other = house.make_project()
    two_revisions(other)
    there = failed(house)
    assert project.call("POST", f"projects/{project.slug}/retry").get_json() == {"derivations": 0, "answers": 0}
    assert failed(house) == there
    other.call("POST", f"projects/{other.slug}/retry")


def test_the_command_retries_one_project_or_all(project: Project) -> None:
    house = project.house
    two_revisions(project)
    assert "There is no project nowhere." in command(house.settings, "retry", "--project", "nowhere").stderr
    one = command(house.settings, "retry", "--project", project.slug)
    assert one.stdout == "1 statistics and 1 rankings and other answers are tried again.\n"
    house.compute()
    assert command(house.settings, "retry").returncode == 0
    assert failed(house) == (0, 0)
