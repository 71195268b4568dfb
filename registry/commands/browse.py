"""`registry open`: open the page of a grid or a project in the browser, or print its address where there is none."""

from __future__ import annotations

import sys
import webbrowser

import click

from registry.commands.grids import Named, find_grid, names_grids
from registry.commands.session import Session, asks_server
from registry.settings import inherited_environment
from results_registry.origin import segment

_DISPLAYS = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")


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
    """Whether a browser has opened the address; one inside the terminal does not count."""
    if sys.platform == "linux" and not any(inherited_environment().get(name) for name in _DISPLAYS):
        return False
    try:
        return webbrowser.open(address)
    except webbrowser.Error:
        return False
