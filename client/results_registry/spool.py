"""The directory where what was logged waits until a registry has it, and one thing that waits there; a job's outbox
fills it, senders and `sync` empty it.

Each process has a directory of its own in it, locked for as long as the process lives: nobody else sends its items,
and when it dies, however it dies, the kernel gives the lock back and `registry sync` or the next job takes them over.
`refused/` holds what a registry will never take, with its problem beside it.

An item is bytes that are the same in memory, in the spool and for its key: the first line is a JSON header (what it is
and where it goes, never a token), the rest the body as it is sent. The key is the SHA-256 of all of it: the file's
name, its checksum, and the `Idempotency-Key` of its request.
"""

import contextlib
import errno
import fcntl
import hashlib
import itertools
import json
import os
import socket
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

REFUSED = "refused"
_LOCK = "lock"
_SUFFIX = ".json"
_LOOKED_AT = 100
_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP)


class QueueDir:
    """The directory of one process in the spool. The lock is held from `open` to `close`, across no fork."""

    def __init__(self, path: Path, descriptor: int) -> None:
        self.path = path
        self._descriptor = descriptor

    def put(self, item: "Item") -> Path:
        """Keep an item: when this returns, it outlives the process. Raises `OSError` when the disk will not."""
        path = self.path / (item.key + _SUFFIX)
        temporary = path.with_suffix(".new")
        try:
            with open(temporary, "xb", opener=_private, buffering=0) as file:
                descriptor = file.fileno()
                view = memoryview(item.data)
                while view:
                    view = view[os.write(descriptor, view) :]
            temporary.rename(path)
        except OSError:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
        return path

    def secure(self, *keys: str) -> None:
        """See to it that items outlive a crash of the machine, too."""
        for place in [*(self.path / (key + _SUFFIX) for key in keys), self.path]:
            with contextlib.suppress(OSError):
                descriptor = os.open(place, os.O_RDONLY)
                try:
                    os.fsync(descriptor)
                finally:
                    os.close(descriptor)

    def read(self, key: str) -> "Item | None":
        """An item; None when it is not there any more or its bytes are not what its name says."""
        try:
            item = Item((self.path / (key + _SUFFIX)).read_bytes())
        except (OSError, ValueError, KeyError):
            return None
        return item if item.key == key else None

    def items(self) -> "list[Item]":
        """The items that wait, in the order in which they were logged; what cannot be read is set aside."""
        found: list[Item] = []
        for path in self.path.glob(f"*{_SUFFIX}"):
            item = self.read(path.stem)
            if item is None:
                with contextlib.suppress(OSError):
                    path.rename(path.with_suffix(".unreadable"))
            else:
                found.append(item)
        return sorted(found, key=lambda item: item.order)

    def remove(self, key: str) -> None:
        with contextlib.suppress(OSError):
            (self.path / (key + _SUFFIX)).unlink()

    def refuse(self, item: "Item", problem: Mapping[str, Any]) -> None:
        """Move an item to `refused/` beside the queue directories, with what was wrong with it."""
        place = self.path.parent / REFUSED
        with contextlib.suppress(OSError):
            place.mkdir(mode=0o700, exist_ok=True)
            text = json.dumps(dict(problem), ensure_ascii=False, indent=1) + "\n"
            with open(place / f"{item.key}.problem.json", "w", encoding="utf-8", opener=_private) as file:
                file.write(text)
            path = self.path / (item.key + _SUFFIX)
            if path.exists():
                path.rename(place / path.name)
            else:
                with open(place / path.name, "wb", opener=_private) as kept:
                    kept.write(item.data)

    def close(self) -> None:
        """Release the lock, and remove the directory if nothing waits in it."""
        with contextlib.suppress(OSError):
            if not any(path.name != _LOCK for path in self.path.iterdir()):
                (self.path / _LOCK).unlink()
                self.path.rmdir()
        self.abandon()

    def abandon(self) -> None:
        """Close the descriptor and nothing else: in a forked child the directory is still the parent's."""
        with contextlib.suppress(OSError):
            os.close(self._descriptor)


