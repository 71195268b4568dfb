"""`registry lines`: several models along one axis, as a picture or a table."""

from __future__ import annotations

from typing import Any, get_args

import click

from registry.commands.download import save
from registry.commands.grids import Named, names_grids
from registry.commands.pull import by_suffix, tell
from registry.commands.session import Session, asks_server
from registry.commands.slices import Parameters, cuts_slices, of_an_instant, sets_aside
from registry.query import SLOT_POLICIES
from registry.renderings.heatmap.options import THEMES
from registry.renderings.lines.options import XScale

_PICTURES, _TABLES = ("svg", "png", "vl.json"), ("csv", "json", "txt", "md")


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
