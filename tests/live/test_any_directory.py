"""The processes of the `system` run in a directory with files that have the names of our modules."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from registry.broker import celery_app
from registry.settings import Settings
from tests.live.system import System, awaited, bare_environment
from tests.namesakes import imported, lay

ROOT = Path(__file__).parents[2]


def test_no_process_imports_from_the_directory_that_it_was_started_in(system: System) -> None:
    app = celery_app(system.settings)
    client = system.client()
    grid = client.publish(experiment="any directory", model="m", axes=[], values=1.0, trials=None)
    awaited(lambda: client.statistics(grid))
    # The dispatcher would have computed by itself.
    assert awaited(lambda: app.control.ping(timeout=1))
    app.close()
    assert system.directory is not None
    assert imported(system.directory) == ""


def test_every_python_that_is_started_leaves_out_the_directory() -> None:
    sources = [path for folder in ("registry", "workers", "client") for path in (ROOT / folder).rglob("*.py")]
    started = [line for path in sources for line in path.read_text().splitlines() if "sys.executable" in line]
    assert started
    assert [line for line in started if not re.search(r"""sys\.executable, "-[PI]", """, line)] == []


def test_the_namesakes_are_there_to_be_imported(tmp_path: Path) -> None:
    place = lay(tmp_path / "place")
    command = [sys.executable, "-m", "registry"]
    assert subprocess.run(command, capture_output=True, check=False, cwd=place).returncode == 1
    assert imported(place) != ""


def test_gunicorn_imports_nothing_from_the_directory_that_it_was_started_in(tmp_path: Path) -> None:
    """It puts that directory before everything else, before it reads its configuration."""
    config = ROOT / "deploy" / "gunicorn.conf.py"
    place = lay(tmp_path / "place")
    ran = subprocess.run(
        [sys.executable, "-P", "-m", "gunicorn", "--check-config", "--config", config, "registry.wsgi:application"],
        env=bare_environment() | replace(Settings(), redis_url="redis://127.0.0.1:1/0").environment(),
        capture_output=True,
        text=True,
        check=False,
        cwd=place,
    )
    assert (ran.returncode, imported(place)) == (0, ""), ran.stderr
