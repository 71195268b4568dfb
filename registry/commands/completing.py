"""Completion of names for a shell: the registry is queried when Tab is pressed, and a slow one gives no names."""

from __future__ import annotations

from collections.abc import Callable

import click

from registry.commands.target import find_registry
from results_registry.errors import ClientError
from results_registry.origin import segment

_SECONDS = 2.0
_MOST = 1000

Complete = Callable[[click.Context, click.Parameter, str], list[str]]


def names(kind: str) -> Complete:
    """Completion of a name of this kind, in the project that the words so far name; `project` completes a project's
    slug."""

    def complete(context: click.Context, _option: click.Parameter, begun: str) -> list[str]:
        try:
            place = find_registry(context.params.get("url"), context.params.get("project"), lambda _warning: None)
            with place.transport(timeout=_SECONDS, patience=_SECONDS) as transport:
                if kind == "project":
                    return _that_begin(begun, [one["slug"] for one in transport.get("projects", limit=_MOST)["items"]])
                if place.project is None:
                    return []
                found = transport.get(f"projects/{segment(place.project)}/{kind}s", limit=_MOST)["items"]
        except (ClientError, OSError):
            return []
        return _that_begin(begun, [one["name"] for one in found])

    return complete


def _that_begin(begun: str, found: list[str]) -> list[str]:
    return [name for name in found if name and name.casefold().startswith(begun.casefold())]