class Spool:
    """The queue directories of all processes, below one directory that only its owner may read."""

    def __init__(self, root: Path, most: int) -> None:
        self.root, self.most = root, most

    def new_directory(self) -> QueueDir:
        """A new queue directory for this process; raises `OSError` when there can be none."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.root.stat().st_uid != os.getuid():
            raise PermissionError(errno.EPERM, "it belongs to another user", str(self.root))
        self.root.chmod(0o700)
        while True:
            path = self.root / f"{socket.gethostname()[:40]}-{os.getpid()}-{os.urandom(4).hex()}"
            path.mkdir(mode=0o700)
            directory = _locked(path)
            if directory is not None:  # else somebody who looks for orphans took it in this very moment
                return directory

    def orphans(self, wanted: "Callable[[Item], bool] | None" = None) -> Iterator[QueueDir]:
        """The directories whose process has died, each locked for the caller, who closes them.

        With `wanted`, only directories that hold such an item; the others are not even locked for a moment.
        """
        with contextlib.suppress(OSError):
            for path in sorted(self.root.iterdir()):
                if path.is_dir() and path.name != REFUSED and (wanted is None or _holds(path, wanted)):
                    directory = _locked(path)
                    if directory is not None:
                        for unfinished in path.glob("*.new"):
                            unfinished.unlink()
                        yield directory

    def waiting(self) -> int:
        """The number of items, those of running jobs included."""
        return len(list(self.root.glob(f"*/*{_SUFFIX}"))) - len(list((self.root / REFUSED).glob(f"*{_SUFFIX}")))

    def refused(self) -> list[Path]:
        """The items that a registry refused."""
        kept = (self.root / REFUSED).glob(f"*{_SUFFIX}")
        return sorted(path for path in kept if not path.name.endswith(".problem.json"))

    def size(self) -> int:
        """Bytes of everything in the spool."""
        total = 0
        for path in self.root.glob("*/*"):
            with contextlib.suppress(OSError):
                total += path.stat().st_size
        return total


def _holds(path: Path, wanted: "Callable[[Item], bool]") -> bool:
    """Tell whether one of the first items that are met is wanted; a process seldom writes to more than one project."""
    for place in itertools.islice(path.glob(f"*{_SUFFIX}"), _LOOKED_AT):
        with contextlib.suppress(OSError, ValueError, KeyError):
            if wanted(Item(place.read_bytes())):
                return True
    return False


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _locked(path: Path) -> QueueDir | None:
    """The directory with its lock, None when a living process holds it."""
    try:
        descriptor = os.open(path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        # Some network file systems have no locks; an item that two send is still stored once, by its key.
        if error.errno not in _NO_LOCKS:
            os.close(descriptor)
            return None
    if not path.is_dir():
        os.close(descriptor)
        return None
    return QueueDir(path, descriptor)


GRID, CELLS = "grid", "cells"
IDENTITY = ("experiment", "benchmark", "model", "variant", "metric")
_COMPRESSED_FROM = 32768


class Item:
    """A grid, or cells of one, on its way to a registry. Equal content made at another moment is another item."""

    def __init__(self, data: bytes) -> None:
        """Raises `ValueError` for bytes that are no item."""
        line, separator, body = data.partition(b"\n")
        header = json.loads(line)
        if not separator or not isinstance(header, dict) or header.get("kind") not in (GRID, CELLS):
            raise ValueError("this is no spooled grid")
        self.data, self.header, self.body = data, header, body

    @cached_property
    def key(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @property
    def kind(self) -> str:
        return str(self.header["kind"])

    @property
    def url(self) -> str | None:
        """The registry that it was meant for; None when the job named none."""
        return self.header.get("url")

    @property
    def project(self) -> str | None:
        return self.header.get("project")

    @property
    def identity(self) -> tuple[str, ...]:
        """Experiment, benchmark, model, variant and metric."""
        return tuple(self.header["identity"])

    @property
    def order(self) -> tuple[int, int]:
        """When it was logged: instant in nanoseconds, number within the process."""
        return int(self.header["at"]), int(self.header["n"])

    @property
    def has_items(self) -> bool:
        """True if the body has outcomes of items beside the grid, which are sent after it."""
        return bool(self.header.get("items"))

    @property
    def headers(self) -> dict[str, str]:
        """The headers that tell a server how to read the body."""
        encoding = {"Content-Encoding": "gzip"} if self.header.get("gzip") else {}
        return {"Content-Type": "application/json"} | encoding

    def document(self) -> dict[str, Any]:
        """The body as it was logged."""
        body = zlib.decompress(self.body, wbits=31) if self.header.get("gzip") else self.body
        found: dict[str, Any] = json.loads(body)
        return found

    @property
    def said(self) -> str:
        """Its names, for messages."""
        return " · ".join(part for part in self.identity if part)


def make_item(kind: str, document: dict[str, Any], url: str | None, project: str | None, number: int) -> Item:
    """The item of a publication; raises `ValueError` where JSON cannot say it."""
    body = json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    header: dict[str, Any] = {
        "kind": kind,
        "url": url,
        "project": project,
        "identity": identity_of(document),
        "at": time.time_ns(),
        "n": number,
        **({"items": True} if "items" in document else {}),
    }
    if len(body) >= _COMPRESSED_FROM:
        # Kept as it is sent: another zlib would make other bytes, and so another request under the same key.
        body, header["gzip"] = zlib.compress(body, 1, wbits=31), True
    return Item(json.dumps(header, ensure_ascii=False).encode() + b"\n" + body)


def identity_of(document: dict[str, Any]) -> list[str]:
    names = [str(document.get(name, "")) for name in IDENTITY[:4]]
    return [*names, str(document["metric"]["name"])]
