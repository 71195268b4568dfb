"""Whether this process is to end: a flag that a worker's children share with the parent, which alone hears SIGTERM."""

from __future__ import annotations

import mmap

_flag = mmap.mmap(-1, 1)


def request_shutdown() -> None:
    """End soon: finish what is computed now and begin nothing else."""
    _flag[0] = 1


def is_shutting_down() -> bool:
    return _flag[0] != 0
