"""What the service measures of itself, as Prometheus reads it."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlalchemy import func, update

from registry import create_app
from registry.storage.tables import cached_results
from results_registry import __version__
from tests.house import House, Project
from workers.jobs.reports import Reporter


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
    printed = CliRunner().invoke(main, ["--version"]).stdout
    assert printed.removesuffix("\n").partition(" (commit ")[0] == f"registry, version {told}"


def figure(said: str, name: str, **labels: str) -> float:
    """The value of a sample; 0 for one that is not there."""
    for line in said.splitlines():
        if line.startswith((f"{name}{{", f"{name} ")):
            told = dict(re.findall(r'(\w+)="([^"]*)"', line))
            if labels.items() <= told.items():
                return float(line.rpartition(" ")[2])
    return 0.0


ROUTE = "/api/v1/projects/<project>/grids"


def test_publications_are_measured_apart_from_reads_of_the_same_route(house: House, project: Project) -> None:
    def counted(method: str, status: str) -> float:
        return figure(metrics(house), "registry_request_seconds_count", method=method, route=ROUTE, status=status)

    before = {key: counted(*key) for key in (("POST", "2xx"), ("POST", "4xx"), ("GET", "2xx"))}
    project.published()
    project.publish({"nothing": 1})
    for _ in range(3):
        project.get(f"projects/{project.slug}/grids")
    grown = {key: counted(*key) - was for key, was in before.items()}
    assert grown == {("POST", "2xx"): 1, ("POST", "4xx"): 1, ("GET", "2xx"): 3}


def test_nobody_makes_up_labels(house: House) -> None:
    house.call("BREW", "/coffee-c81d")
    said = metrics(house)
    assert "BREW" not in said
    assert "c81d" not in said
    assert figure(said, "registry_requests_total", method="other", route="none") >= 1


def test_a_refusal_is_counted_by_its_reason(house: House) -> None:
    strict = House(
        create_app(replace(house.settings, address_rate=0.001, address_burst=1.0)), house.database, house.settings
    )
    reason = {"status": "429", "reason": "address_rate"}
    before = figure(metrics(house), "registry_refusals_total", **reason)
    assert [strict.call("GET", "/api/v1").status_code for _ in range(3)] == [200, 429, 429]
    assert figure(metrics(house), "registry_refusals_total", **reason) == before + 2


def test_a_scrape_sees_itself_and_the_process(house: House) -> None:
    said = metrics(house)
    assert figure(said, "registry_threads") == house.settings.web_threads
    assert figure(said, "process_resident_memory_bytes") > 1e6
    # The scrape itself has one connection, and has given it back by the time it is written.
    assert figure(said, "registry_pool_size") == house.settings.pool_size
    assert figure(said, "registry_pool_in_use") == 0
    assert figure(said, "registry_circuit_breaker_open") == 0
    assert figure(said, "registry_pool_wait_seconds_total") > 0


def test_a_request_is_in_flight_until_its_last_byte_is_read(house: House, project: Project) -> None:
    def in_flight() -> float:
        answer = house.call("GET", "/metrics")
        with answer:
            return figure(answer.get_data(as_text=True), "registry_requests_in_flight")

    before = in_flight()
    reads = project.get(f"projects/{project.slug}/cells.csv")
    assert in_flight() == before + 1
    reads.close()
    assert in_flight() == before


def test_without_a_database_refusals_are_counted_and_old_figures_are_not_repeated(house: House) -> None:
    away = replace(house.settings, database_url="postgresql://nobody@127.0.0.1:1/registry")
    lost = House(create_app(away), house.database, away)
    said = metrics(lost)
    assert figure(said, "registry_database_up") == 0
    assert figure(said, "registry_connections_refused") == 1
    assert "registry_derivations_pending" not in said
    assert lost.call("GET", "/api/v1/projects").status_code == 503
    assert figure(metrics(lost), "registry_refusals_total", status="503", reason="no_connection") >= 1


def test_what_a_worker_did_is_told_by_every_web_process(house: House, project: Project) -> None:
    other = House(create_app(house.settings), house.database, house.settings)
    house.compute()
    counts = Reporter(house.database, "worker")
    counts.report()
    before = metrics(house)
    for model in "abc":
        project.published(model=model)
    house.compute()
    counts.report()
    for web in (house, other):
        after = metrics(web)
        grown = [
            figure(after, "registry_jobs_total", kind=kind, outcome="computed")
            - figure(before, "registry_jobs_total", kind=kind, outcome="computed")
            for kind in ("statistics", "ranking")
        ]
        assert grown == [3, 1]
        assert figure(after, "registry_job_seconds_total", kind="statistics") > figure(
            before, "registry_job_seconds_total", kind="statistics"
        )
        assert figure(after, "registry_processes", role="worker") >= 1
    counts.end()
