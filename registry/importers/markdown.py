"""Markdown: pipe tables, lists of `Length 5: 77.3%`, and descriptions of heatmaps with either.

A table is read as CSV is, a pivot or tidy. Where the caller leaves open what is measured, the text may say it: titles,
lists of axes and a legend (`description.py`); each thing taken from there is noted. A description without numbers gives
grids that have axes and no cells. The registry's own Markdown reads back too, its title as the identity.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from registry.importers.blocks import Block, blocks
from registry.importers.description import (
    Said,
    declared_axes,
    experiment_of,
    keyed,
    levels_in_text,
    metric_named,
    named_by,
)
from registry.importers.found import Found, Note, Overrides, Place
from registry.importers.own_markdown import is_own, read_own
from registry.importers.sheet import Reading, Sheet
from registry.importers.source import Source
from registry.importers.tables import Table, read_table
from registry.importers.words import Findings, plain_number

NAME = "markdown"
_MEASURED = re.compile(r"(.+?):\s*(~?)\*{0,2}([+-]?\d+(?:\.\d+)?)\*{0,2}\s*(%?)\s*\.?")
_LIMITS = re.compile(r"lowest value is (?:approximately )?([\d.]+\d).*highest is (?:approximately )?([\d.]+\d)")
_BRACKETED = re.compile(r"\s*\([^()]*\)\s*:?\s*$")
_DETAIL = re.compile(r"detail|content|data", re.IGNORECASE)


def looks_like(source: Source) -> bool:
    """A heading, or a pipe table."""
    try:
        lines = source.head.decode(errors="ignore").splitlines()
    except ValueError:
        return False
    if any("\0" in line for line in lines) or (lines and lines[0].lstrip()[:1] in ("{", "[")):
        return False
    return any(block.kind == "table" or (block.kind == "heading" and block.level) for block in blocks(lines))


def read(source: Source, wanted: Overrides) -> Iterator[Found]:
    """The grids of a document, in its order."""
    lines = source.lines
    if is_own(lines):
        yield from read_own(lines, wanted)
        return
    yield from Document(list(blocks(lines)), source.text, wanted).grids()


@dataclass
class Part:
    """What stands below one title: its names, its tables, its measured bullets."""

    names: dict[str, str]
    notes: list[Note]
    tables: list[Block] = field(default_factory=list)
    bullets: list[Block] = field(default_factory=list)
    """Titles that are a level of an axis stand among them."""


class Document:
    """A Markdown document while its grids are read."""

    def __init__(self, found: Sequence[Block], text: str, wanted: Overrides) -> None:
        self.blocks, self.text, self.wanted = found, text, wanted
        self.axes: list[Said] = declared_axes(found) if wanted.reads_prose else []
        self.about = metric_named(found, text) if wanted.reads_prose else {}
        self.left_out = sum(1 for block in found if block.kind != "table")

    def grids(self) -> Iterator[Found]:
        empty = True
        for part in self._parts():
            for table in part.tables:
                for found in self._table(table, part):
                    empty = False
                    yield found
            if part.bullets and len(self.axes) > 0:
                sheet = self._listed(part)
                if sheet is not None:
                    empty = False
                    yield self._found(sheet, part)
        if empty and len(self.axes) == 2:
            yield from self._without_cells()

    def _parts(self) -> list[Part]:
        """The document cut at the titles that name a grid."""
        names, notes = self._named([block.text for block in self.blocks if block.kind == "heading"], Place(1))
        parts = [Part(names, notes)]
        for block in self.blocks:
            if block.kind == "table":
                parts[-1].tables.append(block)
            elif not self.wanted.reads_prose:
                continue
            elif block.kind in ("title", "heading"):
                if self._coordinate(_BRACKETED.sub("", block.text)):
                    parts[-1].bullets.append(block)
                    continue
                own, said = self._named([block.text], Place(block.line))
                if own and own != parts[-1].names:
                    parts.append(Part({**names, **own}, said))
            elif block.kind == "bullet":
                parts[-1].bullets.append(block)
        return parts

    def _named(self, titles: Sequence[str], place: Place) -> tuple[dict[str, str], list[Note]]:
        if not self.wanted.reads_prose:
            return {}, []
        for title in titles:
            names, how = named_by(title, self.text)
            if names and how:
                return names, [Note("identity_read", how, place)]
        return {}, []

    def _table(self, block: Block, part: Part) -> Iterator[Found]:
        findings = Findings()
        (line, header), *rows = block.rows
        said = {word: part.names[word] for word in part.names} | self.about
        names = {**said, **({"metric": self.wanted.metric} if self.wanted.metric else {})}
        table = Table(list(header), [(number, list(row)) for number, row in rows], line, names)
        for sheet in read_table(table, self._with_axes(header), findings):
            yield self._found(sheet, part)

    def _with_axes(self, header: Sequence[str]) -> Overrides:
        """The axes that the document declares, where the caller does not name them."""
        wanted = self.wanted
        rows, columns = wanted.rows, wanted.columns
        for axis in self.axes:
            if rows is None and axis.answers_to(header[0]):
                rows = axis.name
            elif columns is None and len(header) > 2 and all(name.startswith(axis.name) for name in header[1:]):
                columns = axis.name
        return replace(wanted, rows=rows, columns=columns)

    def _listed(self, part: Part) -> Sheet | None:
        """The grid of bullets that each say a coordinate and a value; None if there is none."""
        sheet = Sheet({**part.names, **self.about}, tuple(axis.name for axis in self.axes))
        context: dict[str, str] = {}
        said: tuple[float, float] | None = None
        for block in part.bullets:
            if block.kind != "bullet":
                context = self._coordinate(_BRACKETED.sub("", block.text))
                continue
            if limits := _LIMITS.search(block.text):
                said = (float(limits[1]), float(limits[2]))
            match = _MEASURED.fullmatch(block.text)
            at = {**context, **self._coordinate(match[1])} if match else {}
            if match is None or at.keys() != set(sheet.axes):
                continue
            value = plain_number(match[3])
            sheet.add(Reading(tuple(at[name] for name in sheet.axes), value, Place(block.line)))
            if match[4]:
                sheet.names = {**sheet.names, "unit": "%"}
            if match[2]:
                sheet.notes.append(Note("approximate", f'"{match[0]}" is an approximate value', Place(block.line)))
        if not sheet.readings:
            return None
        self._compare(sheet, said, part)
        return sheet

    def _compare(self, sheet: Sheet, said: tuple[float, float] | None, part: Part) -> None:
        """Note what the text says of the values and the listed ones do not show."""
        values = [one.value for one in sheet.readings if one.value is not None]
        if said is not None and (said[0] < min(values) or said[1] > max(values)):
            listed = f"the listed ones go from {min(values)} to {max(values)}: some cells are not listed"
            detail = f"the text has values from {said[0]} to {said[1]}, {listed}"
            sheet.notes.append(Note("cells_not_listed", detail))
        if any("approximate" in block.text.casefold() and keyed(block) for block in part.bullets):
            sheet.notes.append(Note("approximate", "the text calls these values approximate"))

    def _coordinate(self, text: str) -> dict[str, str]:
        """`Ratio 0.1, Window 500` as levels of declared axes; empty if it is anything else."""
        at: dict[str, str] = {}
        for part in text.split(","):
            name, _, label = part.strip().rpartition(" ")
            axis = next((axis for axis in self.axes if axis.answers_to(name)), None)
            if axis is None or not label:
                return {}
            at[axis.name] = label
        return at

    def _without_cells(self) -> Iterator[Found]:
        """A grid with axes and no cell for each series that the text tells of without numbers."""
        within = False
        for block in self.blocks:
            if block.kind == "heading":
                within = bool(_DETAIL.search(block.text))
            key = keyed(block)
            if not within or key is None:
                continue
            names = {"benchmark": key[0], "model": "unnamed", **self.about}
            sheet = Sheet(names, tuple(axis.name for axis in self.axes))
            place = Place(block.line)
            notes = [
                Note("no_cells", f'the text gives no number for "{key[0]}": axes and no cells', place),
                Note("identity_read", f'"{key[0]}" was read as a benchmark, and the model has no name', place),
            ]
            yield self._found(sheet, Part(names, notes))

    def _found(self, sheet: Sheet, part: Part) -> Found:
        """The grid with what the document says of its axes, under names that it always has."""
        for axis in self.axes:
            if axis.name in sheet.axes:
                sheet.declare(axis.name, levels_in_text(axis, self.text), axis.place)
                if axis.kind is not None:
                    sheet.kinds.setdefault(axis.name, axis.kind)
        sheet.notes = [*part.notes, *sheet.notes]
        if self.wanted.reads_prose:
            if "experiment" not in sheet.names and self.wanted.experiment is None and sheet.axes:
                name, note = experiment_of(sheet.axes)
                sheet.names = {**sheet.names, "experiment": name}
                sheet.notes.append(note)
        elif self.left_out:
            sheet.notes.append(Note("text_left_out", "only the table is read, not the text around it"))
        return sheet.found(self.wanted)
