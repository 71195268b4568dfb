"""What the processes of a service load: each costs memory for as long as it runs."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
        ("workers.tasks", {"scipy.stats", "scipy.optimize"}),
        # redis-py imports the rest of OpenTelemetry by itself where it finds it.
        ("registry.web_server, workers.tasks", {"opentelemetry.exporter"}),
    ],
)
def test_a_process_does_not_load_what_it_does_not_use(module: str, without: set[str]) -> None:
    assert loaded(module) & without == set()
