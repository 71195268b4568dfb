"""registry mirror, whoever is killed, and following until it is told to end: as processes."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import text

from tests.commands.terminal import Person
from tests.commands.test_mirror import Cell, check_files, lake, manifest, mirrored, purge_grid, served, tell
from tests.house import Project
from tests.live.processes.system import awaited

__all__ = ["lake"]  # a fixture

KILLS = """
import os, shutil, sys
from registry.cli import main
from registry.commands import mirror
from registry.mirror import refresh

before, left = sys.argv[1], 0

def counted(name):
    real = getattr(os, name)
    def call(*given, **named):
        global left
        left -= 1
        if left < 0:
            os.kill(os.getpid(), 9)
        return real(*given, **named)
    setattr(os, name, call)

step, status = -1, 9
while status == 9:
    step += 1
    lake = f"{before}-killed-{step}"
    if os.path.exists(before):
        shutil.copytree(before, lake)
    child = os.fork()
    if not child:
        for name in ("fsync", "replace", "unlink", "rmdir", "mkdir"):
            counted(name)
        left = step
        main(["mirror", lake, "--quiet"])
    _, status = os.waitpid(child, 0)
sys.exit(status)
"""


def check_every_kill(person: Person, lake: Path, old: list[Cell] | None, new: list[Cell]) -> int:
    """How many changes of the directory a run makes: killed before each of them, it leaves the old state or the new
    one (None: there was none), and the next run has the new one and nothing else."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("REGISTRY_")}
    command = [sys.executable, "-c", KILLS, str(lake)]
    done = subprocess.run(command, env=kept | person.environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    left = sorted(lake.parent.glob(f"{lake.name}-killed-*"))
    for one in left:
        if old is not None or ((one / "manifest.json").exists() and manifest(one)["projects"]):
            assert mirrored(one) in (old, new)
        person.says("mirror", str(one))
        assert mirrored(one) == new
        check_files(one)
        shutil.rmtree(one)
    return len(left) - 1


def test_whoever_kills_a_run_leaves_the_old_state_or_the_new_one(person: Person, project: Project, lake: Path) -> None:
    """The first run, a later one, and one that reads anew what the feed keeps no longer."""
    secret = project.published(model="Secret")["id"]
    project.published(model="A")
    tell(project)
    assert check_every_kill(person, lake, None, served(project)) > 6
    person.says("mirror", str(lake))
    old = mirrored(lake)
    project.published(model="A", values=[[1, 2, 3], [4, 5, 6]])
    purge_grid(project, secret)
    assert check_every_kill(person, lake, old, served(project)) > 8
    person.says("mirror", str(lake))
    old = mirrored(lake)
    project.published(model="B")
    tell(project)
    with project.house.database.transaction() as connection:
        here = {"project": project.id}
        connection.execute(text("UPDATE event_heads SET first = position + 1 WHERE project_id = :project"), here)
        connection.execute(text("DELETE FROM events WHERE project_id = :project"), here)
    assert check_every_kill(person, lake, old, served(project)) > 6


def test_following_ends_cleanly_on_sigterm(person: Person, project: Project, lake: Path) -> None:
    project.published()
    tell(project)
    running = person.start("mirror", str(lake), "--follow", "--every", "0.1", stderr=subprocess.PIPE)

    def caught_up(expected: Callable[[], list[Cell]]) -> bool:
        return (lake / "manifest.json").exists() and bool(manifest(lake)["projects"]) and mirrored(lake) == expected()

    try:
        awaited(lambda: caught_up(lambda: served(project)))
        project.published(model="Later")
        tell(project)
        awaited(lambda: caught_up(lambda: served(project)))
    finally:
        running.terminate()
        _, complaints = running.communicate(timeout=20)
    assert (running.returncode, complaints) == (0, b"")
    check_files(lake)
