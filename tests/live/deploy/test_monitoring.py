"""The rules for Prometheus and the dashboard: they parse, mean what they say, and name metrics that there are."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests import ROOT
from tests.house import House, Project
from workers.jobs.worker_process import Reporter

RULES = ROOT / "deploy" / "prometheus" / "alerts.yml"
MEANING = Path(__file__).with_name("alerts_test.yml")
PANELS: list[dict[str, Any]] = json.loads((ROOT / "deploy" / "grafana" / "service.json").read_text())["panels"]
ALERTS: list[dict[str, Any]] = yaml.safe_load(RULES.read_text())["groups"][0]["rules"]
PROMTOOL = pytest.mark.skipif(
    shutil.which("promtool") is None, reason="promtool is not here (Debian's package prometheus)"
)


def promtool(*words: str | Path, told: str | None = None) -> str:
    ran = subprocess.run(["promtool", *words], input=told, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def shown() -> list[str]:
    """Every expression of the dashboard, with the interval that Grafana would put in."""
    return [one["expr"].replace("$__rate_interval", "5m") for panel in PANELS for one in panel["targets"]]


def named(expressions: list[str]) -> set[str]:
    return set(re.findall(r"\b((?:registry|process)_[a-z_]+)\b", " ".join(expressions)))


@PROMTOOL
def test_the_rules_are_rules_and_ring_when_they_should() -> None:
    promtool("check", "rules", "--lint=all", "--lint-fatal", RULES)
    promtool("test", "rules", MEANING)


@PROMTOOL
def test_promtool_finds_nothing_wrong_with_what_is_measured(house: House, project: Project) -> None:
    project.published()
    promtool("check", "metrics", told=house.call("GET", "/metrics").get_data(as_text=True))


def test_every_rule_rings_in_a_test_and_has_a_line_for_whoever_it_wakes() -> None:
    tests = yaml.safe_load(MEANING.read_text())["tests"]
    ringing = {one["alertname"] for test in tests for one in test["alert_rule_test"] if one.get("exp_alerts")}
    names = {rule["alert"] for rule in ALERTS}
    assert ringing == names
    runbook = (ROOT / "docs" / "operating.md").read_text().split("## Alerts")[1].split("\n## ")[0]
    assert set(re.findall(r"`(Registry\w+)`", runbook)) == names


@PROMTOOL
def test_every_expression_of_the_dashboard_parses(tmp_path: Path) -> None:
    rules = [{"record": f"panel:{number}", "expr": text} for number, text in enumerate(shown())]
    path = tmp_path / "panels.yml"
    path.write_text(yaml.safe_dump({"groups": [{"name": "dashboard", "rules": rules}]}))
    assert f"{len(rules)} rules found" in promtool("check", "rules", path)


def test_rules_and_dashboard_name_metrics_that_there_are(house: House, project: Project) -> None:
    project.published()
    house.compute()
    reporter = Reporter(house.database, "worker")
    reporter.report()
    said = house.call("GET", "/metrics").get_data(as_text=True)
    reporter.end()
    there = set(re.findall(r"^(?:# TYPE )?([a-z_]+)", said, re.MULTILINE))
    wanted = named([rule["expr"] for rule in ALERTS]) | named(shown())
    assert len(wanted) > 25
    assert wanted - there == set()


def test_panels_lie_side_by_side_and_not_on_each_other() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in PANELS:
        place = panel["gridPos"]
        cells = {
            (x, y)
            for x in range(place["x"], place["x"] + place["w"])
            for y in range(place["y"], place["y"] + place["h"])
        }
        assert not cells & taken, panel["title"]
        assert max(x for x, _ in cells) < 24
        taken |= cells
