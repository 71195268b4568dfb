"""The examples do what their readers will do, against a registry that answers."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.client.conftest import Served

EXAMPLES = Path(__file__).parents[4] / "examples"


def run(name: str, served: Served) -> str:
    """What an example prints."""
    environment = os.environ | {
        "REGISTRY_URL": served.url,
        "REGISTRY_PROJECT": served.project.slug,
        "REGISTRY_TOKEN": served.where["token"],
    }
    command = [sys.executable, "-W", "error", str(EXAMPLES / name)]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    return ran.stdout


def test_every_example_is_named_in_its_readme_and_runs_here() -> None:
    readme, here = (EXAMPLES / "README.md").read_text(), Path(__file__).read_text()
    names = {path.name for path in EXAMPLES.glob("*.py")}
    assert names
    assert {name for name in names if name in readme and name in here} == names


def test_the_training_loop_leaves_a_grid_that_grew(served: Served) -> None:
    said = run("training_loop.py", served)
    assert said.endswith("sent\n")
    grid = served.grid()
    assert [(axis["name"], axis["kind"], len(axis["levels"])) for axis in grid["axes"]] == [
        ("Split", "nominal", 2),
        ("Step", "numeric", 50),
    ]
    assert grid["cell_count"] == 100
    assert grid["values"][0][0] == pytest.approx(0.6931, abs=1e-4)  # ln 2: a coin's loss
    assert grid["values"][1][-1] < grid["values"][1][0]


def test_the_sweep_is_published_and_read_back(served: Served) -> None:
    assert run("evaluation_sweep.py", served).splitlines()[-1] == "sent"
    assert {(grid["model"], grid["cell_count"]) for grid in served.grids()} == {
        ("majority", 30),
        ("dictator", 30),
        ("unanimity", 30),
    }
    served.project.house.compute()
    [asked] = [served.project.get(f"projects/{served.project.slug}/rankings?experiment=juries&metric=accuracy")]
    assert asked.status_code == 200
    said = run("read_back.py", served)
    assert "1. majority (rank 1 to 1)" in said
    assert said.count(" points, 95 % interval") == 5


def test_an_xarray_comes_back_as_it_was(served: Served) -> None:
    assert run("sweep_with_xarray.py", served).endswith("the same to the last bit: True\n")
    assert served.grid()["axes"][0]["scale"] == "log"
