"""Cells of a table gathered into grids, for every importer that reads rows (`tables.py`, `markdown.py`, `records.py`).

Each cell comes with names and their values: `{"model": "R1", "Length": "5"}`. The words of an identity tell the grids
apart; every other name is an axis.
"""

import itertools
import json
import math
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from registry.errors import Fault, Invalid, TooLarge
from registry.grids.intake.levels import read_number
from registry.grids.intake.members import protocol_of_texts
from registry.importers.cell_text import Report, is_rounded, plain_number, shown
from registry.importers.imported_grid import IDENTITY, ImportedGrid, Note, Overrides, Place
from registry.importers.scores import explained, is_share

LABEL, PROTOCOL = "label ", "protocol "
"""What the names of columns begin with that are labels, or keys of the protocol; a space is in no name of these."""
METRIC_WORDS = ("metric", "unit", "direction", "lower", "upper")
IDENTITY_WORDS = (*IDENTITY, *METRIC_WORDS)
HELD = 500_000
"""Cells of several grids that are held while a table is read; beyond it all grids but the last are yielded."""
_MOST_ROWS = 2_000_000
"""Rows of one grid: as many as twice the cells that it may have, for there may be repeats."""
_SPARSE = 8
"""A grid with more positions than this times its cells is sent as tidy cells."""
_MOST_TIDY = 300_000
"""Rows of a request that are made cells one by one, each of which takes half a kilobyte."""


class Reading(NamedTuple):
    """Content of one cell. `at` holds a label for each axis; `value` is None for an unmeasured cell.

    A table has a million of them, so the place is two numbers here and no object of its own."""

    at: tuple[str, ...]
    value: float | None
    line: int
    column: int | None
    trials: int | None = None
    stderr: float | None = None
    reason: str | None = None
    repeat: str | None = None

    @property
    def place(self) -> Place:
        return Place(self.line, self.column)


