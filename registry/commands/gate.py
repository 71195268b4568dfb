"""`registry gate`: is a contender shown to be as good as a baseline? The exit status says so."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from registry.commands.group import CHECK_FAILED, UNDECIDED, writable
from registry.commands.push import reads_files
from registry.commands.pushing import all_of, is_file
from registry.commands.session import Failed, Session, asks_server, polled, waits
from registry.errors import NotFound, TryLater
from registry.importers.imported_grid import Overrides
from registry.importers.reading import Sources, with_warnings
from registry.renderings.gate import FORMATS, Case, variables
from registry.results.codec import from_document
from registry.results.gates import Gate
from results_registry.errors import Refused
from results_registry.http import Answer
from results_registry.origin import segment

_INCONCLUSIVE = {"pass": 0, "fail": CHECK_FAILED}


class Asked(NamedTuple):
    """A contender by name, or a grid that is not published with the file that it is from."""

    contender: str
    body: Mapping[str, Any] | None


@click.command()
@click.argument("baseline")
@click.argument("contenders", metavar="CONTENDER...", nargs=-1, required=True)
@click.option(
    "--inconclusive",
    type=click.Choice(list(_INCONCLUSIVE)),
    help="The status where neither a pass nor a failure is shown.  [default: 6]",
)
@click.option(
    "--format",
    "told",
    type=click.Choice(("json", *FORMATS)),
    default="text",
    show_default=True,
    help="A comment on a pull request, or annotations of a GitHub workflow.",
)
@click.option(
    "--also",
    type=(click.Choice((*FORMATS, "variables")), click.Path(dir_okay=False, path_type=Path)),
    multiple=True,
    metavar="FORMAT FILE",
    help="Append it to a file too; variables are verdict=… and needed=… for later steps.",
)
@reads_files("--file-format")
@waits
@asks_server
def gate(  # noqa: PLR0913, PLR0917 (each is an option)
    session: Session,
    baseline: str,
    contenders: tuple[str, ...],
    inconclusive: str | None,
    told: str,
    also: tuple[tuple[str, Path], ...],
    seconds: float,
    sources: Callable[..., Sources],
) -> None:
    """Judge CONTENDER by the policy of BASELINE: a model, the id of a grid, or files that are not published.

    Files, and folders that end with a slash, are read as by `registry push`, with its options. Each of their grids of
    the baseline's experiment and metric is judged on its benchmark, and all must pass.

    Exit status: 0 it passes; 3 it is shown not to; 6 neither is shown, nothing can be compared, or no answer is there
    yet; 5 the registry does not answer. --inconclusive is for the first of these: what cannot be compared is no pass.
    """
    read = sources(contenders)
    if any(map(is_file, contenders)):
        if missing := [name for name in contenders if not Path(name).exists()]:
            raise click.UsageError(f"There is no file {missing[0]}.")
        asked = _of_files(session, baseline, read)
    elif len(contenders) > 1 or read.wanted != Overrides():
        raise click.UsageError(
            f"There is no file {contenders[0]}, and a model is judged by itself, without options of files."
        )
    else:
        asked = iter([Asked(contenders[0], None)])
    cases = [judged(session, baseline, name, body, seconds) for name, body in asked]
    if session.screen.json or told == "json":
        documents = [one.document or {"verdict": one.verdict, "sentence": one.sentence} for one in cases]
        session.screen.show_json(documents[0] if len(documents) == 1 else documents)
    else:
        click.echo(_written(told, cases), nl=False)
    for form, file in also:
        with writable(file), file.open("a", encoding="utf-8") as opened:
            opened.write(_written(form, cases))
    statuses = {_status(one, inconclusive) for one in cases}
    if worst := next((one for one in (CHECK_FAILED, UNDECIDED) if one in statuses), 0):
        raise SystemExit(worst)


def _written(form: str, cases: Sequence[Case]) -> str:
    return variables(cases) if form == "variables" else "".join(FORMATS[form](one) for one in cases)


def _of_files(session: Session, baseline: str, read: Sources) -> Iterator[Asked]:
    """The grids of files that are of the baseline's experiment and metric, and of its benchmarks if it has a list."""
    grids = all_of(read, "judged")
    scope = session.transport.get(session.in_project(f"baselines/{segment(baseline)}"))
    judged = [one for one in grids if _concerns(scope, one.found.submission)]
    others = sorted({_scope_of(one.found.submission) for one in grids if one not in judged})
    if not judged:
        wanted = " · ".join([scope["experiment"], *scope.get("benchmarks", ()), scope["metric"]])
        raise NotFound(f"Nothing there is of the baseline {baseline} ({wanted}); there is {', '.join(others)}.")
    if others:
        session.screen.note(f"Not of the baseline, and not judged: {', '.join(others)}.")
    for one in judged:
        name = one.source if len(judged) == 1 else f"{one.source} · {one.found.submission['benchmark']}"
        yield Asked(name, with_warnings(one.found))


def _concerns(scope: Mapping[str, Any], sent: Mapping[str, Any]) -> bool:
    benchmarks = scope.get("benchmarks")
    same = (sent["experiment"], sent["metric"]["name"]) == (scope["experiment"], scope["metric"])
    return same and (not benchmarks or sent["benchmark"] in benchmarks)


def _scope_of(sent: Mapping[str, Any]) -> str:
    return f"{sent['experiment']} · {sent['benchmark']} · {sent['metric']['name']}"


def judged(session: Session, baseline: str, contender: str, body: Mapping[str, Any] | None, seconds: float) -> Case:
    """The verdict; `pending` where it is not there in time, `not_comparable` where nothing has the contender's name."""
    path = session.in_project(f"baselines/{segment(baseline)}/gate")

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


def _status(case: Case, inconclusive: str | None) -> int:
    if case.passes is not None:
        return 0 if case.passes else CHECK_FAILED
    if case.is_undecided and inconclusive is not None:
        return _INCONCLUSIVE[inconclusive]
    return UNDECIDED
