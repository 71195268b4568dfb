"""deploy/upgrade before an engine that only pretends. On a real one: deploy/try-compose."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT
from tests.live.deploy import fake_docker

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="no bash here")


class Site:
    """A checkout in which release `one` runs: two web processes, three workers, a dispatcher."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.environment_file = directory / ".env"
        self.environment_file.write_text("WEB_PASSWORD=hunter2\nVERSION=one\nVERSION_BEFORE=zero\n")
        self.environment_file.chmod(0o600)
        (directory / "deploy").mkdir()
        shutil.copy(ROOT / "deploy" / "upgrade", directory / "deploy")
        package = directory / "client" / "results_registry"
        package.mkdir(parents=True)
        shutil.copy(ROOT / "client" / "results_registry" / "__init__.py", package)
        programs = directory / "bin"
        programs.mkdir()
        self._program("docker", f'exec {sys.executable} {fake_docker.__file__} "$@"')
        self._program("sleep", "exit 0")
        services = ["web", "web", "worker", "worker", "worker", "dispatcher"]
        containers = {f"c{number}": [service, "one"] for number, service in enumerate(services, 1)}
        self.write({"images": ["zero", "one", "two"], "containers": containers, "next": 6, "broken": "", "said": []})

    def _program(self, name: str, line: str) -> None:
        path = self.directory / "bin" / name
        path.write_text(f"#!/bin/sh\n{line}\n")
        path.chmod(0o755)

    def write(self, state: dict[str, Any]) -> None:
        (self.directory / "state").write_text(json.dumps(state))

    @property
    def state(self) -> dict[str, Any]:
        return json.loads((self.directory / "state").read_text())

    def breaks(self, word: str) -> None:
        self.write(self.state | {"broken": word})

    def upgrade(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        here = os.environ | {
            "PATH": f"{self.directory / 'bin'}:{os.environ['PATH']}",
            "STATE": str(self.directory / "state"),
            "LONGEST_START": "0",
            "GIT_CEILING_DIRECTORIES": str(self.directory.parent),
        }
        command = [str(self.directory / "deploy" / "upgrade"), *arguments]
        return subprocess.run(command, env=here, capture_output=True, text=True, check=False, timeout=60)

    def running(self, service: str) -> list[str]:
        return [release for name, release in self.state["containers"].values() if name == service]

    def said(self, *words: str) -> int:
        """Place of the first command with these words."""
        return next(number for number, line in enumerate(self.state["said"]) if all(word in line for word in words))


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


def test_an_upgrade_replaces_every_process_by_as_many_once_the_tables_are_migrated(site: Site) -> None:
    """Old processes end when new ones are ready, and the file of the environment says which release runs."""
    ran = site.upgrade("two")
    assert ran.returncode == 0, ran.stderr
    assert [site.running(one) for one in ("web", "worker", "dispatcher")] == [["two"] * 2, ["two"] * 3, ["two"]]
    order = [site.said("run", "migrate"), site.said("up", "web=4"), site.said("exec", "c8"), site.said("stop", "c1")]
    assert order == sorted(order)
    assert site.environment_file.read_text() == "WEB_PASSWORD=hunter2\nVERSION=two\nVERSION_BEFORE=one\n"
    assert site.environment_file.stat().st_mode & 0o777 == 0o600


def test_the_way_back_leaves_the_tables_alone(site: Site) -> None:
    assert site.upgrade("two").returncode == 0
    ran = site.upgrade("--back")
    assert ran.returncode == 0, ran.stderr
    assert site.running("web") == ["one"] * 2
    assert sum(line.startswith("compose run") for line in site.state["said"]) == 1


@pytest.mark.parametrize(("broken", "word"), [("migrate", "migration failed"), ("two", "did not get ready")])
def test_what_fails_leaves_the_old_release_serving(site: Site, broken: str, word: str) -> None:
    before = site.state["containers"]
    site.breaks(broken)
    ran = site.upgrade("two")
    assert ran.returncode == 1
    assert word in ran.stderr
    assert "one serves on" in ran.stderr
    assert site.state["containers"] == before
    assert "VERSION=one\n" in site.environment_file.read_text()


def test_what_was_broken_off_is_repeated_without_doubling(site: Site) -> None:
    state = site.state
    state["containers"] |= {"c20": ["web", "two"], "c21": ["web", "two"]}
    site.write(state)
    assert site.upgrade("two").returncode == 0
    assert site.running("web") == ["two"] * 2


def test_a_checkout_without_an_image_is_built_under_a_new_tag(site: Site) -> None:
    assert site.upgrade().returncode == 0
    built = site.state["images"][-1]
    assert built not in ("zero", "one", "two")
    assert site.running("web") == [built] * 2


@pytest.mark.parametrize("arguments", [("three",), ("--sideways",)])
def test_nothing_happens_for_a_release_that_is_not_there(site: Site, arguments: tuple[str]) -> None:
    before = site.state["containers"]
    assert site.upgrade(*arguments).returncode == 1
    assert site.state["containers"] == before
