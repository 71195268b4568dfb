"""A served registry with the seed heatmaps, for programs that speak HTTP for themselves."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest
from werkzeug.serving import WSGIRequestHandler, make_server

from registry.demo import demo_grids
from tests.house import House, Project


class Quiet(WSGIRequestHandler):
    """Keeps the connection, as every real server does, and writes no log."""

    protocol_version = "HTTP/1.1"

    def log(self, *_given: object) -> None:
        pass


@pytest.fixture(scope="module")
def served(house: House) -> Iterator[str]:
    """The address of a server of this test run's application."""
    server = make_server("127.0.0.1", 0, house.app, threaded=True, request_handler=Quiet)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def seeds(house: House) -> Project:
    """A public project with the seed heatmaps and their statistics."""
    project = house.make_project("public")
    for grid in demo_grids():
        assert project.publish({"axes": []} | grid).status_code in (200, 201)
    house.compute()
    return project


@pytest.fixture(scope="module")
def table(served: str, seeds: Project) -> str:
    """The address of the feed of the seeds of the first experiment, without its suffix."""
    return f"{served}/api/v1/projects/{seeds.slug}/cells"


@pytest.fixture(scope="module")
def first_grid(seeds: Project) -> dict[str, object]:
    """Seed 0, as the interface answers it."""
    query = "experiment=type-by-length&benchmark=Core%20Generalization"
    found = seeds.get(f"projects/{seeds.slug}/grids?{query}").get_json()["items"]
    grid: dict[str, object] = seeds.get(f"grids/{found[0]['id']}").get_json()
    return grid
