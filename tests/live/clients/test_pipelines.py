"""The action for GitHub, and the recipes for pipelines, as their runners would take and run them."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pytest
import yaml

from tests import ROOT
from tests.commands.terminal import Person
from tests.computing import computing
from tests.house import Project

ACTION = ROOT / "action.yml"
RECIPE = (ROOT / "docs/recipes/pipelines.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", RECIPE, re.DOTALL | re.MULTILINE)


WORKFLOW, GITLAB = map(yaml.safe_load, blocks("yaml"))
[SUMMARY] = blocks("markdown")
SENTENCE = SUMMARY.splitlines()[2]


@pytest.fixture
def pipeline(person: Person, project: Project) -> Person:
    """A runner with the files of the recipe, and a registry with its baseline: 70 % of 1,000 trials."""
    (person.home / "results").mkdir()
    (person.home / "results/nightly.csv").write_text(blocks("csv")[0])
    (person.home / "nightly.toml").write_text(blocks("toml")[0])
    (person.home / "test_quality.py").write_text(blocks("python")[0])
    names = {"experiment": "nightly", "benchmark": "GSM8K", "model": "production", "variant": ""}
    project.published(**names, axes=[], values=70.0, trials=1_000)
    person.says(*shlex.split(blocks("sh")[0])[1:])
    return person


def run(person: Person, script: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a step of a pipeline, where `registry` is this one."""
    command = person.home / "temp/results-registry/bin/registry"
    command.parent.mkdir(parents=True, exist_ok=True)
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m registry "$@"\n')
    command.chmod(0o755)
    own = {"PATH": f"{command.parent}:{os.environ['PATH']}", "PYTHONPATH": f"{ROOT}:{ROOT / 'client'}"}
    shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    everything = person.environment | own | environment
    return subprocess.run(shell, cwd=person.home, env=everything, capture_output=True, text=True, check=False)


def act(
    person: Person, registry: Project, **given: str
) -> tuple[subprocess.CompletedProcess[str], dict[str, str], str]:
    """The step of the action that judges, with its inputs; what it put out, and its summary."""
    action = yaml.safe_load(ACTION.read_text())
    [_, step] = action["runs"]["steps"]
    inputs = {name: one.get("default", "") for name, one in action["inputs"].items()} | given

    def filled(text: str) -> str:
        return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], text)

    files = {name: person.home / name.lower() for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    for file in files.values():
        file.write_text("")
    environment = {name: filled(text) for name, text in step["env"].items()} | {k: str(v) for k, v in files.items()}
    with computing(registry.house):
        ran = run(person, step["run"], RUNNER_TEMP=str(person.home / "temp"), **environment)
    out = dict(line.split("=") for line in files["GITHUB_OUTPUT"].read_text().splitlines())
    return ran, out, files["GITHUB_STEP_SUMMARY"].read_text()


def inputs(person: Person) -> dict[str, str]:
    """Those of the recipe, at the registry of the test."""
    where = {name: person.environment[f"REGISTRY_{name.upper()}"] for name in ("url", "project", "token")}
    given: dict[str, str] = WORKFLOW["jobs"]["gate"]["steps"][-1]["with"]
    return given | where


@pytest.mark.parametrize(
    ("schema", "document"),
    [("github-actions", ACTION.read_text()), ("github-workflows", blocks("yaml")[0]), ("gitlab-ci", blocks("yaml")[1])],
)
def test_runners_take_the_files(schema: str, document: str, tmp_path: Path) -> None:
    (tmp_path / "action.yml").write_text(document)
    check = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", tmp_path / "action.yml"]
    ran = subprocess.run(check, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_action_judges_files_and_publishes_nothing(pipeline: Person, project: Project) -> None:
    """The trials that decide are those of the usual formula for two proportions, at 5 % on one side and 80 % power."""
    ran, out, summary = act(pipeline, project, **inputs(pipeline))
    assert (ran.returncode, out["verdict"]) == (6, "inconclusive"), ran.stderr
    z, margin = NormalDist().inv_cdf(0.95) + NormalDist().inv_cdf(0.8), 0.03 - 0.02
    assert float(out["needed"]) == pytest.approx((z / margin) ** 2 * (0.70 * 0.30 + 0.68 * 0.32 + 1 / 60), rel=0.001)
    assert summary.startswith(SUMMARY)
    assert ran.stdout == f"::warning title=main%3A inconclusive::{SENTENCE.replace('%', '%25')}\n"
    assert grids(project) == {"production"}
    (pipeline.home / "results/worse.csv").write_text("benchmark,model,accuracy,n\nGSM8K,worse,40.0,1000\n")
    ran, out, summary = act(pipeline, project, **inputs(pipeline), inconclusive="pass")
    assert (ran.returncode, out["verdict"]) == (3, "regressed"), ran.stderr
    assert summary.count("\n### ") + summary.startswith("### ") == 2


def test_the_action_publishes_where_it_is_told_to(pipeline: Person, project: Project) -> None:
    given = inputs(pipeline) | {"baseline": "", "push": "true", "options": "--model pushed --label step=nightly"}
    ran, out, summary = act(pipeline, project, **given)
    assert (ran.returncode, out, summary) == (0, {}, ""), ran.stderr
    assert grids(project) == {"production", "pushed"}
    ran, _, _ = act(pipeline, project, **given | {"files": "nothing/*.csv"})
    assert (ran.returncode, "There is no file nothing/*.csv" in ran.stderr) == (2, True)


def test_the_recipe_for_gitlab_leaves_the_files_that_it_names(pipeline: Person, project: Project) -> None:
    job = GITLAB["gate"]
    with computing(project.house):
        ran = run(pipeline, job["script"][1])
    assert ran.returncode in job["allow_failure"]["exit_codes"], ran.stderr
    assert ran.stdout.startswith(f"inconclusive: {SENTENCE}\n")
    assert [(pipeline.home / name).read_text() for name in job["artifacts"]["paths"]] == [SUMMARY]
    told = (pipeline.home / job["artifacts"]["reports"]["dotenv"]).read_text()
    assert re.fullmatch(r"verdict=inconclusive\nneeded=274\d\d\n", told)


def test_the_recipe_for_pytest_warns_with_the_sentence(pipeline: Person, project: Project) -> None:
    command = shlex.split(blocks("sh")[1])
    with computing(project.house):
        ran = run(
            pipeline,
            shlex.join([sys.executable, "-m", *command, "-p", "results_registry.pytest_gate"]),
            PYTEST_DISABLE_PLUGIN_AUTOLOAD="1",
        )
    assert ran.returncode == 0, ran.stdout
    [shown] = re.findall(r"GateUndecided: .*", ran.stdout)
    without = [
        re.sub(r"\(\S{36}\)", "", one) for one in (shown, *re.findall(r"^GateUndecided: .*", RECIPE, re.MULTILINE))
    ]
    assert without[0] == without[1]
    assert grids(project) == {"production", "my-model"}


def grids(project: Project) -> set[Any]:
    """The models of all grids."""
    return {one["model"] for one in project.get(f"projects/{project.slug}/grids").get_json()["items"]}
