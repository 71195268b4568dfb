"""`registry rank`: rank models, variants or levels on the cells that all of them were measured on."""

from __future__ import annotations

from typing import Any

import click

from registry.commands.arguments import Finite, Parameters, cuts_slices, of_an_instant, sets_aside, since_an_instant
from registry.commands.finding import Named, names_grids, one_scope
from registry.commands.page import Style, coloured, until
from registry.commands.polling import NotDefined, awaited, waits
from registry.commands.screen import rows_of_csv
from registry.commands.session import Session, asks_server
from registry.commands.statistics import sign
from registry.query import METHODS, MISSING, TARGETS
from registry.renderings.ranking import page, ranking_csv
from registry.results.codec import from_document
from registry.results.ranking import Ranking

_COLOURS = ("green", "cyan", "yellow", "magenta", "blue", "red")
_LEAST = ("losses", "ties", "wins", "one benchmark less", "one model less", "cells", "stderr", "could show")
_STYLES: dict[str, Style] = {
    "group": lambda letters: _COLOURS[(ord(letters[0]) - ord("A")) % len(_COLOURS)] if letters[:1].isupper() else "",
    "rank": lambda rank: "bold" if rank == "1" else "",
    "score": sign,
    "difference": sign,
    "now less then": sign,
    "lead": sign,
}


@click.command()
@names_grids
@click.option("--by", metavar="model|variant|benchmark|axis:NAME", help="What is ranked.  [default: model]")
@click.option("--method", type=click.Choice(METHODS), help="What the order is by.  [default: mean_difference]")
@click.option("--missing", type=click.Choice(MISSING), help="What missing cells count for.  [default: matched]")
@sets_aside
@click.option("--alpha", type=Finite(0, 1, min_open=True, max_open=True), help="[default: 0.05]")
@click.option(
    "--target",
    type=click.Choice(TARGETS),
    help="These cells run again, other questions, or other benchmarks?  [default: rerun]",
)
@click.option("--suite", metavar="NAME", help="The benchmarks of this suite of the project.")
@click.option("--pairs-of", metavar="NAME", help="With --full: the pairs of this name.  [default: all of few names]")
@click.option("--full", is_flag=True, help="Also the pairs behind the order, and how other policies would order.")
@cuts_slices
@of_an_instant
@since_an_instant
@waits
@asks_server
def rank(session: Session, named: Named, full: bool, seconds: float, at: Parameters, **question: Any) -> None:
    """Rank models, variants, benchmarks (the hardest last) or the levels of an axis.

    One experiment and one metric are ranked; which ones need not be said where the project has no others.
    """
    filters = {kind: list(named[kind]) for kind in ("benchmark", "model", "variant")}
    scope = one_scope(session, named, "ranked")
    document = awaited(
        session, session.in_project("rankings"), "ranking", seconds, **scope, **filters, **at, **question
    )
    found = from_document(Ranking, document)
    session.screen.show(
        document,
        lambda: coloured(page(found) if full else until(page(found), lambda part: part.level == 2), _STYLES),
        lambda: rows_of_csv(ranking_csv(found)),
        least=_LEAST,
        essence=lambda: [one.name for one in found.ranking if one.rank is not None],
    )
    if all(one.rank is None for one in found.ranking):
        raise NotDefined(f"There is no ranking: {found.reason or found.status}.")
