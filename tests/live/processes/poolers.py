"""PgBouncer in front of a test's server, in either of its modes."""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg2
import pytest
from sqlalchemy import URL, make_url

from registry.settings import driver_url
from tests.ports import free_port

_CONFIGURATION = """
[databases]
* = {server}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = trust
auth_file = {users}
pool_mode = {mode}
default_pool_size = {size}
"""


@contextmanager
def pooler(database_url: str, mode: str, users: list[str], *, size: int = 20) -> Iterator[URL]:
    """Address of the database through a PgBouncer that refuses whatever it does not know, as it does by default."""
    program = shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    if program is None:
        pytest.skip("PgBouncer is not installed")
    url = make_url(driver_url(database_url))
    host, port = url.query.get("host", url.host), url.query.get("port", url.port or 5432)
    owner = str(url.username or "postgres")
    with tempfile.TemporaryDirectory(prefix="registry-pooler-") as name:
        directory, listening = Path(name), free_port()
        (directory / "users").write_text("".join(f'"{one}" ""\n' for one in [*users, owner]))
        values = {"server": f"host={host} port={port}", "port": listening, "users": directory / "users"}
        text = _CONFIGURATION.format(**values, mode=mode, size=size)
        (directory / "pgbouncer.ini").write_text(text)
        # It refuses root; in a user namespace root is somebody else, whose files stay ours.
        prefix = ["unshare", "--user", "--map-user=65534", "--map-group=65534"] if os.geteuid() == 0 else []
        command = [*prefix, program, "--quiet", str(directory / "pgbouncer.ini")]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            through = url.set(username=owner, host="127.0.0.1", port=listening, query={})
            _await(through)
            yield through
        finally:
            process.terminate()
            process.wait(30)


def _await(url: URL) -> None:
    address = url.set(drivername="postgresql").render_as_string(hide_password=False)
    until = time.monotonic() + 60
    while True:
        try:
            psycopg2.connect(address, connect_timeout=3).close()
            return
        except psycopg2.OperationalError:
            if time.monotonic() > until:
                raise
            time.sleep(0.02)
