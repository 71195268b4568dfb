"""The client in a job's environment: this distribution without any of its dependencies."""

from __future__ import annotations

import shutil
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent

SHOWS_WHAT_IS_LOADED = """
import sys
import registry.client
from registry.client import Transport
assert repr(Transport("http://127.0.0.1:1")) == "Transport('http://127.0.0.1:1')"
print(*sorted(name.partition(".")[0] for name in sys.modules if name.partition(".")[0] not in sys.stdlib_module_names))
"""


@pytest.fixture(scope="session")
def bare_python(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with this project installed by `pip install --no-deps`, and nothing else."""
    directory = tmp_path_factory.mktemp("bare")
    source = directory / "source"  # a build writes into its source
    for name in ("registry", "workers", "migrations"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    venv.create(directory / "venv", with_pip=False)
    python = directory / "venv" / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", source]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return python


def test_the_client_works_without_any_dependency(bare_python: Path, tmp_path: Path) -> None:
    ran = subprocess.run(
        [bare_python, "-W", "error", "-c", SHOWS_WHAT_IS_LOADED],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    loaded = set(ran.stdout.split()) - {"__main__", "__mp_main__", "_virtualenv", "sitecustomize", "usercustomize"}
    assert loaded == {"registry"}
