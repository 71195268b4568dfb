"""`registry gate`: is a contender shown to be as good as a baseline? The exit status says so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from registry.commands.polling import Failed, polled, waits
from registry.commands.session import Session, asks_server
from registry.commands.status import CHECK_FAILED, UNDECIDED
from registry.errors import TryLater
from registry.renderings.gate import FORMATS, Case, page
from registry.results.codec import from_document
from registry.results.gates import Gate
from results_registry.errors import Refused
from results_registry.origin import segment
from results_registry.response import Answer

_INCONCLUSIVE = {"pass": 0, "fail": CHECK_FAILED}


@click.command()
@click.argument("baseline")
@click.argument("contender")
@click.option(
    "--inconclusive",
    type=click.Choice(list(_INCONCLUSIVE)),
    help="The status where neither a pass nor a failure is shown.  [default: 6]",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(("json", *FORMATS)),
    default="text",
    show_default=True,
    help="JUnit XML, or annotations of a GitHub workflow.",
)
@waits
@asks_server
def gate(session: Session, baseline: str, contender: str, inconclusive: str | None, form: str, seconds: float) -> None:
    """Judge CONTENDER by the policy of BASELINE: a model, the id of a grid, or a JSON file that is not published.

    Exit status: 0 it passes; 3 it is shown not to; 6 neither is shown, nothing can be compared, or no answer is there
    yet; 5 the registry does not answer. --inconclusive is for the first of these: what cannot be compared is no pass.
    """
    case = _judged(session, baseline, contender, seconds)
    told = case.document
    if session.screen.json or form == "json":
        session.screen.show_json(told if told is not None else {"verdict": case.verdict, "sentence": case.sentence})
    else:
        click.echo(page(case, form), nl=False)
    status = _status(case, inconclusive)
    if status:
        raise SystemExit(status)


def _judged(session: Session, baseline: str, contender: str, seconds: float) -> Case:
    """The verdict; `pending` where it is not there in time, `not_comparable` where nothing has the contender's name."""
    path = session.in_project(f"baselines/{segment(baseline)}/gate")
    body = _unpublished(contender)

    def ask(headers: Any) -> Answer:
        if body is None:
            return session.transport.call("GET", path, query={"contender": contender}, headers=headers)
        return session.transport.call("POST", path, body, headers=headers)

    try:
        told = polled(session, "verdict", seconds, ask)
    except TryLater as error:
        return Case(baseline, contender, "pending", None, error.detail)
    except Failed as error:
        return Case(baseline, contender, "failed", None, error.detail)
    except Refused as error:
        detail = dict(error.errors).get("/contender", "")
        if not detail.startswith("no grid"):
            raise
        return Case(baseline, contender, "not_comparable", None, f"There is nothing to judge: {detail}.")
    found = from_document(Gate, told)
    return Case(baseline, contender, found.verdict, found.passes, found.sentence, found, told)


def _unpublished(contender: str) -> Any:
    """The grid in a file of this name; None where the contender is no file."""
    if not contender.endswith(".json"):
        return None
    try:
        return json.loads(Path(contender).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise click.UsageError(f"{contender} is no grid as JSON: {error}") from None


def _status(case: Case, inconclusive: str | None) -> int:
    if case.passes is not None:
        return 0 if case.passes else CHECK_FAILED
    if case.is_undecided and inconclusive is not None:
        return _INCONCLUSIVE[inconclusive]
    return UNDECIDED
