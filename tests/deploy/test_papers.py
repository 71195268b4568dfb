"""The papers say what is so: settings, make targets, decisions, dependencies."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib

import pytest
from packaging.requirements import Requirement

from registry.settings import Settings
from tests.deploy.compose_file import ROOT


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
def test_make_help_has_a_line_for_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^([a-z]+):", makefile, re.MULTILINE)
    shown = subprocess.run(["make", "help"], capture_output=True, text=True, check=True, cwd=ROOT).stdout.splitlines()
    assert [line.split()[0] for line in shown] == targets
    assert {"check", "test", "format", "types", "openapi", "bench", "demo"} <= set(targets)


def test_every_setting_is_in_the_papers() -> None:
    paper = (ROOT / "docs" / "operating.md").read_text()
    assert [name for name in Settings().environment() if f"`{name}`" not in paper] == []


def test_every_decision_says_what_it_cost() -> None:
    for paper in sorted((ROOT / "docs" / "decisions").glob("*.md")):
        assert re.findall(r"^\*\*(.*?)\.\*\*", paper.read_text(), re.MULTILINE) == [
            "Context",
            "Decision",
            "What we gave up",
        ], paper.name


def test_every_runtime_dependency_has_its_reason() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    paper = (ROOT / "docs" / "decisions" / "0008-dependencies.md").read_text()
    table = set(re.findall(r"^\| ([\w-]+) \|", paper, re.MULTILINE)) - {"runtime", "extra", "tests", "---"}
    assert {Requirement(line).name for line in project["dependencies"]} == table
