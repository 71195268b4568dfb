"""The Dockerfile, and how gunicorn is set up in the image."""

import json
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests import ROOT
from tests.live.deploy.compose_file import services

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


def test_the_builder_needs_nothing_but_the_base_images_and_the_index() -> None:
    """A `# syntax=` line would fetch a frontend, and a certificate of one's own is seen by the build alone."""
    text = DOCKERFILE.read_text()
    assert "syntax=" not in text
    fetching = [line for line in re.split(r"\n(?=[A-Z])", text) if re.search(r"\bfetch (wheel|install)\b", line)]
    assert len(fetching) == 3
    assert all("--mount=type=secret,id=ca" in line for line in fetching)


def test_the_process_is_not_root() -> None:
    assert re.findall(r"^USER (.*)", FINAL_STAGE, re.MULTILINE) == ["10001:10001"]


def test_the_image_starts_what_the_compose_file_starts_as_web() -> None:
    command = re.findall(r"^CMD (.*)", FINAL_STAGE, re.MULTILINE)
    assert [json.loads(line) for line in command] == [services()["web"]["command"]]


def test_the_builder_is_sent_what_the_image_is_made_of_and_nothing_else() -> None:
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    copied: set[str] = set()
    for sources in re.findall(r"^COPY (?!--from)(.*) \S+$", DOCKERFILE.read_text(), re.MULTILINE):
        copied.update(sources.split())
    assert sent == copied


def test_the_trial_copies_what_the_image_is_made_of() -> None:
    trial = (ROOT / "deploy" / "try-compose").read_text()
    copied = set(re.search(r"tar --create.*?\\(.*?)\)", trial, re.DOTALL)[1].split())  # type: ignore[index]
    sent = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert {one if one in copied else one.partition("/")[0] for one in sent} <= copied


def test_a_check_tells_what_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    nobody_listens = {"REGISTRY_PORT": "1", "REGISTRY_DATABASE_URL": "postgresql://127.0.0.1:1/none"}
    script = str(ROOT / "deploy" / "healthy.py")
    for name, value in nobody_listens.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    for process, word in (("web", "URLError"), ("dispatcher", "Unavailable")):
        ran = subprocess.run([sys.executable, script, process], capture_output=True, text=True, check=False, cwd=ROOT)
        assert ran.returncode == 1
        # Above it may stand why the database is away.
        assert ran.stderr.splitlines()[-1].startswith(word), ran.stderr
