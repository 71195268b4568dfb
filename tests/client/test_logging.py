"""`log_grid` and `log_cells` in one process: what arrives, what waits, what is said."""

import itertools
import json
import logging
import multiprocessing
import os
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from registry.api.context import Parts
from registry.grids.intake.faults import Limits
from results_registry import BadAddress, BadData, Refused, Unreachable, flush, log_cells, log_grid, outbox
from results_registry.outbox import existing_outbox
from results_registry.spool import Item, Spool
from tests.client.conftest import Served
from tests.client.tiny import Reply, Tiny
from tests.house import ACCURACY

NAMES: dict[str, Any] = {"experiment": "e", "benchmark": "b", "model": "m", "metric": ACCURACY}
NOWHERE = {"url": "http://127.0.0.1:9", "project": "p"}


def spooled(spool: Path) -> list[Path]:
    return sorted(path for path in spool.glob("*/*.json") if path.parent.name != "refused")


def test_a_description_and_a_source_go_with_a_grid(served: Served) -> None:
    source = {"format": "csv", "name": "results é.csv", "sha256": "0" * 64}
    log_grid(1.5, **NAMES, description="*as* it was run", source=source, **served.where).wait(10)
    grid = served.grid()
    assert (grid["description"], grid["source"]) == ("*as* it was run", source)
    log_grid(2.5, **NAMES, **served.where).wait(10)
    again = served.grid()
    assert (again["description"], again["revision"], "source" in again) == ("*as* it was run", 2, False)
    with pytest.raises(BadData, match="format, name, sha256, not 'path'"):
        log_grid(1.5, **NAMES, source={"path": "x"}, strict=True, **served.where)


def test_outcomes_of_items_go_after_the_grid(served: Served) -> None:
    items = {
        "name": "four",
        "ids": ["a", "b", "c", "d"],
        "outcomes": {("1", 0): [1, True, 0, 1.0], ("2", 1): [0, 1, 0, 1]},
    }
    data = {("1", 0): 75.0, ("2", 1): 50.0}
    receipt = log_grid(data, **NAMES, axes=["Type", "Length"], trials=4, items=items, **served.where)
    receipt.wait(10)
    assert (receipt.state, receipt.error) == ("sent", None)
    assert receipt.grid is not None
    found = served.project.get(f"grids/{receipt.grid['id']}/items?outcomes=true").get_json()
    assert found["sets"][0]["ids"] == ["a", "b", "c", "d"]
    assert [(one["at"], one["outcomes"]) for one in found["cells"]] == [
        ({"Type": "1", "Length": 0}, "0A=="),
        ({"Type": "2", "Length": 1}, "UA=="),
    ]
    one = log_grid(
        50.0,
        **NAMES | {"benchmark": "c"},
        items={"name": "two", "digest": "ab" * 32, "outcomes": [1, 0]},
        **served.where,
    )
    one.wait(10)
    assert one.grid is not None
    assert len(served.project.get(f"grids/{one.grid['id']}/items").get_json()["cells"]) == 1


@pytest.mark.parametrize(
    ("items", "told"),
    [
        ({"outcomes": [1, 0]}, "a name"),
        ({"name": "x"}, "outcomes"),
        ({"name": "x", "outcome": [1]}, "not 'outcome'"),
        ({"name": "x", "outcomes": [1, 2]}, "from 0 to 1"),
        ({"name": "x", "outcomes": [1, None]}, "from 0 to 1"),
        ({"name": "x", "outcomes": {("a",): [1]}}, "a level for each of no axes"),
    ],
)
def test_items_that_cannot_be_sent_are_bad_data(served: Served, items: Any, told: str) -> None:
    with pytest.raises(BadData, match=told):
        log_grid(50.0, **NAMES, items=items, strict=True, **served.where)


def test_cells_of_a_slice_that_were_read_are_no_grid_to_log(served: Served) -> None:
    axes = [{"name": "Length", "levels": [0, 2]}]
    published = served.project.published(**NAMES, axes=axes, values=[90, 91], trials=None)
    rows = served.project.get(f"grids/{published['id']}/cells?at.Length=2").get_json()["items"]
    with pytest.raises(BadData, match="are a slice"):
        log_grid(rows, **NAMES, strict=True, **served.where)


