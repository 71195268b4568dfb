"""Claims in files, judged against the registry (`registry check`), and claims that it keeps (`registry claim`).

Judged claims and those that cannot be read are told as text, JSON or annotations of GitHub.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, get_args

import click
import orjson

from registry.claims.grammar import MOST_CLAIMS, read_claim
from registry.claims.in_files import Stated, claims_in
from registry.commands.group import CheckFailed, Undecided
from registry.commands.listing import show_rows
from registry.commands.push import reads_files
from registry.commands.session import Session, asks_server, awaited, waits
from registry.errors import Fault, Invalid, Malformed, NotFound
from registry.grids.intake import Limits, read_submission
from registry.grids.intake.sent_cells import decimals, leaf_pointer
from registry.importers.imported_grid import IDENTITY
from registry.importers.reading import Message, Sources, named_of
from registry.renderings.gate import workflow_command
from registry.results.judgement import Verdict
from results_registry.errors import NotThere, Refused
from results_registry.origin import segment


@dataclass(frozen=True, slots=True)
class Place:
    """A claim with the file that states it."""

    file: str
    stated: Stated

    @property
    def text(self) -> str:
        """`README.md:5`."""
        return f"{self.file}:{self.stated.line}"


@dataclass(frozen=True, slots=True)
class Unread:
    """Fault of a claim, or of a whole file, which has no line then."""

    file: str
    line: int | None
    detail: str

    @property
    def place(self) -> str:
        """`README.md:5`, or the file alone."""
        return self.file if self.line is None else f"{self.file}:{self.line}"


def claims_of(file: Path) -> Iterator[Place | Unread]:
    """The claims in a file, and what is wrong with those that cannot be read."""
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        yield Unread(str(file), None, "is no UTF-8 text")
        return
    for one in claims_in(file.name, text):
        if isinstance(one, Fault):
            yield Unread(str(file), int(one.pointer), one.detail)
            continue
        place = Place(str(file), one)
        try:
            read_claim(dict(one.claim))
        except Invalid as error:
            yield from (_unread(place, fault.pointer, fault.detail) for fault in error.faults)
        else:
            yield place


def numbers_of(read: Sources) -> Iterator[Place | Unread]:
    """The numbers in files that `registry push` reads, each as the claim that this is the value of its cell."""
    for one in named_of(read):
        if isinstance(one, Message):
            yield Unread(one.place, None, one.detail)
            continue
        sent = one.found.submission
        try:
            grid = read_submission({"variant": "", "axes": [], **sent}, Limits()).grid
        except Invalid as error:
            yield from (Unread(fault.place, None, fault.detail) for fault in one.faults(error))
            continue
        about = {name: sent[name] for name in IDENTITY if sent.get(name)} | {"metric": grid.metric.name}
        written = decimals([value for value in grid.values if value is not None])
        for cell in grid.cells():
            place = one.found.place_of(leaf_pointer("/values", grid.index(cell.at), grid.shape))
            at = {axis.name: [axis.levels[level].label] for axis, level in zip(grid.axes, cell.at, strict=True)}
            said = {"op": "=", "number": cell.value, "decimals": written}
            claim = {"kind": "value", "about": about, "is": said} | ({"where": at} if at else {})
            yield Place(one.source, Stated(place.line if place else 1, claim))


def _unread(place: Place, pointer: str, detail: str) -> Unread:
    return Unread(place.file, place.stated.line, f"{pointer}: {detail}" if pointer else detail)


def placed(errors: Sequence[tuple[str, str]], places: Sequence[Place]) -> Iterator[Unread]:
    """The server's faults, each of one of the claims that were sent to it, with the lines that they are about."""
    for pointer, detail in errors:
        place, _, rest = pointer.removeprefix("/").partition("/")
        if place.isdigit():
            yield _unread(places[int(place)], f"/{rest}" if rest else "", detail)


