"""The papers say what is so: settings, make targets, decisions, dependencies."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from registry.settings import Settings
from tests import ROOT


@pytest.mark.skipif(shutil.which("make") is None, reason="no make here")
def test_make_help_has_a_line_for_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^([a-z-]+):", makefile, re.MULTILINE)
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
    runtime = paper.partition("| runtime |")[2].partition("\n\n")[0]
    table = set(re.findall(r"^\| ([\w-]+) \|", runtime, re.MULTILINE))
    assert {Requirement(line).name for line in project["dependencies"]} == table


def test_links_and_paths_in_the_papers_lead_somewhere() -> None:
    papers = [
        *ROOT.glob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
        *ROOT.glob("client/*.md"),
        *ROOT.glob("examples/*.md"),
    ]
    papers.remove(ROOT / "CHANGELOG.md")  # it tells of paths that were
    lost: list[tuple[str, str]] = []
    for paper in papers:
        text = paper.read_text()
        links = [link for link in re.findall(r"\]\(([^)#\s]+)", text) if "://" not in link]
        lost += [(paper.name, link) for link in links if not (paper.parent / link).exists()]
        named = re.findall(r"`((?:registry|workers|client|tests|migrations|docs|deploy|bench)/[\w./-]+)`", text)
        lost += [(paper.name, path) for path in named if not (ROOT / path).exists()]
    assert lost == []


def test_the_tree_in_the_readme_is_the_tree() -> None:
    tree = (ROOT / "README.md").read_text().split("## Where things are")[1].split("```")[1]
    folder = ""
    for line in tree.strip("\n").splitlines():
        names = line[:20].split()
        folder = "" if not line.startswith(" ") else folder
        assert [name for name in names if not (ROOT / folder / name).exists()] == []
        folder = folder or names[0]


def test_one_line_of_the_readme_runs_the_tests() -> None:
    lines = [line for line in (ROOT / "README.md").read_text().splitlines() if "'.[test]'" in line]
    assert lines == ["pip install -e '.[test]' && pytest -n auto"]


def test_every_package_that_is_imported_is_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    lines = [*project["dependencies"], *(line for extra in project["optional-dependencies"].values() for line in extra)]
    declared = {canonicalize_name(Requirement(line).name) for line in lines}
    homes = packages_distributions()
    imported: set[str] = set()
    for path in (path for folder in ("registry", "workers", "migrations") for path in (ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                imported.add(node.module.partition(".")[0])
    foreign = imported - sys.stdlib_module_names - {"registry", "workers", "migrations", "results_registry"}
    undeclared = {
        name for name in foreign if not {canonicalize_name(home) for home in homes.get(name, [name])} & declared
    }
    assert undeclared == set()
