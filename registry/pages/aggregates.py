"""View `table` of the page of results (`results.py`): means, bests or counts in rows and columns."""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from flask import request

from registry.api.aggregates import AggregatesParameters, aggregates_query
from registry.api.answers import ask
from registry.pages.bar import grids_page, page_of_row
from registry.pages.blocks import parts_of
from registry.pages.choices import Field, select
from registry.pages.heatmap import Plate, Square, middle_of
from registry.pages.palette import BINS, bin_of
from registry.pages.parameters import argument
from registry.pages.view import DRAWN, TABLES, Asked, Found, View
from registry.renderings.aggregates import (
    AXIS,
    aside_text,
    beside_ranking,
    dimension_name,
    doubts,
    entry_name,
    heading,
    labels_of,
    mean_places,
    mean_texts,
    told,
    value_places,
)
from registry.renderings.heatmap.scale import Options, Scale, narrow, scale_of
from registry.renderings.heatmap.words import ASIDE, BARE
from registry.renderings.numbers import UNDEFINED, fixed, within
from registry.renderings.sheet import Lines
from registry.renderings.words import counted
from registry.results.aggregates import Aggregates, Entry, RowMean
from registry.results.codec import read
from registry.results.terms import Interval
from registry.selection import KINDS, Selection

_FROM = "from"
"""The parameter with the first row that is shown."""
_ROWS = 2
"""Dimensions of a single table."""
_WITH_PAGES = ("model", "benchmark")
"""What has a page and never an empty name."""
_REDUCTIONS = {"mean": "mean of the cells", "best": "best cell", "count": "number of cells"}


def _usual() -> list[str]:
    """Models by benchmarks, or variants where those are ranked."""
    return ["variant" if request.args.get("by") == "variant" else "model", "benchmark"]


def find(asked: Asked) -> Found:
    """The table of the selection, in the usual rows and columns if nothing else is named."""
    query = {"group_by": _usual(), **asked.query}
    first = int(argument(_FROM, "[0-9]{1,6}", "is the number of a row, from 0") or 0)
    question = aggregates_query(query, asked.slug, asked.wanted)
    row = ask(question, asked.slug, patience=2.0)[1]
    meant = [] if "group_by" in asked.query else [("group_by", ",".join(_usual()))]
    return Found(row, lambda: _shown(read(Aggregates, row.document), first, asked.slug, question), meant=meant)


def _shown(found: Aggregates, first: int, project: str, selection: Selection) -> dict[str, Any]:
    rows = rows_of(found) if rows_of(found) in _WITH_PAGES else AXIS
    return {
        "table": found,
        "beside_ranking": partial(beside_ranking, found),
        "title_of_table": heading(found),
        "told": list(told(found)),
        "pivot": pivot_of(found, first, partial(grids_page, project, selection)),
        "sortable": is_sortable(found),
        "link_of": partial(page_of_row, project, selection, rows),
        "doubts": parts_of([Lines(notes)] if (notes := tuple(doubts(found, beside=True))) else []),
        "bins": range(BINS),
        "drawn": bool(found.entries),
    }


def beside(asked: Asked) -> list[Field]:
    """What the rows and columns are, and what the entries are made of."""
    query, names = asked.query, {name: name for name in KINDS} | {f"axis:{name}": name for name in asked.bar.axes}
    groups, over = query.get("group_by", _usual()), query.get("over") or []
    plates = [select("one table each", "group_by", names.items(), groups[:1], "none")] if len(groups) > _ROWS else []
    return [
        *plates,
        select("rows", "group_by", names.items(), groups[-2:-1] or groups),
        select("columns", "group_by", names.items(), groups[-1:] if len(groups) > 1 else "", "none"),
        select("averaged over", "over", names.items(), over, "none" if "benchmark" in groups else "benchmarks"),
        select("entries", "value", _REDUCTIONS.items(), query["value"], usual="mean"),
    ]


VIEW = View("table", "Table", "aggregates", "This table", "aggregates.html", AggregatesParameters, find, beside,
            own=(_FROM,), optional=("group_by",), forms=(*TABLES, (".tex", "LaTeX"), *DRAWN))  # fmt: skip


MOST_DETAILED = 250
"""Entries up to which a table has intervals and what is said about each entry."""
MOST_SHOWN = 1_225
"""Entries of a larger table that are shown at a time."""
_TOO_MANY = 3
"""Dimensions of a table that is several tables, which have their rows in one order."""


@dataclass(frozen=True, slots=True)
class Pivot:
    """A table ready to be shown, or some of its rows; rows are counted over all plates."""

    row_name: str
    column_name: str
    columns: Sequence[tuple[str, str]]
    """The heading of each column, and the word by which rows are sorted by it; "" where they cannot be."""
    means: bool
    """Whether each row begins with its mean."""
    plates: list[Plate]
    ends: tuple[str, str]
    """The numbers at the ends of the colours, the better one last."""
    middle: str
    narrow: str
    falling: bool
    detailed: bool
    first: int
    """The first row that is shown, from 0."""
    shown: int
    total: int
    step: int
    """Rows that are shown at a time."""
    gaps: bool
    """Whether an entry that is shown was not measured."""
    aside: str
    """What is said of those that were measured and are not compared; "" where there are none."""

    @property
    def next(self) -> int | None:
        """The first row after those shown."""
        return self.first + self.shown if self.first + self.shown < self.total else None

    @property
    def previous(self) -> int | None:
        """The first row of those before."""
        return max(0, self.first - self.step) if self.first else None


def rows_of(found: Aggregates) -> str:
    """What the rows of a table are."""
    return found.group_by[0] if len(found.group_by) == 1 else found.group_by[-2]


