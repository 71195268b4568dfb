"""The code of the release before, which `tests/live/faults/released` holds."""

from __future__ import annotations

import tarfile
from pathlib import Path

_RELEASED = Path(__file__).parent / "faults" / "released"


def unpack_release(target: Path) -> Path:
    """Unpack the packages of the release before into a directory that is made; return it."""
    [archive] = _RELEASED.glob("*.tar.xz")
    with tarfile.open(archive) as packed:
        packed.extraction_filter = getattr(tarfile, "data_filter", None)  # Python 3.11.4 and later
        packed.extractall(target)  # noqa: S202 (our own archive)
    return target
