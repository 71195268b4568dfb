"""Write a grid and its cells; other renderings read reasons, noise and numbers of cells by these functions."""

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from registry.renderings.numbers import MISSING, Noise, fixed, places_shown, plain_number
from registry.renderings.sheet import Block, Heading
from registry.renderings.table import Column, Table
from registry.renderings.words import counted, label, measure, protocol_line, said, slice_line, title, with_unit
from registry.results.grid import Carried, GridDocument, PostedAxis, PostedMetric

_LONGEST_ROW = 12


def page(document: GridDocument) -> Iterator[Block]:
    """The grid's page: its tables between its title and what is known of it."""
    values = flat(document["values"], len(document["axes"]))
    yield Heading(title(document), 3)
    yield from slice_line(document.get("slice"))
    if not any(value is not None for value in values):
        yield "No cell was measured."
    else:
        decimals = decimals_shown(document)
        yield from _tables(document["axes"], document["values"], decimals, measure(document["metric"]))
        if None in values:
            yield f"{MISSING} not measured"
    yield from protocol_line(document.get("protocol"))
    yield footer(document, values)


def _tables(axes: Sequence[PostedAxis], values: Any, decimals: int | None, name: str) -> Iterator[Block]:
    """One number, one row or column, or a table for each combination of the levels of the leading axes."""
    if not axes:
        yield fixed(values, decimals)
        return
    if len(axes) == 1:
        yield _line(axes[0], [fixed(value, decimals) for value in values], name)
        return
    leading, (rows, columns) = axes[:-2], axes[-2:]
    for at in itertools.product(*(range(len(axis["levels"])) for axis in leading)):
        part = values
        for place in at:
            part = part[place]
        if at:
            where = [f"{axis['name']} {label(axis['levels'][place])}" for axis, place in zip(leading, at, strict=True)]
            yield Heading(" · ".join(where), 4)
        if any(value is not None for row in part for value in row):
            yield _plane(rows, columns, part, decimals)
        else:
            yield "No cell was measured."


def _line(axis: PostedAxis, cells: list[str], name: str) -> Table:
    """One axis: a row while it is short, else a column."""
    levels = [label(level) for level in axis["levels"]]
    if len(levels) > _LONGEST_ROW:
        return Table([Column(with_unit(axis), levels, axis["kind"] == "numeric"), Column(name, cells, True)])
    heads = [Column(level, [cell], True) for level, cell in zip(levels, cells, strict=True)]
    return Table([Column(with_unit(axis), [name]), *heads], keys=1)


def _plane(rows: PostedAxis, columns: PostedAxis, part: list[list[float | None]], decimals: int | None) -> Table:
    """Two axes: rows down, columns across."""
    names = Column(with_unit(rows), [label(level) for level in rows["levels"]], rows["kind"] == "numeric")
    across = zip(*part, strict=True)
    cells = [
        Column(label(level), [fixed(value, decimals) for value in column], True)
        for level, column in zip(columns["levels"], across, strict=True)
    ]
    return Table([names, *cells], keys=1, over=with_unit(columns))


def decimals_shown(document: GridDocument, values: Sequence[float | None] | None = None) -> int | None:
    """The decimals to write the values of a grid with, or these of them."""
    whole, trials = whole_of(document["metric"]), document.get("trials")
    known = [one for one in carried(document, "trials") if one] if whole and trials is not None else []
    step = whole / max(known) if whole and known else None
    return places_shown(flat(document["values"], len(document["axes"])) if values is None else values, step)


_CARRIED: tuple[Carried, ...] = ("trials", "stderr", "repeats", "sd")


def footer(document: GridDocument, values: Sequence[float | None]) -> str:
    """How much was measured, which revision this is, and what is known of the noise."""
    measured = len(values) - values.count(None)
    parts = [f"{measured:,} of {counted(len(values), 'cell', 'cells')} measured", f"revision {document['revision']}"]
    for name in given(document) if measured else ():
        beside = zip(values, carried(document, name), strict=False)
        found = [one for value, one in beside if value is not None and one is not None]
        share = "" if len(found) == measured else f" (in {counted(len(found), 'cell', 'cells')})"
        parts += [f"{'standard error' if name == 'stderr' else name} {_range(found)}{share}"] if found else []
    reasons = reasons_in(document)
    parts += [f"{reasons.count(reason)} {reason}" for reason in dict.fromkeys(reasons)]
    return " · ".join(parts)


def _range(found: Sequence[float]) -> str:
    low, high = min(found), max(found)
    return plain_number(low) if low == high else f"{plain_number(low)}–{plain_number(high)}"


def flat(nested: Any, depth: int) -> list[Any]:
    """A value nested to the axes as one row-major list."""
    flat = [nested]
    for _ in range(depth):
        flat = list(itertools.chain.from_iterable(flat))
    return flat


def given(document: GridDocument) -> list[Carried]:
    """Columns that were given beside the values."""
    return [name for name in _CARRIED if document.get(name) is not None]


def reasons_in(document: GridDocument) -> list[str]:
    """Why cells are missing, in plain writing, one for each of them."""
    return [said(entry["reason"]) for entry in document.get("reasons", ())]


def noise_of_cells(document: GridDocument) -> list[Noise]:
    """What is known of the noise of each cell, row-major."""
    count = len(flat(document["values"], len(document["axes"])))
    names: tuple[Carried, ...] = ("trials", "stderr", "repeats", "sd")
    columns = [carried(document, one) if document.get(one) is not None else [None] * count for one in names]
    return list(zip(*columns, strict=True))


def whole_of(metric: PostedMetric) -> float | None:
    """What is all of a proportion; None of what is none."""
    upper = metric.get("upper")
    return float(upper) if upper in (1, 100) and metric.get("lower", 0) == 0 else None


def carried(document: GridDocument, name: Carried) -> list[Any]:
    """Numbers that the cells carry under a name, row-major; one number stands for every cell."""
    nested, depth = document[name], len(document["axes"])
    if isinstance(nested, list):
        return flat(nested, depth)
    return [nested] * len(flat(document["values"], depth))
