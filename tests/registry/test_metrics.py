"""What the service measures of itself, as Prometheus reads it."""

import re
from dataclasses import replace
from datetime import timedelta
from importlib.metadata import version

from click.testing import CliRunner
from sqlalchemy import func, update

from registry import create_app
from registry.cli import main
from registry.storage.tables import cached_results
from results_registry import __version__
from tests.house import House, Project
from workers.jobs.worker_process import Reporter


def metrics(house: House) -> str:
    answer = house.call("GET", "/metrics")
    assert answer.status_code == 200
    return answer.get_data(as_text=True)


def figure(said: str, name: str, **labels: str) -> float:
    """The value of a sample; 0 for one that is not there."""
    for line in said.splitlines():
        if line.startswith((f"{name}{{", f"{name} ")):
            told = dict(re.findall(r'(\w+)="([^"]*)"', line))
            if labels.items() <= told.items():
                return float(line.rpartition(" ")[2])
    return 0.0


def test_statistics_and_rankings_that_wait_or_failed_are_counted_with_their_age(house: House, project: Project) -> None:
    names = "derivations_pending", "answers_pending", "answers_failed", "derivation_oldest_seconds"

    def told() -> list[float]:
        said = metrics(house)
        return [figure(said, f"registry_{name}") for name in (*names, "answer_oldest_seconds")]

    house.compute()
    statistics, waiting, failed, *_ = told()
    grid = project.published(model="waits")
    question = {"experiment": grid["experiment"], "metric": grid["metric"]["name"]}
    project.get(f"projects/{project.slug}/rankings", query_string=question)
    mine = cached_results.c.project_id == project.id
    with house.database.transaction() as connection:
        connection.execute(update(cached_results).where(mine).values(due_at=func.now() - timedelta(hours=1)))
    *counts, age, oldest = told()
    assert counts == [statistics + 1, waiting + 1, failed]
    assert (0 <= age < 60, 3600 <= oldest < 3700) == (True, True)
    assert house.call("GET", "/readyz").get_json()["answers"]["pending"] == waiting + 1
    with house.database.transaction() as connection:
        connection.execute(update(cached_results).where(mine).values(state="failed", reason="not today"))
    assert told()[2] == failed + 1
    shown = house.call("GET", "/status", token=project.tokens["reader"]).get_data(as_text=True)
    assert ("not today" in shown, "ranking by mean difference" in shown) == (True, True)
    assert "not today" not in house.call("GET", "/status").get_data(as_text=True)
    house.compute()


def test_one_version_is_told_everywhere(house: House) -> None:
    told = version("results-registry")
    assert told == __version__
    assert f'registry_build_info{{version="{told}"}} 1.0\n' in metrics(house)
    assert house.call("GET", "/healthz").get_json()["version"] == told
    assert house.call("GET", "/api/v1").get_json()["version"] == told
    printed = CliRunner().invoke(main, ["--version"]).stdout
    assert printed.removesuffix("\n").partition(" (commit ")[0] == f"registry, version {told}"


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
    assert ("BREW" in said, "c81d" in said) == (False, False)
    assert figure(said, "registry_requests_total", method="other", route="none") >= 1


def test_a_refusal_is_counted_by_its_reason(house: House) -> None:
    slow = replace(house.settings, address_rate=0.001, address_burst=1.0)
    strict = replace(house, app=create_app(slow))
    reason = {"status": "429", "reason": "address_rate"}
    before = figure(metrics(house), "registry_refusals_total", **reason)
    assert [strict.call("GET", "/api/v1").status_code for _ in range(3)] == [200, 429, 429]
    assert figure(metrics(house), "registry_refusals_total", **reason) == before + 2


def test_a_scrape_sees_itself_and_the_process(house: House) -> None:
    said = metrics(house)
    settings = house.settings
    # The scrape itself has one connection, and has given it back by the time it is written.
    exactly = {"threads": settings.web_threads, "pool_size": settings.pool_size, "pool_in_use": 0}
    assert {name: figure(said, f"registry_{name}") for name in exactly} == exactly
    assert "registry_circuit_breaker_open 0" in said
    assert figure(said, "registry_pool_wait_seconds_total") > 0
    assert figure(said, "process_resident_memory_bytes") > 1e6


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
    other = replace(house, app=create_app(house.settings))
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
        jobs = [
            [figure(said, "registry_jobs_total", kind=kind, outcome="computed") for said in (before, after)]
            for kind in ("statistics", "ranking")
        ]
        grown = [after - before for before, after in jobs]
        assert grown == [3, 1]
        seconds = [figure(said, "registry_job_seconds_total", kind="statistics") for said in (before, after)]
        assert seconds[0] < seconds[1]
        assert figure(after, "registry_processes", role="worker") >= 1
    counts.end()
