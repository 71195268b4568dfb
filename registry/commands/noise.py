"""`registry noise`: how much values vary when nothing was changed."""

from __future__ import annotations

import click

from registry.commands.arguments import Finite, Parameters, cuts_slices
from registry.commands.finding import Named, names_grids, one_scope
from registry.commands.page import coloured
from registry.commands.polling import NotDefined, awaited, waits
from registry.commands.session import Session, asks_server
from registry.renderings.repeat_noise import page, rows
from registry.results.codec import from_document
from registry.results.repeat_noise import RepeatNoise


@click.command()
@names_grids
@click.option("--alpha", type=Finite(0, 1, min_open=True, max_open=True), help="[default: 0.05]")
@cuts_slices
@waits
@asks_server
def noise(session: Session, named: Named, alpha: float | None, seconds: float, at: Parameters) -> None:
    """Show by how much values vary between repeats of one cell, and how much of that their trials explain.

    A difference smaller than that needs more repeats. On each benchmark of one experiment, by one metric.
    """
    filters = {kind: list(named[kind]) for kind in ("benchmark", "model", "variant")}
    scope = one_scope(session, named, "asked about")
    asked = {} if alpha is None else {"alpha": alpha}
    document = awaited(session, session.in_project("noise"), "noise", seconds, **scope, **filters, **at, **asked)
    found = from_document(RepeatNoise, document)
    session.screen.show(
        document,
        lambda: coloured(page(found), {}),
        lambda: rows(found),
        essence=lambda: [one.benchmark for one in found.benchmarks if one.status == "ok"],
    )
    if found.status != "ok":
        raise NotDefined(f"Nothing is known of the noise: {found.reason}.")