@dataclass
class Sheet:
    """One grid while it is gathered."""

    names: Mapping[str, str]
    axes: tuple[str, ...]
    kinds: dict[str, str] = field(default_factory=dict)
    numbers: dict[str, dict[str, float]] = field(default_factory=dict)
    """For an axis whose levels have a number besides their label."""
    labels: dict[str, str] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    largest: float = 0.0
    """Largest value of this metric in the whole table, which decides whether it is in per cent."""
    levels: list[dict[str, Place]] = field(init=False)

    def __post_init__(self) -> None:
        self.levels = [{} for _ in self.axes]

    def declare(self, axis: str, labels: Sequence[str], place: Place) -> None:
        """Add levels to the axis, measured or not."""
        known = self.levels[self.axes.index(axis)]
        for label in labels:
            known.setdefault(label, place)

    def add(self, reading: Reading) -> None:
        for known, label in zip(self.levels, reading.at, strict=True):
            if label not in known:
                known[label] = reading.place
        self.readings.append(reading)

    def tell_signs(self, signs: Sequence[bool]) -> None:
        """Tell which values have a sign of per cent: the unit if all have it; if only some do, a note."""
        if signs and all(signs):
            self.names = {"unit": "%", **self.names}
        elif any(signs):
            detail = f"{sum(signs)} of {len(signs)} numbers have a sign of per cent: no unit was read"
            self.notes.append(Note("percent_mixed", detail))

    def numbers_in(self, axis: str, wanted: Overrides) -> dict[str, float | None]:
        """The number of each level of an axis of numbers in digits; empty for any other axis."""
        numbers = {label: plain_number(label) for label in self.levels[self.axes.index(axis)]}
        return numbers if wanted.kind_of(axis) in (None, "numeric") and None not in numbers.values() else {}

    def found(self, wanted: Overrides) -> ImportedGrid:
        """The grid as it would be POSTed."""
        kinds = [self._kind(axis, wanted) for axis in self.axes]
        levels = [self._levels(place, kind) for place, kind in enumerate(kinds)]
        axes = [
            {"name": axis, "kind": kind, "levels": given}
            for axis, kind, given in zip(self.axes, kinds, levels, strict=True)
        ]
        metric, notes = self._metric(wanted)
        if wanted.reads_prose and not is_share(metric) and any(one.trials is not None for one in self.readings):
            self.readings = [one._replace(trials=None) for one in self.readings]
            detail = f'the trials of "{metric.get("name")}" were left out, for it is no share of them'
            notes.append(Note("trials_left_out", f"{detail}: --lower 0 --upper 1 (or 100) says that it is one"))
        sent: dict[str, Any] = {name: self.names[name] for name in IDENTITY if name in self.names}
        sent |= {"metric": metric, "axes": axes, "labels": self.labels | self._prefixed(LABEL)}
        measured = [one for one in self.readings if one.value is not None or one.reason is not None]
        if text := self.names.get("protocol"):
            sent["protocol"] = json.loads(text)
        if told := self._prefixed(PROTOCOL):
            sent["protocol"] = protocol_of_texts(f"{name}={text}" for name, text in told.items())
        dense = self._dense(levels, measured, wanted.limits.cells)
        if dense is None and wanted.single and len(measured) > _MOST_TIDY:
            raise TooLarge(f"A table with repeats, reasons or many gaps has at most {_MOST_TIDY} rows.")
        body, place_of = dense or self._tidy(levels, measured)
        return wanted.applied(ImportedGrid(sent | body, (*self.notes, *notes), place_of))

    def _prefixed(self, prefix: str) -> dict[str, str]:
        """What the rows say of a label or a key of the protocol, by its name."""
        own = {name: text for name, text in self.names.items() if name.startswith(prefix) and text}
        return {name.removeprefix(prefix): text for name, text in own.items()}

    def _kind(self, axis: str, wanted: Overrides) -> str:
        given = wanted.kind_of(axis) or self.kinds.get(axis)
        if given is not None:
            return given
        labels = self.levels[self.axes.index(axis)]
        if self.numbers_in(axis, wanted):
            return "numeric"
        if labels and all(read_number(label) is not None for label in labels):
            self.notes.append(Note("kind_read", f'the levels of "{axis}" were read as numbers: {_some(labels)}'))
            return "numeric"
        return "nominal"

    def _levels(self, place: int, kind: str) -> list[Any]:
        """Levels of an axis as JSON; those of a numeric one in numeric order."""
        axis, known = self.axes[place], self.levels[place]
        given = {label: self._level(axis, label, kind) for label in known}
        if kind == "numeric" and not any(isinstance(_key(one), str) for one in given.values()):
            given = dict(sorted(given.items(), key=lambda pair: _key(pair[1])))
            self.levels[place] = {label: known[label] for label in given}
        return list(given.values())

    def _level(self, axis: str, label: str, kind: str) -> Any:
        if kind != "numeric":
            return label
        given = self.numbers.get(axis, {}).get(label)
        if given is not None:
            return _whole(given) if plain_number(label) == given else {"label": label, "number": _whole(given)}
        value = plain_number(label)
        if value is not None and not is_rounded(label, value):
            return _whole(value)
        read = read_number(label)
        return label if read is None else {"label": label, "number": _whole(read)}

    def _metric(self, wanted: Overrides) -> tuple[dict[str, Any], list[Note]]:
        metric: dict[str, Any] = {"name": self.names["metric"]} if "metric" in self.names else {}
        metric |= {name: self.names[name] or None for name in ("unit", "direction") if name in self.names}
        for bound in ("lower", "upper"):
            if self.names.get(bound):
                metric[bound] = plain_number(self.names[bound])
        if (mapped := wanted.layout.metrics.get(metric.get("name", ""))) is not None:
            metric |= mapped.settings
        if not wanted.reads_prose:
            return metric, []
        metric = wanted.applied(ImportedGrid({"metric": metric})).submission["metric"]
        values = [one.value for one in self.readings if one.value is not None]
        return explained(metric, [*values, self.largest] if values else values)

    def _dense(
        self, levels: Sequence[Sequence[Any]], measured: Sequence[Reading], most: int
    ) -> tuple[dict[str, Any], Callable[[str], Place | None]] | None:
        """`values` nested to the axes; None if a cell occurs twice, most are missing, or one has a reason.
        `Invalid` for more than `most` positions."""
        shape = [len(known) for known in self.levels]
        size = math.prod(shape)
        distinct = all(len({_key(one) for one in given}) == len(given) for given in levels)
        if distinct and size > most:
            raise Invalid([Fault("", f"these coordinates span {size} cells; a grid holds at most {most}")])
        if not distinct or not size or size > _SPARSE * len(measured) + 64 or any(one.reason for one in measured):
            return None
        index = [{label: place for place, label in enumerate(known)} for known in self.levels]
        flat: list[Reading | None] = [None] * size
        for one in measured:
            at = 0
            for places, length, label in zip(index, shape, one.at, strict=True):
                at = at * length + places[label]
            if flat[at] is not None:
                return None
            flat[at] = one
        body: dict[str, Any] = {"values": _nested([one and one.value for one in flat], shape)}
        for name in ("trials", "stderr"):
            if any(getattr(one, name) is not None for one in measured):
                body[name] = _nested([one and getattr(one, name) for one in flat], shape)
        lines = array("q", [one.line if one else 0 for one in flat])
        columns = array("q", [(one.column or 0) if one else 0 for one in flat])
        self.readings = []  # which take most of the memory of a large table, and are all told

        def place_of(pointer: str) -> Place | None:
            parts = pointer.strip("/").split("/")
            if parts[0] in ("values", "trials", "stderr") and len(parts) == len(shape) + 1:
                at = 0
                for length, part in zip(shape, parts[1:], strict=True):
                    at = at * length + int(part)
                return Place(lines[at], columns[at] or None) if lines[at] else None
            return self._level_place(parts)

        return body, place_of

    def _tidy(
        self, levels: Sequence[Sequence[Any]], measured: Sequence[Reading]
    ) -> tuple[dict[str, Any], Callable[[str], Place | None]]:
        """`cells`, one by one; a coordinate that occurs several times has repeats."""
        known = [dict(zip(labels, given, strict=True)) for labels, given in zip(self.levels, levels, strict=True)]
        cells: list[dict[str, Any]] = []
        for one in measured:
            at = {axis: _coordinate(given[label]) for axis, given, label in zip(self.axes, known, one.at, strict=True)}
            cell: dict[str, Any] = {"at": at, "value": one.value}
            for name in ("trials", "stderr", "reason"):
                if getattr(one, name) is not None:
                    cell[name] = getattr(one, name)
            cells.append(cell)

        def place_of(pointer: str) -> Place | None:
            parts = pointer.strip("/").split("/")
            return measured[int(parts[1])].place if parts[0] == "cells" and len(parts) > 1 else self._level_place(parts)

        return {"cells": cells}, place_of

    def _level_place(self, parts: Sequence[str]) -> Place | None:
        if len(parts) == 4 and parts[0] == "axes" and parts[2] == "levels":
            return next(itertools.islice(self.levels[int(parts[1])].values(), int(parts[3]), None), None)
        return None


