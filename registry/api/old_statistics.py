"""What a request does about statistics that other methods than this release's computed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from registry.api.context import parts
from registry.operations.retry import requeue_old


def recompute_old(rows: Iterable[Any]) -> None:
    """Have those rows of `find_statistics` that are old computed again, and wake who does it. A row may be None."""
    if requeue_old(parts().database, rows):
        parts().notifier.notify()
