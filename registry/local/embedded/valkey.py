"""Valkey as a child process: the broker's wake-ups on a unix socket."""

from __future__ import annotations

import contextlib

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

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
            "appendonly": "yes",
            "save": "",
            "maxmemory-policy": "noeviction",
        }
        argv = [find_valkey(), *(part for name, value in options.items() for part in (f"--{name}", value))]
        return Child("valkey", argv, ready=self.is_ready)

    def is_ready(self) -> bool:
        """Return whether the server answers; it does not while it loads its data."""
        client = redis.Redis(unix_socket_path=str(self.socket), socket_timeout=1.0, retry=Retry(NoBackoff(), 0))
        with contextlib.closing(client), contextlib.suppress(redis.RedisError):
            return bool(client.ping())
        return False
