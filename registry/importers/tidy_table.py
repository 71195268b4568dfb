"""Tidy tables, one of the two kinds of `tables.py`: one cell a row, its value, identity and place in columns."""

from collections.abc import Collection, Iterator, Mapping, Sequence

from registry.grids.intake.faults import whole
from registry.grids.intake.levels import MAX_AXES
from registry.importers.cell_text import (
    GAPS,
    Report,
    Table,
    even,
    looks_like_error,
    plain_number,
    same_text,
    shown,
    text_of,
    value_of,
)
from registry.importers.imported_grid import Overrides, Place
from registry.importers.scores import meaning_of
from registry.importers.sheet import IDENTITY_WORDS, Reading, Sheet, is_object, sheets

ROW = "row"
"""As the name of what tells repeats apart: each row is one, if no column has this name."""
_CARRIED = ("trials", "stderr", "reason", "repeats", "sd")
_OWN = ("grid", "revision")
_DERIVED = ("ci_low", "ci_high", "updated_at")
_NOT_IN_A_TABLE = (
    "no table has labels, direction and bounds of the metric, units and scales of axes, the order of their names,"
    " levels without a value, reasons of missing cells, or questions, design_effect and derived: what the grid has of"
    " these and the caller does not say is gone; JSON keeps it"
)


