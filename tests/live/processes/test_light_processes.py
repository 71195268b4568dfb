"""What processes of a service import: nothing that they do not use, nothing from the directory they are started in."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from registry.broker import celery_app
from tests import ROOT
from tests.live.namesakes import imported, lay
from tests.live.processes.system import System, awaited

SAY = "import {module}, sys; print(*sys.modules)"


def loaded(module: str) -> set[str]:
    """The modules that a Python has loaded after importing one."""
    command = [sys.executable, "-c", SAY.format(module=module)]
    return set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.parametrize(
    "module, without",
    [
        ("registry.commands.processes", {"alembic", "celery", "flask", "numpy", "redis", "sqlalchemy"}),
        ("workers.dispatcher", {"alembic", "flask", "marshmallow", "numpy", "scipy"}),
        ("registry.api, registry.pages", {"alembic", "celery", "kombu", "numpy", "pyarrow", "scipy"}),
        ("workers.app", {"alembic", "flask", "marshmallow"}),
        ("workers.app", {"scipy.stats", "scipy.optimize"}),
    ],
)
def test_a_process_does_not_load_what_it_does_not_use(module: str, without: set[str]) -> None:
    assert loaded(module) & without == set()


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