def test_one_line_publishes_a_grid(served: Served) -> None:
    receipt = log_grid({("1", 0): 99.3, ("2", 1): 96.7}, **NAMES, axes=["Type", "Length"], **served.where, trials=300)
    published = receipt.wait(10)
    assert published is not None
    assert (receipt.state, published["revision"], published["cell_count"]) == ("sent", 1, 2)
    assert served.grid()["values"] == [[99.3, None], [None, 96.7]]
    assert spooled(outbox.outbox().around.spool) == []


def test_what_is_said_of_a_whole_grid_goes_along(served: Served) -> None:
    members = {"questions": 30, "design_effect": 1.5, "derived": ["AIME", "GPQA"]}
    members["protocol"] = {"harness": "lm-eval", "shots": 5, "greedy": True}
    log_grid({"1": 50.0, "2": 60.0}, **NAMES, axes=["Type"], trials=150, **members, **served.where).wait(10)
    found = served.grid()
    assert {name: found[name] for name in members} == members


def test_a_protocol_takes_what_a_job_has_at_hand(served: Served) -> None:
    protocol = {"shots": np.int64(5), "temperature": np.float64(0.5), "judge": None, "prompt": Path("prompts/a.txt")}
    log_grid(50.0, **NAMES, protocol=protocol, **served.where).wait(10)
    assert served.grid()["protocol"] == {"shots": 5, "temperature": 0.5, "prompt": "prompts/a.txt"}


def test_cells_that_make_a_grid_say_it_too_and_later_ones_change_nothing(served: Served) -> None:
    cell = {"Step": 1, "value": 50.0, "trials": 150}
    log_cells(cell, **NAMES, questions=30, derived=True, **served.where).wait(10)
    log_cells(cell | {"Step": 2}, **NAMES, questions=10, **served.where).wait(10)
    found = served.grid()
    assert (found["questions"], found["derived"], found["cell_count"]) == (30, True, 2)


def test_what_is_not_said_is_not_sent(tiny: Tiny, job: Path) -> None:
    tiny.answer(Reply(201, {"id": "1"}))
    log_grid(50.0, **NAMES, derived=False, url=tiny.url, project="p", token="rgs_secret")
    assert flush(10)
    assert not {"questions", "design_effect", "derived", "protocol"} & set(tiny.seen[0].json)


@pytest.mark.parametrize("member", [{"questions": 2.5}, {"design_effect": float("inf")}, {"derived": "Average"}])
def test_what_cannot_be_meant_of_a_grid_is_bad_data(member: dict[str, Any]) -> None:
    with pytest.raises(BadData):
        log_grid(50.0, **NAMES, trials=150, **member, **NOWHERE, strict=True)


def test_the_file_in_the_spool_is_named_by_its_content_which_is_the_key(tiny: Tiny, job: Path) -> None:
    tiny.answer(Reply(503))
    log_grid(50.0, **NAMES, url=tiny.url, project="p", token="rgs_secret")
    [path] = spooled(job)
    item = Item(path.read_bytes())
    assert path.stem == item.key
    assert b"rgs_secret" not in item.data
    assert [stat.S_IMODE(place.stat().st_mode) for place in (job, path.parent, path)] == [0o700, 0o700, 0o600]
    tiny.answer(Reply(201, {"id": "1"}))
    assert flush(10)
    assert {seen.headers["idempotency-key"] for seen in tiny.seen} == {item.key}
    assert {seen.body for seen in tiny.seen} == {item.body}
    assert tiny.seen[0].path == "/api/v1/projects/p/grids"


def test_grids_arrive_in_the_order_in_which_they_were_logged(served: Served) -> None:
    for value in (1.0, 2.0, 1.0, 3.0, 1.0):
        log_grid(value, **NAMES, **served.where)
    assert flush(20)
    grid = served.grid()
    assert (grid["revision"], grid["values"]) == (5, 1.0)


def test_it_returns_at_once_and_raises_nothing_while_the_server_says_nothing(job: Path) -> None:
    """How long it takes is measured in `bench/client.py`; here, that nobody waits for an answer that does not come."""
    with socket.create_server(("127.0.0.1", 0)) as mute:
        where = {"url": f"http://127.0.0.1:{mute.getsockname()[1]}", "project": "p"}
        begun = time.monotonic()
        for number in range(50):
            log_grid([[1.0] * 20] * 7, **NAMES | {"model": f"m{number}"}, **where)
        assert time.monotonic() - begun < 10
        assert len(spooled(job)) == 50


