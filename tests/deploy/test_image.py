"""The Dockerfile, and how gunicorn is set up in the image."""

from __future__ import annotations

import json
import re
import runpy
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.deploy.compose_file import ROOT, services

DOCKERFILE = ROOT / "Dockerfile"
FINAL_STAGE = DOCKERFILE.read_text().split("FROM ")[-1]


def test_hadolint_has_nothing_to_say() -> None:
    program = Path(sysconfig.get_path("scripts")) / "hadolint"
    ran = subprocess.run([program, str(DOCKERFILE)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_every_base_image_has_a_version() -> None:
    bases = re.findall(r"^FROM (\S+)", DOCKERFILE.read_text(), re.MULTILINE)
    assert len(bases) == 2
    assert all(re.search(r":3\.13-slim", base) for base in bases)


def test_the_process_is_not_root() -> None:
    assert re.findall(r"^USER (.*)", FINAL_STAGE, re.MULTILINE) == ["10001:10001"]


def test_the_image_starts_what_the_compose_file_starts_as_web() -> None:
    command = re.findall(r"^CMD (.*)", FINAL_STAGE, re.MULTILINE)
    assert [json.loads(line) for line in command] == [services()["web"]["command"]]


def test_the_builder_is_sent_what_the_image_is_made_of_and_nothing_else() -> None:
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied: set[str] = set()
    for sources in re.findall(r"^COPY (.*) \S+$", DOCKERFILE.read_text(), re.MULTILINE):
        copied.update(sources.split())
    assert sent == copied


def test_gunicorn_knows_every_name_that_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """It ignores what it does not know, so a misspelt limit would be no limit."""
    from gunicorn.config import make_settings

    monkeypatch.setenv("REGISTRY_WEB_THREADS", "5")
    monkeypatch.setenv("REGISTRY_HOST", "0.0.0.0")  # noqa: S104
    given = runpy.run_path(str(ROOT / "deploy" / "gunicorn.conf.py"))
    names = {name for name in given if not name.startswith("__")} - {"Settings", "settings"}
    assert names <= set(make_settings())
    assert (given["bind"], given["threads"], given["workers"]) == ("0.0.0.0:8080", 5, 1)
    assert given["control_socket_disable"] is True


def test_the_image_gets_versions_that_the_package_allows() -> None:
    lines = (ROOT / "deploy" / "constraints.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for needed in map(Requirement, project["dependencies"]):
        assert needed.specifier.contains(pinned[canonicalize_name(needed.name)]), needed


def test_a_check_tells_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody_listens = {"REGISTRY_PORT": "1", "REGISTRY_DATABASE_URL": "postgresql://127.0.0.1:1/none"}
    script = str(ROOT / "deploy" / "healthy.py")
    for name, value in nobody_listens.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for process, word in (("web", "URLError"), ("dispatcher", "Unavailable")):
        ran = subprocess.run([sys.executable, script, process], capture_output=True, text=True, check=False, cwd=ROOT)
        assert ran.returncode == 1
        assert ran.stderr.startswith(word), ran.stderr
