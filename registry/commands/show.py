"""`registry show`: a grid as a table whose colours are its values.

`registry open`: open the page of a grid or a project in the browser, or print its address where there is none.
"""

from __future__ import annotations

import sys
import webbrowser
from collections.abc import Iterator
from typing import Any

import click

from registry.commands.arguments import Parameters, cuts_slices
from registry.commands.finding import Named, find_grid, names_grids, read_grid
from registry.commands.page import Part, StyledTable, on_colour, on_number
from registry.commands.screen import Screen, rows_of_csv
from registry.commands.session import Session, asks_server
from registry.renderings.cells import cells_csv, flat
from registry.renderings.grid import page
from registry.renderings.heatmap.colours import STEPS, colour, ink_on
from registry.renderings.heatmap.options import PALETTES, Options
from registry.renderings.heatmap.scale import Scale, scale_of
from registry.renderings.numbers import MISSING, decimals_of, fixed
from registry.renderings.table import Column, Table
from registry.results.grid import GridDocument
from registry.settings import inherited_environment
from results_registry.origin import segment

_LEGEND_STEPS = 24
_OF_256 = {
    "cividis": (17, 24, 60, 242, 102, 246, 144, 185, 221),
    "blues": (231, 195, 153, 117, 74, 32, 25, 18, 17),
}
"""The palettes in steps whose lightness goes one way; that of the nearest of 256 to each shade goes to and fro."""
_DISPLAYS = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")


class Range(click.ParamType[Any]):
    """Parameter type of a range: own, bounds, or two numbers."""

    name = "own|bounds|LOW,HIGH"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value in ("own", "bounds"):
            return value
        try:
            low, high = map(float, value.split(","))
        except ValueError:
            self.fail(f'"{value}" is not own, bounds or LOW,HIGH', param, ctx)
        if not low < high:
            self.fail("the low end must be below the high one", param, ctx)
        return low, high


@click.command()
@click.argument("grid", required=False)
@names_grids
@click.option("--revision", type=click.IntRange(1), help="An older revision.")
@click.option("--range", "span", type=Range(), default="own", help="What the ends of the colours stand for.")
@click.option("--palette", type=click.Choice(PALETTES), default="cividis", show_default=True)
@cuts_slices
@asks_server
def show(
    session: Session, grid: str | None, named: Named, revision: int | None, span: Any, palette: str, at: Parameters
) -> None:
    """Show a grid's values, as a heatmap on a terminal with colours.

    GRID is an id, its first characters, or names: model=R1-Qwen,benchmark=AMC23. `·` is an unmeasured cell. A pipe
    gets one line for each measured cell.
    """
    document = read_grid(session, find_grid(session, grid, named), revision, at)
    session.screen.show(
        document,
        lambda: _page(document, session.screen, Options(palette=palette, span=span)),
        lambda: rows_of_csv(cells_csv(document)),
    )


def _page(document: GridDocument, screen: Screen, options: Options) -> Iterator[Part]:
    values = flat(document["values"], len(document["axes"]))
    scale = scale_of(values, document["metric"], options)
    *blocks, footer = page(document)
    for block in blocks:
        is_painted = isinstance(block, Table) and bool(document["axes"]) and screen.colour
        yield _heatmap(block, scale, options.palette, screen) if is_painted and isinstance(block, Table) else block
    if screen.colour and any(value is not None for value in values):
        yield _legend(scale, options.palette, screen, values)
    if not screen.quiet:
        yield footer


def _heatmap(table: Table, scale: Scale, palette: str, screen: Screen) -> StyledTable:
    """Table with each number on the colour of its value; the names of its rows stay unchanged."""

    def style(cell: str) -> str:
        return "faint" if cell == MISSING else _style(scale.share(float(cell)), palette, screen)

    names = table.keys or 1
    styles = [[style(cell) if i >= names else "" for cell in column.cells] for i, column in enumerate(table.columns)]
    return StyledTable(table, styles, solid=bool(table.keys))


def _style(share: float, palette: str, screen: Screen) -> str:
    if screen.exact:
        background = colour(share, palette)
        return on_colour(background, ink_on(background))
    steps = _OF_256[palette]
    return on_number(steps[min(len(steps) - 1, int(share * len(steps)))])


def _legend(scale: Scale, palette: str, screen: Screen, values: list[float | None]) -> StyledTable:
    """Colours from end to end between the values that they stand for."""
    measured = [value for value in values if value is not None]
    places = decimals_of([*measured, scale.low, scale.high])
    ends = [fixed(scale.low, places), fixed(scale.high, places)]
    steps = range(0, STEPS, max(1, STEPS // _LEGEND_STEPS)) if scale.low < scale.high else [STEPS // 2]
    shades = [_style(step / (STEPS - 1), palette, screen) for step in steps]
    beyond = f" · {scale.beyond} beyond" if scale.beyond else ""
    holes = f"   {MISSING} not measured" if len(measured) < len(values) else ""
    texts = [f"{ends[0]} ", *(" " for _ in shades), f" {ends[1]}{beyond}{holes}"]
    styles = ["faint", *shades, "faint"]
    table = Table([Column("", [text]) for text in texts], keys=1)
    return StyledTable(table, [[style] for style in styles], solid=False, flush=True)


@click.command(name="open")
@click.argument("grid", required=False)
@names_grids
@click.option("-n", "--no-browser", is_flag=True, help="Only print the address.")
@asks_server
def open_page(session: Session, grid: str | None, named: Named, no_browser: bool) -> None:
    """Open the page of a grid, or of the project, in the browser.

    The address is printed instead where there is no browser, and for a pipe.
    """
    if grid is not None or any(named.values()):
        address = f"{session.config.url}/grids/{find_grid(session, grid, named)}"
    else:
        address = f"{session.config.url}/projects/{segment(session.project)}"
    screen = session.screen
    if screen.json:
        screen.show_json({"url": address})
    elif no_browser or not screen.is_terminal or not _opened(address):
        click.echo(address)


def _opened(address: str) -> bool:
    """Tell whether a browser has opened the address; one inside the terminal does not count."""
    if sys.platform == "linux" and not any(inherited_environment().get(name) for name in _DISPLAYS):
        return False
    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False
