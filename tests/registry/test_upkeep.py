"""Looking after a registry: doctor, verify, backup, restore, purge, as commands on a database of their own."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner
from sqlalchemy import func, make_url, select, text, update

from registry import create_app
from registry.cli import main
from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.tables import cached_results, grids, statistics, stored_revisions
from results_registry.local_instance import announced
from tests.house import House, Project
from tests.ports import free_port
from workers.verify import verify
from workers.verify_checks import Difference


def environment(settings: Settings) -> dict[str, str | None]:
    """What `registry …` is told of a database and a broker, and nothing else."""
    absent: dict[str, str | None] = {name: None for name in os.environ if name.startswith("REGISTRY_")}
    return absent | {"REGISTRY_DATABASE_URL": settings.database_url, "REGISTRY_REDIS_URL": settings.redis_url}


def process(settings: Settings, *arguments: object) -> subprocess.CompletedProcess[str]:
    """`registry …` as it is in life: it finds all that it needs in a process of its own."""
    given = {name: value for name, value in (os.environ | environment(settings)).items() if value is not None}
    argv = [sys.executable, "-m", "registry", *map(str, arguments)]
    return subprocess.run(argv, env=given, capture_output=True, text=True, check=False, timeout=120)


def command(settings: Settings, *arguments: object) -> subprocess.CompletedProcess[str]:
    """`registry …` in this process, which starts faster. Not `verify`: it becomes another program."""
    argv = [str(one) for one in arguments]
    ran = CliRunner().invoke(main, argv, env=environment(settings))
    if ran.exception is not None and not isinstance(ran.exception, SystemExit):
        raise ran.exception
    return subprocess.CompletedProcess(argv, ran.exit_code, ran.stdout, ran.stderr)


def tamper(house: House, statement: object) -> None:
    """What nobody can do by accident: the owner takes the triggers away first."""
    with house.database.engine.begin() as connection:
        connection.execute(text("ALTER TABLE stored_revisions DISABLE TRIGGER USER"))
        connection.execute(statement)  # type: ignore[call-overload]
        connection.execute(text("ALTER TABLE stored_revisions ENABLE TRIGGER USER"))


def test_the_doctor_finds_nothing_bad_in_a_good_registry_and_says_what_it_saw(own: House) -> None:
    ran = process(own.settings, "doctor", "--json")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    said = json.loads(ran.stdout)
    assert said["healthy"] is True
    signs = {sign["name"]: sign for sign in said["signs"]}
    assert {"database", "fsync", "full_page_writes", "synchronous_commit", "schema", "clock", "statistics"} <= set(
        signs
    )
    assert {"redis", "redis eviction", "disk", "port"} <= set(signs)
    assert signs["statistics"]["found"] == "none pending"


def test_the_doctor_looks_where_the_registry_of_the_home_says_that_it_listens(own: House, tmp_path: Path) -> None:
    def found() -> str:
        ran = command(own.settings, "doctor", "--json", "--home", tmp_path)
        [sign] = [one["found"] for one in json.loads(ran.stdout)["signs"] if one["name"] == "port"]
        return str(sign)

    port = free_port()
    with announced(tmp_path, f"http://127.0.0.1:{port}"):
        assert found() == f"{port} is free: nothing is served there"
    assert str(Settings().port) in found()


def test_the_doctor_says_what_to_do_about_promises_that_nobody_keeps(own: House) -> None:
    own.make_project().published()
    with own.database.transaction() as connection:
        connection.execute(text("UPDATE derivations SET due_at = now() - interval '5 minutes'"))
    ran = command(own.settings, "doctor")
    assert ran.returncode == 3
    lines = ran.stdout.splitlines()
    [line] = [one for one in lines if "1 pending" in one]
    advice = lines[lines.index(line) + 1]
    assert line.split()[0] == "bad"
    assert "1 pending" in line
    assert "registry dispatch" in advice


def test_the_doctor_names_a_database_without_tables_and_one_that_is_away(
    settings: Settings, empty_database_url: str
) -> None:
    empty = command(replace(settings, database_url=empty_database_url), "doctor")
    assert empty.returncode == 3
    assert "registry migrate" in empty.stdout
    nowhere = replace(settings, database_url="postgresql://127.0.0.1:1/x", redis_url="redis://127.0.0.1:1/0")
    away = command(nowhere, "doctor", "--json")
    assert away.returncode == 3
    states = {sign["name"]: sign["state"] for sign in json.loads(away.stdout)["signs"]}
    assert (states["database"], states["redis"]) == ("bad", "doubtful"), "without a broker statistics still come"


def test_what_was_computed_is_as_it_would_be_computed_now(own: House) -> None:
    project = own.make_project()
    for model in ("one", "two"):
        project.published(model=model)
    own.compute()
    ran = process(own.settings, "verify", "--json")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert json.loads(ran.stdout) == {"revisions": 2, "differences": [], "next": None, "old_statistics": 0}


def test_a_changed_value_and_a_changed_statistic_are_found_and_named(own: House) -> None:
    project = own.make_project()
    changed, bent, whole = (project.published(model=model) for model in ("changed", "bent", "whole"))
    own.compute()
    tamper(own, text("UPDATE stored_revisions SET numbers[1] = 5 WHERE grid_id = :id").bindparams(id=changed["id"]))
    with own.database.transaction() as connection:
        here = statistics.c.grid_id == bent["id"]
        document = orjson.loads(gzip.decompress(connection.scalar(select(statistics.c.document).where(here))))
        document["coverage"]["count"] = -1
        connection.execute(update(statistics).where(here).values(document=gzip.compress(orjson.dumps(document))))
    ran = process(own.settings, "verify", "--json")
    assert ran.returncode == 3
    told = json.loads(ran.stdout)["differences"]
    assert {one["check"] for one in told if one["grid"] is None} == {"answer"}, "the ranking is of another value"
    found = {(one["grid"], one["check"]): one["detail"] for one in told if one["grid"] is not None}
    assert set(found) == {(changed["id"], "digest"), (changed["id"], "statistics"), (bent["id"], "statistics")}
    assert changed["digest"] in found[changed["id"], "digest"]
    assert "/coverage/count" in found[bent["id"], "statistics"]
    assert whole["id"] not in ran.stdout


def differences(own: House) -> list[Difference]:
    """What `registry verify` would find."""
    *_, tally = verify(own.database, own.settings, None, None, None)
    return tally.differences


def ranked(own: House) -> tuple[Project, dict[str, Any]]:
    """Three grids, one of them with three revisions, and the ranking over them; everything computed."""
    project = own.make_project()
    for model in ("one", "two"):
        project.published(model=model)
    for trials in (100, 200, 300):
        grid = project.published(model="three", trials=trials)
    own.compute()
    assert differences(own) == []
    return project, grid


@pytest.mark.parametrize(
    ("what", "check"),
    [
        ("DELETE FROM derivations WHERE revision = 2; DELETE FROM stored_revisions WHERE number = 2", "revisions"),
        ("UPDATE grids SET revision = 2 WHERE revision = 3", "revisions"),
        ("DELETE FROM statistics WHERE revision = 3", "statistics"),
        ("UPDATE cached_results SET methods_version = '1'", "answer"),
        ("UPDATE cached_results SET document = (SELECT document FROM statistics WHERE revision = 3)", "answer"),
    ],
)
def test_each_kind_of_tampering_is_found(own: House, what: str, check: str) -> None:
    ranked(own)
    for statement in what.split(";"):
        tamper(own, text(statement))
    assert check in {one.check for one in differences(own)}


def test_statistics_by_older_methods_are_counted_and_not_compared(own: House) -> None:
    ranked(own)
    with own.database.transaction() as connection:
        connection.execute(text("UPDATE statistics SET methods_version = '1' WHERE revision = 3"))
    ran = process(own.settings, "verify")
    assert (ran.returncode, ran.stdout.splitlines()[0]) == (
        0,
        "The statistics of 1 grid were not compared: other methods computed them.",
    )
    assert json.loads(process(own.settings, "verify", "--json").stdout)["old_statistics"] == 1


def test_a_ranking_replaced_with_its_entity_tag_is_found(own: House) -> None:
    """As somebody would who knows how the tag is made: only the inputs tell then."""
    ranked(own)
    with own.database.transaction() as connection:
        document = orjson.loads(gzip.decompress(connection.scalar(select(cached_results.c.document))))
        document["ranking"].reverse()
        body = gzip.compress(orjson.dumps(document))
        document.pop("computed_at")
        tag = hashlib.sha256(orjson.dumps(document)).hexdigest()[:24]
        connection.execute(update(cached_results).values(document=body, etag=tag))
    ran = process(own.settings, "verify")
    assert ran.returncode == 3
    assert "/ranking/0/" in ran.stdout


def test_the_doctor_tells_of_rankings_that_wait_or_failed_and_of_old_methods(own: House) -> None:
    ranked(own)
    with own.database.transaction() as connection:
        connection.execute(text("UPDATE cached_results SET state = 'pending', due_at = now() - interval '5 minutes'"))
        connection.execute(text("UPDATE statistics SET methods_version = '1' WHERE revision = 3"))
    ran = command(own.settings, "doctor", "--json")
    assert ran.returncode == 3
    signs = {sign["name"]: (sign["state"], sign["found"]) for sign in json.loads(ran.stdout)["signs"]}
    assert signs["rankings"][0] == "bad"
    assert signs["rankings"][1].startswith("1 pending, the oldest for 30")
    assert signs["methods"][0] == "good"
    assert "1 by methods version 1" in signs["methods"][1]
    with own.database.transaction() as connection:
        connection.execute(text("UPDATE cached_results SET state = 'failed', reason = 'not today'"))
    signs = {one["name"]: one["found"] for one in json.loads(command(own.settings, "doctor", "--json").stdout)["signs"]}
    assert signs["failed rankings"] == "1 failed"


def test_verifying_goes_on_where_it_stopped_and_keeps_to_a_project(own: House) -> None:
    mine, other = own.make_project(), own.make_project()
    for number in range(3):
        mine.published(model=str(number))
    other.published()
    first = json.loads(process(own.settings, "verify", "--json", "--most", 2, "--project", mine.slug).stdout)
    assert (first["revisions"], bool(first["next"])) == (2, True)
    rest = process(own.settings, "verify", "--json", "--project", mine.slug, "--after", first["next"])
    assert json.loads(rest.stdout) == {"revisions": 1, "differences": [], "next": None, "old_statistics": 0}
    assert process(own.settings, "verify", "--after", "nonsense").returncode == 1


def test_a_restored_database_holds_every_grid_and_finishes_its_statistics_itself(
    own: House, empty_database_url: str, tmp_path: Path
) -> None:
    project = own.make_project()
    ready = project.published(model="ready")
    own.compute()
    pending = project.published(model="pending")
    file = tmp_path / "backup"
    made = process(own.settings, "backup", file)
    assert made.returncode == 0, made.stderr
    assert file.stat().st_mode & 0o777 == 0o600
    assert command(own.settings, "backup", file).returncode == 1, "a backup was overwritten"
    nowhere = tmp_path / "absent" / "backup"
    assert f"{nowhere} cannot be written: No such file" in command(own.settings, "backup", nowhere).stderr
    there = replace(own.settings, database_url=empty_database_url)
    restored = process(there, "restore", file)
    assert restored.returncode == 0, restored.stderr
    database = Database(there, name="tests")
    house = House(create_app(there), database, there)
    house.compute()
    for grid in (ready, pending):
        answer = house.call("GET", f"grids/{grid['id']}/statistics", token=project.tokens["reader"])
        assert (answer.status_code, answer.get_json()["digest"]) == (200, grid["digest"])
    with pytest.raises(Exception, match="never changed"), database.engine.begin() as connection:
        connection.execute(update(stored_revisions).values(cell_count=0))
    database.close()


@pytest.mark.parametrize(
    "words", [["purge"], ["retry"], ["token", "--name", "x"], ["bi-role", "x", "--all"]], ids=" ".join
)
def test_a_database_that_is_away_is_named_with_the_reason(settings: Settings, words: list[str]) -> None:
    nowhere = make_url(settings.database_url).set(database="registry_of_nobody").render_as_string(hide_password=False)
    ran = command(replace(settings, database_url=nowhere), *words)
    assert (ran.returncode, "Traceback" in ran.stderr) == (5, False)
    _, reason, advice = ran.stderr.splitlines()[-3:]
    assert 'database "registry_of_nobody" does not exist' in reason
    assert advice.startswith("REGISTRY_DATABASE_URL")


def test_a_backup_goes_through_pipes_where_no_file_can_be_written(own: House, empty_database_url: str) -> None:
    project = own.make_project()
    grid = project.published()
    there = replace(own.settings, database_url=empty_database_url)
    argv = [sys.executable, "-m", "registry"]
    environments = [os.environ | {"REGISTRY_DATABASE_URL": one.database_url} for one in (own.settings, there)]
    made = subprocess.run([*argv, "backup", "-"], env=environments[0], capture_output=True, check=True, timeout=120)
    restore = [*argv, "restore", "-"]
    subprocess.run(restore, env=environments[1], input=made.stdout, capture_output=True, check=True, timeout=120)
    database = Database(there, name="tests")
    answer = House(create_app(there), database, there).call(
        "GET", f"grids/{grid['id']}", token=project.tokens["reader"]
    )
    database.close()
    assert (answer.status_code, answer.get_json()["digest"]) == (200, grid["digest"])


def test_a_restore_over_something_needs_to_be_asked_for_and_is_whole_or_not_at_all(own: House, tmp_path: Path) -> None:
    project = own.make_project()
    kept = project.published(model="kept")
    file = tmp_path / "backup"
    assert command(own.settings, "backup", file).returncode == 0
    lost = project.published(model="lost")
    refused = command(own.settings, "restore", file)
    assert refused.returncode == 1
    assert "--replace" in refused.stderr
    torn = tmp_path / "torn"
    torn.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    assert command(own.settings, "restore", torn, "--replace").returncode == 1
    assert project.get(f"grids/{lost['id']}").status_code == 200, "a torn file took something away"
    assert command(own.settings, "restore", file, "--replace").returncode == 0
    seen = [project.get(f"grids/{kept['id']}").status_code for _ in range(3)]
    assert seen[-1] == 200
    assert project.get(f"grids/{lost['id']}").status_code == 404


def test_a_purge_says_first_what_it_would_do(own: House) -> None:
    project = own.make_project()
    grid = project.published()
    project.call("DELETE", f"grids/{grid['id']}")
    with own.database.transaction() as connection:
        connection.execute(update(grids).values(deleted_at=func.now() - timedelta(days=8)))
    asked = command(own.settings, "purge", "--older-than", 7)
    assert asked.stdout.startswith("1 grids")
    with own.database.reading() as connection:
        assert connection.scalar(select(func.count()).select_from(stored_revisions)) == 1
    assert process(own.settings, "purge", "--older-than", 7, "--yes").returncode == 0
    with own.database.reading() as connection:
        assert connection.scalar(select(func.count()).select_from(stored_revisions)) == 0
