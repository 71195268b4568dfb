"""Wait for results that a worker is still computing: poll until they are ready, with a spinner meanwhile."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

import click

from registry.commands.arguments import Finite
from registry.commands.session import Session
from registry.errors import RegistryError, TryLater
from results_registry.response import Answer

_BAR = 20
_ONE_ASK = 10
"""Seconds for which one request waits on the server."""
_SEVERAL = ("judgements", "statistics", "trends", "peaks", "thresholds")


class Failed(RegistryError):
    """A computation failed; the detail says why."""

    code = "failed"


class NotDefined(RegistryError):
    """The query has a result, but the requested thing is not defined; the detail says why."""

    code = "not_defined"


def awaited(
    session: Session, path: str, what: str, seconds: float, *, body: Any = None, **query: Any
) -> dict[str, Any]:
    """Document at a path, or the answer to a question that is sent there, once it is ready; raises what `polled`
    raises."""
    method = "GET" if body is None else "POST"
    return polled(
        session, what, seconds, lambda sent: session.transport.call(method, path, body, query=query, headers=sent)
    )


def polled(
    session: Session, what: str, seconds: float, ask: Callable[[Mapping[str, str] | None], Answer]
) -> dict[str, Any]:
    """Document that a request answers with, given headers, once it is ready.

    Raises `Failed` when its computation failed, and `TryLater` when it is not ready after so many seconds.
    """
    until = time.monotonic() + seconds
    done: list[float] = []
    with session.screen.waiting(lambda: sentence(what, done[-1] if done else None)):
        while True:
            left = max(0, min(_ONE_ASK, round(until - time.monotonic())))
            headers = {"Prefer": f"wait={left}"} if left else None
            answer = ask(headers)
            if answer.status != 202:
                break
            done += [one for one in [answer.json().get("derivation", {}).get("progress")] if one is not None]
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


def sentence(what: str, progress: float | None) -> str:
    """Write what is waited for, with a bar of how much of it is done where the server tells."""
    if progress is None:
        return f"waiting for {what}"
    full = round(progress * _BAR)
    return f"waiting for {what} {'━' * full}{'╌' * (_BAR - full)} {progress:.0%} counted"


def waits(command: Callable[..., None]) -> Callable[..., None]:
    """Decorator: pass the command `seconds`, from the option --wait."""
    text = "How long to wait for what is still being computed."
    option = click.option("--wait", "seconds", type=Finite(0), default=60, show_default=True, help=text)
    return option(command)
