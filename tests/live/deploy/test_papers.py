"""The papers say what is so: settings, make targets, decisions, dependencies, and one version everywhere."""

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
from packaging.version import Version

from registry.settings import Settings
from results_registry import __version__
from tests import ROOT
from tests.live.deploy.compose_file import services

RUNS = Version(__version__)
CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
RELEASED = [Version(found) for found in re.findall(r"^## \[(\d\S*)\] — \d{4}-\d{2}-\d{2}$", CHANGELOG, re.MULTILINE)]


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


def test_between_releases_the_version_is_a_development_version_of_the_next_one() -> None:
    """So what is built in between is told from the release, and pip never takes it for that."""
    assert str(RUNS) == __version__
    assert sorted(RELEASED, reverse=True) == RELEASED
    if RUNS.is_devrelease:
        assert f"\n## [{RUNS.base_version}] — unreleased\n" in CHANGELOG
        assert Version(RUNS.base_version) > RELEASED[0]
    else:
        assert RELEASED[0] == RUNS
        assert CHANGELOG.split("## [Unreleased]")[1].split("\n## [")[0].strip() == ""
        assert "— unreleased" not in CHANGELOG


def test_the_image_has_the_version_of_the_code() -> None:
    ours = {service["image"] for service in services().values() if service["image"].startswith("results-registry:")}
    assert ours == {f"results-registry:${{VERSION:-{__version__}}}"}


def test_the_way_from_each_release_to_the_next_is_in_the_papers() -> None:
    paper = (ROOT / "docs" / "upgrading.md").read_text()
    steps = re.findall(r"^## From (\S+) to (\S+)$", paper, re.MULTILINE)
    order = [str(version) for version in RELEASED]
    if RUNS.is_devrelease:
        order.insert(0, RUNS.base_version)
    assert steps == list(zip(order[1:], order[:-1], strict=True))


def test_the_readme_says_what_is_out_and_what_is_being_prepared() -> None:
    told = (ROOT / "README.md").read_text()
    assert f"Release {RELEASED[0]} is out" in told
    assert (f"{RUNS.base_version} is being prepared" in told) == RUNS.is_devrelease
