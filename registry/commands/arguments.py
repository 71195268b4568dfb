"""Arguments of several commands: numbers, instants, levels of an axis.

An instant is how long ago, a date and time, or a cursor of the feed of events.
"""

import math
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import wraps
from typing import Any

import click

ALLOWED = "how long ago such as 2h, an instant such as 2026-11-21T08:00:00Z, or a cursor of the feed"
_AGO = re.compile(r"([0-9]{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_CURSOR = re.compile("[A-Za-z0-9_-]{11,40}")
Parameters = dict[str, list[str]]
_CONDITION = re.compile(r"(?P<axis>.+?)(?P<sign>>=|<=|>|<|=)(?P<level>.+)", re.DOTALL)


class Finite(click.FloatRange):
    """A number that is neither infinite nor `nan`, which every range of click takes."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; a usage error where it is none."""
        found = float(super().convert(value, param, ctx))
        if not math.isfinite(found):
            self.fail(f"{value} is no finite number.", param, ctx)
        return found

    def _describe_range(self) -> str:
        return "" if self.min is None and self.max is None else super()._describe_range()


def place_of(text: str, argument: str, allowed: str = ALLOWED) -> str:
    """Turn such a text into what the API takes; `click.UsageError` naming the argument, and what is allowed, for
    another."""
    if ago := _AGO.fullmatch(text):
        return _ago(int(ago[1]), _UNITS[ago[2]])
    if _is_instant(text) or _CURSOR.fullmatch(text):
        return text
    raise refused(text, argument, allowed)


def instant_of(text: str, argument: str) -> str:
    """Turn an instant, or how long ago it was, into what the API takes; `click.UsageError` for another text."""
    if ago := _AGO.fullmatch(text):
        return _ago(int(ago[1]), _UNITS[ago[2]])
    if _is_instant(text):
        return text
    raise refused(text, argument, "an instant such as 2026-11-21T08:00:00Z, a day, or how long ago such as 2w")


def refused(text: str, argument: str, allowed: str) -> click.UsageError:
    """The error that says what is allowed instead of such a text."""
    return click.UsageError(f"{argument} takes {allowed}; {text!r} is none of these.")


def _ago(count: int, unit: str) -> str:
    try:
        return (datetime.now(UTC) - timedelta(**{unit: count})).isoformat()
    except OverflowError:
        return "0001-01-01"


def _is_instant(text: str) -> bool:
    try:
        datetime.fromisoformat(text.upper())
    except ValueError:
        return False
    return True


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
    "--as-of",
    metavar="INSTANT",
    callback=_instant,
    help="The grids as they were: an instant, a day in UTC, or how long ago: 2w.",
)
"""Decorator: pass the command `as_of`, what the API takes for the option `--as-of`; None without it."""
since_an_instant = click.option(
    "--since",
    metavar="INSTANT",
    callback=_instant,
    help="Also what changed since an instant, a day in UTC, or in the last 2w.",
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


def pairs_of(given: Sequence[str], allowed: str) -> list[tuple[str, str]]:
    """Names and texts of options such as `KEY=TEXT`; `click.UsageError`, beginning with what is allowed, for others."""
    found = [one.partition("=") for one in given]
    if wrong := [key for key, sign, _ in found if not sign or not key]:
        raise click.UsageError(f'{allowed}, not "{wrong[0]}".')
    return [(key, text) for key, _, text in found]
