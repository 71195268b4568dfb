"""`registry rank`: rank models, variants or levels on the cells that all of them were measured on."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from shlex import quote
from typing import Any

import click

from registry.commands.grids import KINDS, Named, find_grids, names_grids
from registry.commands.polling import NotDefined, awaited, waits
from registry.commands.screen import coloured, until
from registry.commands.screen.screen import rows_of_csv
from registry.commands.screen.styled_table import Style
from registry.commands.session import Session, asks_server
from registry.commands.slices import Parameters, cuts_slices
from registry.commands.statistics import sign
from registry.errors import NotFound
from registry.query import METHODS, MISSING, TARGETS
from registry.renderings.ranking import page, ranking_csv
from registry.results.codec import from_document
from registry.results.ranking import Ranking

_ASKED = 64
"""Largest number of pairs of an experiment and a metric that are queried one by one."""
_COLOURS = ("green", "cyan", "yellow", "magenta", "blue", "red")
_LEAST = ("losses", "ties", "wins", "one benchmark less", "cells", "stderr", "could show")
_STYLES: dict[str, Style] = {
    "group": lambda letters: _COLOURS[(ord(letters[0]) - ord("A")) % len(_COLOURS)] if letters[:1].isupper() else "",
    "rank": lambda rank: "bold" if rank == "1" else "",
    "score": sign,
    "difference": sign,
    "lead": sign,
}


@click.command()
@names_grids
@click.option("--by", metavar="model|variant|axis:NAME", help="What is ranked.  [default: model]")
@click.option("--method", type=click.Choice(METHODS), help="What the order is by.  [default: mean_difference]")
@click.option("--missing", type=click.Choice(MISSING), help="What missing cells count for.  [default: matched]")
@click.option("--alpha", type=click.FloatRange(0, 1, min_open=True, max_open=True), help="[default: 0.05]")
@click.option(
    "--target",
    type=click.Choice(TARGETS),
    help="These cells run again, other questions, or other benchmarks?  [default: rerun]",
)
@click.option("--suite", metavar="NAME", help="The benchmarks of this suite of the project.")
@click.option("--pairs-of", metavar="NAME", help="With --full: the pairs of this name.  [default: all of few names]")
@click.option("--full", is_flag=True, help="Also the pairs behind the order, and how other policies would order.")
@cuts_slices
@waits
@asks_server
def rank(session: Session, named: Named, full: bool, seconds: float, at: Parameters, **question: Any) -> None:
    """Rank models, variants or the levels of an axis.

    One experiment and one metric are ranked; which ones need not be said where the project has no others.
    """
    filters = {kind: list(named[kind]) for kind in ("benchmark", "model", "variant")}
    scope = _scope(session, named)
    document = awaited(
        session, session.in_project("rankings"), "ranking", seconds, **scope, **filters, **at, **question
    )
    found = from_document(Ranking, document)
    session.screen.show(
        document,
        lambda: coloured(page(found) if full else until(page(found), lambda part: part.level == 2), _STYLES),
        lambda: rows_of_csv(ranking_csv(found)),
        least=_LEAST,
        essence=lambda: [one.name for one in found.ranking],
    )
    if not found.ranking:
        raise NotDefined(f"There is no ranking: {found.reason or found.status}.")


def _scope(session: Session, named: Named) -> dict[str, str]:
    """Experiment and metric to rank; `NotFound` with the choices where there are several."""
    for kind in ("experiment", "metric"):
        if len(named[kind]) > 1:
            raise click.UsageError(f"A ranking is of one {kind}; --{kind} is given {len(named[kind])} times.")
    if named["experiment"] and named["metric"]:
        return {"experiment": named["experiment"][0], "metric": named["metric"][0]}
    pairs = _pairs(session, named)
    if len(pairs) == 1:
        return dict(zip(("experiment", "metric"), pairs[0], strict=True))
    if not pairs:
        raise NotFound(f"No grid in {session.project} at {session.config.url} fits; `registry ls` lists them.")

    listed = "\n".join(f"  -e {quote(one)} --metric {quote(other)}" for one, other in itertools.islice(pairs, 20))
    raise NotFound(f"Say which of these {len(pairs)} is ranked:\n{listed}")


def _pairs(session: Session, named: Named) -> list[tuple[str, str]]:
    """Experiments with the metrics of their grids: queried pair by pair if those are few, else grid by grid."""
    choices = [list(named[kind]) or _names(session, kind) for kind in ("experiment", "metric")]
    pairs = list(itertools.product(*choices))
    if len(pairs) > _ASKED:
        grids = find_grids(session, _kinds(named))
        return list(dict.fromkeys((one["experiment"], one["metric"]["name"]) for one in grids))
    queries = [({**_kinds(named), "experiment": (one,), "metric": (other,)}, (one, other)) for one, other in pairs]
    return [pair for query, pair in queries if next(find_grids(session, query, limit=1), None) is not None]


def _names(session: Session, kind: str) -> list[str]:
    """The first names of a kind in use; more are not needed for a message."""
    listed = session.transport.get(session.in_project(f"{kind}s"), limit=_ASKED + 1)["items"]
    return [str(one["name"]) for one in listed]


def _kinds(named: Named) -> dict[str, Sequence[str]]:
    return {kind: named[kind] for kind in KINDS}
