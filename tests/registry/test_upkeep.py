"""Looking after a registry: doctor, verify, backup, restore, purge, retry, as commands on a database of their own."""

import gzip
import hashlib
import json
import os
import subprocess
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import orjson
import pytest
from click.testing import CliRunner
from sqlalchemy import func, make_url, select, text, update

import workers.verify
from registry import create_app
from registry.cli import main
from registry.commands import processes as command_environment
from registry.local import processes
from registry.local.embedded import copying
from registry.operations.health import health_of
from registry.results.codec import from_bytes
from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.tables import (
    audit_log,
    cached_results,
    derivations,
    grids,
    projects,
    statistics,
    stored_revisions,
)
from results_registry.config import announced
from tests.house import House, Project
from tests.ports import free_port
from workers.verify_checks import Difference


def environment(settings: Settings) -> dict[str, str | None]:
    """What `registry …` is told of a database and a broker, and nothing else."""
    absent: dict[str, str | None] = {name: None for name in os.environ if name.startswith("REGISTRY_")}
    return absent | {"REGISTRY_DATABASE_URL": settings.database_url, "REGISTRY_REDIS_URL": settings.redis_url}


def command(settings: Settings, *arguments: object, **variables: str) -> subprocess.CompletedProcess[str]:
    """`registry …` in this process, which starts faster; for `verify`, which becomes another program, that one runs."""

    def become(given: list[str], _settings: Settings) -> None:
        workers.verify.main(given[-1])

    argv, runner = [str(one) for one in arguments], CliRunner(env=environment(settings) | variables)
    logs = (patch.object(module, "configure_logs") for module in (workers.verify, command_environment))
    with patch.object(processes, "become", become), ExitStack() as unchanged:
        for one in logs:
            unchanged.enter_context(one)  # those of this process are those of all tests
        ran = runner.invoke(main, argv)
    if ran.exception is not None and not isinstance(ran.exception, SystemExit):
        raise ran.exception
    return subprocess.CompletedProcess(argv, ran.exit_code, ran.stdout, ran.stderr)


def diagnosed(settings: Settings, *arguments: object) -> tuple[int, dict[str, tuple[str, str]]]:
    """What `registry doctor` answers, and each sign's state and what was found."""
    ran = command(settings, "doctor", "--json", *arguments)
    told = json.loads(ran.stdout)
    assert told["healthy"] == (ran.returncode == 0)
    return ran.returncode, {sign["name"]: (sign["state"], sign["found"]) for sign in told["signs"]}


def test_the_doctor_says_what_it_saw_and_what_to_do(own: House) -> None:
    status, signs = diagnosed(own.settings)
    assert status == 0, signs
    asked = {"database", "fsync", "full_page_writes", "synchronous_commit", "schema", "clock", "statistics"}
    assert asked | {"redis", "redis eviction", "disk", "port"} <= set(signs)
    assert signs["statistics"][1] == "none pending"
    project = own.make_project()
    project.published()
    with own.database.transaction() as connection:
        connection.execute(text("UPDATE derivations SET due_at = now() - interval '5 minutes'"))
    ran = command(own.settings, "doctor")
    lines = ran.stdout.splitlines()
    [line] = [one for one in lines if "1 pending" in one]
    assert (ran.returncode, line.split()[0]) == (3, "bad")
    assert "registry dispatch" in lines[lines.index(line) + 1]
    project.published(model="another")
    own.compute()
    with own.database.transaction() as connection:
        connection.execute(text("UPDATE cached_results SET state = 'pending', due_at = now() - interval '5 minutes'"))
    status, signs = diagnosed(own.settings)
    assert (status, signs["rankings"][0]) == (3, "bad")
    assert signs["rankings"][1].startswith("1 pending, the oldest for 30")
    with own.database.transaction() as connection:
        connection.execute(text("UPDATE cached_results SET state = 'failed', reason = 'not today'"))
    assert diagnosed(own.settings)[1]["failed rankings"][1] == "1 failed"


