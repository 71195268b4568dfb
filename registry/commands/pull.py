"""`registry pull lines`: write grids, cells or pictures to files, each as a whole or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any, BinaryIO, get_args

import click

from registry.commands.arguments import Parameters, cuts_slices, of_an_instant, sets_aside
from registry.commands.finding import Named, find_grid, names_grids
from registry.commands.group import writable
from registry.commands.session import Session, asks_server
from registry.query import SLOT_POLICIES
from registry.renderings.heatmap.scale import THEMES
from registry.renderings.lines.paint import XScale

_OF_GRID = ("json", "md", "txt")
_TIDY = ("csv", "ndjson", "json", "parquet", "arrow")
_PICTURES, _TABLES = ("svg", "png", "vl.json"), ("csv", "json", "txt", "md")
FORMATS = tuple(dict.fromkeys((*_PICTURES, "json", "csv", *_OF_GRID, *_TIDY)))
STATISTICS = ("trends", "peaks", "coverage")
_BINARY = ("parquet", "arrow", "png")


def save(session: Session, path: str, query: dict[str, Any], target: str, *, binary: bool) -> int:
    """Write the response at a path to the file `target`, or to standard output if that is `-`; return its size in
    bytes."""
    if target == "-":
        if binary and sys.stdout.isatty():
            raise click.UsageError("This is no text for a terminal; name a file with -o.")
        with session.transport.stream(path, query=query) as (_, chunks):
            return _to_stdout(chunks)
    whole = Path(target)
    fresh = whole.with_name(f".{whole.name}.{os.getpid()}")
    try:
        with writable(target), fresh.open("wb") as file:
            with session.transport.stream(path, query=query) as (_, chunks):
                size = _copied(chunks, file, target)
            fresh.replace(whole)
    finally:
        with suppress(OSError):
            fresh.unlink()
    return size


def _to_stdout(chunks: Iterable[bytes]) -> int:
    size = 0
    for chunk in chunks:
        try:
            sys.stdout.buffer.write(chunk)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains at its end
            raise click.exceptions.Exit(1) from None
        size += len(chunk)
    return size


def _copied(chunks: Iterable[bytes], file: BinaryIO, target: str) -> int:
    size = 0
    for chunk in chunks:
        with writable(target):
            file.write(chunk)
        size += len(chunk)
    with writable(target):
        file.flush()
    return size


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
    """Write a grid, its heatmap, or all cells of many grids, to a file.

    GRID is an id, its first characters, or names: model=R1-Qwen,benchmark=AMC23. As svg, png or vl.json (Vega-Lite) it
    is a heatmap. Without it, every cell of the grids
    that the options leave (of the whole project without any) is one tidy table: csv, ndjson, json, parquet or arrow.
    With --statistic the table has a row for each series, best cell or grid.
    """
    form = form or by_suffix(output, FORMATS) or "csv"
    if grid is not None and statistic is not None:
        raise click.UsageError(f"--statistic is of many grids; `registry {statistic} GRID` shows one's.")
    if grid is None:
        if form not in _TIDY:
            raise click.UsageError(f"Many grids are one table as {', '.join(_TIDY)}; {form} needs one GRID.")
        path, query = session.in_project(f"{'statistics' if statistic else 'cells'}.{form}"), {**named, **at}
        query |= {"part": (statistic,)} if statistic else {}
    else:
        found = find_grid(session, grid, named)
        part = "/heatmap" if form in _PICTURES else "" if form in _OF_GRID else "/cells"
        path, query = f"grids/{found}{part}.{form}", {**at}
    size = save(session, path, {name: list(texts) for name, texts in query.items()}, output, binary=form in _BINARY)
    tell(session, output, size)


def by_suffix(output: str, forms: tuple[str, ...]) -> str | None:
    """The form that the end of a file's name says, if it is one of these."""
    name = PurePath(output).name.lower()
    return next((form for form in forms if name.endswith(f".{form}")), None)


def tell(session: Session, output: str, size: int) -> None:
    """Note what was written to a file."""
    if output != "-":
        session.screen.note(f"{output}: {size:,} bytes.")


@click.command()
@names_grids
@click.option("--along", metavar="AXIS", help="The axis.  [default: the one in order with the most levels]")
@click.option("--by", metavar="model|variant|benchmark|axis:NAME", help="What has a line.  [default: model]")
@click.option("--missing", type=click.Choice(SLOT_POLICIES), help="Over which slots means are.  [default: matched]")
@sets_aside
@click.option("--x", type=click.Choice(get_args(XScale)), help="The scale of the axis.  [default: its own]")
@click.option("--theme", type=click.Choice(THEMES), help="Of a picture.")
@click.option(
    "-o", "--output", default="-", metavar="FILE", help="x.svg, x.png, x.vl.json, x.csv, x.json, x.txt, x.md."
)
@cuts_slices
@of_an_instant
@asks_server
def lines(session: Session, named: Named, output: str, theme: str | None, at: Parameters, **asked: Any) -> None:
    """Draw several models along one axis of an experiment.

    Needs one experiment (-e) and one --metric. Means are over the slots that all of them share, with 95 % intervals.
    Without a file, the table.
    """
    for kind in ("experiment", "metric"):
        if len(named[kind]) != 1:
            raise click.UsageError(f"Lines are of one {kind}; --{kind} is given {len(named[kind])} times.")
    form = "txt" if output == "-" else by_suffix(output, (*_PICTURES, *_TABLES))
    if form is None:
        raise click.UsageError(f"{output} ends in none of .{', .'.join((*_PICTURES, *_TABLES))}.")
    query = {kind: list(names) for kind, names in named.items()} | at | asked
    query |= {"theme": theme} if form in _PICTURES else {}
    size = save(session, session.in_project(f"lines.{form}"), query, output, binary=form == "png")
    tell(session, output, size)
