"""`registry table`: means, bests or numbers of cells of an experiment, such as models by benchmarks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import click

from registry.commands import session
from registry.commands.arguments import Finite, Parameters, cuts_slices, of_an_instant, sets_aside
from registry.commands.polling import NotDefined, awaited, waits
from registry.commands.screen import rows_of_csv
from registry.commands.session import Session, asks_server
from registry.query import REDUCTIONS, SLOT_POLICIES
from registry.renderings.aggregates import AXIS, aggregates_csv, aggregates_latex, aggregates_markdown, page
from registry.results.aggregates import Aggregates
from registry.results.codec import from_document

_NAMES = ("benchmark", "model", "variant")
_NONE = "none"
_DIMENSION = "DIMENSION"


def lays_out(command: Callable[..., None]) -> Callable[..., None]:
    """Decorator: pass the command `dimensions`, parameters of a query from --rows, --columns, --each and --over."""

    @click.option("--rows", metavar=_DIMENSION, default="model", show_default=True, help="What runs down.")
    @click.option("--columns", metavar=_DIMENSION, help="What runs across, or none.  [default: benchmark, if free]")
    @click.option("--each", metavar=_DIMENSION, help="One table for each level of this.")
    @click.option(
        "--over", metavar=_DIMENSION, multiple=True, help="What to average over.  [default: benchmark, if free]"
    )
    @wraps(command)
    def run(*args: Any, rows: str, columns: str | None, each: str | None, over: Sequence[str], **kwargs: Any) -> None:
        averaged = {"over": [_dimension(one) for one in over]} if over else {}
        command(*args, dimensions={"group_by": _group_by(each, rows, columns)} | averaged, **kwargs)

    return run


def _only(kind: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    text = f"Only this {kind}; may be repeated."
    return click.option(f"--{kind}", multiple=True, metavar="NAME", help=text, shell_complete=session.names(kind))


@click.command()
@click.argument("experiment", shell_complete=session.names("experiment"))
@click.argument("metric", shell_complete=session.names("metric"))
@lays_out
@click.option("--value", type=click.Choice(REDUCTIONS), help="What becomes of all other cells.  [default: mean]")
@click.option("--missing", type=click.Choice(SLOT_POLICIES), help="Which slots count.  [default: matched]")
@sets_aside
@click.option("--alpha", type=Finite(0, 1, min_open=True, max_open=True), help="[default: 0.05]")
@click.option("--sort", metavar="mean|name|COLUMN", help="The order of rows that are names.  [default: mean]")
@_only("benchmark")
@_only("model")
@_only("variant")
@click.option("--suite", metavar="NAME", help="The benchmarks of this suite of the project.")
@click.option("--csv", "form", flag_value="csv", help="As CSV, with intervals and counts.")
@click.option("--markdown", "form", flag_value="markdown", help="As Markdown.")
@click.option("--latex", "form", flag_value="latex", help="For LaTeX, with the rules of booktabs.")
@cuts_slices
@of_an_instant
@waits
@asks_server
def table(
    session: Session,
    dimensions: dict[str, list[str]],
    form: str | None,
    seconds: float,
    at: Parameters,
    **question: Any,
) -> None:
    """Tabulate means, bests or numbers of cells.

    DIMENSION is benchmark, model, variant, or an axis by its name. Entries are compared on the slots that all of them
    have; the table says what that leaves out.
    """
    path = session.in_project("aggregates")
    document = awaited(session, path, "table", seconds, **question, **dimensions, **at)
    found = from_document(Aggregates, document)
    if form:
        written = {"csv": aggregates_csv, "markdown": aggregates_markdown, "latex": aggregates_latex}[form]
        click.echo(written(found), nl=False)
    else:
        session.screen.show(document, lambda: page(found), lambda: rows_of_csv(aggregates_csv(found)))
    if found.status != "ok":
        raise NotDefined(f"There is no table: {found.reason or found.status}.")


def _group_by(each: str | None, rows: str, columns: str | None) -> list[str]:
    """The dimensions of the table; columns are benchmarks unless something else is."""
    given = [_dimension(one) for one in (each, rows) if one]
    if columns is None:
        return [*given, *(["benchmark"] if "benchmark" not in given else [])]
    return given if columns == _NONE else [*given, _dimension(columns)]


def _dimension(name: str) -> str:
    """The word of the API: an axis may be named without its prefix."""
    return name if name in _NAMES or name.startswith(AXIS) else f"{AXIS}{name}"
