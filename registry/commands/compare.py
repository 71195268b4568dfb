"""What differs between two models, grids or files: `registry compare` and `flips`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import click

from registry.commands.arguments import Finite, Parameters, cuts_slices, of_an_instant
from registry.commands.finding import KINDS, Named, find_grid, find_grids, is_grid, names_grids, one_scope
from registry.commands.page import until
from registry.commands.pushing import all_of, is_file
from registry.commands.screen import rows_of_csv
from registry.commands.session import NotDefined, Session, asks_server, awaited, waits
from registry.errors import NotFound
from registry.importers.mapping_file import read_mapping
from registry.importers.reading import Sources, with_warnings
from registry.renderings import comparison as of_grids
from registry.renderings import comparison_of_models as of_two_models
from registry.renderings.table import Column, Table
from registry.results.codec import from_document
from registry.results.comparison import Comparison, ModelComparison

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
