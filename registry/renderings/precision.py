"""How finely the values were printed, and what that says about the trials behind them."""

from __future__ import annotations

from collections.abc import Iterator

from registry.renderings.numbers import p_value
from registry.renderings.sheet import Block, Lines
from registry.renderings.table import Column, Table, tidy
from registry.renderings.words import axis_columns, counted, label
from registry.results.peaks import Precision
from registry.results.statistics import Statistics

_LISTED = 40
"""Values that contradict the trials, as far as text lists them."""


def blocks(document: Statistics) -> Iterator[Block]:
    """Decimals, the implied trials, and the values that contradict the given ones."""
    found = document.precision
    if found is None or found.decimals is None:
        yield f"No precision: {(found.reason if found else None) or 'not computed'}."
        return
    yield Lines(tuple(_lines(found, found.decimals)))
    off = (found.off_lattice or ())[:_LISTED]
    if off:
        cells = axis_columns([one.at for one in off])
        yield Table([*cells, Column("value", [label(one.value) for one in off], True)])


def _lines(found: Precision, decimals: int) -> Iterator[str]:
    yield f"decimals: {max(0, decimals)}"
    smallest = found.implied_trials
    if smallest is not None:
        others = ", ".join(str(one) for one in found.candidates if one != smallest)
        yield f"implied trials: {smallest} is the smallest number that explains every value" + (
            f", then {others}" if others else ""
        )
        yield f"chance that a random value lies on that lattice: {p_value(found.chance)}"
    else:
        yield "implied trials: none, no number below the printed resolution explains every value"
    count = found.off_lattice_count
    if count == 0:
        yield "the given trials explain every value"
    elif count:
        listed = len((found.off_lattice or ())[:_LISTED])
        shown = f" (the first {listed} below)" if listed < count else ""
        yield f"{counted(count, 'value contradicts', 'values contradict')} the given trials{shown}"


def csv(document: Statistics) -> str:
    """One row a number; `candidate` comes once for each candidate."""
    found, rows = document.precision, list[tuple[str, float | None]]()
    if found is not None:
        rows += [("decimals", found.decimals), ("implied_trials", found.implied_trials), ("chance", found.chance)]
        rows += [("off_lattice_count", found.off_lattice_count), *(("candidate", one) for one in found.candidates)]
    head = (document.grid, document.revision)
    told = ((*head, *row) for row in rows if row[1] is not None)
    return tidy(["grid", "revision", "statistic", "value"], told, only=document.slice)
