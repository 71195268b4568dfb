"""Clients that send as slowly as they can: the others are answered, and the slow ones are shown the door."""

from __future__ import annotations

import contextlib
import socket
import time
from collections.abc import Callable, Iterator

import pytest

from registry.local.web_server import ARRIVAL_SECONDS, IDLE_SECONDS
from tests.live.system import PROJECT, System, awaited

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
    assert {line.heard for line in lines if b" 408 Request Timeout" not in line.heard} <= {b""}
    assert any(line.heard for line in dripping)


def test_clients_that_read_nothing_are_shown_the_door(system: System) -> None:
    """More of them than there are threads, each asking for more than fits on the way."""
    asked = b"GET /api/v1/openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 60
    with contextlib.ExitStack() as lines:
        deaf = []
        for _ in range(system.settings.web_threads + 2):
            line = lines.enter_context(socket.socket())
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            line.settimeout(20)
            line.connect(("127.0.0.1", system.settings.port))
            line.sendall(asked)
            deaf.append(line)

        def was_closed(line: socket.socket) -> bool:
            try:
                line.sendall(b"G")
            except ConnectionError:
                return True
            return False

        assert system.client().call("GET", f"projects/{PROJECT}").status == 200
        awaited(lambda: all(was_closed(line) for line in deaf), within=3 * IDLE_SECONDS)
        assert system.client().call("GET", f"projects/{PROJECT}").status == 200
