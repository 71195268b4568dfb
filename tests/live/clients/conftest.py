"""A served registry with the seed heatmaps, for programs that speak HTTP for themselves."""

import pytest

from registry.demo import demo_grids
from tests.commands.conftest import person
from tests.house import House, Project

__all__ = ["person"]  # a fixture of commands


@pytest.fixture(scope="module")
def seeds(house: House) -> Project:
    """A public project with the seed heatmaps and their statistics."""
    project = house.make_project("public")
    for grid in demo_grids():
        assert project.publish({"axes": []} | grid).status_code in (200, 201)
    house.compute()
    return project


@pytest.fixture(scope="module")
def table(address: str, seeds: Project) -> str:
    """The address of the feed of the seeds of the first experiment, without its suffix."""
    return f"{address}/api/v1/projects/{seeds.slug}/cells"


@pytest.fixture(scope="module")
def first_grid(seeds: Project) -> dict[str, object]:
    """Seed 0, as the interface answers it."""
    query = "experiment=type-by-length&benchmark=Core%20Generalization"
    found = seeds.get(f"projects/{seeds.slug}/grids?{query}").get_json()["items"]
    grid: dict[str, object] = seeds.get(f"grids/{found[0]['id']}").get_json()
    return grid
