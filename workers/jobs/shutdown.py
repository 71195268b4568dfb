"""Shutdown flag, shared by a worker's parent process, which alone receives SIGTERM, with its children."""

from __future__ import annotations

import mmap

_flag = mmap.mmap(-1, 1)


def request_shutdown() -> None:
    """Ask this process and its relatives to finish the current computation and start no other."""
    _flag[0] = 1


def is_shutting_down() -> bool:
    return _flag[0] != 0
