"""waitress as it is run: what it lets through to the application, and what it refuses by itself."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPConnection, HTTPResponse
from typing import Any

import pytest
from waitress.buffers import OverflowableBuffer

from registry import create_app
from registry.local import web_server as serving_module
from registry.local.web_requests import ANONYMOUS_BODY, LONGEST_HEADER
from registry.local.web_server import Server
from registry.settings import Settings
from tests.house import Project, publication
from tests.ports import free_port


@dataclass(frozen=True)
class Running:
    """A server that was started, and its port."""

    port: int

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[HTTPResponse, bytes]:
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=20)) as connection:
            connection.request(method, path, body, {name.replace("_", "-"): text for name, text in headers.items()})
            response = connection.getresponse()
            return response, response.read()

    def say(self, sent: bytes) -> bytes:
        """What comes back on a connection of its own until the server closes it."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=20) as line:
            line.sendall(sent)
            heard = b""
            while more := line.recv(65536):
                heard += more
            return heard


Served = Callable[..., Any]


@contextmanager
def serving(settings: Settings) -> Iterator[Running]:
    app, stopping = create_app(settings), threading.Event()
    server = Server(app, settings, stopping)
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        yield Running(settings.port)
    finally:
        stopping.set()
        thread.join()


@pytest.fixture(scope="module")
def running(settings: Settings) -> Iterator[Running]:
    with serving(replace(settings, port=free_port())) as found:
        yield found


def problem(heard: bytes) -> tuple[dict[str, str], dict[str, Any]]:
    """The headers and the body of an answer that is a problem."""
    head, _, body = heard.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = {name.lower(): text for name, text in (line.split(": ", 1) for line in lines[1:])}
    assert headers["content-type"] == "application/problem+json"
    found = json.loads(body)
    assert lines[0].split()[1] == str(found["status"])
    assert found["instance"] == f"urn:uuid:{headers['x-request-id']}"
    return headers, found


@pytest.mark.parametrize(
    ("sent", "status", "code"),
    [
        (b"GET / HTTP/1.1\r\nbad header\r\n\r\n", 400, "malformed"),
        (b"GET / HTTP/1.1\r\nX: ".ljust(LONGEST_HEADER, b"x"), 431, "header_too_large"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: rot13\r\n\r\n", 501, "error"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400, "malformed"),
        (b"POST / HTTP/1.1\r\nAuthorization: x\r\nContent-Length: 99999999999\r\n\r\n", 413, "too_large"),
        (b"POST / HTTP/1.1\r\nContent-Length: %s\r\n\r\n" % (b"9" * 5000), 413, "too_large"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n%s\r\n" % (b"F" * 5000), 413, "too_large"),
        (b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n".ljust(LONGEST_HEADER + 100, b"0"), 400, "malformed"),
        (b"GET http://[x HTTP/1.1\r\n\r\n", 400, "malformed"),
    ],
)
def test_what_never_reaches_the_application_is_refused_with_a_problem(
    running: Running, sent: bytes, status: int, code: str
) -> None:
    _, found = problem(running.say(sent))
    assert (found["status"], found["type"]) == (status, f"/docs#problem-{code}")


POST = b"POST /api/v1/projects/any/grids HTTP/1.1\r\nHost: 127.0.0.1\r\n"
LARGE = b"x" * 40 * ANONYMOUS_BODY


def chunked(body: bytes) -> bytes:
    pieces = (body[at : at + 0x8000] for at in range(0, len(body), 0x8000))
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


@pytest.mark.parametrize(
    "sent",
    [
        b"Content-Length: %d\r\n\r\n%s" % (len(LARGE), LARGE),
        b"Transfer-Encoding: chunked\r\n\r\n" + chunked(LARGE),
        b"Content-Length: %d\r\nExpect: 100-continue\r\n\r\n" % len(LARGE),
    ],
)
def test_a_large_body_of_a_stranger_is_refused_and_never_kept(
    running: Running, sent: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[int] = []
    append = OverflowableBuffer.append

    def counted(buffer: OverflowableBuffer, piece: bytes) -> None:
        kept.append(len(piece) if piece.startswith(b"x") else 0)
        append(buffer, piece)

    monkeypatch.setattr(OverflowableBuffer, "append", counted)
    headers, found = problem(running.say(POST + sent))
    assert found["status"] == 401
    assert headers["www-authenticate"].startswith("Bearer")
    assert sum(kept) <= 2 * ANONYMOUS_BODY


def test_all_bodies_together_are_bounded_and_the_largest_goes(
    running: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving_module, "ALL_BODIES", 300_000)
    head = POST + b"Authorization: Bearer rgs_whatever\r\nContent-Length: 9000000\r\n\r\n"
    with (
        socket.create_connection(("127.0.0.1", running.port), timeout=20) as small,
        socket.create_connection(("127.0.0.1", running.port), timeout=20) as large,
    ):
        small.sendall(head + b"x" * 100_000)
        large.sendall(head + b"x" * 400_000)
        heard = large.recv(65536)
        small.settimeout(0.2)
        with pytest.raises(TimeoutError):
            small.recv(1)
    assert heard.startswith(b"HTTP/1.1 503 ")
    assert b"Retry-After: 5" in heard


def test_a_large_body_with_a_token_is_read(running: Running, project: Project) -> None:
    body = json.dumps(publication(labels={"padding": "x"})) + " " * 2 * ANONYMOUS_BODY
    answer, said = running.ask(
        "POST",
        f"/api/v1/projects/{project.slug}/grids",
        body,
        Authorization=f"Bearer {project.tokens['writer']}",
        Content_Type="application/json",
    )
    assert answer.status == 201, said


def test_clients_of_a_proxy_of_ours_are_told_apart_by_what_it_saw(settings: Settings) -> None:
    limits = {"address_rate": 0.001, "address_burst": 2}
    for proxies, expected in ((1, [200] * 4), (0, [200, 200, 429, 429])):
        with serving(replace(settings, port=free_port(), proxies=proxies, **limits)) as running:
            seen = [
                running.ask("GET", "/api/v1/limits", X_Forwarded_For=f"forged, 10.0.0.{number}")[0].status
                for number in range(4)
            ]
            assert seen == expected
