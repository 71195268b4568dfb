"""Tidy CSV: a header, one row an observation, lines ended by a newline."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from registry.grids.slices import slice_of, slice_text

_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def tidy(
    header: Sequence[str],
    rows: Iterable[Sequence[Any]],
    axes: Sequence[str] = (),
    after: Sequence[str] = (),
    *,
    only: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """The rows as CSV: the columns of the header, one for each axis, and those after them; and where only a slice is
    meant, it in words as the last column of each row, `slice`.

    The header and what comes after keep their names whatever an axis is called. Numbers are written so that they read
    back as the same double; `None` is an empty cell. The caller passes text through `harmless`, once for each distinct
    text rather than once for each cell.
    """
    if only:
        said = harmless(slice_text(slice_of(only)))
        after, rows = (*after, "slice"), ((*row, said) for row in rows)
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(harmless, (*header, *axis_names(axes, (*header, *after)), *after)))
    writer.writerows(rows)
    return out.getvalue()


def harmless(value: Any) -> Any:
    """Text that a spreadsheet will not run as a formula, by a leading apostrophe; truth as JSON writes it; a number
    stays as it is."""
    if isinstance(value, str):
        return "'" + value if value.startswith(_FORMULA) else value
    return str(value).lower() if isinstance(value, bool) else value


def axis_names(axes: Sequence[str], fixed: Iterable[str], suffixes: Sequence[str] = ("",)) -> list[str]:
    """Names of the columns of axes: those of the axes, or `axis_<name>` where a fixed column, or the column of an
    earlier axis, has that name; with suffixes, where any of the names with these is taken."""
    taken, found = set(map(harmless, fixed)), []
    for axis in axes:
        free = axis
        while not taken.isdisjoint(columns := {harmless(free + suffix) for suffix in suffixes}):
            free = f"axis_{free}"
        taken |= columns
        found.append(free)
    return found
