"""The rules of the house that a machine can check; `make check` runs the same tools."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = [path for folder in ("registry", "workers", "client", "migrations") for path in (ROOT / folder).rglob("*.py")]


def passes(*tool: str) -> None:
    ran = subprocess.run([sys.executable, "-m", *tool], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("tool", [["ruff", "format", "--check", "."], ["ruff", "check", "."]], ids=" ".join)
def test_the_code_is_in_form(tool: list[str]) -> None:
    passes(*tool)


@pytest.mark.skipif(
    sys.version_info[:2] != (3, 11), reason="types are checked on Python 3.11: numpy's stubs differ with its version"
)
def test_the_types_are_right() -> None:
    passes("mypy")


def test_imports_go_in_the_directions_of_the_house() -> None:
    lint = Path(sys.executable).with_name("lint-imports")
    ran = subprocess.run([lint], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_only_settings_read_the_environment() -> None:
    readers = {path.relative_to(ROOT).as_posix() for path in SOURCES if "os.environ" in path.read_text()}
    service = {"registry/settings.py", "registry/local/embedded/launch.py", "registry/local/embedded/children.py"}
    client = {f"client/results_registry/{name}.py" for name in ("config", "environment")}  # runs without settings
    assert readers <= service | client


def test_only_the_database_module_commits() -> None:
    def commits(path: Path) -> bool:
        tree = ast.parse(path.read_text())
        called = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
        return any(
            isinstance(one, ast.Attribute)
            and one.attr in ("commit", "begin")
            and not (isinstance(one.value, ast.Call) and getattr(one.value.func, "id", "") == "super")
            for one in called
        )

    places = {path.relative_to(ROOT).as_posix() for path in SOURCES if commits(path)}
    assert places <= {"registry/storage/database.py", "migrations/apply.py"}


def test_openapi_yaml_is_what_the_code_says() -> None:
    from registry import create_app
    from registry.api.openapi import openapi_yaml
    from registry.settings import Settings

    assert (ROOT / "openapi.yaml").read_text(encoding="utf-8") == openapi_yaml(create_app(Settings()))
