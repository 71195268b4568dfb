"""The bill of materials has every package of an environment, and the papers every license."""

import re
import shutil
import venv
from importlib.metadata import distribution
from pathlib import Path

import pytest

from results_registry import __version__
from tests import ROOT
from tests.live.deploy.dependencies import CONSTRAINTS, installed_closure, pinned
from tests.live.deploy.sbom import Document, describe, licenses, versions
from tests.live.deploy.test_pins import ELSEWHERE, EXTRAS

ALLOWED = {"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "LGPL-3.0-or-later", "MIT", "MIT-0",
           "MPL-2.0", "PSF-2.0", "ZPL-2.1", "Zlib"}  # fmt: skip
"""Licenses under which a package may be used and passed on beside code under Apache-2.0."""


@pytest.fixture(scope="module")
def bill(tmp_path_factory: pytest.TempPathFactory) -> Document:
    """Of an environment with the metadata of what all extras bring, as this environment has them."""
    directory = tmp_path_factory.mktemp("environment")
    venv.create(directory, with_pip=False)
    [packages] = directory.glob("lib/python*/site-packages")
    for name in installed_closure(*EXTRAS):
        metadata = Path(str(distribution(name)._path))  # type: ignore[attr-defined]
        shutil.copytree(metadata, packages / metadata.name)
    return describe(directory / "bin" / "python", directory / "sbom.cdx.json", validate=False)


def test_the_bill_has_every_package_of_the_environment_with_its_version(bill: Document) -> None:
    assert versions(bill) == {name: distribution(name).version for name in installed_closure(*EXTRAS)}
    assert all(one["purl"].startswith("pkg:pypi/") for one in bill["components"])


def test_the_bill_is_cyclonedx_and_says_what_it_is_of(bill: Document) -> None:
    assert bill["bomFormat"] == "CycloneDX"
    root = bill["metadata"]["component"]
    assert (root["name"], root["version"]) == ("results-registry", __version__)
    [depends] = [one["dependsOn"] for one in bill["dependencies"] if one["ref"] == root["bom-ref"]]
    assert len(depends) >= 20


def test_every_license_is_in_the_papers_and_may_be_used(bill: Document) -> None:
    paper = (ROOT / "docs" / "licenses.md").read_text()
    listed = dict(re.findall(r"^\| ([\w.-]+) \| ([^|]+?) \|", paper, re.MULTILINE))
    del listed["package"]
    assert set(listed) == set(pinned(CONSTRAINTS)) - ELSEWHERE
    had, told = versions(bill), licenses(bill)
    same = {name for name, version in pinned(CONSTRAINTS).items() if had.get(name) == version}
    assert {name: told[name] for name in same} == {name: listed[name] for name in same}
    words = {word for text in listed.values() for word in re.split(r"[ ()]+| (?:AND|OR) ", text) if word}
    assert words - {"AND", "OR"} <= ALLOWED
