"""A table with a style for each cell."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from registry.renderings.sheet import Block, Heading
from registry.renderings.table import Table

Style = Callable[[str], str]
"""Style of a cell's text, empty for none."""


@dataclass(frozen=True, slots=True)
class StyledTable:
    """Table and the styles of its cells, by column and row. `solid`: backgrounds touch, each cell with a blank on
    either side; `flush`: nothing is put between columns."""

    table: Table
    styles: Sequence[Sequence[str]]
    solid: bool = False
    flush: bool = False


def coloured(parts: Iterable[Block], by_column: Mapping[str, Style]) -> Iterator[Block | StyledTable]:
    """Parts, their tables with a style for the named columns."""
    for part in parts:
        yield styled(part, by_column) if isinstance(part, Table) else part


def until(parts: Iterable[Block], ends: Callable[[Heading], bool]) -> Iterator[Block]:
    """Parts before the first heading that ends them."""
    return itertools.takewhile(lambda part: not (isinstance(part, Heading) and ends(part)), parts)


def styled(table: Table, by_column: Mapping[str, Style]) -> StyledTable:
    """Table with a style for the named columns."""
    styles = [
        [by_column[column.name](cell) for cell in column.cells]
        if column.name in by_column
        else [""] * len(column.cells)
        for column in table.columns
    ]
    return StyledTable(table, styles)
