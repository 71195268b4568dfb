"""Tidy CSV: a header, one row an observation, lines ended by a newline."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import Any

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def tidy(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """The rows as CSV. Numbers are written so that they read back as the same double; `None` is an empty cell.

    The caller passes text through `harmless`, once for each distinct text rather than once for each cell.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(distinct(header))
    writer.writerows(rows)
    return out.getvalue()


def harmless(value: Any) -> Any:
    """Text that a spreadsheet will not run as a formula, by a leading apostrophe; a number stays as it is."""
    if isinstance(value, str):
        return "'" + value if value.startswith(_FORMULA) else value
    return value


def distinct(names: Sequence[str]) -> list[str]:
    """The names, harmless, and a later one that was there before as `axis_<name>`."""
    found: list[str] = []
    for name in map(harmless, names):
        free = name
        while free in found:
            free = f"axis_{free}"
        found.append(free)
    return found
