"""Wait for results that a worker is still computing: poll until they are ready, with a spinner meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import click

from registry.commands.session import Session
from registry.errors import RegistryError, TryLater

_ONE_ASK = 10
"""Seconds for which one request waits on the server."""
_SEVERAL = ("statistics", "trends", "peaks", "thresholds")


class Failed(RegistryError):
    """A computation failed; the detail says why."""

    code = "failed"


class NotDefined(RegistryError):
    """The query has a result, but the requested thing is not defined; the detail says why."""

    code = "not_defined"


def awaited(session: Session, path: str, what: str, seconds: float, **query: Any) -> dict[str, Any]:
    """Document at a path, once it is ready.

    Raises `Failed` when its computation failed, and `TryLater` when it is not ready after so many seconds.
    """
    until = time.monotonic() + seconds
    with session.screen.waiting(f"waiting for {what}"):
        while True:
            left = max(0, min(_ONE_ASK, round(until - time.monotonic())))
            headers = {"Prefer": f"wait={left}"} if left else None
            answer = session.transport.call("GET", path, query=query, headers=headers)
            if answer.status != 202:
                break
            if time.monotonic() >= until:
                verb = "are" if what in _SEVERAL else "is"
                raise TryLater(
                    f"The {what} {verb} not there after {seconds:g} s; ask again, or wait longer with --wait."
                )
            time.sleep(0.1 if left else 0.0)  # a server too busy to wait answers at once
    document: dict[str, Any] = answer.json()
    if document.get("state") == "failed":
        raise Failed(f"The {what} could not be computed: {document.get('reason')}")
    return document


def waits(command: Callable[..., None]) -> Callable[..., None]:
    """Decorator: pass the command `seconds`, from the option --wait."""
    text = "How long to wait for what is still being computed."
    option = click.option("--wait", "seconds", type=click.FloatRange(0), default=60, show_default=True, help=text)
    return option(command)