class Tidy:
    """A tidy table: the role of each column, and the rows."""

    def __init__(self, table: Table, wanted: Overrides, report: Report) -> None:
        self.table, self.wanted, self.report = table, wanted, report
        header = table.header
        self.own = {*_OWN, "value"} <= set(header)
        places = {name: place for place, name in enumerate(header)}
        known = places if self.own else {name.casefold(): places[name] for name in reversed(header)}
        self.value = known.get("value") if wanted.value is None else self._column(wanted.value)
        self.metric = wanted.value if wanted.value not in (None, "value") and "metric" not in known else None
        if self.value is None and wanted.value is None:
            self.value = self._named_like_the_metric(header)
            self.metric = None if self.value is None else header[self.value]
        self.carried = {name: known[name] for name in _CARRIED if name in known and known[name] != self.value}
        self.identity = {name: known[name] for name in IDENTITY_WORDS if name in known and known[name] != self.value}
        joined = []
        if self.own:
            as_sent = {name: known[f"{name}_as_sent"] for name in self.identity if f"{name}_as_sent" in known}
            joined = [self.identity[name] for name in as_sent]  # what aliases made of the names of the grids
            self.identity.update(as_sent)
            if "protocol" in known:
                self.identity["protocol"] = known["protocol"]
        self.identity |= {told: places[name] for told, name in wanted.layout.beside.items() if name in places}
        self.derived = [known[name] for name in ((*_OWN, *_DERIVED) if self.own else _DERIVED) if name in known]
        if self.own and self.value is not None and "slice" in header[self.value :]:
            place = Place(table.line, header.index("slice", self.value) + 1)
            report.fault(place, "this is a slice, and no grid to publish: what was posted has more cells")
        taken = {self.value, *self.carried.values(), *self.identity.values(), *self.derived, *joined}
        self.numbers = {place: places[f"{name}_num"] for place, name in enumerate(header)
                        if place not in taken and f"{name}_num" in places}  # fmt: skip
        taken.update(self.numbers.values())
        self.axes = [place for place in range(len(header)) if place not in taken]
        self.repeat: int | None = None
        if self.value is not None:
            self._choose()

    def _column(self, name: str) -> int | None:
        if name in self.table.header:
            return self.table.header.index(name)
        there = ", ".join(self.table.header[:20])
        self.report.fault(Place(self.table.line), f'there is no column "{name}"; there are: {there}')
        return None

    def _choose(self) -> None:
        wanted, header = self.wanted, self.table.header
        for name in (*wanted.axes, *wanted.drop):
            self._column(name)
        if wanted.repeats is not None and (wanted.repeats != ROW or ROW in header):
            self.repeat = self._column(wanted.repeats)
        away = {*wanted.drop, wanted.repeats}
        taken = wanted.axes or wanted.layout.metrics
        kept = [p for p in self.axes if header[p] in wanted.axes or (not taken and header[p] not in away)]
        others = [header[place] for place in self.axes if place not in kept and header[place] not in away]
        if wanted.reads_prose and not self.own and not wanted.layout.metrics:
            kept, others = self._without_errors(kept, others)
        elif nameless := [place for place in kept if not header[place]]:
            detail = "the heading is empty: leave an index out, or give it a name"
            self.report.fault(Place(self.table.line, nameless[0] + 1), detail)
        if others and not wanted.layout.metrics:
            self.report.note("left_out", f"columns that --axes does not name: {', '.join(others)}")
        self.axes = kept
        if len(kept) > MAX_AXES and wanted.reads_prose:
            chosen = ", ".join(header[place] for place in kept)
            detail = f"a grid has at most {MAX_AXES} axes, not {len(kept)} ({chosen})"
            self.report.fault(
                Place(self.table.line),
                f"{detail}: --axes NAMES or --drop NAMES chooses, --value NAMES of several metrics",
            )

    def _without_errors(self, kept: list[int], others: list[str]) -> tuple[list[int], list[str]]:
        """Axes and columns left out, without those that look like errors of the values, each of which is noted; and
        faults of what a table with one value a row has no use for."""
        header, wanted, line = self.table.header, self.wanted, Place(self.table.line)
        value = header[self.value or 0]
        suspects = [name for name in (*others, *(header[p] for p in kept)) if looks_like_error(name, [value])]
        for name in [name for name in suspects if name not in wanted.axes]:
            detail = f'"{name}" looks like the error of "{value}" and was left out'
            self.report.note("stderr_unread", f"{detail}: --column stderr={name} reads it", line)
        kept = [p for p in kept if header[p] in wanted.axes or header[p] not in suspects]
        if "" in (header[place] for place in kept):
            self.report.fault(line, "a heading is empty: --column model= or another NAME= says what its column is")
        unused = [name for name in (wanted.rows, wanted.columns) if name and name not in header]
        if unused and not self.report.marked:
            detail = f'"{value}" is the one value of a row, and --rows and --columns are for a pivot'
            self.report.fault(line, detail)
        return kept, [name for name in others if name not in suspects]

    def _named_like_the_metric(self, header: Sequence[str]) -> int | None:
        """Column of the values where none is called `value`."""
        if self.wanted.metric in header:
            return header.index(self.wanted.metric)
        if not self.wanted.reads_prose or any(plain_number(name) is not None for name in header):
            return None
        known = [place for place, name in enumerate(header) if meaning_of(name)]
        if len(known) != 1:
            return None
        others = [p for p, name in enumerate(header) if p != known[0] and name.casefold() not in IDENTITY_WORDS]
        return known[0] if others or len(header) > 2 else None

    def sheets(self) -> Iterator[Sheet]:
        header, report = self.table.header, self.report
        names = {**self.table.names, **({"metric": self.metric} if self.metric else {})}
        self._check_axes()
        taken = frozenset(header)
        axes = [_axis_name(same_text(header[place]), taken) for place in self.axes]
        if left_out := [header[place] for place in self.derived if header[place] not in _OWN]:
            report.note("left_out", f"the registry computes these itself: {', '.join(left_out)}")
        if self.own:
            report.note("left_out", _NOT_IN_A_TABLE)
        if "repeats" in self.carried or "sd" in self.carried:
            self._explain_repeats()
        numbers: dict[str, dict[str, float]] = {name: {} for name in axes}
        telling = dict(enumerate(self.identity))
        rows = self._rows(axes, numbers)
        for sheet in sheets(names, telling, tuple(axes), rows, report, self.wanted):
            if self.own or self.numbers:
                sheet.kinds = {axis: "numeric" if numbers[axis] else "nominal" for axis in axes}
                self._check_numbers(sheet, numbers)
            sheet.numbers = numbers
            sheet.notes += report.notes
            yield sheet

    def _check_axes(self) -> None:
        if len(self.axes) > MAX_AXES:
            names = ", ".join(f'"{shown(self.table.header[place])}"' for place in self.axes[: MAX_AXES + 1])
            more = ", …" if len(self.axes) > MAX_AXES + 1 else ""
            detail = f"a grid has at most {MAX_AXES} axes, and these columns would each be one: {names}{more}"
            self.report.fault(Place(self.table.line, self.axes[MAX_AXES] + 1), detail)
            self.report.stop_at_faults()

    def _check_numbers(self, sheet: Sheet, numbers: Mapping[str, Mapping[str, float]]) -> None:
        """Check that either every level of an axis has a number in its column, or none has."""
        for axis, column, levels in zip(sheet.axes, self.axes, sheet.levels, strict=True):
            if numbers[axis]:
                for label in levels.keys() - numbers[axis].keys():
                    place = Place(levels[label].line, self.numbers[column] + 1)
                    self.report.fault(place, f'"{shown(label)}" has no number, and other levels of its axis have one')
        self.report.stop_at_faults()

    def _explain_repeats(self) -> None:
        if "stderr" not in self.carried and {"repeats", "sd"} <= self.carried.keys():
            detail = "the spread of repeats is kept as the standard error of their mean, sd / sqrt(repeats)"
        else:
            detail = "repeats and their sd are left out: a cell of a table is one measurement"
        self.report.note("repeats_read", detail)

    def _rows(
        self, axes: Sequence[str], numbers: dict[str, dict[str, float]]
    ) -> Iterator[tuple[tuple[str, ...], Reading]]:
        report, value = self.report, self.value
        assert value is not None  # noqa: S101 (read_table asked)
        limit = self.wanted.limits.cells
        identity = list(self.identity.items())
        checked: dict[str, str] = {}
        for count, (line, cells) in enumerate(even(self.table, report), start=1):
            if count > limit and not self.identity:
                report.fault(Place(line), f"a grid has at most {limit} cells")
                return
            identity_words = tuple(
                self._identity_text(name, cells[place], Place(line, place + 1)) for name, place in identity
            )
            at = tuple([
                checked.get(cells[place]) or self._level(cells[place], Place(line, place + 1), checked)
                for place in self.axes
            ])  # fmt: skip
            if self.numbers:
                self._numbers(axes, at, cells, line, numbers)
            yield (*identity_words, *at), self._reading(at, cells, Place(line, value + 1))

    def _level(self, cell: str, place: Place, checked: dict[str, str]) -> str:
        """A level, the same object for the same text; empty ones, which are faults, are not kept."""
        label = text_of(cell, place, self.report)
        return checked.setdefault(cell, label) if cell else label

    def _numbers(
        self,
        axes: Sequence[str],
        at: Sequence[str],
        cells: Sequence[str],
        line: int,
        numbers: dict[str, dict[str, float]],
    ) -> None:
        for name, label, place in zip(axes, at, self.axes, strict=True):
            if place in self.numbers and cells[self.numbers[place]]:
                self._number(numbers[name], label, cells[self.numbers[place]], Place(line, self.numbers[place] + 1))

    def _identity_text(self, name: str, cell: str, place: Place) -> str:
        """A word of the identity; a variant, a unit, a direction and a bound may be empty."""
        if not cell and name not in ("experiment", "benchmark", "model", "metric"):
            return ""
        if name in ("lower", "upper") and plain_number(cell) is None:
            self.report.fault(place, f'"{shown(cell)}" is not a number: a bound of the metric stands here')
        if name == "protocol" and not is_object(cell):
            self.report.fault(place, f'"{shown(cell)}" is not a JSON object: the protocol stands here')
        return text_of(cell, place, self.report)

    def _number(self, known: dict[str, float], label: str, cell: str, place: Place) -> None:
        value = plain_number(cell)
        if value is None:
            self.report.fault(place, "is the number of a level")
        elif known.setdefault(label, value) != value:
            self.report.fault(place, f'the level "{shown(label)}" has another number in another row')

    def _reading(self, at: tuple[str, ...], cells: Sequence[str], place: Place) -> Reading:
        report, line = self.report, place.line
        value = value_of(cells[self.value or 0], place, report)
        repeat = None if self.wanted.repeats is None else str(line) if self.repeat is None else cells[self.repeat]
        if not self.carried or (
            value is None and self.wanted.layout.metrics
        ):  # of several metrics one was not measured here
            return Reading(at, value, *place, repeat=repeat)
        texts = {name: cells[column] for name, column in self.carried.items()}
        trials, stderr = self._trials(texts, line), self._stderr(texts, line)
        reason = texts.get("reason") or None
        if value is None and (trials is not None or stderr is not None):
            report.fault(place, "a cell without a value has neither trials nor stderr")
        return Reading(at, value, *place, trials, stderr, reason, repeat)

    def _trials(self, texts: Mapping[str, str], line: int) -> int | None:
        if texts.get("trials", "") in GAPS:
            return None
        count = plain_number(texts["trials"])
        found = None if count is None else whole(count)
        if found is None:
            self.report.fault(Place(line, self.carried["trials"] + 1), "trials are a positive whole number")
        return found

    def _stderr(self, texts: Mapping[str, str], line: int) -> float | None:
        if texts.get("stderr", "") not in GAPS:
            found = value_of(texts["stderr"], Place(line, self.carried["stderr"] + 1), self.report)
            if found is not None and found < 0:
                self.report.fault(Place(line, self.carried["stderr"] + 1), "a standard error is not negative")
            return found
        if "stderr" in self.carried or texts.get("repeats", "") in GAPS or texts.get("sd", "") in GAPS:
            return None
        count, spread = plain_number(texts["repeats"]), plain_number(texts["sd"])
        if count is None or spread is None or count < 1 or spread < 0:
            self.report.fault(Place(line), "repeats are a count and sd is a number that is not negative")
            return None
        return spread / float(count**0.5)


def _axis_name(name: str, taken: Collection[str]) -> str:
    """Axis of a column; `axis_value` was called `value`, but that name was taken."""
    bare = name.removeprefix("axis_")
    return bare if bare != name and bare in taken else name
