"""`registry sync`: what dead jobs left goes out in order, once, and the exit status says how it went."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from results_registry import Transport, log_cells, log_grid, outbox
from results_registry.config import Config
from results_registry.spool import Spool
from results_registry.sync import sync
from tests.client.conftest import Served
from tests.client.test_logging import NAMES, NOWHERE, spooled
from tests.client.tiny import Reply, Tiny


def leave(*values: float, **where: Any) -> None:
    """Log grids of one name as a job that cannot send and ends."""
    for value in values:
        log_grid(value, **NAMES, **{"project": None, **where})
    outbox.end()


def run(*words: str, token: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | ({"REGISTRY_TOKEN": token} if token else {})
    command = [sys.executable, "-m", "registry", "sync", *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def _no_network(*_args: Any) -> None:
    raise OSError(101, "Network is unreachable")


def test_what_a_job_left_is_sent_in_order_and_the_spool_is_empty(
    served: Served, job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("results_registry.http.Connection.open", _no_network)
        leave(1.0, 2.0, **served.where)
        leave(1.0, 3.0, **served.where)
        for step in range(5):
            log_cells({"Step": step, "value": 1.0}, **NAMES | {"model": "cells"}, **served.where)
        outbox.end()
    assert len(spooled(job)) == 9
    ran = run("--url", served.url, token=served.where["token"])
    assert (ran.returncode, ran.stdout) == (0, "9 grids sent.\n")
    cells, grid = sorted(served.grids(), key=lambda grid: grid["model"])
    assert (grid["revision"], cells["revision"], cells["cell_count"]) == (4, 1, 5)
    assert served.project.get(f"grids/{grid['id']}").get_json()["values"] == 3.0
    assert list(job.iterdir()) == []
    again = run("--url", served.url)
    assert (again.returncode, again.stdout) == (0, "0 grids sent.\n")


def test_refused_grids_are_named_and_set_aside_and_can_be_sent_again(
    served: Served, job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("results_registry.http.Connection.open", _no_network)
        leave(101.0, 2.0, **served.where)
    ran = run("--url", served.url, token=served.where["token"])
    assert ran.returncode == 1
    assert ran.stdout == "1 grid sent.\n"
    assert "Refused: e · b · m · accuracy: /values: 101.0 is outside the metric's bounds" in ran.stderr
    assert run("--url", served.url, token=served.where["token"]).returncode == 0
    ran = run("--url", served.url, "--retry-refused", token=served.where["token"])
    assert (ran.returncode, "Refused: e · b · m" in ran.stderr) == (1, True)
    assert len(list((job / "refused").glob("*.problem.json"))) == 1


def test_an_unreachable_registry_is_status_5_and_everything_stays(job: Path) -> None:
    leave(1.0, 2.0, **NOWHERE)
    ran = run("--url", NOWHERE["url"])
    assert ran.returncode == 5
    assert "No answer from http://127.0.0.1:9" in ran.stderr
    assert f"2 grids left in {job}." in ran.stderr
    assert len(spooled(job)) == 2


def test_a_token_that_will_not_do_is_status_4_and_everything_stays(
    served: Served, job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("results_registry.http.Connection.open", _no_network)
        leave(1.0, 2.0, **served.where)
        leave(3.0, **served.where | {"project": "no-such-project"})
    ran = run("--url", served.url, token=served.project.tokens["reader"])
    assert ran.returncode == 4
    assert served.project.slug in ran.stderr
    assert len(spooled(job)) == 3
    ran = run("--url", served.url, token=served.where["token"])
    assert (ran.returncode, ran.stdout) == (4, "2 grids sent.\n")
    assert "no-such-project" in ran.stderr
    assert "1 grid left" in ran.stderr


def test_what_names_no_project_goes_to_the_one_that_is_named(tiny: Tiny, job: Path) -> None:
    leave(1.0)
    ran = run("--url", tiny.url)
    assert (ran.returncode, tiny.seen) == (0, [])
    assert len(spooled(job)) == 1
    assert run("--url", tiny.url, "-p", "here").returncode == 0
    assert tiny.seen[0].path == "/api/v1/projects/here/grids"


def test_a_running_jobs_grids_are_left_to_it(tiny: Tiny, job: Path) -> None:
    tiny.answer(Reply(503))
    log_grid(1.0, **NAMES, url=tiny.url, project="p")
    ran = run("--url", tiny.url)
    assert ran.returncode == 0
    assert "1 grid of running jobs" in ran.stderr
    assert len(spooled(job)) == 1


def test_a_file_that_is_not_what_its_name_says_is_never_sent(tiny: Tiny, job: Path) -> None:
    leave(1.0, 2.0, **NOWHERE)
    first, second = spooled(job)
    first.write_bytes(first.read_bytes()[:-1])
    shutil.copy(second, second.with_name("0" * 64 + ".json"))
    (second.parent / "half.new").write_bytes(b"{")
    assert run("--url", tiny.url, "--any-url").returncode == 0
    assert len(tiny.seen) == 1
    assert len(list(job.glob("*/*.unreadable"))) == 2
    assert list(job.glob("*/*.new")) == []


def test_a_server_that_is_busy_is_given_time(tiny: Tiny, job: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    leave(1.0, **NOWHERE)
    tiny.answer(Reply(429, headers={"Retry-After": "2"}), Reply(503), Reply(201, {"id": "1"}))
    slept: list[float] = []

    def transport(config: Config, **options: Any) -> Transport:
        made = Transport(config.url, **options)
        made._sleep = slept.append
        return made

    monkeypatch.setattr(Config, "transport", transport)
    outcome = sync(Spool(job, 0), Config(tiny.url, None, None, "test"), any_url=True)
    assert (outcome.sent, outcome.left, len(slept)) == (1, 0, 2)
    assert slept[0] >= 2
