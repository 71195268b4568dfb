"""`registry compare`: the difference between two grids, or two models, and whether it is a regression."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from registry.commands.arguments import Finite, Parameters, cuts_slices, of_an_instant
from registry.commands.finding import Named, find_grid, is_grid, names_grids, one_scope
from registry.commands.group import CheckFailed
from registry.commands.page import coloured, until
from registry.commands.polling import NotDefined, awaited, waits
from registry.commands.screen import rows_of_csv
from registry.commands.session import Session, asks_server
from registry.commands.statistics import sign
from registry.errors import Conflict
from registry.renderings.comparison import comparison_csv, page
from registry.renderings.comparison_of_models import model_comparison_csv
from registry.renderings.comparison_of_models import page as page_of_models
from registry.renderings.words import with_unit
from registry.results.codec import from_document
from registry.results.comparison import Comparison
from registry.results.grid import PostedMetric
from registry.results.model_comparison import ModelComparison
from registry.results.terms import Interval

_LEAST = ("ties", "wins", "losses", "median", "Holm p", "could show")
_STYLES = dict.fromkeys(("gap", "mean", "median", "difference"), sign)


@click.command()
@click.argument("baseline")
@click.argument("contender")
@names_grids
@click.option("--suite", metavar="NAME", help="Models: on the benchmarks of this suite of the project.")
@click.option("--baseline-variant", metavar="NAME", help="Models: the baseline's variant.")
@click.option("--contender-variant", metavar="NAME", help="Models: the contender's variant.")
@click.option("--alpha", type=Finite(0, 1, min_open=True, max_open=True), help="[default: 0.05]")
@click.option(
    "--fail-on-regression", "points", type=Finite(0), metavar="POINTS",
    help="Exit with 3 when the contender is worse by more than so many points, and not by chance.",
)  # fmt: skip
@click.option("--full", is_flag=True, help="Grids: also every cell.")
@cuts_slices
@of_an_instant
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
    **of_models: str | None,
) -> None:
    """Compare two models or two grids: contender less baseline, on the cells that both have.

    Models by name, over all benchmarks and on each: registry compare -e E --metric M R1-Llama R1-Qwen. Grids by an id,
    its first characters, or names: registry compare -b AMC23 model=R1-Llama model=R1-Qwen.

    With --fail-on-regression the exit status is 3 when the gap, that over all benchmarks for models, is a loss of more
    than POINTS and its interval excludes zero. Where no interval can be computed the gap alone decides.
    """
    asked = {"alpha": alpha, **at}
    if is_grid(baseline) != is_grid(contender):
        one, other = (baseline, contender) if is_grid(baseline) else (contender, baseline)
        raise click.UsageError(f'"{one}" is a grid and "{other}" a model: compare two of either.')
    if is_grid(baseline):
        if given := [name for name, value in of_models.items() if value is not None]:
            raise click.UsageError(f"--{given[0].replace('_', '-')} is for models, and these are grids.")
        ids = [find_grid(session, reference, named) for reference in (baseline, contender)]
        _compare_grids(session, {"baseline": ids[0], "contender": ids[1], **asked}, seconds, points, full=full)
        return
    if full or named["model"]:
        raise click.UsageError("Two models are compared: --full and --model are for grids.")
    scope = one_scope(session, {**named, "model": (baseline, contender)}, "compared")
    filters = {kind: list(named[kind]) for kind in ("benchmark", "variant")}
    models = {"baseline_model": baseline, "contender_model": contender}
    _compare_models(session, {**scope, **models, **filters, **of_models, **asked}, seconds, points)


def _compare_grids(
    session: Session, question: Mapping[str, Any], seconds: float, points: float | None, *, full: bool
) -> None:
    told = awaited(session, session.in_project("comparisons"), "comparison", seconds, **question)
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


def _compare_models(session: Session, question: Mapping[str, Any], seconds: float, points: float | None) -> None:
    told = awaited(session, session.in_project("comparisons"), "comparison", seconds, **question)
    document = from_document(ModelComparison, told)
    session.screen.show(
        told,
        lambda: coloured(page_of_models(document), _STYLES),
        lambda: rows_of_csv(model_comparison_csv(document)),
        least=_LEAST,
        essence=list,
    )
    if document.whole is None and points is None:
        raise NotDefined(f"There is no comparison: {document.reason}.")
    if points is not None:
        session.screen.note(check_models(document, points))


def check(document: Comparison, points: float) -> str:
    """Sentence when the contender is not worse by more than `points`; else raise `CheckFailed`.

    Raises `Conflict` where that cannot be decided.
    """
    test = document.test
    gap = test.difference if test and test.difference is not None else document.mean
    reason = document.reason or "no common cell"
    return _verdict(gap, test.interval if test else None, document.contender.metric, reason, points)


def check_models(document: ModelComparison, points: float) -> str:
    """The same of two models, by the difference over all benchmarks."""
    whole = document.whole
    reason = document.reason or (whole and whole.reason) or "values of different scales have no difference"
    gap, interval = (whole.difference, whole.interval) if whole else (None, None)
    return _verdict(gap, interval, document.metric, reason, points)


def _verdict(gap: float | None, interval: Interval | None, metric: PostedMetric, reason: str, points: float) -> str:
    if gap is None:
        raise Conflict(f"Whether this is a regression cannot be said: {reason}.")
    if metric.get("direction") not in ("higher", "lower"):
        raise Conflict(f"Whether this is a regression cannot be said: {metric['name']} has no better end.")
    loss = -gap if metric["direction"] == "higher" else gap
    by_chance = interval is not None and interval.low <= 0 <= interval.high
    within = f" [{interval.low:.4g}, {interval.high:.4g}]" if interval else ", of unknown noise"
    found = f"{with_unit(metric)} {gap:+.4g}{within}"
    if loss > points and not by_chance:
        raise CheckFailed(f"The contender is worse by more than {points:g}: {found}.")
    safe = interval is not None and _largest_loss(interval, metric) <= points
    doubt = "" if safe else ", and is not shown to be safe"
    return f"The contender is not shown to be worse by more than {points:g}{doubt}: {found}."


def _largest_loss(interval: Interval, metric: PostedMetric) -> float:
    """The largest loss that the interval leaves open."""
    return -interval.low if metric["direction"] == "higher" else interval.high
