"""The options `--at`, `--as-of` and `--since`: some levels of an axis, the grids as they were, and what changed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import click

from registry.commands.since import instant_of

Parameters = dict[str, list[str]]
_CONDITION = re.compile(r"(?P<axis>.+?)(?P<sign>>=|<=|>|<|=)(?P<level>.+)", re.DOTALL)


def cuts_slices(command: Callable[..., None]) -> Callable[..., None]:
    """Decorator: pass the command `at`, parameters of a query from the options `--at`."""

    @click.option(
        "--at", "conditions", multiple=True, metavar="AXIS=LEVEL",
        help="Only this level of an axis, or AXIS>=NUMBER (<=, >, <); may be repeated.",
    )  # fmt: skip
    @wraps(command)
    def run(*args: Any, conditions: Sequence[str], **kwargs: Any) -> None:
        command(*args, at=parameters(conditions), **kwargs)

    return run


def _instant(_context: click.Context, option: click.Parameter, text: str | None) -> str | None:
    return None if text is None else instant_of(text, option.opts[0])


of_an_instant = click.option(
    "--as-of", metavar="INSTANT", callback=_instant, help="The grids as they were: an instant, a day in UTC, or 2w ago."
)
"""Decorator: pass the command `as_of`, what the API takes for the option `--as-of`; None without it."""
since_an_instant = click.option(
    "--since", metavar="INSTANT", callback=_instant, help="Also what changed since an instant, a day in UTC, or 2w ago."
)
"""Decorator: the same of `since`."""


sets_aside = click.option(
    "--set-aside", multiple=True, metavar="NAME",
    help="Leave it out where a slot must be common to all; none: nobody.  [default: who costs the others slots]",
)  # fmt: skip


def parameters(conditions: Sequence[str]) -> Parameters:
    """The parameters `at.<axis>` of conditions such as `Context>=64000` and `Type=1`."""
    found: Parameters = {}
    for condition in conditions:
        match = _CONDITION.fullmatch(condition)
        if match is None:
            raise click.UsageError(f'"{condition}" is no condition: write AXIS=LEVEL, or AXIS>=NUMBER in quotes.')
        sign = "" if match["sign"] == "=" else match["sign"]
        found.setdefault(f"at.{match['axis'].strip()}", []).append(sign + match["level"].strip())
    return found
