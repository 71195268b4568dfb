"""`registry check`: the claims in files, judged against the registry."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
import orjson

from registry.claims.grammar import MOST_CLAIMS
from registry.commands.claim_files import Place, Unread, claims_of, not_read, placed, told
from registry.commands.judgements import FORMATS, Judged, written
from registry.commands.polling import awaited, waits
from registry.commands.session import Session, asks_server
from registry.commands.status import CheckFailed, Undecided
from results_registry.errors import Refused


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--strict", is_flag=True, help="Exit with 6 when a claim is neither supported nor contradicted, or a file has none."
)
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="What to print.")
@waits
@asks_server
def check(session: Session, files: Sequence[Path], strict: bool, form: str, seconds: float) -> None:
    """Judge the claims in files: Markdown such as README.md, or claims.toml.

    In Markdown a claim stands in a comment behind its sentence, <!-- claim: kind = "trend" … -->, or in a fenced block
    registry-claim; in TOML under [[claim]]. The exit status is 3 when a claim is contradicted, and 1 when one cannot be
    read; the others are judged all the same.
    """
    found = {str(file): list(claims_of(file)) for file in files}
    places = [one for claims in found.values() for one in claims if isinstance(one, Place)]
    faults = told(one for claims in found.values() for one in claims if isinstance(one, Unread))
    judged: list[Judged] = []
    for start in range(0, len(places), MOST_CLAIMS):
        answered, refused = _judge(session, places[start : start + MOST_CLAIMS], seconds)
        judged, faults = judged + answered, faults + refused
    click.echo(written("json" if session.screen.json else form, judged, faults), nl=False)
    without = [file for file, claims in found.items() if not claims]
    for file in without:
        click.echo(f"{file}: no claims", err=True)
    if faults:
        raise not_read(faults, f"Claims with faults are not judged: {len(faults)}.")
    _end(judged, without if strict else (), strict=strict)


def _end(judged: Sequence[Judged], without: Sequence[str], *, strict: bool) -> None:
    """The exit status of claims that all could be judged; `without`: files that should have some."""
    verdicts = [str(one.judgement["verdict"]) for one in judged]
    contradicted = verdicts.count("contradicted")
    if contradicted:
        raise CheckFailed(f"{contradicted} of {len(judged)} claims contradicted.")
    undecided = len(judged) - verdicts.count("supported")
    if strict and undecided:
        raise Undecided(f"{undecided} of {len(judged)} claims not decided.")
    if without:
        raise Undecided(f"No claims in {', '.join(without)}.")


def _judge(session: Session, places: Sequence[Place], seconds: float) -> tuple[list[Judged], list[Unread]]:
    """The judgements, and the faults of those that the server refuses; the others are sent again without them."""
    sent = orjson.loads(orjson.dumps([one.stated.claim for one in places]))
    try:
        found = awaited(session, session.in_project("claims/judge"), "judgements", seconds, body=sent)
    except Refused as error:
        wrong = {int(first) for pointer, _ in error.errors if (first := pointer[1:].partition("/")[0]).isdigit()}
        if not wrong:
            raise
        others = [one for place, one in enumerate(places) if place not in wrong]
        refused = told(placed(error.errors, places))
        judged, more = _judge(session, others, seconds) if others else ([], [])
        return judged, refused + more
    judged = [
        Judged(one.file, one.stated.line, str(one.stated.claim.get("text", "")), item)
        for one, item in zip(places, found["items"], strict=True)
    ]
    return judged, []
