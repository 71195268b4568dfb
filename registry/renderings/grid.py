"""A grid as tables of two axes each, for people.

Every function takes the JSON of a grid with its values.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from registry.renderings import sheet
from registry.renderings.cells import flat, footer
from registry.renderings.numbers import MISSING, decimals_of, fixed
from registry.renderings.sheet import Block, Heading
from registry.renderings.table import Column, Table
from registry.renderings.words import label, measure, protocol_line, slice_line, title, with_unit
from registry.results.grid import GridDocument, PostedAxis

_LONGEST_ROW = 12


def grid_text(document: GridDocument) -> str:
    """The grid as aligned tables of two axes each."""
    return sheet.text(page(document))


def grid_markdown(document: GridDocument) -> str:
    """The grid as pipe tables of two axes each."""
    return sheet.markdown(page(document))


def page(document: GridDocument) -> Iterator[Block]:
    """The grid's page: its tables between its title and what is known of it."""
    values = flat(document["values"], len(document["axes"]))
    yield Heading(title(document), 3)
    yield from slice_line(document.get("slice"))
    if not any(value is not None for value in values):
        yield "No cell was measured."
    else:
        decimals = decimals_of(value for value in values if value is not None)
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
