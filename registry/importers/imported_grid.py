"""Results of an importer: grids as they would be POSTed, each with its notes and the places that it came from."""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Literal, NamedTuple

from registry.errors import Malformed
from registry.grids.intake.faults import Limits

IDENTITY = ("experiment", "benchmark", "model", "variant")
_METRIC = ("unit", "direction", "lower", "upper")


class Place(NamedTuple):
    """A line of a text, counted from 1, and the cell in that line, if any."""

    line: int
    column: int | None = None

    def pointer(self) -> str:
        return f"/line/{self.line}" + ("" if self.column is None else f"/column/{self.column}")

    def __str__(self) -> str:
        return f"line {self.line}" + ("" if self.column is None else f", cell {self.column}")


@dataclass(frozen=True, slots=True)
class Note:
    """A doubtful or skipped part of a source."""

    code: str
    detail: str
    place: Place | None = None

    def document(self) -> dict[str, str]:
        """The note as a warning of the wire."""
        given = {"code": self.code, "detail": self.detail}
        return given if self.place is None else given | {"pointer": self.place.pointer()}


def _nowhere(_pointer: str) -> Place | None:
    return None


@dataclass(frozen=True, slots=True)
class ImportedGrid:
    """One grid: the body of `POST …/grids`, and the place in the source of a JSON pointer into that body.

    `edition` is the source's own name for this state of the model, or this run: it tells two grids of the same names
    apart, if their values differ. `items` are bodies of `POST /grids/{grid}/items`, one for each item set.
    """

    submission: dict[str, Any]
    notes: tuple[Note, ...] = ()
    place_of: Callable[[str], Place | None] = _nowhere
    edition: str = ""
    items: tuple[dict[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class MetricColumns:
    """How a metric of a mapping is to be read: its unit, direction and bounds, and the columns of its `stderr`,
    `trials`, `repeats` and `sd`. With a `value` a column says which metric a row is of, else each has its own."""

    settings: Mapping[str, Any]
    roles: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Layout:
    """Where a mapping (`mapping_file.py`), and no option, finds things in tables and records.

    `beside` are the columns of labels and of keys of the protocol, under `sheet.LABEL` or `PROTOCOL` and their names.
    `where` are the texts of columns in the rows that count, `headings` those of the tables of a document that do;
    `constants` are columns with one text in every row, which the named groups of `path` in the path of a file make.
    """

    metrics: Mapping[str, MetricColumns] = field(default_factory=dict)
    records: str | None = None
    keys: tuple[str, ...] = ()
    path: str | None = None
    beside: Mapping[str, str] = field(default_factory=dict)
    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    headings: tuple[str, ...] = ()
    constants: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Overrides:
    """Settings of the caller, which override the source's.

    `axes`, `value` and `repeats` name columns of a tidy table or keys of records: those of the axes, of the values
    (several between commas), and those that tell repeats of a cell apart; `drop` names columns to ignore. `roles` says
    by what name a column is read: `{"model": "system"}`. `rows` and `columns` name the axes of a pivot table;
    `numeric`, `ordinal` and `nominal` are names of axes of that kind; `only` are patterns of the metrics to take from
    a source that holds several. `model_from`: the name of each file, or of its folder, is the model. `layout` is for
    tables and records alone. With `reads_prose`, missing information may be taken from the words around a table, each
    time with a note. With `single`, a second grid is a fault.
    """

    experiment: str | None = None
    benchmark: str | None = None
    model: str | None = None
    model_from: Literal["file", "folder"] | None = None
    variant: str | None = None
    metric: str | None = None
    unit: str | None = None
    direction: str | None = None
    lower: float | None = None
    upper: float | None = None
    trials: int | None = None
    questions: int | None = None
    design_effect: float | None = None
    derived: bool = False
    axes: tuple[str, ...] = ()
    value: str | None = None
    repeats: str | None = None
    drop: tuple[str, ...] = ()
    roles: Mapping[str, str] = field(default_factory=dict)
    rows: str | None = None
    columns: str | None = None
    numeric: tuple[str, ...] = ()
    ordinal: tuple[str, ...] = ()
    nominal: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    protocol: Mapping[str, Any] = field(default_factory=dict)
    description: str | None = None
    layout: Layout = field(default_factory=Layout)
    reads_prose: bool = True
    single: bool = False
    limits: Limits = field(default_factory=Limits)

    def for_file(self, path: Path) -> "Overrides":
        """The same for one file, whose name or folder may be its model, and whose path may name more.

        Raises `Malformed` for a path that the pattern does not match.
        """
        found = self
        if (pattern := self.layout.path) is not None:
            match = re.search(pattern, path.as_posix()) or re.search(pattern, path.absolute().as_posix())
            if match is None:
                raise Malformed(f"Its path does not match {pattern!r}, which the mapping expects.")
            found = found.laid_out(constants={name: text for name, text in match.groupdict().items() if text})
        if self.model_from == "folder":
            return replace(found, model=path.absolute().parent.name)
        return replace(found, model=Path(path.name.removesuffix(".gz")).stem) if self.model_from else found

    def laid_out(self, **changed: Any) -> "Overrides":
        """The same with another layout."""
        return replace(self, layout=replace(self.layout, **changed))

    @property
    def of_tables(self) -> list[str]:
        """What was given and says how a table or records are to be read."""
        named = {"roles": "column"} | {name: name for name in ("axes", "value", "repeats", "drop", "rows", "columns")}
        given = [f"--{option}" for name, option in named.items() if getattr(self, name)]
        return given + ["what only a mapping says"] * (self.layout != Layout())

    def kind_of(self, axis: str) -> str | None:
        """Kind that the caller gave to an axis."""
        return next((kind for kind in ("numeric", "ordinal", "nominal") if axis in getattr(self, kind)), None)

    def values_among(self, known: Collection[str]) -> list[str]:
        """Columns of the values that the caller names; a name may hold commas itself."""
        if self.layout.metrics and self.value is None:
            return list(self.layout.metrics)
        if self.value is None or self.value in known or "," not in self.value:
            return [] if self.value is None else [self.value]
        return [name.strip() for name in self.value.split(",") if name.strip()]

    def takes(self, metric: str, otherwise: bool = True) -> bool:
        """Tell whether a metric is wanted; `otherwise` if the caller did not select any."""
        return any(fnmatchcase(metric, pattern) for pattern in self.only) if self.only else otherwise

    def applied(self, found: ImportedGrid) -> ImportedGrid:
        """The same grid with the names and the metric that the caller gave."""
        sent = dict(found.submission)
        sent |= {name: given for name in IDENTITY if (given := getattr(self, name)) is not None}
        metric = dict(sent.get("metric") or {})
        metric |= {name: given for name in _METRIC if (given := getattr(self, name)) is not None}
        if self.metric is not None:
            metric["name"] = self.metric
        sent["metric"] = metric
        for name in ("trials", "questions", "design_effect", "description"):
            if (given := getattr(self, name)) is not None:
                sent[name] = given
        if self.derived:
            sent["derived"] = True
        if self.labels:
            sent["labels"] = {**sent.get("labels", {}), **self.labels}
        if self.protocol:
            sent["protocol"] = {**(sent.get("protocol") or {}), **self.protocol}
        return replace(found, submission=sent)
