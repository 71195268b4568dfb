"""The registry that runs on this machine: `registry up` leaves its address in its home, and other commands find it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

DEFAULT_HOME = "~/.local/share/results-registry"
_ADDRESS_FILE = "address"
TOKEN_FILE = "admin-token"  # noqa: S105 (a file's name)


@contextmanager
def announced(home: Path, url: str) -> Iterator[None]:
    """The address stands in the home, with the number of this process, until the block ends."""
    path = home / _ADDRESS_FILE
    fresh = path.with_suffix(".new")
    fresh.write_text(f"{url}\n{os.getpid()}\n", encoding="utf-8")
    fresh.replace(path)
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def home_of(environment: Mapping[str, str]) -> Path:
    """The home that commands of this environment mean: `REGISTRY_HOME`, else the default."""
    return Path(os.path.expanduser(environment.get("REGISTRY_HOME") or DEFAULT_HOME))


def address_in(home: Path) -> str | None:
    """Address at which the registry of this home listens, None when none runs; what a killed one left behind counts as
    none."""
    try:
        url, process = (home / _ADDRESS_FILE).read_text(encoding="utf-8").split()
        os.kill(int(process), 0)
    except (OSError, ValueError):
        return None
    return url


def token_in(home: Path) -> str | None:
    """The administrator's token of this home, if this user may read it and nobody else may."""
    path = home / TOKEN_FILE
    try:
        return path.read_text(encoding="utf-8").strip() if not path.stat().st_mode & 0o077 else None
    except OSError:
        return None
