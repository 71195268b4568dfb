"""Questions about several grids: `registry rank`, `table`, `compare`, `flips`, `plan`, `noise` and `floor`."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from pathlib import Path
from typing import Any

import click

from registry.commands.arguments import Finite, Parameters, cuts_slices, of_an_instant, sets_aside, since_an_instant
from registry.commands.finding import KINDS, Named, find_grid, find_grids, is_grid, names_grids, one_scope, only
from registry.commands.page import until
from registry.commands.pushing import all_of, is_file
from registry.commands.screen import rows_of_csv
from registry.commands.session import NotDefined, Session, asks_server, awaited, polled, waits
from registry.errors import NotFound
from registry.importers.mapping_file import read_mapping
from registry.importers.reading import Sources, with_warnings
from registry.query import METHODS, MISSING, REDUCTIONS, SLOT_POLICIES, TARGETS
from registry.renderings import aggregates as tables
from registry.renderings import comparison as of_grids
from registry.renderings import comparison_of_models as of_two_models
from registry.renderings import plan as plans
from registry.renderings import ranking as rankings
from registry.renderings import repeat_noise
from registry.renderings.sheet import forms
from registry.renderings.table import Column, Table
from registry.results.aggregates import Aggregates
from registry.results.codec import from_document
from registry.results.comparison import Comparison, ModelComparison
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
    scope = one_scope(session, named, "ranked", *_NAMES)
    document = awaited(session, session.in_project("rankings"), "ranking", seconds, **scope, **at, **question)
    found = from_document(Ranking, document)
    session.screen.show(
        document,
        lambda: rankings.page(found) if full else until(rankings.page(found), lambda part: part.level == 2),
        lambda: rows_of_csv(rankings.ranking_csv(found)),
        least=rankings.YIELDS,
        essence=lambda: [one.name for one in found.ranking if one.rank is not None],
    )
    if all(one.rank is None for one in found.ranking):
        raise NotDefined(f"There is no ranking: {found.reason or found.status}.")


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
        raise NotDefined(f"Nothing is known of the noise: {found.reason}.")


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


_LEAST = ("ties", "wins", "losses", "median", "Holm p", "could show")


@click.command()
@click.argument("baseline")
@click.argument("contender")
@names_grids
@click.option("--suite", metavar="NAME", help="Models: on the benchmarks of this suite of the project.")
@click.option("--baseline-variant", metavar="NAME", help="Models: the baseline's variant.")
@click.option("--contender-variant", metavar="NAME", help="Models: the contender's variant.")
@click.option("--alpha", type=Finite(0, 1, min_open=True, max_open=True), help="[default: 0.05]")
@click.option("--full", is_flag=True, help="Grids: also every cell.")
@click.option("--mapping", metavar="FILE|NAME", help="A file: a TOML file that says how it is read.")
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
    full: bool,
    mapping: str | None,
    seconds: float,
    at: Parameters,
    **of_models: str | None,
) -> None:
    """Compare two models or two grids: contender less baseline, on the cells that both have.

    Models by name, over all benchmarks and on each: registry compare -e E --metric M R1-Llama R1-Qwen. Grids by an id,
    its first characters, or names: registry compare -b AMC23 model=R1-Llama model=R1-Qwen. A CONTENDER that is a file
    is read as by `registry push`, its names from the options where it lacks them, and each of its grids is compared
    with that of the baseline, a model or a grid; nothing is published.
    """
    asked = {"alpha": alpha, **at}
    if is_file(contender):
        if given := [name for name, value in (*of_models.items(), *at.items()) if value]:
            raise click.UsageError(f'"{given[0]}" is about what is published; a file is compared whole.')
        _compare_unpublished(session, baseline, _grids_of(contender, named, mapping), alpha, seconds, full=full)
        return
    if is_grid(baseline) != is_grid(contender):
        one, other = (baseline, contender) if is_grid(baseline) else (contender, baseline)
        raise click.UsageError(f'"{one}" is a grid and "{other}" a model: compare two of either.')
    if is_grid(baseline):
        if given := [name for name, value in of_models.items() if value is not None]:
            raise click.UsageError(f"--{given[0].replace('_', '-')} is for models, and these are grids.")
        ids = [find_grid(session, reference, named) for reference in (baseline, contender)]
        question: dict[str, Any] = {"baseline": ids[0], "contender": ids[1], **asked}
    else:
        if full or named["model"]:
            raise click.UsageError("Two models are compared: --full and --model are for grids.")
        scope = one_scope(session, {**named, "model": (baseline, contender)}, "compared", "benchmark", "variant")
        models = {"baseline_model": baseline, "contender_model": contender}
        question = {**scope, **models, **of_models, **asked}
    told = awaited(session, session.in_project("comparisons"), "comparison", seconds, **question)
    if is_grid(baseline):
        obstacle = _show_grids(session, told, full=full)
    else:
        document = from_document(ModelComparison, told)
        parts, csv = of_two_models.page(document), partial(of_two_models.model_comparison_csv, document)
        _show(session, told, parts, csv)
        obstacle = None if document.whole else f"There is no comparison: {document.reason}."
    if obstacle is not None:
        raise NotDefined(obstacle)


def _show_grids(session: Session, told: dict[str, Any], *, full: bool) -> str | None:
    """Show a comparison of two grids; return why there is none, if so."""
    document = from_document(Comparison, told)
    parts, csv = of_grids.page(document), partial(of_grids.comparison_csv, document)
    parts = parts if full else until(parts, lambda part: part.text == "Cells")
    _show(session, told, parts, csv)
    return f"There is no comparison: {document.reason}." if document.status == "not_comparable" else None


def _show(session: Session, told: Any, parts: Any, csv: Callable[[], str]) -> None:
    session.screen.show(told, lambda: parts, lambda: rows_of_csv(csv()), least=_LEAST, essence=list)


def _grids_of(file: str, named: Named, mapping: str | None) -> list[dict[str, Any]]:
    """The grids of a file, read by a mapping if there is one, with the names that it lacks."""
    mapped = Sources() if mapping is None else read_mapping(mapping)
    given: dict[str, Any] = {kind: names[0] for kind, names in named.items() if names}
    read = replace(mapped, names=(file,), wanted=replace(mapped.wanted, **given))
    return [with_warnings(one.found) for one in all_of(read, "compared")]


def _compare_unpublished(
    session: Session,
    baseline: str,
    bodies: Sequence[dict[str, Any]],
    alpha: float | None,
    seconds: float,
    *,
    full: bool,
) -> None:
    """Compare each grid with the baseline's, which has its other names where it is called by names."""
    found, without = [], []
    for body in bodies:
        own = {kind: [body.get(kind, "")] for kind in KINDS} | {"metric": [body["metric"]["name"]]}
        reference = baseline if is_grid(baseline) else f"model={baseline}"
        try:
            found.append((find_grid(session, reference, own if "=" in reference else {}), body))
        except NotFound as error:
            without.append(error.detail)
    path = session.in_project("comparisons")
    told = [
        awaited(session, path, "comparison", seconds, body=body, baseline=grid, alpha=alpha) for grid, body in found
    ]
    if session.screen.json and len(told) > 1:
        session.screen.show_json(told)
        told = []
    obstacles = [*without, *filter(None, [_show_grids(session, one, full=full) for one in told])]
    if obstacles:
        raise NotDefined("\n".join(obstacles))


