"""How finely the values were printed, and what that says about the trials behind them."""

from collections.abc import Iterable, Iterator

from registry.renderings.numbers import p_value, places_shown
from registry.renderings.sheet import Block, Lines
from registry.renderings.table import Column, Table, tidy
from registry.renderings.words import axis_columns, counted, label
from registry.results.statistics import Precision, Statistics

_LISTED = 40
"""Values that contradict the trials, as far as text lists them."""


def blocks(document: Statistics) -> Iterator[Block]:
    """Decimals, the implied trials, and the values that contradict the given ones."""
    found = document.precision
    if found is None or found.decimals is None:
        yield f"No precision: {(found.reason if found else None) or 'not computed'}."
        return
    upper = document.metric.get("upper") if document.metric.get("lower") == 0 else None
    if _repeated(document):
        yield "No precision: means of repeats have any number of decimals."
        return
    implies = found.decimals > 0 or document.metric.get("unit") == "%"
    yield Lines(tuple(_lines(found, found.decimals, implies=implies, is_proportion=upper in (1, 100))))
    off = (found.off_lattice or ())[:_LISTED]
    if off:
        cells = axis_columns([one.at for one in off])
        yield Table([*cells, Column("value", [label(one.value) for one in off], True)])


def places_posted(document: Statistics, values: Iterable[float]) -> int | None:
    """The decimals to write posted values with, of computed quotients by the trials that explain them."""
    trials = document.precision and document.precision.implied_trials
    return places_shown(values, (document.metric.get("upper") or 1) / trials if trials else None)


def _repeated(document: Statistics) -> bool:
    """Whether values are means of repeats."""
    kinds = {one.noise for one in document.series} | ({document.peaks.noise} if document.peaks else set())
    return "repeats" in kinds


def _lines(found: Precision, decimals: int, *, implies: bool, is_proportion: bool) -> Iterator[str]:
    yield f"decimals: {max(0, decimals)}"
    smallest, count = found.implied_trials, found.off_lattice_count
    if count is None and smallest is not None and implies:
        others = ", ".join(str(one) for one in found.candidates if one != smallest)
        yield f"implied trials: {smallest} is the smallest number that explains every value" + (
            f", then {others}" if others else ""
        )
        yield f"chance that a random value lies on that lattice: {p_value(found.chance)}"
    elif count is None and implies and is_proportion:
        yield "implied trials: none, no number below the printed resolution explains every value"
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
