"""Tidy CSV: a header, one row an observation, lines ended by a newline."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from registry.grids.slices import slice_of, slice_text

_AT_ONCE = 100
"""Rows that are written at once: one may hold a protocol of 16 KiB."""
_SLICE = "slice"
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
    names = axis_names(axes, (*header, *after, *((_SLICE,) if only else ())))
    return "".join(pieces((*header, *names, *after), rows, only))


def pieces(
    header: Sequence[str], rows: Iterable[Sequence[Any]], only: Mapping[str, Sequence[str]] | None = None
) -> Iterator[str]:
    """CSV as it is written: the header, then some rows at once; of a slice as in `tidy`."""
    if only:
        said = harmless(slice_text(slice_of(only)))
        header, rows = (*header, _SLICE), ((*row, said) for row in rows)
    left = iter(rows)
    some: list[Iterable[Any]] = [map(harmless, header)]
    while some:
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows(some)
        yield out.getvalue()
        some = list(itertools.islice(left, _AT_ONCE))


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