def sheets(
    names: Mapping[str, str],
    telling: Mapping[int, str],
    axes: tuple[str, ...],
    rows: Iterable[tuple[tuple[str, ...], Reading]],
    report: Report,
    wanted: Overrides,
    held: int = HELD,
) -> Iterator[Sheet]:
    """A sheet for each identity among the rows, in the order of their first cells.

    `telling` are the words of the identity in the rows, by their positions: they distinguish the sheets. Once more than
    `held` cells wait, all but the last sheet are yielded, and a row that belongs to one of those is a fault: a table
    larger than memory is sorted by grid.
    """
    open_sheets: dict[tuple[str, ...], Sheet] = {}
    gone: set[tuple[str, ...]] = set()
    waiting = 0
    for labels, reading in rows:
        key = tuple(labels[place] for place in telling)
        sheet = open_sheets.get(key)
        if sheet is None:
            if key in gone:
                report.fault(reading.place, "the rows of this grid come apart: sort the table by grid")
                break
            if wanted.single and open_sheets:
                detail = "belongs to another grid than the rows before: send each by itself, or use `registry push`"
                report.fault(reading.place, detail)
                break
            own = {word: labels[place] for place, word in telling.items()}
            sheet = open_sheets[key] = Sheet({**names, **own}, axes)
        sheet.add(reading)
        if len(sheet.readings) > _MOST_ROWS:
            report.fault(reading.place, f"a grid has at most {_MOST_ROWS:,} rows, repeats included: split the table")
            break
        waiting += 1
        if waiting > held and len(open_sheets) > 1:
            del open_sheets[key]
            yield from _of_one_table(open_sheets.values(), wanted, report)
            gone |= open_sheets.keys()
            open_sheets, waiting = {key: sheet}, len(sheet.readings)
    yield from _of_one_table(open_sheets.values(), wanted, report)


