"""Valkey as a child process: the broker's wake-ups on a unix socket."""

from __future__ import annotations

import contextlib
import socket

from registry.local.embedded.binaries import find_valkey
from registry.local.embedded.children import Child
from registry.local.embedded.home import Home


class Valkey:
    """The broker's server of a home; both addresses are known before the start.

    Celery takes `url` (`redis+socket://<path>`); `redis.Redis.from_url` takes the same as `client_url`
    (`unix://<path>`); neither takes the other's.
    """

    def __init__(self, home: Home) -> None:
        self.home = home
        self.socket = home.sockets / "valkey.sock"
        self.url = f"redis+socket://{self.socket}"
        self.client_url = f"unix://{self.socket}"

    def child(self) -> Child:
        """The server, ready to be started; `Misconfigured` when there is none."""
        options = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": str(self.home.valkey_data),
            "appendonly": "no",  # nothing here must be kept, and a full disk would stop the wake-ups
            "save": "",
            "maxmemory-policy": "noeviction",
        }
        argv = [find_valkey(), *(part for name, value in options.items() for part in (f"--{name}", value))]
        return Child("valkey", argv, ready=self.is_ready)

    def is_ready(self) -> bool:
        """Return whether the server answers; it does not while it loads its data."""
        # The protocol has a form that needs no library; the supervisor would keep one for as long as it lives.
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as line:
            line.settimeout(1.0)
            line.connect(str(self.socket))
            line.sendall(b"PING\r\n")
            return line.recv(16) == b"+PONG\r\n"
        return False
