"""Position of a registry's database when this user last wrote to it or read from it; `http.py` sends it along, so that
a replica answers nothing older.

A registry with a read replica says a position with each write. Sent back, it keeps a read from being older. Kept for a
minute, in memory and in a file that the next command reads: what is older every replica has.
"""

import os
import re
import time
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from results_registry.config import spool_root

HEADER = "Registry-Position"
KEPT_SECONDS = 60.0
_POSITION = re.compile(r"([0-9A-Fa-f]{1,8})/([0-9A-Fa-f]{1,8})")


class Position:
    """The greatest position of one registry."""

    def __init__(self, url: str) -> None:
        self._file = spool_root().parent / f"position-{sha256(url.encode()).hexdigest()[:16]}"
        self._known: tuple[float, str] | None = None

    def headers(self) -> dict[str, str]:
        """Header of a request; nothing to a registry that has said no position lately."""
        noted, position = self._latest()
        return {HEADER: position} if time.time() - noted < KEPT_SECONDS else {}

    def note(self, headers: Mapping[str, str]) -> None:
        """Note what an answer says, unless a greater position is known. Header names are in lower case."""
        # Who has read from a replica asks for positions from now on, so that later reads are no older.
        said = headers.get(HEADER.lower()) or ("0/0" if "registry-lag" in headers else "")
        if not _POSITION.fullmatch(said):
            return
        noted, position = self._latest()
        if time.time() - noted >= KEPT_SECONDS or _number(said) >= _number(position):
            self._known = time.time(), said
            if said != position:
                self._write(said)

    def _latest(self) -> tuple[float, str]:
        if self._known is None:
            self._known = self._read()
        return self._known

    def _read(self) -> tuple[float, str]:
        try:
            found = self._file.read_text(encoding="ascii").strip()
            return (self._file.stat().st_mtime, found) if _POSITION.fullmatch(found) else (0.0, "0/0")
        except (OSError, ValueError):
            return 0.0, "0/0"

    def _write(self, position: str) -> None:
        """Replace the file as a whole; a user without a state directory goes without."""
        unfinished = Path(f"{self._file}.{os.getpid()}")
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            unfinished.write_text(position, encoding="ascii")
            unfinished.replace(self._file)
        except OSError:
            pass


def _number(position: str) -> int:
    high, _, low = position.partition("/")
    return (int(high, 16) << 32) | int(low, 16)
