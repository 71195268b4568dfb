"""The served OpenAPI document, held against the running service by schemathesis: strangers and an administrator."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.live.system import System, bare_environment

ROOT = Path(__file__).parents[2]
EXAMPLES = int(os.environ.get("SCHEMATHESIS_EXAMPLES", "15"))
"""Random requests for an operation, besides those that schemathesis derives from the document; more by hand."""
SEED = 20261121
"""One seed, so that a run can be repeated; others are for searching by hand."""


@pytest.mark.parametrize(("caller", "view"), [("a stranger", "whole"), ("an administrator", "client")])
def test_schemathesis_finds_no_failure(fragile: System, caller: str, view: str, tmp_path: Path) -> None:
    command = [
        Path(sys.executable).with_name("schemathesis"),
        "--no-color",
        "--config-file",
        ROOT / "schemathesis.toml",
        "run",
        f"http://127.0.0.1:{fragile.settings.port}/openapi.json?view={view}",
        "--max-examples",
        str(EXAMPLES),
        "--workers",
        "1",
        "--seed",
        str(SEED),
    ]
    if caller == "an administrator":
        command += ["-H", f"Authorization: Bearer {fragile.token}"]
    environment = bare_environment() | {"HOME": os.environ.get("HOME", str(tmp_path))}
    ran = subprocess.run(
        [str(part) for part in command], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout[-20_000:] + ran.stderr[-5_000:]