def test_the_doctor_looks_where_the_registry_of_the_home_says_that_it_listens(house: House, tmp_path: Path) -> None:
    port = free_port()
    with announced(tmp_path, f"http://127.0.0.1:{port}"):
        signs = diagnosed(house.settings, "--home", tmp_path)[1]
    assert signs["port"][1] == f"{port} is free: nothing is served there"
    assert signs["public url"][1].endswith(f":{port}")
    assert str(Settings().port) in diagnosed(house.settings, "--home", tmp_path)[1]["port"][1]


def test_a_database_that_is_empty_or_away_is_named_with_the_reason(
    settings: Settings, empty_database_url: str, subtests: pytest.Subtests
) -> None:
    empty = command(replace(settings, database_url=empty_database_url), "doctor")
    assert (empty.returncode, "registry migrate" in empty.stdout) == (3, True)
    nowhere = replace(settings, database_url="postgresql://127.0.0.1:1/x", redis_url="redis://127.0.0.1:1/0")
    status, signs = diagnosed(nowhere)
    assert (status, signs["database"][0]) == (3, "bad")
    assert signs["redis"][0] == "doubtful", "without a broker statistics still come"
    url = make_url(settings.database_url).set(database="registry_of_nobody").render_as_string(hide_password=False)
    for words in (["purge"], ["retry"], ["token", "--name", "x"], ["bi-role", "x", "--all"]):
        with subtests.test(words[0]):
            ran = command(replace(settings, database_url=url), *words)
            assert (ran.returncode, "Traceback" in ran.stderr) == (5, False)
            _, reason, advice = ran.stderr.splitlines()[-3:]
            assert 'database "registry_of_nobody" does not exist' in reason
            assert advice.startswith("REGISTRY_DATABASE_URL")


def test_a_token_made_in_the_database_is_of_the_project_that_the_environment_names(house: House) -> None:
    project, told = house.make_project(), []
    for slug in (project.slug, ""):
        secret = command(house.settings, "token", "--name", "ci", REGISTRY_PROJECT=slug).stdout.strip()
        told.append(house.call("GET", "whoami", token=secret).get_json()["project"])
    assert told == [project.slug, None], "and without one of every project"


def test_a_leaked_token_of_every_project_is_revoked_on_the_server_without_another_one(house: House) -> None:
    project = house.make_project()
    secret = command(house.settings, "token", "--name", "leaked", "--role", "admin").stdout.strip()
    leaked = house.call("GET", "whoami", token=secret).get_json()["id"]
    of_a_project = house.call("GET", "whoami", token=project.tokens["admin"]).get_json()["id"]
    assert command(house.settings, "token", "revoke-operator", of_a_project).returncode != 0
    assert command(house.settings, "token", "revoke-operator", leaked).returncode == 0
    assert house.call("GET", "whoami", token=secret).status_code == 401
    assert house.call("GET", "whoami", token=project.tokens["admin"]).status_code == 200
    assert command(house.settings, "token", "revoke-operator", leaked).returncode != 0, "it is revoked once"


def differences(own: House) -> list[Difference]:
    """What `registry verify` would find."""
    *_, tally = workers.verify.verify(own.database, own.settings, None)
    return tally.differences


def test_verifying_keeps_to_a_project(own: House) -> None:
    mine, other = own.make_project(), own.make_project()
    for number in range(3):
        mine.published(model=str(number))
    other.published()
    own.compute()
    alike = {"differences": [], "old_statistics": 0}
    assert json.loads(command(own.settings, "verify", "--json").stdout) == {"revisions": 4} | alike
    found = command(own.settings, "verify", "--json", "--project", mine.slug)
    assert json.loads(found.stdout) == {"revisions": 3} | alike


def bent(change: Callable[[dict[str, Any]], object], stored: bytes) -> tuple[bytes, dict[str, Any]]:
    """A stored document after a change."""
    document = from_bytes(stored)
    change(document)
    return gzip.compress(orjson.dumps(document)), document


