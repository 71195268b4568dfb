"""Import Markdown: pipe tables, lists of `Length 5: 77.3%`, and descriptions of heatmaps with either.

A table is read like CSV, as a pivot or tidy. If the caller does not name the metric, the text may: titles, lists of
axes and a legend (`heatmap_prose.py`); each fact taken from there is noted. A description without numbers gives grids
with axes and no cells.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from registry.errors import Fault, Invalid
from registry.importers.cell_text import Report, Table, plain_number
from registry.importers.heatmap_prose import (
    DeclaredAxis,
    declared_axes,
    experiment_of,
    keyed,
    levels_in_text,
    metric_named,
    models_named,
    named_by,
)
from registry.importers.imported_grid import ImportedGrid, Note, Overrides, Place
from registry.importers.markup import Block, blocks, is_table, listed, parts, plain, table_rows
from registry.importers.sheet import Reading, Sheet
from registry.importers.source import Source
from registry.importers.tables import read_table

NAME = "markdown"
HEADING = "/heading"
"""As the name of a column: the headings above a table, for `--column benchmark=/heading`."""
MOST_TEXT = 10_000
"""Lines around the table of a request."""
_MEASURED = re.compile(r"(.+?):\s*(~?)\*{0,2}([+-]?\d+(?:\.\d+)?)\*{0,2}\s*+(%?)\s*+\.?")
_LOWEST = re.compile(r"lowest value is (?:approximately )?(\d+(?:\.\d+)?)")
_HIGHEST = re.compile(r"highest is (?:approximately )?(\d+(?:\.\d+)?)")
_BRACKETED = re.compile(r"\([^()]*\)\s*+:?\s*+$")
_CUT = re.compile(r"Only .+; nothing else is counted\.")
"""What the registry says of a table that it cut to a slice."""
_DETAIL = re.compile(r"detail|content|data", re.IGNORECASE)


def looks_like(source: Source) -> bool:
    """Tell whether there is a heading or a pipe table."""
    try:
        lines = source.head.decode(errors="ignore").splitlines()
    except ValueError:
        return False
    if any("\0" in line for line in lines) or (lines and lines[0].lstrip()[:1] in ("{", "[")):
        return False
    return any(block.kind == "table" or (block.kind == "heading" and block.level) for block in blocks(lines))


def read(source: Source, wanted: Overrides) -> Iterator[ImportedGrid]:
    """Grids of a document, in its order."""
    if wanted.single and source.content.count(b"\n") > wanted.limits.cells + MOST_TEXT:
        raise Invalid([Fault("", f"a grid has at most {wanted.limits.cells} cells")])
    lines = source.lines
    if any(map(_CUT.fullmatch, lines)):
        raise Invalid([Fault("", "these cells are a slice, and no grid to publish: what was posted has more")])
    if wanted.reads_prose:
        yield from Document(list(blocks(lines)), source.text, wanted).grids()
    else:
        yield from _tables_alone(lines, wanted)


def _tables_alone(lines: Sequence[str], wanted: Overrides) -> Iterator[ImportedGrid]:
    """Grids of the tables, read line by line one after another; nothing else of the document is kept."""
    if not any(map(is_table, parts(lines))):
        wanted_form = "a heading between pipes, a rule |---|---| below it, and rows"
        raise Invalid([Fault("", f"the text holds no pipe table: {wanted_form}")])
    notes = []
    if not all(map(is_table, parts(lines))):
        notes.append(Note("text_left_out", "only the table is read, not the text around it"))
    for part in filter(is_table, parts(lines)):
        rows = table_rows(lines, part)
        line, header = next(rows)
        for sheet in read_table(Table(header, rows, line), wanted, Report()):
            sheet.notes = [*sheet.notes, *notes]
            yield sheet.found(wanted)


def _for_people(block: Block) -> list[tuple[int, list[str]]]:
    """Rows of a table, the heading first, without marks; a short row has gaps at its end, as pages show it."""
    width = len(block.rows[0][1])
    rows = []
    for line, (first, *others) in block.rows:
        rows.append((line, [listed(plain(first)), *map(plain, others)] + [""] * (width - 1 - len(others))))
    return rows


def _headings_above(found: Sequence[Block]) -> dict[int, str]:
    """For the line of each table the headings that it stands under, the outermost first."""
    above: dict[int, str] = {}
    under: list[Block] = []
    for block in found:
        if block.kind == "heading":
            under = [*(one for one in under if one.level < block.level), block]
        elif block.kind == "table":
            above[block.line] = " / ".join(one.text for one in under)
    return above


@dataclass
class Part:
    """Content below one title: its names, its tables, its measured bullets."""

    names: dict[str, str]
    notes: list[Note]
    tables: list[Block] = field(default_factory=list)
    bullets: list[Block] = field(default_factory=list)
    """Including titles that are a level of an axis."""


class Document:
    """A Markdown document while its grids are read, and the information in its text."""

    def __init__(self, found: Sequence[Block], text: str, wanted: Overrides) -> None:
        self.blocks, self.wanted = found, wanted
        self.axes: list[DeclaredAxis] = declared_axes(found)
        self.about = metric_named(found, text)
        self.models = models_named(text)
        self.levels = {axis.name: levels_in_text(axis, text) for axis in self.axes}
        self._above = _headings_above(found) if HEADING in wanted.roles.values() else {}

    def grids(self) -> Iterator[ImportedGrid]:
        empty = True
        faults: list[Fault] = []
        for part in self._parts():
            for table in part.tables:
                try:
                    for found in self._table(table, part):
                        empty = False
                        yield found
                except Invalid as error:
                    if self.wanted.single:
                        raise
                    faults += error.faults  # which belong to this table: the others are read
                    empty = False
            if part.bullets and len(self.axes) > 0:
                sheet = self._listed(part)
                if sheet is not None:
                    empty = False
                    yield self._found(sheet, part)
        if empty and len(self.axes) == 2:
            yield from self._without_cells()
        if faults:
            raise Invalid(faults)

    def _parts(self) -> list[Part]:
        """The document cut at the titles that name a grid."""
        names, notes = self._named([block.text for block in self.blocks if block.kind == "heading"], Place(1))
        parts = [Part(names, notes)]
        for block in self.blocks:
            if block.kind == "table":
                parts[-1].tables.append(block)
            elif block.kind in ("title", "heading"):
                if self._coordinate(_BRACKETED.sub("", block.text).rstrip()):
                    parts[-1].bullets.append(block)
                    continue
                own, own_notes = self._named([block.text], Place(block.line))
                if own and own != parts[-1].names:
                    parts.append(Part({**names, **own}, own_notes))
            elif block.kind == "bullet":
                parts[-1].bullets.append(block)
        return parts

    def _named(self, titles: Sequence[str], place: Place) -> tuple[dict[str, str], list[Note]]:
        for title in titles:
            names, how = named_by(title, self.models)
            if names and how:
                return names, [Note("identity_read", how, place)]
        return {}, []

    def _table(self, block: Block, part: Part) -> Iterator[ImportedGrid]:
        (line, header), *rows = _for_people(block)
        if not set(self.wanted.layout.headings) <= set(header):
            return
        report = Report(lenient=True, marked=True)
        wanted = self._with_axes(header)
        if self._above:
            wanted = wanted.laid_out(constants={**wanted.layout.constants, HEADING: self._above[block.line]})
        for sheet in read_table(Table(header, rows, line, {**part.names, **self.about}), wanted, report):
            yield self._found(sheet, part)

    def _with_axes(self, header: Sequence[str]) -> Overrides:
        wanted = self.wanted
        rows, columns = wanted.rows, wanted.columns
        for axis in self.axes:
            if rows is None and axis.answers_to(header[0]):
                rows = axis.name
            elif columns is None and len(header) > 2 and all(name.startswith(axis.name) for name in header[1:]):
                columns = axis.name
        return replace(wanted, rows=rows, columns=columns)

    def _listed(self, part: Part) -> Sheet | None:
        """Grid of bullets with a coordinate and a value each; None if there is none."""
        sheet = Sheet({**part.names, **self.about}, tuple(axis.name for axis in self.axes))
        context: dict[str, str] = {}
        span: tuple[float, float] | None = None
        signs: list[bool] = []
        for block in part.bullets:
            if block.kind != "bullet":
                context = self._coordinate(_BRACKETED.sub("", block.text).rstrip())
                continue
            lowest = _LOWEST.search(block.text)
            if lowest and (highest := _HIGHEST.search(block.text, lowest.end())):
                span = (float(lowest[1]), float(highest[1]))
            match = _MEASURED.fullmatch(block.text)
            at = {**context, **self._coordinate(match[1])} if match else {}
            if match is None or at.keys() != set(sheet.axes):
                continue
            value = plain_number(match[3])
            sheet.add(Reading(tuple(at[name] for name in sheet.axes), value, block.line, None))
            signs.append(bool(match[4]))
            if match[2]:
                sheet.notes.append(Note("approximate", f'"{match[0]}" is an approximate value', Place(block.line)))
        if not sheet.readings:
            return None
        sheet.tell_signs(signs)
        self._compare(sheet, span, part)
        return sheet

    def _compare(self, sheet: Sheet, span: tuple[float, float] | None, part: Part) -> None:
        """Note values that the text mentions and the list does not show."""
        values = [one.value for one in sheet.readings if one.value is not None]
        if span is not None and (span[0] < min(values) or span[1] > max(values)):
            listed = f"the listed ones go from {min(values)} to {max(values)}: some cells are not listed"
            detail = f"the text has values from {span[0]} to {span[1]}, {listed}"
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

    def _without_cells(self) -> Iterator[ImportedGrid]:
        """A grid with axes and no cell for each series that the text mentions without numbers."""
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

    def _found(self, sheet: Sheet, part: Part) -> ImportedGrid:
        """The grid with the axes that the document declares, under names that it always has."""
        for axis in self.axes:
            if axis.name in sheet.axes:
                sheet.declare(axis.name, self.levels[axis.name], axis.place)
                if axis.kind is not None:
                    sheet.kinds.setdefault(axis.name, axis.kind)
        sheet.notes = [*part.notes, *sheet.notes]
        if "experiment" not in sheet.names and self.wanted.experiment is None and sheet.axes:
            name, note = experiment_of(sheet.axes)
            sheet.names = {**sheet.names, "experiment": name}
            sheet.notes.append(note)
        return sheet.found(self.wanted)
