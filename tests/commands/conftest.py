"""The application as a process on a port of its own: commands reach it over HTTP as they do in life."""

from __future__ import annotations

import contextlib
import http.client
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from registry.settings import Settings
from tests.commands.terminal import Person, person_of
from tests.house import House, Project
from tests.live.system import awaited, bare_environment
from tests.ports import free_port


@pytest.fixture(scope="session")
def url(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where the application listens. Nobody computes: tests call `house.compute()`."""
    port = free_port()
    environment = bare_environment() | replace(settings, port=port).environment()
    with (tmp_path_factory.mktemp("served") / "web.log").open("wb") as log:
        serving = subprocess.Popen([sys.executable, "-m", "registry", "serve"], env=environment, stdout=log, stderr=log)

    def answers() -> bool:
        assert serving.poll() is None, "the web process ended"
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) as asked:
            with contextlib.suppress(OSError):
                asked.request("GET", "/readyz")
                return asked.getresponse().read() is not None
            return False

    awaited(answers)
    yield f"http://127.0.0.1:{port}"
    serving.terminate()
    serving.wait(20)


@pytest.fixture
def person(project: Project, url: str, tmp_path: Path) -> Person:
    """A writer of a project that nobody else uses."""
    return person_of(project, url, tmp_path)


@pytest.fixture
def ready(house: House, project: Project) -> Project:
    """The project with the small grid of two models, computed."""
    project.published()
    project.published(model="Qwen-2.5 7B", values=[[99.7, 99.0, 98.7], [98.0, 99.7, None]])
    house.compute()
    return project
