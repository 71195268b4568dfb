"""Inspect finds the hook by its entry point: what it evaluates is in the registry, or waits in the spool."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house import Project

TASK = """
from inspect_ai import Task, task
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import match
from inspect_ai.solver import solver


@solver
def always_two():
    async def solve(state, generate):
        state.output = ModelOutput.from_content("mockllm/model", "2")
        return state

    return solve


@task
def sums():
    samples = [Sample(input=f"{n}+{n}?", target=str(2 * n)) for n in (1, 2, 3)]
    return Task(dataset=samples, solver=always_two(), scorer=match())
"""


def evaluated(folder: Path, url: str, token: str, project: str) -> subprocess.CompletedProcess[str]:
    (folder / "sums.py").write_text(TASK)
    own = {"REGISTRY_URL": url, "REGISTRY_TOKEN": token, "REGISTRY_PROJECT": project,
           "REGISTRY_SPOOL": str(folder / "spool"), "INSPECT_EVAL_MODEL": "mockllm/model"}  # fmt: skip
    command = [Path(sys.executable).with_name("inspect"), "eval", "sums.py", "--display", "plain"]
    return subprocess.run(
        command, check=False, cwd=folder, env=os.environ | own, capture_output=True, text=True, timeout=120
    )


@pytest.mark.db
def test_an_evaluation_is_in_the_registry_with_its_questions(address: str, project: Project, tmp_path: Path) -> None:
    ran = evaluated(tmp_path, address, project.tokens["writer"], project.slug)
    assert ran.returncode == 0, ran.stderr
    [grid] = project.get(f"projects/{project.slug}/grids?benchmark=sums").get_json()["items"]
    assert (grid["model"], grid["experiment"], grid["metric"]["name"]) == ("mockllm/model", "inspect", "accuracy")
    whole = project.get(f"grids/{grid['id']}").get_json()
    assert (whole["values"], whole["trials"], whole["protocol"]["solver"]) == (pytest.approx(1 / 3), 3, "always_two")
    said = project.get(f"grids/{grid['id']}/items").get_json()
    assert "sums" in str(said), said


def test_without_a_registry_an_evaluation_goes_well_and_waits_in_the_spool(tmp_path: Path) -> None:
    ran = evaluated(tmp_path, "http://127.0.0.1:9", "rgs_none", "lab")
    assert ran.returncode == 0, ran.stderr
    assert "1 grid waits in" in ran.stderr + ran.stdout
    assert len(list((tmp_path / "spool").glob("*/*.json"))) == 1
