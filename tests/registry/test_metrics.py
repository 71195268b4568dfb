"""What the service measures of itself, as Prometheus reads it."""

from __future__ import annotations

import re
import shutil
import subprocess
from datetime import timedelta

import pytest
from sqlalchemy import func, update

from registry.storage.tables import cached_results
from results_registry import __version__
from tests.house import House, Project


def metrics(house: House) -> str:
    answer = house.call("GET", "/metrics")
    assert answer.status_code == 200
    return answer.get_data(as_text=True)


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not here (Debian's package prometheus)")
def test_promtool_finds_nothing_wrong(house: House, project: Project) -> None:
    project.published()
    said = metrics(house)
    ran = subprocess.run(["promtool", "check", "metrics"], input=said, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def pending(said: str) -> float:
    return float(re.findall(r"^registry_derivations_pending (\S+)$", said, re.MULTILINE)[0])


def test_promises_that_wait_are_counted_with_the_age_of_the_oldest(house: House, project: Project) -> None:
    house.compute()
    before = pending(metrics(house))
    project.published(model="waits")
    said = metrics(house)
    assert pending(said) == before + 1
    [age] = re.findall(r"^registry_derivation_oldest_seconds (\S+)$", said, re.MULTILINE)
    assert 0 <= float(age) < 60
    house.compute()


def test_rankings_that_wait_or_failed_are_counted_like_statistics(house: House, project: Project) -> None:
    def told(name: str) -> float:
        return float(re.findall(rf"^registry_{name} (\S+)$", metrics(house), re.MULTILINE)[0])

    house.compute()
    waiting, failed = told("answers_pending"), told("answers_failed")
    grid = project.published(model="waits")
    question = {"experiment": grid["experiment"], "metric": grid["metric"]["name"]}
    project.get(f"projects/{project.slug}/rankings", query_string=question)
    mine = cached_results.c.project_id == project.id
    with house.database.transaction() as connection:
        connection.execute(update(cached_results).where(mine).values(due_at=func.now() - timedelta(hours=1)))
    assert told("answers_pending") == waiting + 1
    assert 3600 <= told("answer_oldest_seconds") < 3700
    ready = house.call("GET", "/readyz").get_json()
    assert ready["answers"]["pending"] == waiting + 1
    with house.database.transaction() as connection:
        connection.execute(update(cached_results).where(mine).values(state="failed", reason="not today"))
    assert told("answers_failed") == failed + 1
    shown = project.house.call("GET", "/status", token=project.tokens["reader"]).get_data(as_text=True)
    assert "not today" in shown
    assert "ranking by mean difference" in shown
    assert "not today" not in house.call("GET", "/status").get_data(as_text=True)
    house.compute()


def test_one_version_is_told_everywhere(house: House) -> None:
    from importlib.metadata import version

    from click.testing import CliRunner

    from registry.cli import main

    told = version("results-registry")
    assert told == __version__
    assert f'registry_build_info{{version="{told}"}} 1.0\n' in metrics(house)
    assert house.call("GET", "/healthz").get_json()["version"] == told
    assert house.call("GET", "/api/v1").get_json()["version"] == told
    assert CliRunner().invoke(main, ["--version"]).stdout == f"registry, version {told}\n"