def test_trouble_is_said_once(tiny: Tiny, caplog: pytest.LogCaptureFixture) -> None:
    tiny.answer(Reply(503))
    for number in range(5):
        log_grid(float(number), **NAMES, url=tiny.url, project="p")
    assert not flush(2.5)
    assert len(tiny.seen) >= 2
    assert len(caplog.records) == 1
    assert "waits in the spool" in caplog.text


def test_bad_data_is_a_warning_and_an_error_only_when_strict(caplog: pytest.LogCaptureFixture, job: Path) -> None:
    for data, axes in (("high", None), ([[1], [2, 3]], ["a", "b"]), (object(), None)):
        receipt = log_grid(data, **NAMES, axes=axes, **NOWHERE)
        assert (receipt.state, type(receipt.error)) == ("refused", BadData)
        with pytest.raises(BadData):
            log_grid(data, **NAMES, axes=axes, **NOWHERE, strict=True)
    assert len(caplog.records) == 3
    log_grid(1.0, **NAMES | {"model": ""}, **NOWHERE)
    log_grid(1.0, **NAMES | {"metric": {"name": "a", "colour": "red"}}, **NOWHERE)
    assert "needs a name for its model" in caplog.text
    assert "'colour'" in caplog.text
    assert spooled(job) == []


@pytest.mark.parametrize("wrong", [{"url": "no url"}, {"token": "two words"}])
def test_an_address_that_cannot_be_used_loses_nothing(
    wrong: dict[str, str], job: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert log_grid(1.0, **NAMES, **NOWHERE | wrong).state == "held"
    assert "waits in the spool for `python -m results_registry sync`" in caplog.text
    assert "two words" not in caplog.text
    assert Item(spooled(job)[0].read_bytes()).document()["values"] == 1.0
    with pytest.raises(BadAddress):
        log_grid(1.0, **NAMES, **NOWHERE | wrong, strict=True)


def test_a_refused_grid_is_set_aside_with_its_problem(
    served: Served, job: Path, caplog: pytest.LogCaptureFixture
) -> None:
    bad = log_grid(101.0, **NAMES, **served.where)
    good = log_grid(99.0, **NAMES, **served.where)
    assert flush(10)
    assert (bad.state, good.state) == ("refused", "sent")
    assert isinstance(bad.error, Refused)
    assert bad.error.errors[0][0] == "/values"
    [problem] = (job / "refused").glob("*.problem.json")
    assert "outside the metric's bounds" in json.loads(problem.read_text())["detail"]
    assert Item((job / "refused" / problem.name.replace(".problem", "")).read_bytes()).document()["values"] == 101.0
    assert "The registry refused e · b · m · accuracy" in caplog.text
    assert spooled(job) == []


def test_strict_waits_for_the_answer_and_raises_what_went_wrong(served: Served, tiny: Tiny) -> None:
    receipt = log_grid(42.0, **NAMES, **served.where, strict=True)
    assert receipt.grid is not None
    assert receipt.grid["revision"] == 1
    with pytest.raises(Refused, match="outside the metric's bounds"):
        log_grid(101.0, **NAMES, **served.where, strict=True)
    with pytest.raises(Refused, match="401"):
        log_grid(1.0, **NAMES, **served.where | {"token": "rgs_wrong"}, strict=True)


def test_strict_gives_up_when_nobody_answers(tiny: Tiny, monkeypatch: pytest.MonkeyPatch, job: Path) -> None:
    monkeypatch.setattr("results_registry.logging._STRICT_SECONDS", 0.3)
    tiny.answer(Reply(503))
    with pytest.raises(Unreachable, match="in the spool"):
        log_grid(1.0, **NAMES, url=tiny.url, project="p", strict=True)
    assert len(spooled(job)) == 1


@pytest.mark.parametrize("status", [401, 403, 404, 405, 418])
def test_a_token_that_will_not_do_keeps_the_grid_for_later(tiny: Tiny, job: Path, status: int) -> None:
    tiny.answer(Reply(status, {"detail": "no"}))
    receipt = log_grid(1.0, **NAMES, url=tiny.url, project="p")
    receipt.wait(5)
    assert receipt.state == "held"
    assert len(spooled(job)) == 1
    assert not (job / "refused").exists()


def test_a_page_that_is_no_registry_keeps_the_grid(tiny: Tiny, job: Path) -> None:
    tiny.answer(Reply(200, b"<html>sign in</html>", {"Content-Type": "text/html"}))
    log_grid(1.0, **NAMES, url=tiny.url, project="p")
    assert not flush(0.5)
    assert len(spooled(job)) == 1


def test_only_rank_zero_speaks(monkeypatch: pytest.MonkeyPatch, tiny: Tiny, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    where = {"url": tiny.url, "project": "p"}
    for name in ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"):
        monkeypatch.setenv(name, "3")
        assert log_grid(1.0, **NAMES, **where).state == "skipped"
        assert log_cells({"Step": 1, "value": 1.0}, **NAMES, **where).state == "skipped"
        monkeypatch.delenv(name)
    assert "RANK is 3" in caplog.text
    assert (existing_outbox(), tiny.seen) == (None, [])
    log_grid(1.0, **NAMES, **where)
    monkeypatch.setenv("RANK", "1")
    log_grid(2.0, **NAMES, **where, all_ranks=True)
    monkeypatch.setenv("REGISTRY_ALL_RANKS", "1")
    log_grid(3.0, **NAMES, **where)
    assert flush(10)
    assert [seen.json["values"] for seen in tiny.seen] == [1.0, 2.0, 3.0]


def test_without_a_project_grids_wait_for_sync(job: Path, caplog: pytest.LogCaptureFixture) -> None:
    receipt = log_grid(1.0, **NAMES)
    assert receipt.state == "held"
    assert not flush(0)
    assert "REGISTRY_PROJECT" in caplog.text
    [path] = spooled(job)
    assert (Item(path.read_bytes()).project, Item(path.read_bytes()).url) == (None, None)


def test_cells_of_a_moment_go_in_one_request_and_make_the_grid(served: Served) -> None:
    for step in range(20):
        log_cells({"Step": step, "value": float(step)}, **NAMES, **served.where, labels={"git": "4f2c"})
    assert flush(10)
    grid = served.grid()
    assert (grid["revision"], grid["values"], grid["labels"]) == (
        1,
        [float(step) for step in range(20)],
        {"git": "4f2c"},
    )
    assert grid["axes"][0]["kind"] == "numeric"
    for step in range(19, 22):
        log_cells({"Step": step, "value": step + 0.5, "trials": 10}, **NAMES, **served.where)
    assert flush(10)
    grid = served.grid()
    assert (grid["revision"], grid["values"][18:]) == (2, [18.0, 19.5, 20.5, 21.5])


def test_a_later_cell_replaces_an_earlier_one_and_repeats_stay_repeats(served: Served) -> None:
    log_cells({"Step": 1, "value": 10.0}, **NAMES, **served.where)
    log_cells({"Step": 1.0, "value": 20.0}, **NAMES, **served.where)
    log_cells([{"Step": 2, "value": 30.0}, {"Step": 2, "value": 40.0}], **NAMES, **served.where)
    assert flush(10)
    grid = served.grid()
    assert (grid["values"], grid["repeats"]) == ([20.0, 35.0], [None, 2])


def test_cells_join_a_grid_that_was_logged_before(served: Served) -> None:
    log_grid({1: 10.0, 2: 20.0}, **NAMES, axes=["Step"], **served.where)
    log_cells({"Step": 3, "value": 30.0}, **NAMES, **served.where)
    assert flush(10)
    assert served.grid()["values"] == [10.0, 20.0, 30.0]


def test_cells_come_back_to_a_grid_that_was_deleted_meanwhile(served: Served) -> None:
    log_cells({"Step": 1, "value": 10.0}, **NAMES, **served.where)
    assert flush(10)
    assert served.project.call("DELETE", f"grids/{served.grid()['id']}").status_code == 204
    log_cells({"Step": 2, "value": 20.0}, **NAMES, **served.where)
    assert flush(10)
    assert served.grid()["values"] == [20.0]


def test_one_bad_cell_does_not_take_others_with_it(served: Served, job: Path) -> None:
    receipts = [
        log_cells({"Step": step, "value": value}, **NAMES, **served.where)
        for step, value in enumerate((1.0, 2.0, 101.0, 4.0))
    ]
    assert flush(10)
    assert [receipt.state for receipt in receipts] == ["sent", "sent", "refused", "sent"]
    assert served.grid()["values"] == [1.0, 2.0, 4.0]
    assert len(list((job / "refused").glob("*.problem.json"))) == 1


def test_cells_of_two_names_that_an_alias_joins_do_not_mix(served: Served) -> None:
    aliases = f"projects/{served.project.slug}/aliases"
    sent = {"kind": "model", "alias": "m-alias", "name": "m"}
    assert served.project.call("POST", aliases, json=sent).status_code == 201
    for model in ("m", "m-alias"):
        log_cells({"Step": 1, "value": 10.0}, **NAMES | {"model": model}, **served.where)
    assert flush(10)
    assert sorted(grid["model"] for grid in served.grids()) == ["m", "m-alias"]


def test_threads_may_log_together(served: Served) -> None:
    def log(thread: int) -> None:
        for number in range(10):
            log_grid(float(number), **NAMES | {"model": f"{thread}-{number}"}, **served.where)

    threads = [threading.Thread(target=log, args=(thread,)) for thread in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert flush(20)
    assert len(served.grids()) == 40


def _log_in_child(where: dict[str, str], model: str) -> None:
    log_grid(2.0, **NAMES | {"model": model}, **where)


def test_a_forked_child_sends_its_own_and_leaves_the_parents_alone(
    served: Served, job: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REGISTRY_EXIT_SECONDS", "20")
    log_grid(1.0, **NAMES, **served.where)
    child = multiprocessing.get_context("fork").Process(target=_log_in_child, args=(served.where, "child"))
    child.start()
    child.join(20)
    assert child.exitcode == 0
    log_grid(1.0, **NAMES | {"model": "after"}, **served.where)
    assert flush(10)
    outbox.end()
    assert sorted(grid["model"] for grid in served.grids()) == ["after", "child", "m"]
    assert {grid["revision"] for grid in served.grids()} == {1}
    assert list(job.iterdir()) == []


def test_a_bare_fork_keeps_the_parents_queue_directory_locked(tiny: Tiny, job: Path) -> None:
    tiny.answer(Reply(503))
    log_grid(1.0, **NAMES, url=tiny.url, project="p")
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    assert list(outbox.outbox().spool.orphans()) == []


def test_the_next_job_sends_what_a_killed_one_left(served: Served, job: Path) -> None:
    script = f"""
import os, signal
from results_registry import log_grid
for number in range(3):
    log_grid(float(number), experiment="e", benchmark="b", model="m", metric="accuracy", axes=[],
             url={served.url!r}, project={served.project.slug!r}, token="rgs_wrong")
os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", script], check=False, stderr=subprocess.DEVNULL)
    assert len(spooled(job)) == 3
    log_grid(9.0, **NAMES | {"metric": "accuracy"}, **served.where)
    assert flush(10)
    grid = served.grid()
    assert (grid["values"], grid["revision"]) == (9.0, 4)
    outbox.end()
    assert list(job.iterdir()) == []


def test_the_next_job_leaves_what_is_meant_for_another_registry(tiny: Tiny, job: Path) -> None:
    log_grid(1.0, **NAMES, **NOWHERE)
    outbox.end()
    log_grid(2.0, **NAMES, url=tiny.url, project="p")
    log_grid(3.0, **NAMES, url=tiny.url, project="another")
    assert flush(10)
    assert sorted(seen.json["values"] for seen in tiny.seen) == [2.0, 3.0]
    outbox.end()
    assert len(spooled(job)) == 1


def test_the_end_takes_a_bounded_time_and_says_what_is_left_for_sync(tiny: Tiny, job: Path) -> None:
    script = """
from results_registry import log_grid
for number in range(3):
    log_grid(1.0, experiment="e", benchmark="b", model=str(number), metric="a", url="http://127.0.0.1:9", project="p")
"""
    environment = os.environ | {"REGISTRY_EXIT_SECONDS": "0.5"}
    begun = time.monotonic()
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], env=environment, capture_output=True, text=True, check=False
    )
    assert time.monotonic() - begun < 5
    assert ran.returncode == 0, ran.stderr
    assert f"registry: 3 grids wait in {job}; `python -m results_registry sync` sends what is left." in ran.stderr
    assert len(spooled(job)) == 3
    words = ["sync", "--url", tiny.url, "-p", "p"]
    for more, status, sent, elsewhere in (([], 0, 0, True), (["--any-url"], 0, 3, False), (["--any-url"], 0, 0, False)):
        ran = subprocess.run(
            [sys.executable, "-W", "error", "-m", "results_registry", *words, *more],
            env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert (ran.returncode, ran.stdout) == (status, f"{sent} grids sent.\n"), ran.stderr
        assert ("3 grids for another registry" in ran.stderr) == elsewhere
    assert [seen.json["model"] for seen in tiny.seen] == ["0", "1", "2"]


def test_the_spool_is_bounded_and_memory_takes_over(
    tiny: Tiny, job: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The sender's thread measures the spool while the job goes on; what it finds is old when it says it."""
    measure, measured, told = Spool.size, threading.Event(), threading.Event()

    def measure_for_long(spool: Spool) -> int:
        size = measure(spool)
        if threading.current_thread() is not threading.main_thread():
            measured.set()
            told.wait(10)
        return size

    monkeypatch.setattr(Spool, "size", measure_for_long)
    monkeypatch.setenv("REGISTRY_SPOOL_BYTES", "2000")
    tiny.answer(Reply(503))
    for number in range(20):
        log_grid(float(number), **NAMES, url=tiny.url, project="p")
        if number == 0:
            assert measured.wait(10)
        if number == 9:
            told.set()
            tiny.await_request()
    assert 1 <= len(spooled(job)) < 8
    assert "REGISTRY_SPOOL_BYTES" in caplog.text
    tiny.answer(Reply(201, {"id": "1"}))
    assert flush(10)
    delivered = [seen.json["values"] for seen in tiny.seen]
    assert list(dict.fromkeys(delivered)) == [float(number) for number in range(20)]


def test_a_spool_that_cannot_be_written_is_no_reason_not_to_send(
    tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("REGISTRY_SPOOL", str(tmp_path / "file" / "spool"))
    log_grid(1.0, **NAMES, url=tiny.url, project="p")
    assert flush(10)
    assert tiny.seen[0].json["values"] == 1.0
    assert "cannot be written" in caplog.text


FORKS_AMID_THE_IMPORT = """
import os, sys, threading

amid, forked = threading.Event(), threading.Event()

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:  # in the middle of results_registry.http, or of the codec of host names
            amid.set()
            forked.wait(0.3)

sys.meta_path.insert(0, Slow())
from results_registry import flush, log_grid

def publish(model):
    return log_grid(1.0, experiment="e", benchmark="b", model=model, metric="x")

publish("parent")
assert amid.wait(10)
child = os.fork()
forked.set()
if child == 0:
    os._exit(0 if publish("child").wait(10) else 1)
assert flush(10)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.parametrize("module", ["results_registry.http", "stringprep"])
def test_a_child_that_is_forked_amid_what_the_first_request_imports_sends_too(
    served: Served, job: Path, module: str
) -> None:
    named = {"REGISTRY_URL": served.url, "REGISTRY_TOKEN": served.where["token"]}
    named |= {"REGISTRY_PROJECT": served.where["project"]}
    ran = subprocess.run(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKS_AMID_THE_IMPORT, module],
        env=os.environ | named, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, "")
    assert {grid["model"] for grid in served.grids()} == {"parent", "child"}


def test_a_curve_that_grows_beyond_its_axis_is_thinned_and_goes_on(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(Parts, "limits", Limits(levels=40))
    monkeypatch.setenv("REGISTRY_COALESCE_SECONDS", "0")
    for first in range(0, 400, 10):
        cells = [{"Step": step, "value": step / 1000} for step in range(first, first + 10)]
        cells[0]["value"] = float("inf") if first == 0 else cells[0]["value"]
        receipt = log_cells(cells, **NAMES | {"metric": "loss"}, **served.where)
        assert receipt.wait(10) is not None
    found = served.grid()
    steps = found["axes"][0]["levels"]
    assert 20 <= len(steps) <= 40
    assert (steps[0], found["values"]) == (0, [None, *(step / 1000 for step in steps[1:])])
    assert [one["at"] for one in found["reasons"]] == [{"Step": 0}]
    assert steps[-1] > 380
    gaps = [after - before for before, after in itertools.pairwise(steps)]
    assert max(gaps) <= 2 * min(gaps) + 1
    assert len([record for record in caplog.records if "is thinned" in record.getMessage()]) == 1
