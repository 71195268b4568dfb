"""Instants, and places in the feed of events, as people type them: how long ago, an instant, or a cursor."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

import click

ALLOWED = "how long ago such as 2h, an instant such as 2026-11-21T08:00:00Z, or a cursor of the feed"
_AGO = re.compile(r"([0-9]{1,6})([smhdw])")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_CURSOR = re.compile("[A-Za-z0-9_-]{11,40}")


def place_of(text: str, argument: str, allowed: str = ALLOWED) -> str:
    """What the API takes for such a text; `click.UsageError` naming the argument, and what is allowed, for another."""
    if ago := _AGO.fullmatch(text):
        return _ago(int(ago[1]), _UNITS[ago[2]])
    if _is_instant(text) or _CURSOR.fullmatch(text):
        return text
    raise refused(text, argument, allowed)


def instant_of(text: str, argument: str) -> str:
    """What the API takes for an instant, or for how long ago; `click.UsageError` for another text."""
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
