"""What the service measures of itself, as Prometheus reads it."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

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
