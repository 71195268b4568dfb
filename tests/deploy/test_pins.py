"""The pinned versions: allowed by the package, complete, the same in both files, and with hashes for the image."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

from tests.deploy.dependencies import CONSTRAINTS, REQUIREMENTS, installed_closure, needed, pinned

EXTRAS = ("embedded", "inspect", "netcdf", "oidc", "parquet", "tracing")
ELSEWHERE = {"async-timeout", "tzdata"}
"""What only other versions of Python, or other systems, need."""


def test_the_pinned_versions_are_versions_that_the_package_allows() -> None:
    versions = pinned(CONSTRAINTS)
    assert [one for one in needed(*EXTRAS) if versions[canonicalize_name(one.name)] not in one.specifier] == []


@pytest.mark.parametrize(
    "file, extras", [(CONSTRAINTS, EXTRAS), (REQUIREMENTS, ("oidc", "tracing"))], ids=["all", "image"]
)
def test_everything_that_comes_along_is_pinned_and_nothing_else(file: Path, extras: tuple[str, ...]) -> None:
    assert set(pinned(file)) ^ installed_closure(*extras) <= ELSEWHERE


def test_the_image_s_versions_are_those_of_all_and_every_one_has_hashes() -> None:
    assert pinned(REQUIREMENTS).items() <= pinned(CONSTRAINTS).items()
    blocks = re.split(r"^(?=\w)", REQUIREMENTS.read_text(), flags=re.MULTILINE)[1:]
    assert len(blocks) == len(pinned(REQUIREMENTS))
    assert [block for block in blocks if not re.search(r"--hash=sha256:[0-9a-f]{64}\b", block)] == []
