"""Logs: no secret is in them, and each request is one line."""

import io
import json
import logging
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TextIO

import orjson
import pytest
import structlog
from sqlalchemy import text
from structlog.testing import LogCapture

from registry import create_app
from registry.broker import MOST_ORIGINS, WAKE_LIST, Notifier, origins_of, redis_client
from registry.logs import configure_logs, library_lines, redact
from registry.storage.database import Database
from tests.house import House, Project
from workers.derive import derive_due

SECRETS = [
    ("rgs_AbCdEfGh_0123456789abcdefghijABCDEFGHIJ012345", "0123456789abcdefghijABCDEFGHIJ012345"),
    ("GET /x?share=eyJhbGciOi.J9-x_y", "eyJhbGciOi"),
    ("postgresql://web:hunter2!@db.example/registry is away", "hunter2"),
    ("redis://:hunter2@redis:6379/0", "hunter2"),
    ("Authorization: Basic dXNlcjpodW50ZXIy", "dXNlcjpodW50ZXIy"),
    ("authorization=Bearer abcdefghijklmnop", "abcdefghijklmnop"),
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_no_secret_is_logged_by_us_or_by_libraries(text: str, secret: str) -> None:
    assert secret not in json.dumps(redact(None, "", {"event": text, "deep": {"list": [text, {"in": text}]}}))
    try:
        raise ValueError(text)
    except ValueError as error:
        trace = (type(error), error, error.__traceback__)
    line = library_lines().format(logging.LogRecord("lib", logging.ERROR, "x.py", 1, "failed: %s", (text,), trace))
    assert json.loads(line)["level"] == "error"
    assert ("\n" in line, secret in line) == (False, False)


def test_a_long_path_is_cut_after_its_secrets_were_taken_out() -> None:
    said = redact(None, "", {"path": "/" + "x" * 490 + SECRETS[0][0] + "y" * 60_000})["path"]
    assert (len(said) < 520, "012345" in said) == (True, False)


Logging = Callable[[TextIO], None]


@pytest.fixture
def logging_to(monkeypatch: pytest.MonkeyPatch) -> Iterator[Logging]:
    """Configures the logs as a process does, with this stream as its standard error."""
    before, handlers = structlog.get_config(), logging.getLogger().handlers[:]

    def to(stream: TextIO) -> None:
        monkeypatch.setattr(sys, "stderr", stream)
        structlog.reset_defaults()
        logging.getLogger().handlers.clear()
        configure_logs("INFO")
        structlog.configure(cache_logger_on_first_use=False)

    yield to
    structlog.configure(**before)
    logging.getLogger().handlers[:] = handlers


def test_a_log_that_cannot_be_written_changes_no_answer(project: Project, logging_to: Logging) -> None:
    full = open("/dev/full", "w", buffering=1)  # noqa: SIM115 (what it holds cannot be flushed)
    logging_to(full)
    made = project.publish()
    logging.getLogger("library").error("this cannot be written either")
    assert made.status_code == 201
    assert project.get(f"grids/{made.get_json()['id']}").status_code == 200
    with pytest.raises(OSError, match="No space left"):
        full.close()


def test_events_of_ours_and_of_libraries_never_share_a_line(logging_to: Logging) -> None:
    class Pieces(io.StringIO):
        def write(self, text: str) -> int:
            pieces.append(text)
            return len(text)

    pieces: list[str] = []
    logging_to(Pieces())
    start = threading.Barrier(2)

    def ours() -> None:
        start.wait()
        for _ in range(200):
            structlog.get_logger().info("ours")

    thread = threading.Thread(target=ours)
    thread.start()
    start.wait()
    for _ in range(200):
        logging.getLogger("library").warning("theirs")
    thread.join()
    assert len(pieces) == 400
    assert {json.loads(piece)["event"] for piece in pieces} == {"ours", "theirs"}
    assert all(piece.index("\n") == len(piece) - 1 for piece in pieces)


def test_a_request_is_one_line_that_names_token_and_route_and_no_secret(project: Project, logging_to: Logging) -> None:
    written = io.StringIO()
    logging_to(written)
    token = project.tokens["reader"]
    answer = project.get(f"projects/{project.slug}?note={token}")
    nowhere = project.get(f"nowhere/{token}")
    assert (answer.status_code, nowhere.status_code) == (422, 404)
    lines = [json.loads(line) for line in written.getvalue().splitlines()]
    assert token not in json.dumps(lines)
    assert token.split("_")[2] not in json.dumps(lines)
    requests = [line for line in lines if line["event"] == "request"]
    assert [line["status"] for line in requests] == [422, 404]
    assert requests[0]["request_id"] == answer.headers["X-Request-Id"]
    assert requests[0]["route"] == "/api/v1/projects/<project>"
    assert requests[0]["ms"] >= 0


TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


@pytest.fixture
def logged() -> Iterator[list[Any]]:
    """What is logged from now on, with the context of its request."""
    before, kept = structlog.get_config(), LogCapture()
    structlog.configure(processors=[structlog.contextvars.merge_contextvars, kept], cache_logger_on_first_use=False)
    yield kept.entries
    structlog.configure(**before)
    structlog.contextvars.clear_contextvars()


def requests(logged: list[Any]) -> list[Any]:
    return [one for one in logged if one["event"] == "request"]


def test_a_request_says_client_project_sizes_and_the_time_of_the_database(project: Project, logged: list[Any]) -> None:
    made = project.publish()
    [line] = requests(logged)
    assert (line["client"], line["project"], line["status"]) == ("127.0.0.1", project.slug, 201)
    assert line["location"] == made.headers["Location"]
    assert line["bytes"] == len(made.data)
    assert line["bytes_in"] == int(made.request.headers["Content-Length"])
    assert line["statements"] > 3
    assert 0 < line["db_ms"] <= line["ms"]
    assert "reason" not in line


def test_a_refused_request_says_why(project: Project, logged: list[Any]) -> None:
    away = replace(project.house.settings, database_url="postgresql://nobody@127.0.0.1:1/registry", address_burst=0.5)
    lost = House(create_app(away), project.house.database, away)
    full = House(create_app(replace(away, address_rate=0.001)), project.house.database, away)
    project.get("grids/nothing")
    project.call("POST", f"projects/{project.slug}/grids", "reader", json={})
    project.publish({"axes": 1})
    lost.call("GET", "projects")
    lost.call("GET", "projects")
    full.call("GET", "projects")
    told = [(line["status"], line["reason"]) for line in requests(logged)]
    refused = [(503, "database_away"), (503, "no_connection"), (429, "address_rate")]
    assert told == [(404, "not_found"), (403, "forbidden"), (422, "invalid"), *refused]


def test_a_streamed_answer_is_logged_with_its_bytes_when_its_last_byte_is_sent(
    project: Project, logged: list[Any]
) -> None:
    project.published()
    answer = project.get(f"projects/{project.slug}/cells.ndjson")
    size = len(answer.data)
    answer.close()
    assert requests(logged)[-1]["bytes"] == size > 100


def test_the_callers_id_is_the_requests_id(project: Project, logged: list[Any]) -> None:
    mine = uuid.uuid4()
    headers = {"X-Request-Id": str(mine).upper(), "traceparent": f"00-{TRACE}-00f067aa0ba902b7-01"}
    answer = project.get("grids/nothing", headers=headers)
    assert answer.headers["X-Request-Id"] == str(mine)
    assert answer.get_json()["instance"] == f"urn:uuid:{mine}"
    assert [(line["request_id"], line["trace_id"]) for line in requests(logged)] == [(str(mine), TRACE)]
    bare = project.get("grids/nothing", headers={"X-Request-Id": mine.hex})
    assert bare.headers["X-Request-Id"] == str(mine)


def test_what_is_no_id_is_replaced_and_a_trace_that_is_none_ignored(
    house: House, logged: list[Any], subtests: pytest.Subtests
) -> None:
    for sent in ("", "x", "{" + str(uuid.UUID(int=7)) + "}", "7" * 5000, "a\tb", "0" * 31, "é" * 36):
        with subtests.test(sent[:40]):
            answer = house.call("GET", "/api/v1", headers={"X-Request-Id": sent, "traceparent": sent})
            assert answer.headers["X-Request-Id"] != sent
            assert uuid.UUID(answer.headers["X-Request-Id"]).version == 4
            assert "trace_id" not in requests(logged)[-1]
    span = "00f067aa0ba902b7"
    for trace in (f"00-{'0' * 32}-{span}-01", f"00-{TRACE}-{'0' * 16}-01", f"ff-{TRACE}-{span}-01"):
        with subtests.test(trace):
            house.call("GET", "/api/v1", headers={"traceparent": trace})
            assert "trace_id" not in requests(logged)[-1]


def test_a_slow_statement_is_named_with_its_request_and_without_values(house: House, logged: list[Any]) -> None:
    database = Database(replace(house.settings, slow_statement=0.02), name="tests")
    with structlog.contextvars.bound_contextvars(request_id="r-1"), database.reading() as connection:
        connection.execute(text("SELECT  1"))
        connection.execute(text("SELECT pg_sleep(:long), :secret"), {"long": 0.03, "secret": "hunter2"})
    database.close()
    slow = [one for one in logged if one["event"] == "slow statement" and "pg_sleep" in one["statement"]]
    assert [(one["log_level"], one["request_id"]) for one in slow] == [("warning", "r-1")]
    assert slow[0]["ms"] >= 30
    assert "hunter2" not in str(slow)
    quiet = Database(replace(house.settings, slow_statement=0.0), name="tests")
    with quiet.reading() as connection:
        connection.execute(text("SELECT pg_sleep(0.03), 'quiet'"))
    quiet.close()
    assert not [one for one in logged if "quiet" in str(one.get("statement"))]


def test_a_wakeup_names_the_requests_that_sent_it(house: House) -> None:
    client, notifier = redis_client(house.settings), Notifier(house.settings)
    client.delete(WAKE_LIST)
    for origin in (*(f"r-{number}" for number in range(40)), "last"):
        with structlog.contextvars.bound_contextvars(request_id=origin, secret="s"):
            notifier.notify()
    found: list[str] = []
    deadline = time.monotonic() + 30
    while "last" not in found and time.monotonic() < deadline:
        first: Any = client.blpop([WAKE_LIST], timeout=1)
        found += origins_of([first[1]] if first else [])
    assert found[-1] == "last"
    assert len(found) == MOST_ORIGINS
    assert origins_of([b"1", b"", b"\xff", b"{}"]) == [], "what is no list names nothing"
    many = [orjson.dumps([str(number)]) for number in range(50)]
    assert origins_of(many) == [str(number) for number in range(50 - MOST_ORIGINS, 50)]


def test_a_worker_names_the_grids_that_it_computed(project: Project, logged: list[Any]) -> None:
    project.house.compute()
    first = project.published(model="a")["id"]
    project.published(model="a", trials=150)
    other = project.published(model="b")["id"]
    logged.clear()  # what was due in projects of other tests is named there too
    with structlog.contextvars.bound_contextvars(woken_by=["r-1"]):
        while derive_due(project.house.database, project.house.settings):
            pass
    lines = [one for one in logged if one["event"] == "derived"]
    assert {f"{first}@2", f"{other}@1"} <= {name for line in lines for name in line["grids"]}
    [skipped] = [one for one in logged if one["event"] == "superseded"]
    assert f"{first}@1" in skipped["grids"]
    assert all(line["woken_by"] == ["r-1"] and line["count"] == len(line["grids"]) for line in lines)
