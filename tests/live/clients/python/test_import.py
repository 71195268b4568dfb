"""The client in a job's environment: the wheel of `client/`, in a Python that has nothing else."""

import os
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

import results_registry
from tests import ROOT
from tests.client.conftest import Served

SHOWS_WHAT_IS_LOADED = """
import sys
import results_registry
from results_registry import Transport
assert repr(Transport("http://127.0.0.1:1")) == "Transport('http://127.0.0.1:1')"
print(*sorted(name.partition(".")[0] for name in sys.modules if name.partition(".")[0] not in sys.stdlib_module_names))
"""
PUBLISHES = """
from results_registry import flush, log_cells, log_grid
names = {"experiment": "e", "benchmark": "b", "metric": "accuracy"}
log_grid({("1", 0): 99.3, ("2", 1): 100.0}, axes=["Type", "Length"], model="small", **names)
log_cells({"Step": 100, "value": 0.7}, model="large", **names)
assert flush(30)
"""


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client's wheel, built from the directory `client/` alone."""
    directory = tmp_path_factory.mktemp("wheel")
    source = directory / "client"  # a build writes into its source
    shutil.copytree(ROOT / "client", source, ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
    pip("wheel", "--no-build-isolation", "--no-deps", "--wheel-dir", directory, source)
    [built] = directory.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def bare_python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with the client installed, and nothing else."""
    directory = tmp_path_factory.mktemp("bare")
    venv.create(directory, with_pip=False)
    python = directory / "bin" / "python"
    pip("--python", python, "install", "--no-index", wheel)
    return python


def pip(*arguments: str | Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--quiet", *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def run(python: Path, script: str, directory: Path, **environment: str) -> str:
    """What a script prints, any warning being an error."""
    command = [python, "-W", "error", "-c", script]
    ran = subprocess.run(
        command, cwd=directory, env=os.environ | environment, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


def test_the_wheel_holds_the_client_and_nothing_of_the_service(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0] for name in names if ".dist-info/" not in name} == {"results_registry"}
    assert "results_registry/py.typed" in names
    assert wheel.name == f"results_registry_client-{results_registry.__version__}-py3-none-any.whl"


def test_the_client_works_without_any_dependency(bare_python: Path, tmp_path: Path) -> None:
    loaded = set(run(bare_python, SHOWS_WHAT_IS_LOADED, tmp_path).split())
    assert loaded - {"__main__", "__mp_main__", "_virtualenv", "sitecustomize", "usercustomize"} == {"results_registry"}


def test_a_bare_environment_publishes_beside_files_with_the_names_of_the_service(
    bare_python: Path, tmp_path: Path, served: Served
) -> None:
    where = {name.upper(): text for name, text in served.where.items()}
    for name in ("registry", "migrations", "workers", "celery", "redis"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('beside a training script')")
    run(bare_python, PUBLISHES, tmp_path, **{f"REGISTRY_{name}": text for name, text in where.items()})
    assert {(grid["model"], grid["cell_count"]) for grid in served.grids()} == {("small", 2), ("large", 1)}


def test_both_distributions_have_one_license_and_one_version() -> None:
    assert (ROOT / "client" / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    papers = [tomllib.loads((folder / "pyproject.toml").read_text()) for folder in (ROOT, ROOT / "client")]
    assert [paper["project"]["dynamic"] for paper in papers] == [["version"], ["version"]]
    assert papers[1]["project"]["dependencies"] == []
