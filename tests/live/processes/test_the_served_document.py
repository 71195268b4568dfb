"""The served OpenAPI document, held against the running service by schemathesis: strangers and an administrator."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import ROOT
from tests.live.processes.system import PROJECT, System, bare_environment, own_servers, own_system

EXAMPLES = {"a stranger": "8", "an administrator": "4"}
"""Random requests for an operation, besides those that schemathesis derives from the document; more by hand.

An administrator's are about a project and a grid that there are, and most are answered by more than a refusal.
"""
PHASES = {"a stranger": "examples,fuzzing,stateful", "an administrator": "examples,coverage,fuzzing,stateful"}
"""A stranger is told 401 or 422 whatever he sends: what is derived from every parameter is sent by one who may ask."""
SEED = 20261121
"""One seed, so that a run can be repeated; others are for searching by hand."""


@pytest.fixture(scope="module")
def unlimited(tmp_path_factory: pytest.TempPathFactory) -> Iterator[System]:
    """A system without limits on requests: a fast machine reaches them, and is told 429 where 401 is documented."""
    directory, limits = tmp_path_factory.mktemp("unlimited"), {"address_rate": 0.0, "token_rate": 0.0}
    with own_servers(directory / "home") as servers, own_system(servers, directory / "logs", **limits) as running:
        running.start("worker", "dispatcher", "web")
        yield running


@pytest.mark.parametrize(("caller", "view"), [("a stranger", "whole"), ("an administrator", "client")])
def test_schemathesis_finds_no_failure(unlimited: System, caller: str, view: str, tmp_path: Path) -> None:
    command = [
        Path(sys.executable).with_name("schemathesis"),
        "--no-color",
        "--config-file",
        ROOT / "schemathesis.toml",
        "run",
        f"http://127.0.0.1:{unlimited.settings.port}/openapi.json?view={view}",
        "--max-examples",
        os.environ.get("SCHEMATHESIS_EXAMPLES", EXAMPLES[caller]),
        "--phases",
        PHASES[caller],
        "--workers",
        "1",
        "--seed",
        str(SEED),
    ]
    if caller == "an administrator":
        command += ["-H", f"Authorization: Bearer {unlimited.token}"]
    there = {"PROJECT": PROJECT, "GRID": str(unlimited.client().publish()["id"])}
    environment = bare_environment() | {"HOME": os.environ.get("HOME", str(tmp_path))} | there
    ran = subprocess.run(
        [str(part) for part in command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout[ran.stdout.find("FAILURES") :][:20_000] + ran.stderr[-5_000:]
