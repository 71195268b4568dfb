"""Claims in the files that a command is given, with the places of what is wrong with them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from registry.claims.grammar import read_claim
from registry.claims.in_files import Stated, claims_in
from registry.errors import Fault, Invalid


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
        wrong = list(_faults_of(place))
        yield from wrong
        if not wrong:
            yield place


def _faults_of(place: Place) -> Iterator[Unread]:
    try:
        read_claim(dict(place.stated.claim))
    except Invalid as error:
        yield from (_unread(place, one.pointer, one.detail) for one in error.faults)


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


def not_read(faults: Sequence[Unread], detail: str) -> Invalid:
    """The error of a command whose claims have these faults, as a sentence."""
    error = Invalid(Fault(one.place, one.detail) for one in faults)
    error.detail = detail
    return error
