"""`registry pull`: write grids, cells or pictures to files, each as a whole or not at all."""

import os
import re
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any, BinaryIO

import click
import orjson

from registry.commands.arguments import Parameters, cuts_slices
from registry.commands.finding import Named, find_grid, find_grids, names_grids, read_grid
from registry.commands.group import writable
from registry.commands.session import Session, asks_server
from registry.renderings.every_eval_ever import documents

_OF_GRID = ("json", "md", "txt")
_TIDY = ("csv", "ndjson", "json", "parquet", "arrow")
_PICTURES = ("svg", "png", "vl.json")
_EVERY = "every-eval-ever"
FORMATS = (*dict.fromkeys((*_PICTURES, "json", "csv", *_OF_GRID, *_TIDY)), _EVERY)
STATISTICS = ("trends", "peaks", "coverage")
_BINARY = ("parquet", "arrow", "png")


def save(session: Session, path: str, query: dict[str, Any], target: str, *, binary: bool) -> int:
    """Write the response at a path to the file `target`, or to standard output if that is `-`; return its size in
    bytes."""
    if target == "-" and binary and sys.stdout.isatty():
        raise click.UsageError("This is no text for a terminal; name a file with -o.")
    with session.transport.stream(path, query=query) as (_, chunks):
        return _keep(chunks, target)


def _keep(chunks: Iterable[bytes], target: str) -> int:
    if target == "-":
        return _to_stdout(chunks)
    whole = Path(target)
    fresh = whole.with_name(f".{whole.name}.{os.getpid()}")
    try:
        with writable(target), fresh.open("wb") as file:
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
    is a heatmap. Without it, every cell of the grids that the options leave (of the whole project without any) is one
    tidy table: csv, ndjson, json, parquet or arrow. With --statistic the table has a row for each series, best cell or
    grid. As every-eval-ever each model is a JSON document, in a file of the folder -o, or one a line.
    """
    form = form or by_suffix(output, FORMATS) or "csv"
    if grid is not None and statistic is not None:
        raise click.UsageError(f"--statistic is of many grids; `registry {statistic} GRID` shows one's.")
    if form == _EVERY and statistic is None:
        ids = [find_grid(session, grid, named)] if grid else [one["id"] for one in find_grids(session, named)]
        _write_documents(session, documents(read_grid(session, one, at=at) for one in ids), output)
        return
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


def _write_documents(session: Session, found: Iterable[dict[str, Any]], output: str) -> None:
    """Write documents of Every Eval Ever: a file each into a folder, the only one to a file *.json, or lines."""
    lines = [(f"{one['source_metadata']['source_name']} {one['model_info']['name']}", one) for one in found]
    single = output.endswith(".json")
    if single and len(lines) != 1:
        raise click.UsageError(f"These are {len(lines)} documents; name a folder with -o.")
    if output != "-" and not single:
        with writable(output):
            Path(output).mkdir(parents=True, exist_ok=True)
    for place, (name, document) in enumerate(lines):
        plain = re.sub(r"[^\w.-]+", "_", f"{place:03} {name}")[:200]
        target = output if single or output == "-" else str(Path(output, f"{plain}.json"))
        tell(session, target, _keep([orjson.dumps(document), b"\n"], target))


def by_suffix(output: str, forms: tuple[str, ...]) -> str | None:
    """The form that the end of a file's name says, if it is one of these."""
    name = PurePath(output).name.lower()
    return next((form for form in forms if name.endswith(f".{form}")), None)


def tell(session: Session, output: str, size: int) -> None:
    """Note what was written to a file."""
    if output != "-":
        session.screen.note(f"{output}: {size:,} bytes.")
