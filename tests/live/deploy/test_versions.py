"""One version everywhere, and papers that know which it is."""

from __future__ import annotations

import re

from packaging.version import Version

from results_registry import __version__
from tests import ROOT
from tests.live.deploy.compose_file import services

RUNS = Version(__version__)
CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
RELEASED = [Version(found) for found in re.findall(r"^## \[(\d\S*)\] — \d{4}-\d{2}-\d{2}$", CHANGELOG, re.MULTILINE)]


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
