"""`registry compare`: the difference between two grids, and whether it is a regression."""

from __future__ import annotations

import click

from registry.commands.grids import Named, find_grid, names_grids
from registry.commands.polling import NotDefined, awaited, waits
from registry.commands.screen import coloured, until
from registry.commands.screen.screen import rows_of_csv
from registry.commands.session import Session, asks_server
from registry.commands.slices import Parameters, cuts_slices
from registry.commands.statistics import sign
from registry.commands.status import CheckFailed
from registry.errors import Conflict
from registry.renderings.comparison import comparison_csv, page
from registry.renderings.words import with_unit
from registry.results.codec import from_document
from registry.results.comparison import Comparison

_LEAST = ("ties", "wins", "losses", "median", "Holm p")
_STYLES = dict.fromkeys(("gap", "mean", "median"), sign)


@click.command()
@click.argument("baseline")
@click.argument("contender")
@names_grids
@click.option("--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), help="[default: 0.05]")
@click.option(
    "--fail-on-regression", "points", type=click.FloatRange(0), metavar="POINTS",
    help="Exit with 3 when the contender is worse by more than so many points, and not by chance.",
)  # fmt: skip
@click.option("--full", is_flag=True, help="Also every cell.")
@cuts_slices
@waits
@asks_server
def compare(  # noqa: PLR0913, PLR0917 (each is an option)
    session: Session,
    baseline: str,
    contender: str,
    named: Named,
    alpha: float | None,
    points: float | None,
    full: bool,
    seconds: float,
    at: Parameters,
) -> None:
    """Compare two grids: contender less baseline, on the cells that both have.

    Each is an id, its first characters, or names: registry compare -b AMC23 model=R1-Llama model=R1-Qwen.

    With --fail-on-regression the exit status is 3 when the gap of all common cells is a loss of more than POINTS and
    its interval excludes zero. Where no interval can be computed the gap alone decides.
    """
    ids = [find_grid(session, reference, named) for reference in (baseline, contender)]
    question = {"baseline": ids[0], "contender": ids[1], "alpha": alpha}
    told = awaited(session, session.in_project("comparisons"), "comparison", seconds, **question, **at)
    document = from_document(Comparison, told)
    session.screen.show(
        told,
        lambda: coloured(page(document) if full else until(page(document), lambda part: part.text == "Cells"), _STYLES),
        lambda: rows_of_csv(comparison_csv(document)),
        least=_LEAST,
        essence=list,
    )
    if document.status == "not_comparable" and points is None:
        raise NotDefined(f"There is no comparison: {document.reason}.")
    if points is not None:
        session.screen.note(check(document, points))


def check(document: Comparison, points: float) -> str:
    """Sentence when the contender is not worse by more than `points`; else raise `CheckFailed`.

    Raises `Conflict` where that cannot be decided.
    """
    test, metric = document.test, document.contender.metric
    gap = test.difference if test and test.difference is not None else document.mean
    if gap is None:
        raise Conflict(f"Whether this is a regression cannot be said: {document.reason or 'no common cell'}.")
    if metric["direction"] not in ("higher", "lower"):
        raise Conflict(f"Whether this is a regression cannot be said: {metric['name']} has no better end.")
    loss = -gap if metric["direction"] == "higher" else gap
    interval = test.interval if test else None
    by_chance = interval is not None and interval.low <= 0 <= interval.high
    within = f" [{interval.low:.4g}, {interval.high:.4g}]" if interval else ", of unknown noise"
    found = f"{with_unit(metric)} {gap:+.4g}{within}"
    if loss > points and not by_chance:
        raise CheckFailed(f"The contender is worse by more than {points:g}: {found}.")
    return f"The contender is not shown to be worse by more than {points:g}: {found}."
