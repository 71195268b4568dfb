"""The pinned versions: allowed by the package, complete, the same in both files, and with hashes for the image."""

import re
import tomllib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests import ROOT
from tests.live.deploy.dependencies import CONSTRAINTS, REQUIREMENTS, installed_closure, needed, pinned

EXTRAS = ("embedded", "inspect", "mcp", "oidc", "parquet")
CALENDAR = {"structlog", "xarray"}
"""Versions are years."""
ELSEWHERE = {"async-timeout", "httpx2-jsfetch", "pywin32", "tzdata"}
"""What only other versions of Python, or other systems, need."""


def test_the_pinned_versions_are_versions_that_the_package_allows() -> None:
    versions = pinned(CONSTRAINTS)
    assert [one for one in needed(*EXTRAS) if versions[canonicalize_name(one.name)] not in one.specifier] == []


def test_no_dependency_takes_a_major_version_that_nobody_tried() -> None:
    """Each has an upper bound, the next major or a year, and what is installed is within it."""
    written = tomllib.loads((ROOT / "pyproject.toml").read_text())
    extras = written["project"]["optional-dependencies"]
    asked = [*needed(*extras), *map(Requirement, written["build-system"]["requires"])]
    others = [one for one in asked if canonicalize_name(one.name) != "results-registry"]
    assert len(others) > 60
    assert [str(one) for one in others if not {"<", "=="} & {bound.operator for bound in one.specifier}] == []
    wrong = []
    for one in others:
        try:
            installed = Version(version(one.name))
        except PackageNotFoundError:
            continue  # of an extra that is not here
        wrong += [str(one)] if installed not in one.specifier else []
        next_ = f"{installed.major + (2 if one.name in CALENDAR else 1)}"
        wrong += [str(one)] if Version(next_) in one.specifier else []
    assert wrong == []


@pytest.mark.parametrize("file, extras", [(CONSTRAINTS, EXTRAS), (REQUIREMENTS, ("oidc",))], ids=["all", "image"])
def test_everything_that_comes_along_is_pinned_and_nothing_else(file: Path, extras: tuple[str, ...]) -> None:
    assert set(pinned(file)) ^ installed_closure(*extras) <= ELSEWHERE


def test_the_image_s_versions_are_those_of_all_and_every_one_has_hashes() -> None:
    assert pinned(REQUIREMENTS).items() <= pinned(CONSTRAINTS).items()
    blocks = re.split(r"^(?=\w)", REQUIREMENTS.read_text(), flags=re.MULTILINE)[1:]
    assert len(blocks) == len(pinned(REQUIREMENTS))
    assert [block for block in blocks if not re.search(r"--hash=sha256:[0-9a-f]{64}\b", block)] == []
