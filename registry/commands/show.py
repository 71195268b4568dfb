"""One grid: `registry show`, a table in the colours of its values; its statistics, `registry trends` and `peaks`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click

from registry.commands.arguments import Finite, Parameters, cuts_slices
from registry.commands.finding import Named, find_grid, names_grids, read_grid
from registry.commands.page import Part, Style, StyledTable, coloured, on_number
from registry.commands.screen import Screen, rows_of_csv
from registry.commands.session import Session, asks_server, awaited, waits
from registry.renderings import statistics as renderings
from registry.renderings import thresholds as crossings
from registry.renderings.grid import cells_csv, flat, page
from registry.renderings.heatmap.scale import Options, Scale, scale_of
from registry.renderings.numbers import MISSING
from registry.renderings.sheet import Block, Heading
from registry.renderings.table import Table
from registry.renderings.words import title
from registry.results.codec import from_document
from registry.results.grid import GridDocument
from registry.results.statistics import Statistics
from registry.results.thresholds import Thresholds

_OF_256 = (17, 24, 60, 242, 102, 246, 144, 185, 221)
"""The palette in steps whose lightness goes one way; that of the nearest of 256 to each shade goes to and fro."""


@click.command()
@click.argument("grid", required=False)
@names_grids
@click.option("--revision", type=click.IntRange(1), help="An older revision.")
@cuts_slices
@asks_server
def show(session: Session, grid: str | None, named: Named, revision: int | None, at: Parameters) -> None:
    """Show a grid's values, as a heatmap on a terminal with colours.

    GRID is an id, its first characters, or names: model=R1-Qwen,benchmark=AMC23. `·` is an unmeasured cell. A pipe
    gets one line for each measured cell.
    """
    document = read_grid(session, find_grid(session, grid, named), revision, at)
    session.screen.show(
        document,
        lambda: _page(document, session.screen),
        lambda: rows_of_csv(cells_csv(document)),
    )


def _page(document: GridDocument, screen: Screen) -> Iterator[Part]:
    values = flat(document["values"], len(document["axes"]))
    scale = scale_of(values, document["metric"], Options())
    *blocks, footer = page(document)
    for block in blocks:
        is_painted = isinstance(block, Table) and bool(document["axes"]) and screen.colour
        yield _heatmap(block, scale) if is_painted and isinstance(block, Table) else block
    if not screen.quiet:
        yield footer


def _heatmap(table: Table, scale: Scale) -> StyledTable:
    """Table with each number on the colour of its value; the names of its rows stay unchanged."""

    def style(cell: str) -> str:
        return "faint" if cell == MISSING else _style(scale.share(float(cell)))

    names = table.keys or 1
    styles = [[style(cell) if i >= names else "" for cell in column.cells] for i, column in enumerate(table.columns)]
    return StyledTable(table, styles, solid=bool(table.keys))


def _style(share: float) -> str:
    return on_number(_OF_256[min(len(_OF_256) - 1, int(share * len(_OF_256)))])


_SURE = 0.05
_LEAST = ("if unrelated", "could show")


@click.command()
@click.argument("grid", required=False)
@names_grids
@click.option("--along", metavar="AXIS", help="Only the series along this axis.")
@click.option("--threshold", "thresholds", type=Finite(), multiple=True, help="Where series cross it; may be repeated.")
@click.option("--lost", type=Finite(0), help="Only series that lost more than this from first to last.")
@click.option(
    "--split", type=Finite(), metavar="LEVEL", help="Also what lies beyond this level less what lies up to it."
)
@cuts_slices
@waits
@asks_server
def trends(  # noqa: PLR0913, PLR0917 (each is an option)
    session: Session,
    grid: str | None,
    named: Named,
    along: str | None,
    thresholds: Sequence[float],
    lost: float | None,
    split: float | None,
    seconds: float,
    at: Parameters,
) -> None:
    """Show how a grid's values change along its axes, and how surely.

    GRID is an id, its first characters, or names: model=R1-Qwen,benchmark=AMC23.
    """
    found = find_grid(session, grid, named)
    asked = {"part": "thresholds", "value": list(thresholds)} if thresholds else {"part": "trends"}
    parameters = {"along": along, "lost": lost, "split": split} | asked | at
    document = awaited(session, f"grids/{found}/statistics", "trends", seconds, **parameters)
    if thresholds:
        crossed = from_document(Thresholds, document)
        _show(session, found, document, crossings.page(crossed), lambda: crossings.thresholds_csv(crossed), {})
        return
    _show_statistics(session, found, document, "trends", _of_trends)


@click.command()
@click.argument("grid", required=False)
@names_grids
@cuts_slices
@waits
@asks_server
def peaks(session: Session, grid: str | None, named: Named, seconds: float, at: Parameters) -> None:
    """Show a grid's best cells, and the set that holds the best one with 95 % confidence.

    GRID is an id, its first characters, or names: model=R1-Qwen,benchmark=AMC23.
    """
    found = find_grid(session, grid, named)
    document = awaited(session, f"grids/{found}/statistics", "peaks", seconds, part="peaks", **at)
    bold = dict.fromkeys(("P(best)", "value", "best"), lambda _: "bold")
    _show_statistics(session, found, document, "peaks", lambda _: bold)


def _show_statistics(
    session: Session, grid: str, document: dict[str, Any], part: str, styles: Callable[[Statistics], dict[str, Style]]
) -> None:
    statistics, csv = from_document(Statistics, document), renderings.of(part)["csv"]
    parts = renderings.page(statistics, part)
    _show(session, grid, document, parts, lambda: csv(statistics), styles(statistics))


def _show(
    session: Session,
    grid: str,
    document: dict[str, Any],
    blocks: Iterator[Block],
    csv: Callable[[], str],
    styles: dict[str, Style],
) -> None:
    def parts() -> Iterator[Part]:
        next(blocks)  # the heading, which does not know the names
        yield Heading(title(read_grid(session, grid, document.get("revision"))))
        yield from coloured(blocks, styles)

    session.screen.show(document, parts, lambda: rows_of_csv(csv()), least=_LEAST)


def _of_trends(statistics: Statistics) -> dict[str, Style]:
    better = statistics.metric.get("direction")
    colours = {"higher": ("green", "red"), "lower": ("red", "green")}.get(better or "", ("cyan", "cyan"))
    words = dict(zip(("increasing", "decreasing"), colours, strict=True))
    sure: Style = lambda cell: "bold" if _number(cell) < _SURE else "faint"  # noqa: E731
    return {
        "direction": lambda cell: words.get(cell, ""),
        "q": sure,
        "→": lambda _: "faint",
    }


def _number(cell: str) -> float:
    try:
        return float(cell.removeprefix("<"))
    except ValueError:
        return 1.0


def sign(cell: str) -> str:
    """Style of a number: green for a gain, red for a loss."""
    return {"+": "green", "-": "red"}.get(cell[:1], "")