def pivot_of(found: Aggregates, first: int, link: Callable[[Mapping[str, Any]], str]) -> Pivot | None:
    """The table from this row on, of few entries with a `link` to the grids of each; `None` without entries, or where a
    single row is too long to be shown."""
    labels = labels_of(found)
    above, down = found.group_by[:-2], rows_of(found)
    across = found.group_by[-1] if len(found.group_by) > 1 else None
    columns = list(labels[across].values()) if across and found.entries else [""]
    if not found.entries or len(columns) > MOST_SHOWN:
        return None
    total = len(found.entries) // len(columns)
    detailed = len(found.entries) <= MOST_DETAILED
    step = total if detailed else MOST_SHOWN // len(columns)
    first = min(first, total - 1) // step * step
    metric = {"direction": None if found.value == "count" else found.direction, "lower": None, "upper": None}
    scale = scale_of((one.value for one in found.entries), metric, Options())  # type: ignore[arg-type]
    places = value_places(found)
    by_column = is_sortable(found) and across
    sorts = [str(level) for level in found.dimensions[-1].levels] if by_column else [""] * len(columns)
    rows = range(first, min(total, first + step))
    shown = found.entries[rows.start * len(columns) : rows.stop * len(columns)]
    squares = [_square(one, found, scale, places, entry_name(one.at, labels) if detailed else "") for one in shown]
    if detailed:
        squares = [replace(its, href=link(one.at)) for its, one in zip(squares, shown, strict=True)]
    with_means = any(one.mean is not None for one in found.rows)
    texts = [one.strip() for one in mean_texts(found)] if with_means else []
    means = [
        _mean(one, text, mean_places(found), detailed=detailed)
        for one, text in zip(found.rows[rows.start : rows.stop], texts[rows.start : rows.stop], strict=False)
    ]
    ends = fixed(scale.low, places), fixed(scale.high, places)
    return Pivot(
        dimension_name(down),
        dimension_name(across) if across else found.value,
        list(zip(columns if across else [found.metric], sorts, strict=True)),
        with_means,
        list(_plates(found, above, down, rows, squares, means)),
        (ends[1], ends[0]) if scale.falling else ends,
        middle_of(scale, places),
        "" if found.value == "count" else narrow(scale, {**metric, "lower": found.lower, "upper": found.upper}),  # type: ignore[typeddict-item]
        scale.falling,
        detailed,
        first,
        len(rows),
        total,
        step,
        any(not one.cells for one in shown),
        ASIDE if any(one.value is None and one.cells for one in shown) else "",
    )


def _plates(
    found: Aggregates, above: Sequence[str], down: str, rows: range, squares: Sequence[Square], means: Sequence[Square]
) -> Iterator[Plate]:
    """The rows that are shown, by the level of the dimension above them."""
    labels = labels_of(found)
    names, width = list(labels[down].values()), len(squares) // len(rows)
    lines = [(row, [*means[i : i + 1], *squares[i * width : (i + 1) * width]]) for i, row in enumerate(rows)]
    headings = [f"{dimension_name(above[0])} {label}" for label in labels[above[0]].values()] if above else [""]
    for number, of_plate in itertools.groupby(lines, key=lambda line: line[0] // len(names)):
        yield Plate(headings[number], [(names[row % len(names)], line) for row, line in of_plate])


def is_sortable(found: Aggregates) -> bool:
    """Whether the rows of a table can be sorted: names by one other dimension, or by none."""
    return not found.group_by[0].startswith(AXIS) and len(found.group_by) < _TOO_MANY


def _mean(one: RowMean, text: str, places: int | None, *, detailed: bool) -> Square:
    if not detailed:
        return Square("mean", text)
    ends = one.mean_interval
    kind = "adjusted mean by" if one.adjusted else "mean over"
    tip = f"{kind} {counted(one.columns, 'column', 'columns')}" + (f" · {within(ends)}" if ends else "")
    return Square("mean", text, _ends(ends, places), "", tip)


def _square(one: Entry, found: Aggregates, scale: Scale, places: int | None, name: str) -> Square:
    """An entry; with a tip where it has a name there."""
    if one.value is None and not one.cells:
        return Square("bare", "", "", BARE, f"{name}: {BARE}" if name else "")
    if one.value is None:
        slots = aside_text(found, one) if name else ""
        told = f"{ASIDE}, it has {slots} slots" if slots else ASIDE
        return Square("alone", UNDEFINED, slots, told, f"{name}: {told}" if name else "")
    kind, text = f"c{bin_of(scale.share(one.value))}", fixed(one.value, places)
    if not name:
        return Square(kind, text)
    tip = " · ".join([f"{name}: {text}", *_details(one, found)])
    return Square(kind, text, _ends(one.interval, places), "", tip)


def _ends(interval: Interval | None, places: int | None) -> str:
    return f"{fixed(interval.low, places)}–{fixed(interval.high, places)}" if interval else ""


def _details(one: Entry, found: Aggregates) -> Iterator[str]:
    if one.interval:
        yield f"{within(one.interval)} ({'the best true value' if found.value == 'best' else 'these cells again'})"
    elif one.interval_reason and found.value != "count":
        yield f"no interval: {one.interval_reason}"
    if one.new_benchmarks:
        yield f"{within(one.new_benchmarks)} (new benchmarks)"
    over = f" over {one.over} of {', '.join(map(dimension_name, found.over))}" if found.over else ""
    yield f"{counted(one.n, 'slot', 'slots')}{over}, {counted(one.cells, 'cell', 'cells')} measured"