def test_whatever_was_changed_behind_the_registrys_back_is_found_and_named(own: House) -> None:
    """Changed values and revisions by the owner, who takes the triggers away first; a ranking also by somebody who
    knows how its entity tag is made: only the inputs tell then."""
    project, ranked = own.make_project(), own.make_project()
    grid = {
        name: [project.published(experiment=name, trials=100 * place) for place in range(1, revisions + 1)][-1]
        for name, revisions in {"changed": 1, "bent": 1, "whole": 1, "cut": 3, "back": 3, "lost": 1, "old": 1}.items()
    }
    for experiment in ("of old methods", "swapped", "reversed"):
        for model, value in (("one", 80), ("two", 90)):
            ranked.published(experiment=experiment, model=model, axes=[], values=value)
    own.compute()
    ids = {name: one["id"] for name, one in grid.items()}
    with own.database.engine.begin() as connection:

        def tamper(statement: str) -> None:
            connection.execute(text(statement), ids)

        tamper("ALTER TABLE stored_revisions DISABLE TRIGGER USER")
        tamper("UPDATE stored_revisions SET numbers[1] = 5 WHERE grid_id = :changed")
        tamper("DELETE FROM derivations WHERE grid_id = :cut AND revision = 2")
        tamper("DELETE FROM stored_revisions WHERE grid_id = :cut AND number = 2")
        tamper("UPDATE grids SET revision = 2 WHERE id = :back")
        tamper("DELETE FROM statistics WHERE grid_id = :lost")
        tamper("UPDATE statistics SET methods_version = '1' WHERE grid_id = :old")
        tamper("ALTER TABLE stored_revisions ENABLE TRIGGER USER")
        here = statistics.c.grid_id == ids["bent"]
        stored = connection.scalar(select(statistics.c.document).where(here))
        body, _ = bent(lambda document: document["coverage"].update(count=-1), stored)
        connection.execute(update(statistics).where(here).values(document=body))
        mine = cached_results.c.project_id == ranked.id
        answers = {row.query["experiment"]: row for row in connection.execute(select(cached_results).where(mine))}
        body, document = bent(lambda document: document["ranking"].reverse(), answers["reversed"].document)
        document.pop("computed_at")
        tag = hashlib.sha256(orjson.dumps(document)).hexdigest()[:24]
        for name, changes in (
            ("of old methods", {"methods_version": "1"}),
            ("swapped", {"document": stored}),
            ("reversed", {"document": body, "etag": tag}),
        ):
            connection.execute(update(cached_results).where(cached_results.c.id == answers[name].id).values(changes))
    ran = command(own.settings, "verify", "--json")
    told = json.loads(ran.stdout)
    assert (ran.returncode, told["old_statistics"]) == (3, 1), "those of older methods are counted and not compared"
    found = {(one["grid"], one["check"]): one["detail"] for one in told["differences"] if one["grid"] is not None}
    assert set(found) == {
        (ids["changed"], "digest"), (ids["changed"], "statistics"), (ids["bent"], "statistics"),
        (ids["cut"], "revisions"), (ids["back"], "revisions"), (ids["back"], "statistics"), (ids["lost"], "statistics"),
    }  # fmt: skip
    assert grid["changed"]["digest"] in found[ids["changed"], "digest"]
    assert "/coverage/count" in found[ids["bent"], "statistics"]
    odd = {one["detail"] for one in told["differences"] if one["project_id"] == str(ranked.id)}
    for name, detail in (
        ("of old methods", "by methods version 1; "),
        ("swapped", "the stored document is not the one that its entity tag was made of"),
        ("reversed", "differs at /ranking/0/"),
    ):
        assert any(one.startswith(f"{answers[name].id}: {detail}") for one in odd), (name, odd)
    lines = command(own.settings, "verify").stdout.splitlines()
    assert "The statistics of 1 grid were not compared: other methods computed them." in lines
    assert (
        f"revisions: grid {ids['cut']} revision 3: the current revision is 3, stored are 2, the last of them 3" in lines
    )


