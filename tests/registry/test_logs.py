"""What is logged: JSON lines with who, what and how long, and never a secret, however it got there."""

from __future__ import annotations

import json
import logging

import pytest
import structlog

from registry.logs import JsonLines, configure_logs, redact
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
def test_a_secret_is_blotted_out_at_any_depth(text: str, secret: str) -> None:
    event = redact(None, "", {"event": text, "deep": {"list": [text, {"in": text}]}})
    assert secret not in json.dumps(event)


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_what_libraries_log_is_a_json_line_without_secrets(text: str, secret: str) -> None:
    try:
        raise ValueError(text)
    except ValueError as error:
        trace = (type(error), error, error.__traceback__)
    line = JsonLines().format(logging.LogRecord("lib", logging.ERROR, "x.py", 1, "failed: %s", (text,), trace))
    assert "\n" not in line
    said = json.loads(line)
    assert said["level"] == "error"
    assert secret not in line


def test_a_request_is_one_line_that_names_token_and_route_and_no_secret(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    before = structlog.get_config()
    structlog.reset_defaults()
    configure_logs("INFO")
    structlog.configure(cache_logger_on_first_use=False)
    try:
        token = project.tokens["reader"]
        answer = project.get(f"projects/{project.slug}?note={token}")
        nowhere = project.get(f"nowhere/{token}")
        assert (answer.status_code, nowhere.status_code) == (422, 404)
        lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    finally:
        structlog.configure(**before)
    assert token not in json.dumps(lines)
    assert token.split("_")[2] not in json.dumps(lines)
    requests = [line for line in lines if line["event"] == "request"]
    assert [line["status"] for line in requests] == [422, 404]
    assert requests[0]["request_id"] == answer.headers["X-Request-Id"]
    assert requests[0]["route"] == "/api/v1/projects/<project>"
    assert requests[0]["ms"] >= 0
