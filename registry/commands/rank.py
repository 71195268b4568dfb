"""Questions about several grids: `registry rank`, `table`, `plan`, `noise` and `floor`."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Any

import click

from registry.commands.arguments import Finite, Parameters, cuts_slices, of_an_instant, sets_aside, since_an_instant
from registry.commands.finding import Named, find_grid, is_grid, names_grids, one_scope, only
from registry.commands.page import until
from registry.commands.screen import rows_of_csv
from registry.commands.session import Failed, NotDefined, Session, asks_server, awaited, polled, waits
from registry.errors import TryLater
from registry.query import METHODS, MISSING, REDUCTIONS, SLOT_POLICIES, TARGETS
from registry.renderings import aggregates as tables
from registry.renderings import plan as plans
from registry.renderings import ranking as rankings
from registry.renderings import repeat_noise
from registry.renderings.sheet import Block, forms
from registry.results.aggregates import Aggregates
from registry.results.codec import from_document
from registry.results.plans import Plan
from registry.results.ranking import Ranking
from registry.results.repeat_noise import RepeatNoise


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
    question |= one_scope(session, named, "ranked", *_NAMES) | at
    document = awaited(session, session.in_project("rankings"), "ranking", seconds, **question)
    found = from_document(Ranking, document)

    def page() -> Iterator[Block]:
        told = rankings.page(found, tuple(_of_other_targets(session, found, question, seconds)))
        return told if full else until(told, lambda part: part.level == 2)

    session.screen.show(
        document,
        page,
        lambda: rows_of_csv(rankings.ranking_csv(found)),
        least=rankings.YIELDS,
        essence=lambda: [one.name for one in found.ranking if one.rank is not None],
    )
    if all(one.rank is None for one in found.ranking):
        raise NotDefined(f"There is no ranking: {found.reason or found.status}.")


def _of_other_targets(
    session: Session, ranking: Ranking, question: Mapping[str, Any], seconds: float
) -> Iterator[Ranking]:
    """The same ranking by its other targets, from the narrowest on, as far as they are there within a second."""
    for target in TARGETS:
        if target != ranking.target and ranking.by != "benchmark":
            asked = {**question, "target": target, "pairs_of": None}
            try:
                other = awaited(session, session.in_project("rankings"), "ranking", min(1, seconds), **asked)
            except (Failed, TryLater):
                continue
            yield from_document(Ranking, other)


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


@click.command()
@click.argument("experiment")
@click.argument("metric")
@lays_out
@click.option("--value", type=click.Choice(REDUCTIONS), help="What becomes of all other cells.  [default: mean]")
@click.option("--missing", type=click.Choice(SLOT_POLICIES), help="Which slots count.  [default: matched]")
@sets_aside
@click.option("--alpha", type=Finite(0, 1, min_open=True, max_open=True), help="[default: 0.05]")
@click.option("--sort", metavar="mean|name|COLUMN", help="The order of rows that are names.  [default: mean]")
@only("benchmark")
@only("model")
@only("variant")
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
        written = {**forms(tables.page), "csv": tables.aggregates_csv}
        click.echo(written[{"markdown": "md", "latex": "tex"}.get(form, form)](found), nl=False)
    else:
        session.screen.show(document, lambda: tables.page(found), lambda: rows_of_csv(tables.aggregates_csv(found)))
    if found.status != "ok":
        raise NotDefined(f"There is no table: {found.reason or found.status}.")


def _group_by(each: str | None, rows: str, columns: str | None) -> list[str]:
    given = [_dimension(one) for one in (each, rows) if one]
    if columns is None:
        return [*given, *(["benchmark"] if "benchmark" not in given else [])]
    return given if columns == _NONE else [*given, _dimension(columns)]


def _dimension(name: str) -> str:
    """The word of the API: an axis may be named without its prefix."""
    return name if name in _NAMES or name.startswith(tables.AXIS) else f"{tables.AXIS}{name}"


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
    scope = one_scope(session, named, "asked about", *_NAMES)
    asked = {} if alpha is None else {"alpha": alpha}
    document = awaited(session, session.in_project("noise"), "noise", seconds, **scope, **at, **asked)
    found = from_document(RepeatNoise, document)
    session.screen.show(
        document,
        lambda: repeat_noise.page(found),
        lambda: repeat_noise.rows(found),
        essence=lambda: [one.benchmark for one in found.benchmarks if one.status == "ok"],
    )
    if found.status != "ok":
        raise NotDefined(f"Nothing is known of the noise between repeats: {found.reason}.")


@click.command()
@names_grids
@cuts_slices
@waits
@asks_server
def floor(session: Session, named: Named, seconds: float, at: Parameters) -> None:
    """Show from where on one more run of a model is worse than chance, by the runs that it has: a threshold for CI.

    Of every cell with repeats of the models that are named: 1 % of the runs of an unchanged model fall below its floor,
    and the drop that it finds with 80 % is said. Push the runs with --repeats.
    """
    scope = one_scope(session, named, "asked about", *_NAMES)
    if not scope.get("model"):
        raise click.UsageError("Say whose runs set the floor: --model NAME.")
    document = awaited(session, session.in_project("noise"), "noise", seconds, **scope, **at)
    found = from_document(RepeatNoise, document)
    session.screen.show(
        document,
        lambda: iter([repeat_noise.floors(found)]),
        lambda: repeat_noise.rows_of_floors(found),
        essence=lambda: [f"{one.limit:.6g}" for one in found.floors],
    )
    if not found.floors:
        raise NotDefined("No cell has repeats that differ, by a metric with a better end.")


_SHARE = Finite(0, 1, min_open=True, max_open=True)


@click.command()
@click.argument("sides", nargs=-1, metavar="[BASELINE CONTENDER]")
@names_grids
@click.option("--suite", metavar="NAME", help="Models: on the benchmarks of this suite.")
@click.option("--effect", type=Finite(), metavar="POINTS", help="The difference to show.  [default: the measured one]")
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
        lambda: plans.page(found),
        lambda: plans.sheet(found),
        essence=lambda: [] if found.needed is None else [str(found.needed.trials or found.needed.factor)],
    )


def _question(session: Session, sides: tuple[str, ...], named: Named, asked: dict[str, Any]) -> dict[str, Any]:
    of_kinds: dict[str, Callable[[Any], dict[str, Any]]] = {
        "claim": lambda text: {"claim": _claim(text)},
        "gate": lambda both: dict(zip(("baseline", "contender"), both, strict=True)),
    }
    kinds = [kind for kind in of_kinds if asked[kind] is not None]
    if len(kinds) + bool(sides) != 1 or (sides and len(sides) != 2):
        raise click.UsageError("Name two models or grids, or give one of --claim, --gate.")
    if kinds:
        return {"kind": kinds[0], **of_kinds[kinds[0]](asked[kinds[0]])}
    return {"kind": "separate", **_sides(session, sides, named, asked)}


def _claim(text: str) -> Any:
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
    kinds = [kind for kind in ("benchmark", "variant") if named[kind]]
    scope = one_scope(session, {**named, "model": sides}, "planned", *kinds)
    suite = {"suite": asked["suite"]} if asked["suite"] else {}
    models = {f"{place}_model": model for place, model in zip(places, sides, strict=True)}
    return {**scope, **models, **suite, **effect}
