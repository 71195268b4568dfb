"""Ports for the servers of tests: no other process of the tests takes one, and no outgoing connection."""

import contextlib
import itertools
import os
import socket

_FIRST, _EACH = 20_000, 500
"""Below the ports that Linux (32768) and macOS (49152) give to outgoing connections; so many for each test process."""
_begin = _FIRST + _EACH * (int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % 20)
_turns = itertools.count(os.getpid())


def free_port() -> int:
    """A port on which nobody listens; another one each time."""
    for turn in itertools.islice(_turns, _EACH):
        port = _begin + turn % _EACH
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError("every port of this process is taken")
