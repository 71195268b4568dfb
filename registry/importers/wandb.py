"""Weights & Biases, CSV as its pages export it.

A chart (`Step`, `<run> - <metric>`, `<run> - <metric>__MIN`, `…__MAX`): a grid for each run over the axis of the first
column; the bounds of a smoothed line are left out. A table of runs (`Name`, `State`, …): a grid for each number of each
finished run. An export does not tell results from settings, so each column is noted; `--only` chooses, and with
`--value`, `--axes` and `--repeats` the runs are rows of one table. Model: the run.
Benchmark: "wandb" unless the caller says it. Direction and bounds: common names are read, with a note.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence

from registry.errors import Malformed
from registry.importers.cell_text import Report, plain_number
from registry.importers.imported_grid import ImportedGrid, Note, Overrides, Place
from registry.importers.metrics import explained
from registry.importers.scores import left_out, single
from registry.importers.sheet import Reading, Sheet
from registry.importers.source import Source
from registry.importers.table_cells import Row, Table, value_of
from registry.importers.tables import read_table

NAME = "wandb"
_SERIES = re.compile(r"(.+) - (.+?)(__MIN|__MAX)?")
_ABOUT_RUNS = {"State", "Notes", "User", "Tags", "Created", "Runtime", "Sweep", "Name", "ID", "Group", "Job Type",
               "Hostname", "Commit", "GitHub", "Start Time", "Updated"}  # fmt: skip
_STEPS = ("Step", "_step", "Relative Time (Process)", "Relative Time (Wall)", "Wall Time", "epoch", "global_step")


def looks_like(source: Source) -> bool:
    try:
        line = source.head.decode(errors="ignore").splitlines()[0]
        header = next(csv.reader([line]), [])
    except (IndexError, csv.Error):
        return False
    return _is_chart(header) or {"Name", "State", "Runtime"} <= set(header)


def _is_chart(header: Sequence[str]) -> bool:
    return len(header) > 1 and all(_SERIES.fullmatch(name) for name in header[1:]) and any(
        name.endswith(("__MIN", "__MAX")) for name in header
    )  # fmt: skip


def read(source: Source, wanted: Overrides) -> Iterator[ImportedGrid]:
    reader = csv.reader(source.text.splitlines(keepends=True), strict=True)
    try:
        header, *rows = [(reader.line_num, cells) for cells in reader if cells]
    except (csv.Error, ValueError) as error:
        raise Malformed(f"This is not CSV: {error}.") from None
    if not _is_chart(header[1]) and "Name" not in header[1]:
        raise Malformed("It is neither a chart nor a table of runs: no column is called Name.")
    for line, cells in rows:
        if len(cells) != len(header[1]):
            raise Malformed(f"Line {line} has {len(cells)} cells, but the heading has {len(header[1])}.")
    if wanted.of_tables:
        yield from _table(header[1], rows, wanted)
        return
    grids = _chart(header[1], rows, wanted) if _is_chart(header[1]) else _runs(header[1], rows, wanted)
    yield from grids


def _table(header: list[str], rows: Sequence[Row], wanted: Overrides) -> Iterator[ImportedGrid]:
    """The export as the caller wants it read: settings of a sweep are axes then, or tell repeats apart."""
    names = {"experiment": "wandb", "benchmark": "wandb", "variant": ""}
    names |= {"metric": wanted.metric} if wanted.metric else {}
    state = header.index("State") if "State" in header else None
    ended = [row for row in rows if state is None or row[1][state] == "finished"]
    unfinished = [f"line {row[0]}" for row in rows if row not in ended]
    for sheet in read_table(Table(header, ended, 1, names), wanted, Report(lenient=True)):
        sheet.notes += left_out(unfinished, "these runs did not finish")
        yield sheet.found(wanted)


def _chart(header: Sequence[str], rows: Sequence[Row], wanted: Overrides) -> Iterator[ImportedGrid]:
    skipped = [name for name in header[1:] if name.endswith(("__MIN", "__MAX"))]
    for column, name in enumerate(header[1:], start=1):
        match = _SERIES.fullmatch(name)
        if match is None or match[3] or not wanted.takes(match[2]):
            continue
        report = Report(lenient=True)
        names = {"experiment": "wandb", "benchmark": "wandb", "model": match[1], "variant": "", "metric": match[2]}
        sheet = Sheet(names, (header[0],), {header[0]: "numeric"})
        for line, cells in rows:
            place = Place(line, column + 1)
            value = value_of(cells[column], place, report)
            if value is not None:
                sheet.add(Reading((cells[0],), value, place))
        report.stop_at_faults()
        sheet.notes += left_out(skipped, "the bounds of a smoothed line are not taken")
        if sheet.readings:
            yield sheet.found(wanted)


def _runs(header: Sequence[str], rows: Sequence[Row], wanted: Overrides) -> Iterator[ImportedGrid]:
    runs = [dict(zip(header, cells, strict=True)) for _, cells in rows]
    unfinished = [run["Name"] for run in runs if run.get("State", "finished") != "finished"]
    for run in runs:
        if run.get("State", "finished") != "finished":
            continue
        for name, cell in run.items():
            value = plain_number(cell)
            if (
                value is None
                or name in _ABOUT_RUNS
                or name in _STEPS
                or not wanted.takes(name, not name.startswith("_"))
            ):
                continue
            metric, notes = explained({"name": name}, [value])
            if not wanted.only:
                notes.append(Note("setting_or_result", f'"{name}" may be a setting and no result; --only chooses'))
            names = {"experiment": "wandb", "benchmark": "wandb", "model": run["Name"], "variant": ""}
            notes += left_out(unfinished, "these runs did not finish")
            yield wanted.applied(single(names, metric, value, notes=notes))
