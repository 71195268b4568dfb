"""`registry pull` and `registry plot`: write a grid, matching cells or a picture to a file."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import click

from registry.commands.download import save
from registry.commands.grids import Named, find_grid, names_grids
from registry.commands.session import Session, asks_server
from registry.renderings.heatmap.options import PALETTES, THEMES

_OF_GRID = ("json", "csv", "md", "txt")
_TIDY = ("csv", "ndjson", "json", "parquet", "arrow")
FORMATS = tuple(dict.fromkeys((*_OF_GRID, *_TIDY)))
PICTURES = ("svg", "png", "vl.json")
_BINARY = ("parquet", "arrow", "png")


@click.command()
@click.argument("grid", required=False)
@names_grids
@click.option("-o", "--output", default="-", metavar="FILE", help="The file to write; standard output if not given.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="The form; else the file's suffix, else csv.")
@asks_server
def pull(session: Session, grid: str | None, named: Named, output: str, form: str | None) -> None:
    """Write a grid, or all cells of many grids, to a file.

    GRID is an id, its first characters, or names: model=R1-Qwen,benchmark=AMC23. Without it, every cell of the grids
    that the options leave (of the whole project without any) is one tidy table: csv, ndjson, json, parquet or arrow.
    """
    form = form or _by_suffix(output, FORMATS) or "csv"
    if grid is None:
        if form not in _TIDY:
            raise click.UsageError(f"Many grids are one table as {', '.join(_TIDY)}; {form} needs one GRID.")
        path, query = session.in_project(f"cells.{form}"), {kind: list(names) for kind, names in named.items()}
    else:
        found = find_grid(session, grid, named)
        path, query = (f"grids/{found}.{form}" if form in _OF_GRID else f"grids/{found}/cells.{form}"), {}
    size = save(session, path, query, output, binary=form in _BINARY)
    _tell(session, output, size)


@click.command()
@click.argument("grid", required=False)
@names_grids
@click.option("-o", "--output", default="-", metavar="FILE", help="x.svg, x.png or x.vl.json; SVG on standard output.")
@click.option("--palette", type=click.Choice(PALETTES))
@click.option("--theme", type=click.Choice(THEMES))
@click.option("--range", "span", metavar="own|bounds|LOW,HIGH", help="What the ends of the colours stand for.")
@asks_server
def plot(session: Session, grid: str | None, named: Named, output: str, span: str | None, **looks: Any) -> None:
    """Draw a grid as a heatmap: SVG, PNG or Vega-Lite.

    GRID is an id, its first characters, or names: model=R1-Qwen,benchmark=AMC23.
    """
    form = "svg" if output == "-" else _by_suffix(output, PICTURES)
    if form is None:
        raise click.UsageError(f"{output} ends in none of .svg, .png, .vl.json.")
    path = f"grids/{find_grid(session, grid, named)}/heatmap.{form}"
    size = save(session, path, {**looks, "range": span}, output, binary=form in _BINARY)
    _tell(session, output, size)


def _by_suffix(output: str, forms: tuple[str, ...]) -> str | None:
    name = PurePath(output).name.lower()
    return next((form for form in forms if name.endswith(f".{form}")), None)


def _tell(session: Session, output: str, size: int) -> None:
    if output != "-":
        session.screen.note(f"{output}: {size:,} bytes.")
