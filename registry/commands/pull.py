"""`registry pull` and `registry plot`: write a grid, matching cells or a picture to a file."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any

import click

from registry.commands.download import save
from registry.commands.grids import Named, find_grid, names_grids
from registry.commands.session import Session, asks_server
from registry.commands.slices import Parameters, cuts_slices
from registry.renderings.heatmap.options import PALETTES, THEMES

_OF_GRID = ("json", "csv", "md", "txt")
_TIDY = ("csv", "ndjson", "json", "parquet", "arrow")
FORMATS = tuple(dict.fromkeys((*_OF_GRID, *_TIDY)))
STATISTICS = ("trends", "peaks", "coverage")
PICTURES = ("svg", "png", "vl.json")
_BINARY = ("parquet", "arrow", "png")


@click.command()
@click.argument("grid", required=False)
@names_grids
@click.option("-o", "--output", default="-", metavar="FILE", help="The file to write; standard output if not given.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="The form; else the file's suffix, else csv.")
@click.option("--statistic", type=click.Choice(STATISTICS), help="This of every grid, instead of the cells.")
@cuts_slices
@asks_server
def pull(
    session: Session,
    grid: str | None,
    named: Named,
    output: str,
    form: str | None,
    statistic: str | None,
    at: Parameters,
) -> None:
    """Write a grid, or all cells of many grids, to a file.

    GRID is an id, its first characters, or names: model=R1-Qwen,benchmark=AMC23. Without it, every cell of the grids
    that the options leave (of the whole project without any) is one tidy table: csv, ndjson, json, parquet or arrow.
    With --statistic the table has a row for each series, best cell or grid.
    """
    form = form or by_suffix(output, FORMATS) or "csv"
    if grid is not None and statistic is not None:
        raise click.UsageError(f"--statistic is of many grids; `registry {statistic} GRID` shows one's.")
    if grid is None:
        if form not in _TIDY:
            raise click.UsageError(f"Many grids are one table as {', '.join(_TIDY)}; {form} needs one GRID.")
        path, query = session.in_project(f"{statistic or 'cells'}.{form}"), {**named, **at}
    else:
        found = find_grid(session, grid, named)
        path, query = (f"grids/{found}.{form}" if form in _OF_GRID else f"grids/{found}/cells.{form}"), {**at}
    size = save(session, path, {name: list(texts) for name, texts in query.items()}, output, binary=form in _BINARY)
    tell(session, output, size)


@click.command()
@click.argument("grid", required=False)
@names_grids
@click.option("-o", "--output", default="-", metavar="FILE", help="x.svg, x.png or x.vl.json; SVG on standard output.")
@click.option("--palette", type=click.Choice(PALETTES))
@click.option("--theme", type=click.Choice(THEMES))
@click.option("--range", "span", metavar="own|bounds|LOW,HIGH", help="What the ends of the colours stand for.")
@cuts_slices
@asks_server
def plot(
    session: Session,
    grid: str | None,
    named: Named,
    output: str,
    span: str | None,
    at: Parameters,
    **looks: Any,
) -> None:
    """Draw a grid as a heatmap: SVG, PNG or Vega-Lite.

    GRID is an id, its first characters, or names: model=R1-Qwen,benchmark=AMC23.
    """
    form = "svg" if output == "-" else by_suffix(output, PICTURES)
    if form is None:
        raise click.UsageError(f"{output} ends in none of .svg, .png, .vl.json.")
    path = f"grids/{find_grid(session, grid, named)}/heatmap.{form}"
    size = save(session, path, {**looks, "range": span, **at}, output, binary=form in _BINARY)
    tell(session, output, size)


def by_suffix(output: str, forms: tuple[str, ...]) -> str | None:
    """The form that the end of a file's name says, if it is one of these."""
    name = PurePath(output).name.lower()
    return next((form for form in forms if name.endswith(f".{form}")), None)


def tell(session: Session, output: str, size: int) -> None:
    """Note what was written to a file."""
    if output != "-":
        session.screen.note(f"{output}: {size:,} bytes.")
