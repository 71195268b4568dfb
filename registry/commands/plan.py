"""`registry plan`: how many trials would show a difference, and where they are spent best."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from registry.commands.arguments import Finite
from registry.commands.finding import Named, find_grid, is_grid, names_grids, one_scope
from registry.commands.page import coloured
from registry.commands.polling import polled, waits
from registry.commands.session import Session, asks_server
from registry.renderings.plan import page, sheet
from registry.results.codec import from_document
from registry.results.plans import Plan

_SHARE = Finite(0, 1, min_open=True, max_open=True)


@click.command()
@click.argument("sides", nargs=-1, metavar="[BASELINE CONTENDER]")
@names_grids
@click.option("--suite", metavar="NAME", help="Models: on the benchmarks of this suite.")
@click.option("--effect", type=Finite(), metavar="POINTS", help="The difference to show.  [default: the measured one]")
@click.option("--peak", metavar="GRID", help="Which cells of this grid to measure again to be sure of the best.")
@click.option("--claim", metavar="FILE|JSON", help="What decides this claim beyond noise.")
@click.option("--gate", nargs=2, metavar="BASELINE CONTENDER", help="What the contender lacks to pass.")
@click.option("--power", type=_SHARE, help="[default: 0.8]")
@click.option("--alpha", type=_SHARE, help="[default: 0.05]")
@click.option("--one-sided/--two-sided", "one_sided", default=None, help="[default: two-sided]")
@click.option("--budget", type=click.IntRange(1), metavar="TRIALS", help="Trials to split between the cells.")
@click.option("--item-limit", type=click.IntRange(1), metavar="N", help="Items that there are, if a trial is an item.")
@waits
@asks_server
def plan(session: Session, sides: tuple[str, ...], named: Named, seconds: float, **asked: Any) -> None:
    """Plan trials: the difference that could be found now, and what it takes to find a smaller one.

    Of two models, or two grids, from what is stored: registry plan -e E --metric M R1-Llama R1-Qwen. Or of what is
    judged: --claim and --gate.
    """
    settings = ("power", "alpha", "one_sided", "budget", "item_limit")
    body = {name: asked[name] for name in settings if asked[name] is not None}
    question = _question(session, sides, named, asked)
    path, sent = session.in_project("plan"), {"question": question, **body}
    told = polled(session, "plan", seconds, lambda headers: session.transport.call("POST", path, sent, headers=headers))
    found = from_document(Plan, told)
    session.screen.show(
        told,
        lambda: coloured(page(found), {}),
        lambda: sheet(found),
        essence=lambda: [] if found.needed is None else [str(found.needed.trials or found.needed.factor)],
    )


def _question(session: Session, sides: tuple[str, ...], named: Named, asked: dict[str, Any]) -> dict[str, Any]:
    of_kinds: dict[str, Callable[[Any], dict[str, Any]]] = {
        "peak": lambda grid: {"grid": find_grid(session, grid, named)},
        "claim": lambda text: {"claim": _claim(text)},
        "gate": lambda both: dict(zip(("baseline", "contender"), both, strict=True)),
    }
    kinds = [kind for kind in of_kinds if asked[kind] is not None]
    if len(kinds) + bool(sides) != 1 or (sides and len(sides) != 2):
        raise click.UsageError("Name two models or grids, or give one of --peak, --claim, --gate.")
    if kinds:
        return {"kind": kinds[0], **of_kinds[kinds[0]](asked[kinds[0]])}
    return {"kind": "separate", **_sides(session, sides, named, asked)}


def _claim(text: str) -> Any:
    """A claim as JSON, or from the file of this name."""
    try:
        return json.loads(text if text.lstrip().startswith("{") else Path(text).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise click.UsageError(f"--claim is neither JSON nor a file that holds it: {error}") from None


def _sides(session: Session, sides: tuple[str, ...], named: Named, asked: dict[str, Any]) -> dict[str, Any]:
    effect = {} if asked["effect"] is None else {"effect": asked["effect"]}
    places = ("baseline", "contender")
    if all(map(is_grid, sides)):
        grids = [find_grid(session, reference, named) for reference in sides]
        return dict(zip(places, grids, strict=True)) | effect
    scope = one_scope(session, {**named, "model": sides}, "planned")
    filters: dict[str, Any] = {kind: list(named[kind]) for kind in ("benchmark", "variant") if named[kind]}
    suite = {"suite": asked["suite"]} if asked["suite"] else {}
    models = {f"{place}_model": model for place, model in zip(places, sides, strict=True)}
    return {**scope, **models, **filters, **suite, **effect}