def told(faults: Iterable[Unread]) -> list[Unread]:
    """These faults, each once, after they were written to standard error."""
    each_once = list(dict.fromkeys(faults))
    for one in each_once:
        click.echo(f"{one.place}: {one.detail}", err=True)
    return each_once


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim in a file with its judgement."""

    file: str
    line: int
    text: str
    judgement: Mapping[str, Any]

    @property
    def verdict(self) -> str:
        return str(self.judgement["verdict"])

    @property
    def sentence(self) -> str:
        """The sentence of the judgement with its warnings."""
        warnings = [str(one["detail"]) for one in self.judgement.get("warnings", [])]
        return " ".join([str(self.judgement["sentence"]), *warnings])


def _json(judged: Sequence[Judged], unread: Sequence[Unread]) -> str:
    found = [asdict(one) for one in judged]
    found += [{"file": one.file, "line": one.line, "judgement": None, "error": one.detail} for one in unread]
    return json.dumps(found, ensure_ascii=False, allow_nan=False) + "\n"


def _github(judged: Sequence[Judged], unread: Sequence[Unread]) -> str:
    levels = {"contradicted": "error", "supported": "notice"}
    lines = [
        workflow_command(
            levels.get(one.verdict, "warning"), one.sentence, file=one.file, line=one.line, title=one.verdict
        )
        for one in judged
    ]
    lines += [workflow_command("error", one.detail, file=one.file, line=one.line, title="not read") for one in unread]
    return "".join(lines)


_WRITERS: dict[str, Callable[[Sequence[Judged], Sequence[Unread]], str]] = {
    # Claims that cannot be read are told on standard error.
    "text": lambda judged, _: "".join(f"{one.file}:{one.line}: {one.verdict}: {one.sentence}\n" for one in judged),
    "json": _json,
    "github": _github,
}
FORMATS = tuple(_WRITERS)


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--strict", is_flag=True, help="Exit with 6 when a claim is neither supported nor contradicted, or a file has none."
)
@click.option(
    "--format", "told_as", type=click.Choice(FORMATS), default="text", show_default=True, help="What to print."
)
@reads_files("--file-format")
@waits
@asks_server
def check(
    session: Session,
    files: Sequence[Path],
    strict: bool,
    told_as: str,
    seconds: float,
    sources: Callable[..., Sources],
) -> None:
    """Judge the claims in files: Markdown such as README.md, or claims.toml.

    With options of `registry push` that say how files are read, such as --experiment or --mapping, every number of
    their tables is judged instead: whether the registry has it, to the last decimal of its table.

    In Markdown a claim stands in a comment behind its sentence, <!-- claim: kind = "trend" … -->, or in a fenced block
    registry-claim; in TOML under [[claim]]. The exit status is 3 when a claim is contradicted, and 1 when one cannot be
    read; the others are judged all the same.
    """
    read = sources(tuple(map(str, files)))
    if read == Sources(read.names):
        found = {str(file): list(claims_of(file)) for file in files}
    else:
        found = {", ".join(read.names): list(numbers_of(read))}
    places = [one for claims in found.values() for one in claims if isinstance(one, Place)]
    faults = told(one for claims in found.values() for one in claims if isinstance(one, Unread))
    judged: list[Judged] = []
    for start in range(0, len(places), MOST_CLAIMS):
        answered, refused = _judge(session, places[start : start + MOST_CLAIMS], seconds)
        judged, faults = judged + answered, faults + refused
    click.echo(_WRITERS["json" if session.screen.json else told_as](judged, faults), nl=False)
    without = [file for file, claims in found.items() if not claims]
    for file in without:
        click.echo(f"{file}: no claims", err=True)
    if faults:
        raise Malformed(f"Claims with faults are not judged: {len(faults)}.")
    verdicts = [one.verdict for one in judged]
    if contradicted := verdicts.count("contradicted"):
        raise CheckFailed(f"{contradicted} of {len(judged)} claims contradicted.")
    if strict and (undecided := len(judged) - verdicts.count("supported")):
        raise Undecided(f"{undecided} of {len(judged)} claims not decided.")
    if strict and without:
        raise Undecided(f"No claims in {', '.join(without)}.")


def _judge(session: Session, places: Sequence[Place], seconds: float) -> tuple[list[Judged], list[Unread]]:
    """The judgements, and the faults of those that the server refuses; the others are sent again without them."""
    sent = orjson.loads(orjson.dumps([one.stated.claim for one in places]))
    try:
        found = awaited(session, session.in_project("claims"), "judgements", seconds, body=sent, dry_run=True)
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


_COLUMNS = ("id", "verdict", "state", "where", "said")
_LONGEST = 100


@click.group(name="claim")
def claim() -> None:
    """Keep claims, list, show and remove them: they are judged again whenever their grids change."""


@claim.command(name="add")
@click.argument("files", nargs=-1, required=True, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@asks_server
def add(session: Session, files: Sequence[Path]) -> None:
    """Have the claims in files kept: Markdown such as README.md, or claims.toml, as for `registry check`.

    A claim that is kept already stays as it is. One with a fault is told with its line, and then none is kept;
    `registry check` judges them and keeps none.
    """
    read = [one for file in files for one in claims_of(file)]
    places = [one for one in read if isinstance(one, Place)]
    _stop(told(one for one in read if isinstance(one, Unread)))
    batches = (places[first : first + MOST_CLAIMS] for first in range(0, len(places), MOST_CLAIMS))
    found = [one for batch in batches for one in _send(session, batch)]
    for place, one in zip(places, found, strict=True):
        for warning in one["warnings"]:
            session.screen.note(f"{place.text}: {warning['detail']}")
    show_rows(session, found, _COLUMNS, "No claims in these files.", row=_row)


def _send(session: Session, places: Sequence[Place]) -> list[dict[str, Any]]:
    sent = [{"source": {"url": one.file, "line": one.stated.line}, **one.stated.claim} for one in places]
    try:
        answer = session.transport.call("POST", session.in_project("claims"), orjson.loads(orjson.dumps(sent)))
    except Refused as error:
        _stop(told(placed(error.errors, places)))
        raise
    return list(answer.json()["items"])


def _stop(faults: Sequence[Unread]) -> None:
    if faults:
        raise Malformed(f"Claims with faults: {len(faults)}. None is kept.")


@claim.command(name="ls")
@click.option("--verdict", multiple=True, type=click.Choice(get_args(Verdict)), help="Only these.")
@click.option("--experiment", multiple=True, help="Only about these.")
@click.option("--source", multiple=True, help="Only from these files or addresses.")
@asks_server
def list_all(session: Session, **wanted: tuple[str, ...]) -> None:
    """List the claims of a project with their latest verdicts."""
    query = {name: list(said) for name, said in wanted.items() if said}
    found = list(session.transport.pages(session.in_project("claims"), **query))
    nothing = "No such claim." if query else "No claim yet; `registry claim add README.md` keeps some."
    show_rows(session, found, _COLUMNS, nothing, row=_row)


@claim.command(name="show")
@click.argument("id")
@asks_server
def show(session: Session, id: str) -> None:
    """Show the claim ID with its judgement."""
    try:
        found = session.transport.get(f"claims/{segment(id)}")
    except NotThere:
        raise NotFound(f"There is no claim {id}.") from None
    sentence = (found["judgement"] or {}).get("sentence", "")
    row = [found["judgement_number"], found["judged_at"], found["verdict"], sentence]
    line = f"{row[1] or 'not yet'}: {row[2] or 'not judged'}. {sentence}".rstrip()
    session.screen.show(found, lambda: [line], lambda: (("number", "judged_at", "verdict", "sentence"), [row]))


@claim.command(name="rm")
@click.argument("id")
@asks_server
def remove(session: Session, id: str) -> None:
    """Remove the claim ID; adding it again brings it back with its judgements."""
    try:
        session.transport.call("DELETE", f"claims/{segment(id)}")
    except NotThere:
        raise NotFound(f"There is no claim {id}.") from None
    session.screen.note(f"Removed the claim {id}.")


def _row(one: dict[str, Any]) -> list[str]:
    source = one["source"]
    where = ":".join(str(source[name]) for name in ("url", "line") if name in source)
    judgement = one["judgement"] or {}
    said = str(one["text"] or judgement.get("sentence") or f"{one['claim']['kind']} of {one['metric']}")
    return [one["id"], one["verdict"] or "", one["state"], where, said[:_LONGEST] + ("…" if said[_LONGEST:] else "")]
