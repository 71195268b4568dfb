"""`registry baseline`: set what contenders are judged against, show, list and delete it."""

from typing import Any, get_args

import click

from registry.commands.arguments import Finite
from registry.commands.finding import Named, names_grids, one_scope
from registry.commands.listing import show_rows
from registry.commands.session import Session, asks_server
from registry.renderings.numbers import rough
from registry.results.codec import from_document
from registry.results.gates import OLD_MISSING, Baseline, Looks, MarginUnit, MissingCells, Multiplicity, Per, PolicyKind
from results_registry.origin import segment

_COLUMNS = ("name", "experiment", "metric", "subject", "policy", "margin", "margin_unit", "per", "alpha", "version")


@click.group(name="baseline")
def baseline() -> None:
    """Set, show, list and delete baselines: what `registry gate` judges contenders against."""


@baseline.command(name="set")
@click.argument("name")
@click.argument("subject", metavar="[MODEL]", required=False)
@click.option("--along", metavar="LABEL", help="Judge each model against the one before: by a label, or `published`.")
@names_grids
@click.option("--kind", type=click.Choice(get_args(PolicyKind)), help="What must be shown.  [default: non_inferior]")
@click.option("--margin", type=Finite(), help="The loss that is allowed; of a floor the value.  [default: 0]")
@click.option("--margin-unit", type=click.Choice(get_args(MarginUnit)), help="[default: points]")
@click.option("--per", type=click.Choice(get_args(Per)), help="What is judged.  [default: overall]")
@click.option("--alpha", type=Finite(0, 0.5, min_open=True, max_open=True), help="[default: 0.05]")
@click.option("--multiplicity", type=click.Choice(get_args(Multiplicity)), help="[default: holm]")
@click.option(
    "--missing",
    type=click.Choice((*get_args(MissingCells), *OLD_MISSING)),
    help="What of missing cells.  [default: refuse]",
)
@click.option("--common-share", type=Finite(0, 1), help="matched: the least share of cells.  [default: 0.5]")
@click.option("--looks", type=click.Choice(get_args(Looks)), help="The level of stored verdicts.  [default: fixed]")
@click.option("--confirm", type=click.IntRange(1, 10), help="Failures in a row for an alert.  [default: 1]")
@click.option("--strict", is_flag=True, help="Refuse a policy that could not pass.")
@asks_server
def set_baseline(
    session: Session, name: str, subject: str | None, along: str | None, named: Named, strict: bool, **policy: Any
) -> None:
    """Make the baseline NAME of the current grids of MODEL, or change it; say whether its policy can pass."""
    if (subject is None) == (along is None):
        raise click.UsageError("Give either a MODEL or --along.")
    scope = one_scope(session, {**named, "model": (subject,) if subject else ()}, "judged")
    sent = {
        **scope,
        "benchmarks": list(named["benchmark"]),
        "variants": list(named["variant"]),
        "subject": {"model": subject} if subject else {"previous": True, "along": along},
        "policy": {key: value for key, value in policy.items() if value is not None},
        "strict": strict,
    }
    _show(session, session.transport.call("PUT", _path(session, name), sent).json())


@baseline.command(name="show")
@click.argument("name")
@asks_server
def show(session: Session, name: str) -> None:
    """Show the baseline NAME, and whether its policy can pass."""
    _show(session, session.transport.get(_path(session, name)))


def _show(session: Session, told: dict[str, Any]) -> None:
    show_rows(session, told, _COLUMNS, row=_row, essence="name")
    found = from_document(Baseline, told)
    if found.margin_shown_at_equal_scores is not None:
        shown = rough(found.margin_shown_at_equal_scores)
        session.screen.note(f"A contender with the same scores is shown not to lose more than {shown}.")
    if found.trials_to_decide_margin is not None:
        session.screen.note(f"With {found.trials_to_decide_margin:,} trials a cell it passes with probability 80 %.")
    for one in found.warnings or ():
        session.screen.note(one.detail)


@baseline.command(name="ls")
@asks_server
def list_all(session: Session) -> None:
    """List the baselines of a project."""
    found = list(session.transport.pages(session.in_project("baselines")))
    show_rows(session, found, _COLUMNS, "No baseline yet.", row=_row, essence="name")


@baseline.command(name="rm")
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask.")
@asks_server
def remove(session: Session, name: str, yes: bool) -> None:
    """Delete the baseline NAME with its versions."""
    if not yes:
        click.confirm(f"Delete the baseline {name} at {session.config.url} with its versions?", abort=True, err=True)
    session.transport.call("DELETE", _path(session, name))
    session.screen.note(f"Deleted the baseline {name}.")


def _path(session: Session, name: str) -> str:
    return session.in_project(f"baselines/{segment(name)}")


def _subject(told: dict[str, Any]) -> str:
    subject = told["subject"]
    if subject.get("previous"):
        return f"the model before, by {subject['along']}"
    return str(subject.get("model") or f"{len(subject['grids'])} pinned grids")


def _row(told: dict[str, Any]) -> list[Any]:
    policy = told["policy"]
    settings = [policy[name] for name in ("kind", "margin", "margin_unit", "per", "alpha")]
    return [told["name"], told["experiment"], told["metric"], _subject(told), *settings, told["policy_version"]]
