"""Rules of the code that no linter knows; `make lint` runs the linters."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parent.parent
SOURCES = [path for folder in ("registry", "workers", "client", "migrations") for path in (ROOT / folder).rglob("*.py")]


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
