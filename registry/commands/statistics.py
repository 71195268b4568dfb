"""`registry trends` and `registry peaks`: statistics of a grid."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import click

from registry.commands.arguments import Finite, Parameters, cuts_slices
from registry.commands.finding import Named, find_grid, names_grids, read_grid
from registry.commands.page import Part, Style, coloured
from registry.commands.polling import awaited, waits
from registry.commands.screen import rows_of_csv
from registry.commands.session import Session, asks_server
from registry.renderings import statistics as renderings
from registry.renderings import thresholds as crossings
from registry.renderings.sheet import Block, Heading
from registry.renderings.words import title
from registry.results.codec import from_document
from registry.results.statistics import Statistics
from registry.results.thresholds import Thresholds

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
    statistics = from_document(Statistics, document)
    parts = renderings.page(statistics, "trends")
    csv = renderings.of("trends")["csv"]
    _show(session, found, document, parts, lambda: csv(statistics), _of_trends(statistics))


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
    statistics = from_document(Statistics, document)
    parts = renderings.page(statistics, "peaks")
    styles: dict[str, Style] = {
        "P(best)": lambda _: "bold",
        "value": lambda _: "bold",
        "best": lambda _: "bold",
    }
    csv = renderings.of("peaks")["csv"]
    _show(session, found, document, parts, lambda: csv(statistics), styles)


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
    """Style of a trend: a change for the worse is red, one for the better green."""
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
