"""Clients that send as slowly as they can: the others are answered, and the slow ones are shown the door."""

import contextlib
import socket
import time
from collections.abc import Callable, Iterator

import pytest

from registry.web_server import ARRIVAL_SECONDS, UNREAD_SECONDS
from tests.live.processes.system import PROJECT, System, awaited

HALF = b"POST /api/v1/projects/live/grids HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: "


class Line:
    """A connection on which something was said, and what was heard."""

    def __init__(self, socket_: socket.socket) -> None:
        self.socket, self.heard = socket_, b""

    def send(self, sent: bytes) -> None:
        with contextlib.suppress(ConnectionError):
            self.socket.send(sent)

    def is_closed(self) -> bool:
        """Whether the server hung up; an answer comes in as many pieces as it likes, or is lost with the connection."""
        try:
            while data := self.socket.recv(65536):
                self.heard += data
        except BlockingIOError:
            return False
        except ConnectionError:
            return True
        return True


@pytest.fixture
def open_line(system: System) -> Iterator[Callable[[bytes], Line]]:
    with contextlib.ExitStack() as lines:

        def opened(sent: bytes) -> Line:
            line = lines.enter_context(socket.create_connection(("127.0.0.1", system.settings.port), timeout=20))
            line.sendall(sent)
            line.setblocking(False)
            return Line(line)

        yield opened


def test_two_hundred_slow_connections_keep_nobody_from_an_answer(
    system: System, open_line: Callable[[bytes], Line]
) -> None:
    silent = [open_line(b"GET / HT") for _ in range(100)]
    dripping = [open_line(HALF) for _ in range(100)]
    begun = time.monotonic()
    client = system.client()
    took = []
    while time.monotonic() - begun < ARRIVAL_SECONDS - 1:
        for line in dripping:
            line.send(b"x")
        asked = time.monotonic()
        assert client.call("GET", f"projects/{PROJECT}").status == 200
        took.append(time.monotonic() - asked)
        time.sleep(0.3)
    assert max(took) < 3
    lines = silent + dripping
    awaited(lambda: all(line.is_closed() for line in lines), within=2 * ARRIVAL_SECONDS)
    assert {line.heard for line in lines} == {b""}


def test_clients_that_leave_their_side_open_keep_nobody_from_an_answer(
    system: System, open_line: Callable[[bytes], Line]
) -> None:
    for _ in range(20):
        open_line(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
    time.sleep(0.5)
    asked = time.monotonic()
    assert system.client().call("GET", f"projects/{PROJECT}").status == 200
    assert time.monotonic() - asked < 2


def test_bodies_that_drip_keep_nobody_from_an_answer_and_are_cut(
    system: System, open_line: Callable[[bytes], Line]
) -> None:
    """More of them than requests are served at once, by somebody who may write."""
    token = system.token.encode()
    head = (
        HALF.removesuffix(b"X-Slow: ") + b"Authorization: Bearer " + token + b"\r\nContent-Type: application/json\r\n"
    )
    lines = [open_line(head + b"Content-Length: 5000\r\n\r\n{") for _ in range(3 * system.settings.web_threads)]
    client, begun = system.client(), time.monotonic()
    while time.monotonic() - begun < ARRIVAL_SECONDS / 2:
        for line in lines:
            line.send(b" ")
        assert client.call("GET", f"projects/{PROJECT}").status == 200
    awaited(lambda: all(line.is_closed() for line in lines), within=3 * ARRIVAL_SECONDS)


def narrow(system: System, sent: bytes, seconds: float) -> socket.socket:
    """A connection on which little is on its way, and something was said."""
    line = socket.socket()
    line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    line.settimeout(seconds)
    line.connect(("127.0.0.1", system.settings.port))
    line.sendall(sent)
    return line


@pytest.mark.parametrize(("size", "form", "most"), [(200, "cells.ndjson", 24), (150, "cells.csv", 24)])
def test_slow_readers_of_long_exports_keep_nobody_from_an_answer(
    system: System, size: int, form: str, most: int
) -> None:
    """More of them than requests are served at once, and than there are connections to the database: of what is sent
    while it is read, and of what is made whole. So many are sent at once, and the next is asked to come back."""
    levels = [f"a level whose name is rather long, {number}" for number in range(size)]
    axes = [{"name": name, "kind": "nominal", "levels": levels} for name in ("Row", "Column")]
    grid = system.client().publish(experiment="long", axes=axes, values=[[1.0] * size] * size)["id"]
    path = f"{grid}/{form}"
    asked, told = f"GET /api/v1/grids/{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n", list[bytes]()
    with contextlib.ExitStack() as lines:
        for _ in range(max(most, system.settings.web_threads) + 2):
            said = f"{asked}Authorization: Bearer {system.token}\r\n\r\n".encode()
            line = lines.enter_context(narrow(system, said, UNREAD_SECONDS / 2))  # before one that reads nothing is cut
            told.append(line.recv(12)[9:])
        assert system.client().call("GET", f"projects/{PROJECT}").status == 200
    assert set(told) == {b"200", b"429"}
    assert told.index(b"429") == most


def test_clients_that_read_nothing_are_shown_the_door(system: System) -> None:
    """More of them than there are threads, each asking for more than fits on the way."""
    asked = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 60
    with contextlib.ExitStack() as lines:
        deaf = [lines.enter_context(narrow(system, asked, 20)) for _ in range(system.settings.web_threads + 2)]

        def was_closed(line: socket.socket) -> bool:
            try:
                line.sendall(b"G")
            except ConnectionError:
                return True
            return False

        assert system.client().call("GET", f"projects/{PROJECT}").status == 200
        awaited(lambda: all(was_closed(line) for line in deaf), within=3 * UNREAD_SECONDS)
        assert system.client().call("GET", f"projects/{PROJECT}").status == 200
