"""The fixture `registry_gate`, in a pytest of its own against a served registry."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

from tests import ROOT
from tests.client.conftest import Served
from tests.computing import computing
from tests.house import Project

TESTS = """
import pytest
from results_registry.pytest_gate import GateUndecided
ACCURACY = {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0, "upper": 100}
NAMES = {"experiment": "type-by-length", "benchmark": "B", "metric": ACCURACY, "trials": 1000}
def test_better(registry_gate):
    assert registry_gate.assert_not_worse(80.0, model="better", **NAMES)["verdict"] == "improved"
def test_worse(registry_gate):
    registry_gate.assert_not_worse(60.0, model="worse", **NAMES)
def test_close(registry_gate):
    registry_gate.assert_not_worse(68.0, model="close", **NAMES)
def test_close_and_strict(registry_gate):
    registry_gate.assert_not_worse(68.0, "main", strict=True, model="close", **NAMES)
def test_elsewhere(registry_gate):
    registry_gate.assert_not_worse(70.0, strict=True, model="other", **NAMES | {"benchmark": "C"})
"""


def told(directory: Path, **where: str) -> str:
    """What a pytest without other plugins says of these tests. Not by `pytester`, which unloads what was loaded since,
    and numpy is loaded once."""
    (directory / "test_gates.py").write_text(TESTS)
    own = {f"REGISTRY_{name.upper()}": value for name, value in where.items()}
    own |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(ROOT / "client")}
    command = [sys.executable, "-m", "pytest", "-rs", "-p", "results_registry.pytest_gate", "test_gates.py"]
    ran = subprocess.run(command, cwd=directory, env=os.environ | own, capture_output=True, text=True, check=False)
    return ran.stdout


def test_a_test_fails_with_the_sentence_of_the_gate_and_what_is_undecided_warns(
    served: Served, project: Project, tmp_path: Path
) -> None:
    """Of 1,000 trials on both sides the noise of a gap is 2 points: 10 are more than the margin of 3, 2 may be."""
    project.published(model="base", variant="", benchmark="B", axes=[], values=70.0, trials=1_000)
    policy = {"experiment": "type-by-length", "metric": "accuracy", "subject": {"model": "base"}}
    path = f"projects/{project.slug}/baselines/main"
    assert project.call("PUT", path, json=policy | {"policy": {"margin": 3}}).status_code in (200, 201)
    with computing(project.house):
        found = told(tmp_path, **served.where)
    assert "3 failed, 2 passed, 1 warning in" in found, found
    assert re.findall(
        r"^(regressed|inconclusive|not_comparable): .*?(worse|close|other) \(\S{36}\)", found, re.MULTILINE
    ) == [
        ("regressed", "worse"),
        ("inconclusive", "close"),
        ("not_comparable", "other"),
    ]
    assert "worse than the baseline main by more than 3 points: -10.00 (" in found
    [warned] = re.findall("GateUndecided: (.*)", found)
    assert warned.startswith("inconclusive: Whether close (")
    assert warned.endswith(" times the trials would decide it with 80 % chance, were this the true gap.")


def test_where_no_registry_is_configured_the_test_is_skipped(tmp_path: Path) -> None:
    found = told(tmp_path)
    assert "5 skipped in" in found, found
    assert "no registry is configured: set REGISTRY_URL, REGISTRY_PROJECT and REGISTRY_TOKEN" in found


def test_both_distributions_name_the_plugin_alike() -> None:
    """Where both are installed pytest loads it once, by its name."""
    papers = (tomllib.loads((ROOT / place / "pyproject.toml").read_text()) for place in (".", "client"))
    wanted = {"results_registry": "results_registry.pytest_gate"}
    assert [one["project"]["entry-points"]["pytest11"] for one in papers] == [wanted] * 2
