"""Home directory of one registry on a laptop: its data, sockets, logs and locks."""

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import stat
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Self

from registry.errors import Misconfigured

LONGEST_SOCKET = 80  # the kernels allow 104 (macOS) and 108 (Linux); `.s.PGSQL.5432.lock` hangs on too
WINDING_DOWN = 10.0
LARGEST_LOG = 10_000_000
LOCK = "registry.lock"
CHILDREN_LOCK = "children.lock"


class Home:
    """Directory that belongs to one running registry at a time.

    The paths are known at once, so that other commands can find the servers of a running registry. Entering creates the
    directory (0700) and takes the lock; a second holder gets an error.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).expanduser().resolve()
        self.postgres_data = self.path / "postgres"
        self.valkey_data = self.path / "valkey"
        self.logs = self.path / "logs"
        self.sockets = socket_directory(self.path)
        self.lock: int | None = None
        self._own_lock: int | None = None

    def __enter__(self) -> Self:
        claim_directory(self.path)
        self._own_lock = take_lock(self.path / LOCK)
        try:
            self.lock = await_lock(self.path / CHILDREN_LOCK)
            for directory in (self.valkey_data, self.logs):
                directory.mkdir(mode=0o700, exist_ok=True)
            make_private(self.sockets, owners=self.owners())
        except BaseException:
            self.release()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.sockets.parent != self.path:
            with contextlib.suppress(OSError):
                self.sockets.rmdir()
        self.release()

    def log(self, name: str) -> Path:
        """Log file of a child."""
        return self.logs / f"{name}.log"

    def rotate_logs(self) -> None:
        """Copy large logs aside and truncate them. Their writers append, so they continue at the start."""
        for path in self.logs.glob("*.log"):
            with contextlib.suppress(OSError):
                if path.stat().st_size > LARGEST_LOG:
                    shutil.copyfile(path, path.with_suffix(".log.1"))
                    os.truncate(path, 0)

    def owners(self) -> set[int]:
        """Users that may own the sockets: this one, and the one that the database runs as when root started it."""
        owners = {os.geteuid()}
        if self.postgres_data.exists():
            owners.add(self.postgres_data.stat().st_uid)
        return owners

    def release(self) -> None:
        """Release the locks; the one shared with the launchers is free once they are gone."""
        for lock in (self.lock, self._own_lock):
            if lock is not None:
                os.close(lock)
        self.lock = self._own_lock = None


def socket_directory(home: Path) -> Path:
    """`sockets` in the home, or a hashed name under the temporary directory where that path is unusable.

    It is unusable when it is too long for a socket, or has a character with a meaning in a URL or for libpq.
    """
    inside = home / "sockets"
    if len(str(inside)) <= LONGEST_SOCKET and re.fullmatch(r"[A-Za-z0-9/._+-]+", str(inside)):
        return inside
    digest = hashlib.sha256(os.fsencode(home)).hexdigest()[:16]
    return Path(tempfile.gettempdir()).resolve() / f"registry-{digest}"


def claim_directory(path: Path) -> None:
    """Create the directory, or check that it is a home or empty, and close it to other users."""
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        names = os.listdir(path)
        if names and LOCK not in names:
            raise Misconfigured(f"{path} holds other files; choose an empty directory as the registry's home")
        if path.stat().st_uid == os.geteuid():
            path.chmod(0o700)
    except OSError as error:
        raise Misconfigured(f"{path} cannot be the registry's home: {error.strerror}") from error


def make_private(path: Path, owners: set[int]) -> None:
    """Create the directory, or check that it is no link and that only one of `owners` can enter it."""
    with contextlib.suppress(FileExistsError):
        path.mkdir(mode=0o700)
    found = path.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid not in owners or stat.S_IMODE(found.st_mode) & 0o077:
        raise Misconfigured(f"{path} must be a directory that only you can enter; remove it and start again")


def take_lock(path: Path) -> int:
    """Open file with the exclusive lock of the one registry that runs here, holding its process id."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    if not try_lock(lock, path):
        holder = os.pread(lock, 32, 0).decode().strip()
        os.close(lock)
        raise Misconfigured(
            f"{path.parent} is in use by another `registry up` (process {holder}); stop that one or choose another home"
        )
    os.ftruncate(lock, 0)
    os.pwrite(lock, f"{os.getpid()}\n".encode(), 0)
    return lock


def await_lock(path: Path) -> int:
    """Open file with the lock that children keep, once the children of a killed registry have gone."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    give_up = time.monotonic() + WINDING_DOWN
    while not try_lock(lock, path):
        if time.monotonic() > give_up:
            os.close(lock)
            raise Misconfigured(f"processes of an earlier `registry up` in {path.parent} still run; end them first")
        time.sleep(0.02)  # flock has no deadline of its own
    return lock


def try_lock(lock: int, path: Path) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        os.close(lock)
        raise Misconfigured(f"{path} cannot be locked: {error.strerror}; use a local directory") from error
    return True