def test_a_restore_leaves_out_what_other_releases_of_the_server_do_not_know(tmp_path: Path) -> None:
    marked = "ALTER TABLE ONLY public.grids ALTER COLUMN id SET (pg_attver=26605376);"
    kept = ["CREATE TABLE public.grids (", "    id uuid NOT NULL", ");", "COPY public.grids (id) FROM stdin;"]
    rows = [marked, "SET transaction_timeout = 0;", "\\."]
    dumped = ["SET transaction_timeout = 0;", *kept[:-1], marked, kept[-1], *rows]
    (tmp_path / "dumped").write_text("\n".join(dumped) + "\n")
    for name, does in (("pg_restore", f"cat {tmp_path}/dumped"), ("psql", f"cat > {tmp_path}/loaded")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{does}\n")
        (tmp_path / name).chmod(0o755)
    copying.load("postgresql://127.0.0.1/registry", None, replace=False, chosen=str(tmp_path))
    assert (tmp_path / "loaded").read_text().splitlines() == [*kept, *rows], "of rows every byte stays"


def test_a_backup_holds_every_grid_and_a_restore_is_asked_for_and_whole_or_not_at_all(
    own: House, empty_database_url: str, tmp_path: Path
) -> None:
    project = own.make_project()
    ready = project.published(model="ready")
    own.compute()
    pending = project.published(model="pending")
    file, torn, nowhere = tmp_path / "backup", tmp_path / "torn", tmp_path / "absent" / "backup"
    assert command(own.settings, "backup", file).returncode == 0
    assert file.stat().st_mode & 0o777 == 0o600
    assert command(own.settings, "backup", file).returncode == 1, "a backup was overwritten"
    assert f"{nowhere} cannot be written: No such file" in command(own.settings, "backup", nowhere).stderr
    there = replace(own.settings, database_url=empty_database_url)
    assert command(there, "restore", file).returncode == 0
    database = Database(there, name="tests")
    restored = replace(project, house=House(create_app(there), database, there))
    restored.house.compute()
    for grid in (ready, pending):
        answer = restored.get(f"grids/{grid['id']}/statistics")
        assert (answer.status_code, answer.get_json()["digest"]) == (200, grid["digest"])
    with pytest.raises(Exception, match="never changed"), database.engine.begin() as connection:
        connection.execute(update(stored_revisions).values(cell_count=0))
    lost = restored.published(model="lost")
    refused = command(there, "restore", file)
    assert (refused.returncode, "--replace" in refused.stderr) == (1, True)
    torn.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    assert command(there, "restore", torn, "--replace").returncode == 1
    assert restored.get(f"grids/{lost['id']}").status_code == 200, "a torn file took something away"
    over = command(there, "restore", file, "--replace")
    assert (over.returncode, "revoked since is valid again" in over.stderr) == (0, True)
    seen = [restored.get(f"grids/{ready['id']}").status_code for _ in range(3)]
    assert (seen[-1], restored.get(f"grids/{lost['id']}").status_code) == (200, 404)
    database.close()


def test_a_purge_says_first_what_it_would_do(own: House) -> None:
    project = own.make_project()
    grid = project.published()
    project.call("DELETE", f"grids/{grid['id']}")
    with own.database.transaction() as connection:
        connection.execute(update(grids).values(deleted_at=func.now() - timedelta(days=8)))
    kept = select(func.count()).select_from(stored_revisions)
    gone = own.make_project()
    assert gone.call("DELETE", f"projects/{gone.slug}", role="admin").status_code == 204
    with own.database.transaction() as connection:
        old = {"deleted_at": func.now() - timedelta(days=8)}
        connection.execute(update(projects).where(projects.c.slug == gone.slug).values(old))
    assert command(own.settings, "purge", "--older-than", 7).stdout.startswith("1 grids and 1 projects")
    with own.database.reading() as connection:
        assert connection.scalar(kept) == 1
    assert command(own.settings, "purge", "--older-than", 7, "--yes").returncode == 0
    with own.database.reading() as connection:
        assert connection.scalar(kept) == 0


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
