"""What is logged: JSON lines with who, what and how long, and never a secret, however it got there."""

from __future__ import annotations

import io
import json
import logging
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TextIO

import pytest
import structlog

from registry.logs import configure_logs, library_lines, redact
from tests.house import Project

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
