"""The means behind the lines: a table to read, and tidy CSV."""

from __future__ import annotations

from collections.abc import Iterator

from registry.renderings import sheet
from registry.renderings.lines import words
from registry.renderings.lines.paint import ChartOptions
from registry.renderings.lines.svg import value_span
from registry.renderings.numbers import MISSING
from registry.renderings.sheet import Block, Heading
from registry.renderings.sheet import Lines as Notes
from registry.renderings.table import Column, Table, harmless, tidy
from registry.results.lines import Lines

_HEADER = ("level", "number", "mean", "stderr", "low", "high", "slots")


def lines_csv(lines: Lines) -> str:
    """A row for each mean; `number` is empty where the level has none."""
    labels = {level.level: level.label for level in lines.levels}
    rows = (
        (
            harmless(line.name),
            harmless(labels[point.level]),
            point.level if isinstance(point.level, (int, float)) else None,
            point.mean,
            point.stderr,
            point.interval.low if point.interval else None,
            point.interval.high if point.interval else None,
            point.slots,
        )
        for line in lines.lines
        for point in line.points
    )
    return tidy(("name", *_HEADER), rows)


def lines_text(lines: Lines) -> str:
    """The means for a terminal."""
    return sheet.text(_page(lines))


def lines_markdown(lines: Lines) -> str:
    """The means as Markdown."""
    return sheet.markdown(_page(lines))


def _page(lines: Lines) -> Iterator[Block]:
    options = ChartOptions()
    yield Heading(words.title(lines), 1)
    if lines.status == "ok":
        yield table(lines)
    yield Notes(tuple(words.notes(lines, options, value_span(lines, options))))


def table(lines: Lines) -> Table:
    """A row a level, a column a name; with the number of slots where all names have the same."""
    matched = lines.missing == "matched"
    points = [{point.level: point for point in line.points} for line in lines.lines]
    columns = [Column(lines.along, [level.label for level in lines.levels], lines.kind == "numeric")]
    for line, known in zip(lines.lines, points, strict=True):
        cells = [
            (words.estimate(one) + ("" if matched else f" ({one.slots})")) if one else MISSING
            for one in (known.get(level.level) for level in lines.levels)
        ]
        columns.append(Column(line.name or "(none)", cells, True))
    if matched:
        columns.append(Column("slots", [str(level.shared) for level in lines.levels], True))
    return Table(columns, 1)
