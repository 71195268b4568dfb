"""Output of a command: a page for a terminal, TSV for a pipe, JSON on request; notes and progress on stderr."""

import csv
import io
import json
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import click

from registry.commands.page import Part, page
from registry.renderings.table import one_line

Colour = Literal["auto", "always", "never"]
Rows = tuple[Sequence[str], Iterable[Sequence[Any]]]
"""Headings, and rows of values."""
_NARROWEST = 40


@dataclass(frozen=True, slots=True)
class Screen:
    """Forms of one run of a command."""

    is_terminal: bool
    notes_are_seen: bool
    colour: bool
    width: int
    json: bool = False
    quiet: bool = False

    @classmethod
    def of_process(cls, environment: Mapping[str, str], colour: Colour, *, json: bool, quiet: bool) -> "Screen":
        """Screen for the streams and the environment: NO_COLOR, TERM, COLUMNS; `colour` overrides."""
        terminal = sys.stdout.isatty()
        wanted = terminal and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
        return cls(
            is_terminal=terminal or colour == "always",
            notes_are_seen=sys.stderr.isatty() and environment.get("TERM") != "dumb",
            colour=colour == "always" or (colour == "auto" and wanted),
            width=max(_NARROWEST, shutil.get_terminal_size((120, 24)).columns),
            json=json,
            quiet=quiet,
        )

    def show(
        self,
        document: Any,
        parts: Callable[[], Iterable[Part]],
        rows: Callable[[], Rows],
        *,
        least: Sequence[str] = (),
        essence: Callable[[], Iterable[str]] | None = None,
    ) -> None:
        """Write the document as JSON if requested, as a page on a terminal, else as TSV.

        `essence` are the lines that `--quiet` leaves. `least` are the columns that a narrow terminal can do without.
        """
        if self.json:
            self.show_json(document)
        elif self.quiet and essence is not None:
            for line in essence():
                click.echo(line)
        elif self.is_terminal:
            for line in page(parts(), self.width, colour=self.colour, least=least):
                click.echo(line, color=True)
        else:
            self.show_tsv(*rows())

    def show_json(self, document: Any) -> None:
        """Write JSON, indented on a terminal, elsewhere on one line."""
        indent = 2 if self.is_terminal else None
        click.echo(json.dumps(document, ensure_ascii=False, indent=indent, allow_nan=False))

    def show_tsv(self, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Write a line of names (not when quiet) and a line for each row. Numbers read back as the same; None is an
        empty field."""
        if not self.quiet:
            click.echo("\t".join(map(field, names)))
        for row in rows:
            click.echo("\t".join(map(field, row)))

    def note(self, sentence: str) -> None:
        """Write a sentence to standard error, unless quiet."""
        if not self.quiet:
            click.echo(sentence, err=True)

    def progress(self, sentence: str) -> None:
        """Write a sentence in place of the one before, which nothing takes away."""
        if self.notes_are_seen and not self.quiet:
            click.echo(f"\r\x1b[K{sentence}", err=True, nl=False, color=True)


def field(value: Any) -> str:
    """Value as a field of TSV, without tabs and line breaks."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return repr(value)
    return one_line(str(value))


def rows_of_csv(text: str) -> Rows:
    """Headings and rows of text of a CSV rendering."""
    names, *rows = csv.reader(io.StringIO(text))
    return names, rows
