"""How finely the values were printed, and what that says about the trials behind them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from registry.renderings.numbers import p_value
from registry.renderings.sheet import Block, Lines
from registry.renderings.table import Column, Table
from registry.renderings.tidy import tidy
from registry.renderings.words import axis_columns, counted, label

Document = dict[str, Any]
_LISTED = 40
"""Values that contradict the trials, as far as text lists them."""


def blocks(document: Document) -> Iterator[Block]:
    """Decimals, the implied trials, and the values that contradict the given ones."""
    found = document.get("precision")
    if not found or found.get("decimals") is None:
        yield f"No precision: {(found or {}).get('reason') or 'not computed'}."
        return
    yield Lines(tuple(_lines(found)))
    off = (found.get("off_lattice") or [])[:_LISTED]
    if off:
        cells = axis_columns([one.get("at") or {} for one in off])
        yield Table([*cells, Column("value", [label(one["value"]) for one in off], True)])


def _lines(found: Document) -> Iterator[str]:
    yield f"decimals: {max(0, found['decimals'])}"
    smallest = found.get("implied_trials")
    if smallest is not None:
        others = ", ".join(str(one) for one in found.get("candidates") or () if one != smallest)
        yield f"implied trials: {smallest} is the smallest number that explains every value" + (
            f", then {others}" if others else ""
        )
        yield f"chance that a random value lies on that lattice: {p_value(found.get('chance'))}"
    elif "implied_trials" in found:
        yield "implied trials: none, no number below the printed resolution explains every value"
    count = found.get("off_lattice_count")
    if count == 0:
        yield "the given trials explain every value"
    elif count:
        listed = len((found.get("off_lattice") or [])[:_LISTED])
        shown = f" (the first {listed} below)" if listed < count else ""
        yield f"{counted(count, 'value contradicts', 'values contradict')} the given trials{shown}"


def csv(document: Document) -> str:
    """One row a number; `candidate` comes once for each candidate."""
    found = document.get("precision") or {}
    rows = [(name, found.get(name)) for name in ("decimals", "implied_trials", "chance", "off_lattice_count")]
    rows += [("candidate", one) for one in found.get("candidates") or ()]
    head = (str(document.get("grid", "")), document.get("revision"))
    return tidy(["grid", "revision", "statistic", "value"], ((*head, *row) for row in rows if row[1] is not None))