@click.command()
@click.argument("grids", nargs=-1, metavar="[BASELINE CONTENDER]")
@names_grids
@click.option("--revision", type=click.IntRange(1), help="Of the baseline, an older revision.")
@asks_server
def flips(session: Session, grids: tuple[str, ...], named: Named, revision: int | None) -> None:
    """Show which questions flipped between two grids, or between a revision of a grid and the current one.

    By the ids of the items, of every cell with outcomes of the same set in both: gained by the contender, and lost.
    Without grids: which questions of a --benchmark no model solves (dead), all do (saturated), and which decide.
    """
    if len(grids) == 2:
        one, other = (find_grid(session, reference, named) for reference in grids)
        told = session.transport.get(f"grids/{other}/items", against=one, against_revision=revision)
        cells, about = told["flips"], _of_pair
    elif not grids and len(named["benchmark"]) == 1 and revision is None:
        scope = one_scope(session, named, "asked about", "benchmark", "model")
        first = next(find_grids(session, scope, limit=1))["id"]
        told = session.transport.get(f"grids/{first}/items", life=True, model=named["model"])
        cells, about = told["life"], _of_all
    else:
        raise click.UsageError("Name two grids, or none and one --benchmark.")
    if not cells:
        raise NotDefined("No cell has outcomes of the same items.")
    kinds = ("gained", "lost") if grids else ("dead", "saturated", "deciding")
    where = [", ".join(f"{axis} {level}" for axis, level in cell["at"].items()) for cell in cells]
    rows = [(at, kind, item) for at, cell in zip(where, cells, strict=True) for kind in kinds for item in cell[kind]]
    heading = ("cell", "how", "item")
    table = Table(tuple(Column(name, [row[n] for row in rows]) for n, name in enumerate(heading)))
    counts = [", ".join(f"{len(cell[kind]):,} {kind}" for kind in kinds) for cell in cells]
    said = [f"{at}{': ' * bool(at)}{count}{about(cell)}." for at, count, cell in zip(where, counts, cells, strict=True)]
    session.screen.show(told, lambda: (table, *said) if grids else said, lambda: (heading, rows))


def _of_pair(cell: Mapping[str, Any]) -> str:
    if cell.get("agreement") is None:
        return ""
    beyond = "kappa is not defined, as one side says the same of all items"
    if cell["kappa"] is not None:
        beyond = f"kappa {cell['kappa']:.3f} (standard error {cell['kappa_stderr']:.3f})"
    agree = f"; {cell['agreement']:.1%} agree, {beyond}"
    needed = f"; {cell['needed']:,} that differ so would show it" if cell["needed"] else ""
    return agree + needed


def _of_all(cell: Mapping[str, Any]) -> str:
    return f", over {cell['grids']} grids; up to {cell['solved_at_most']:.0%} of such models may solve even a dead one"


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