def _of_one_table(found: Iterable[Sheet], wanted: Overrides, report: Report) -> Iterator[Sheet]:
    """Sheets, each with the largest value of its metric in all of them; `Invalid` if there are faults."""
    largest: dict[str, float] = {}
    together = list(found)
    report.stop_at_faults()
    for sheet in together if wanted.reads_prose else ():
        _check_apart(sheet, wanted, report)
    report.stop_at_faults()
    for sheet in together:
        values = [one.value for one in sheet.readings if one.value is not None]
        name = sheet.names.get("metric", "")
        largest[name] = max([largest.get(name, 0.0), *values])
    for sheet in together:
        sheet.largest = largest[sheet.names.get("metric", "")]
        yield sheet


def _check_apart(sheet: Sheet, wanted: Overrides, report: Report) -> None:
    """Add a fault for each row at the coordinate of one before, but repeats that are told apart."""
    named = report.named or "line {}".format
    hint = "--repeats NAME says what tells repeats apart, --repeats row that each row is one"
    hint += "" if report.named is None else "; --model-from file makes each file a model"
    same = [sheet.numbers_in(axis, wanted) for axis in sheet.axes]
    met: dict[tuple[Any, ...], int] = {}
    for one in sheet.readings:
        if one.value is None:
            continue
        key = (*(numbers.get(label, label) for numbers, label in zip(same, one.at, strict=True)), one.repeat)
        if (first := met.setdefault(key, one.line)) != one.line:
            at = ", ".join(f"{axis} {shown(label)}" for axis, label in zip(sheet.axes, one.at, strict=True))
            detail = f"{named(first)} and {named(one.line)} both hold {at or 'the one cell'}"
            report.fault(one.place, f"{detail}: {hint}")


def is_object(text: str) -> bool:
    """Tell whether a text is a JSON object."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _whole(value: float) -> float | int:
    return int(value) if value == int(value) and abs(value) < 1e15 else value


def _key(given: Any) -> Any:
    return given["number"] if isinstance(given, dict) else given


def _coordinate(given: Any) -> Any:
    return given["label"] if isinstance(given, dict) else given


def _some(labels: Any) -> str:
    shown = list(itertools.islice(labels, 4))
    return ", ".join(shown) + (" …" if len(labels) > len(shown) else "")


def _nested(flat: Sequence[Any], shape: Sequence[int]) -> Any:
    if not shape:
        return flat[0]
    nested: Any = list(flat)
    for length in reversed(shape[1:]):
        nested = [nested[start : start + length] for start in range(0, len(nested), length)]
    return nested
