"""The points of a trade-off: a table to read, and tidy CSV."""

from __future__ import annotations

from collections.abc import Iterator

from registry.renderings import sheet
from registry.renderings.lines.paint import ChartOptions
from registry.renderings.lines.words import estimate
from registry.renderings.sheet import Block, Heading
from registry.renderings.sheet import Lines as Notes
from registry.renderings.table import Column, Table, harmless, tidy
from registry.renderings.trade_off import words
from registry.renderings.trade_off.svg import spans
from registry.results.lines import Estimate
from registry.results.trade_offs import TradeOff

_OF_EACH = ("", "_stderr", "_low", "_high", "_slots")


def trade_off_csv(found: TradeOff) -> str:
    """A row for each point."""
    header = ("name", *(f"{axis}{one}" for axis in "xy" for one in _OF_EACH), "place")
    rows = ((harmless(one.name), *_numbers(one.x), *_numbers(one.y), one.place) for one in found.points)
    return tidy(header, rows)


def _numbers(one: Estimate) -> tuple[float | None, ...]:
    known = one.interval
    ends = (known.low, known.high) if known else (None, None)
    return (one.mean, one.stderr, *ends, one.slots)


def trade_off_text(found: TradeOff) -> str:
    """The points for a terminal."""
    return sheet.text(_page(found))


def trade_off_markdown(found: TradeOff) -> str:
    """The points as Markdown."""
    return sheet.markdown(_page(found))


def _page(found: TradeOff) -> Iterator[Block]:
    options = ChartOptions()
    yield Heading(words.title(found), 1)
    if found.points:
        yield table(found)
    yield Notes(tuple(words.notes(found, options, *spans(found, options))))


def table(found: TradeOff) -> Table:
    """A row a point: both means with their intervals, over how many slots, and the place by the front."""
    points = found.points
    columns = [Column(found.by, [one.name or "(none)" for one in points])]
    for quantity, means in ((found.y, [one.y for one in points]), (found.x, [one.x for one in points])):
        columns.append(Column(words.named(quantity), [estimate(one) for one in means], True))
        if quantity.source == "metric":
            columns.append(Column("slots", [str(one.slots) for one in means], True))
    return Table([*columns, Column("front", [words.PLACES[one.place] for one in points])], 1)
