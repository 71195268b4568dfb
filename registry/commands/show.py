"""One grid: `registry show`, a table in the colours of its values; its statistics, `registry trends` and `peaks`."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click

from registry.commands.arguments import Finite, Parameters, cuts_slices
from registry.commands.finding import Named, find_grid, names_grids, read_grid
from registry.commands.page import Part, StyledTable, on_number
from registry.commands.screen import Screen, rows_of_csv
from registry.commands.session import Session, asks_server, awaited, waits
from registry.renderings import statistics as renderings
from registry.renderings import thresholds as crossings
from registry.renderings.grid import flat, page
from registry.renderings.heatmap.scale import Options, Scale, scale_of
from registry.renderings.numbers import MISSING
from registry.renderings.sheet import Block, Heading
from registry.renderings.table import Table
from registry.renderings.words import title
from registry.results.codec import from_document
from registry.results.grid import GridDocument
from registry.results.statistics import Statistics, Thresholds

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
        lambda: rows_of_csv(_cells(session, str(document["id"]), {"revision": revision, **at})),
    )


def _cells(session: Session, grid: str, query: dict[str, Any]) -> str:
    with session.transport.stream(f"grids/{grid}/cells.csv", query=query) as (_, chunks):
        return b"".join(chunks).decode()


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


_LEAST = ("if unrelated", "could show")


@click.command()
@click.argument("grid", required=False)
@names_grids
@click.option("--along", metavar="AXIS", help="Only the series along this axis.")
@click.option("--threshold", "thresholds", type=Finite(), multiple=True, help="Where series cross it; may be repeated.")
@cuts_slices
@waits
@asks_server
def trends(
    session: Session,
    grid: str | None,
    named: Named,
    along: str | None,
    thresholds: Sequence[float],
    seconds: float,
    at: Parameters,
) -> None:
    """Show how a grid's values change along its axes, and how surely.

    GRID is an id, its first characters, or names: model=R1-Qwen,benchmark=AMC23.
    """
    found = find_grid(session, grid, named)
    asked = {"part": "thresholds", "value": list(thresholds)} if thresholds else {"part": "trends"}
    parameters = {"along": along} | asked | at
    document = awaited(session, f"grids/{found}/statistics", "trends", seconds, **parameters)
    if thresholds:
        crossed = from_document(Thresholds, document)
        _show(session, found, document, crossings.page(crossed), lambda: crossings.thresholds_csv(crossed))
        return
    _show_statistics(session, found, document, "trends")


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
    _show_statistics(session, found, document, "peaks")


def _show_statistics(session: Session, grid: str, document: dict[str, Any], part: str) -> None:
    statistics, csv = from_document(Statistics, document), renderings.of(part)["csv"]
    _show(session, grid, document, renderings.page(statistics, part), lambda: csv(statistics))


def _show(
    session: Session, grid: str, document: dict[str, Any], blocks: Iterator[Block], csv: Callable[[], str]
) -> None:
    def parts() -> Iterator[Part]:
        next(blocks)  # the heading, which does not know the names
        yield Heading(title(read_grid(session, grid, document.get("revision"))))
        yield from blocks

    session.screen.show(document, parts, lambda: rows_of_csv(csv()), least=_LEAST)
