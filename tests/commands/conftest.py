"""Commands reach the application over HTTP, as they do in life."""

from pathlib import Path

import pytest

from tests.commands.terminal import Person, person_of
from tests.house import House, Project


@pytest.fixture
def person(project: Project, address: str, tmp_path: Path) -> Person:
    """A writer of a project that nobody else uses."""
    return person_of(project, address, tmp_path)


@pytest.fixture
def ready(house: House, project: Project) -> Project:
    """The project with the small grid of two models, computed."""
    project.published()
    project.published(model="Qwen-2.5 7B", values=[[99.7, 99.0, 98.7], [98.0, 99.7, None]])
    house.compute()
    return project
