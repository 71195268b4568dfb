"""Write grids into parts: one directory a day of publication, a bounded number of rows in memory.

Rows are kept as columns until they are written, a row group at a time; a file that is closed is durable.
"""

import hashlib
import io
import itertools
import math
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
from pyarrow import parquet

from registry.mirror.current_grids import CELLS_SCHEMA
from registry.mirror.directory import PartFile, WrittenFile
from registry.renderings.cells_feed import Place, axes_of, protocol_text
from registry.renderings.grid import flat

AT_ONCE = 32_768
"""Cells of one grid that are made to rows at once: a grid may have a million."""
_SAME = ("part", "grid", "revision", "experiment", "benchmark", "model", "variant", "metric", "unit")
_LAST = ("updated_at", "protocol")
_OWN = ("value", "trials", "stderr", "repeats", "sd", "reason")
_LEVEL = CELLS_SCHEMA.field("axes").type.item_type
ROW_GROUP = 131_072
MOST_WAITING = 2 * ROW_GROUP
"""Rows that wait to be written, of all days together."""
MOST_OPEN = 64
"""Parts that are open at once."""
MOST_ROWS = 2_000_000
"""Rows from which a part is closed, so that a purge has less to write anew."""


class CellRows:
    """Rows that wait to be written, some 200 bytes each."""

    def __init__(self) -> None:
        self._empty()

    def _empty(self) -> None:
        self.count = 0
        self._runs: list[tuple[tuple[Any, ...], int]] = []
        """Value that so many rows after each other share."""
        self._sizes: list[int] = []
        """Number of axes of each row."""
        self._levels: tuple[list[str], list[str], list[float | None]] = ([], [], [])
        """Names, labels and numbers of all axes of all rows."""
        self._own: dict[str, list[Any]] = {name: [] for name in _OWN}

    def add(self, same: tuple[Any, ...], places: "Levels", own: Mapping[str, Sequence[Any]]) -> None:
        """Add cells of one grid: what they share, their levels, and what each has of its own."""
        count = len(own["value"])
        self.count += count
        self._runs.append((same, count))
        self._sizes += [places.axes] * count
        names, labels, numbers = self._levels
        names += places.names
        labels += places.labels
        numbers += places.numbers
        for name, waiting in self._own.items():
            waiting.extend(own[name])

    def taken(self) -> pa.Table:
        """The rows as a table; none wait any more."""
        columns: dict[str, Any] = {}
        for place, name in enumerate((*_SAME, *_LAST)):
            repeated = itertools.chain.from_iterable(itertools.repeat(same[place], count) for same, count in self._runs)
            columns[name] = pa.array(repeated, CELLS_SCHEMA.field(name).type, size=self.count)
        ends = pa.array(itertools.chain((0,), itertools.accumulate(self._sizes)), pa.int32())
        names, labels, numbers = self._levels
        levels = pa.StructArray.from_arrays([pa.array(labels, pa.string()), pa.array(numbers, pa.float64())],
                                            fields=list(_LEVEL))  # fmt: skip
        columns["axes"] = pa.MapArray.from_arrays(ends, pa.array(names, pa.string()), levels)
        columns |= {name: pa.array(column, CELLS_SCHEMA.field(name).type) for name, column in self._own.items()}
        table = pa.table([columns[name] for name in CELLS_SCHEMA.names], schema=CELLS_SCHEMA)
        self._empty()
        return table


class Levels:
    """Names, labels and numbers of the axes of some cells, one cell after the other."""

    __slots__ = ("axes", "labels", "names", "numbers")

    def __init__(self, names: tuple[str, ...], places: Iterable[Place]) -> None:
        found = list(itertools.chain.from_iterable(places))
        self.axes = len(names)
        self.labels: list[str] = [label for label, _ in found]
        self.numbers: list[float | None] = [number for _, number in found]
        self.names: list[str] = list(names) * (len(found) // len(names)) if names else []


def add_grid(grid: Mapping[str, Any], part: int, rows: CellRows) -> Iterator[int]:
    """Add the cells of a grid to rows, some at a time; yield how many there were.

    Cells that were not measured are left out, unless it is said why.
    """
    axes, values = grid["axes"], flat(grid["values"], len(grid["axes"]))
    text = orjson.dumps(axes).decode()
    names, levels = axes_of(text)
    own: dict[str, Sequence[Any]] = {"value": values, "reason": _reasons(grid, len(values))}
    for name in _OWN[1:5]:
        given = grid.get(name)
        own[name] = flat(given, len(axes)) if isinstance(given, list) else [given] * len(values)
    same = _same(grid, part)
    places = itertools.product(*levels)
    for start in range(0, len(values), AT_ONCE):
        piece = {name: column[start : start + AT_ONCE] for name, column in own.items()}
        kept = [
            value is not None or why is not None for value, why in zip(piece["value"], piece["reason"], strict=True)
        ]
        if all(kept) and len(values) <= AT_ONCE:
            found = _every_place(text)
        else:
            found = Levels(names, itertools.compress(itertools.islice(places, len(kept)), kept))
            piece = {name: list(itertools.compress(column, kept)) for name, column in piece.items()}
        rows.add(same, found, piece)
        yield len(piece["value"])


def _same(grid: Mapping[str, Any], part: int) -> tuple[Any, ...]:
    names = (grid[name] for name in ("experiment", "benchmark", "model", "variant"))
    metric, protocol = grid["metric"], grid.get("protocol")
    who = (part, grid["id"], grid["revision"], *names, metric["name"], metric.get("unit") or None)
    return (*who, _instant(grid), protocol_text(protocol))


def _instant(grid: Mapping[str, Any]) -> datetime:
    return datetime.fromisoformat(grid["updated_at"]).astimezone(UTC)


@lru_cache(maxsize=64)
def _every_place(axes: str) -> Levels:
    """The levels of all cells of a grid with these axes: grids of an experiment share them."""
    names, levels = axes_of(axes)
    return Levels(names, itertools.product(*levels))


def _reasons(grid: Mapping[str, Any], count: int) -> list[str | None]:
    """Why each cell is missing, row-major; None where that is not said."""
    found: list[str | None] = [None] * count
    given = grid.get("reasons", ())
    if given:
        places = [{_key(axis, level): place for place, level in enumerate(axis["levels"])} for axis in grid["axes"]]
        sizes = [len(axis["levels"]) for axis in grid["axes"]]
        steps = [math.prod(sizes[number + 1 :]) for number in range(len(sizes))]
        for one in given:
            at = (known[_key(axis, one["at"][axis["name"]])] for axis, known in zip(grid["axes"], places, strict=True))
            found[sum(step * place for step, place in zip(steps, at, strict=True))] = one["reason"]
    return found


def _key(axis: Mapping[str, Any], level: Any) -> Any:
    """A level as a reason names it: a label, or what a numeric axis has."""
    return orjson.dumps(level) if axis["kind"] == "numeric" else level


class _Digested(io.RawIOBase):
    """A new file that is written from its beginning to its end, with the digest of what was written."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("xb")
        self.digest, self.size = hashlib.sha256(), 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self.size

    def write(self, data: Any) -> int:
        written = self._file.write(data)
        self.digest.update(data)
        self.size += written
        return written

    def close(self) -> None:
        if not self.closed:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()
        super().close()


class ParquetFile:
    """A file under `root` that is being written; `close` makes it durable."""

    def __init__(self, root: Path, path: str, schema: pa.Schema) -> None:
        self.path, self.rows = path, 0
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        self._sink = _Digested(root / path)
        self._writer = parquet.ParquetWriter(self._sink, schema, compression="zstd")

    def write(self, rows: pa.Table) -> None:
        """Add rows, as row groups of a bounded size."""
        self._writer.write_table(rows, row_group_size=ROW_GROUP)
        self.rows += rows.num_rows

    def close(self) -> WrittenFile:
        self._writer.close()
        self._sink.close()
        return WrittenFile(path=self.path, rows=self.rows, bytes=self._sink.size, sha256=self._sink.digest.hexdigest())


def write_table(root: Path, path: str, table: pa.Table) -> WrittenFile:
    """Write a table as one durable file."""
    file = ParquetFile(root, path, table.schema)
    file.write(table)
    return file.close()


class _OpenPart:
    """A part that takes grids of one day."""

    def __init__(self, number: int, day: str) -> None:
        self.number, self.day = number, day
        self.rows = CellRows()
        self.file: ParquetFile | None = None

    @property
    def size(self) -> int:
        return self.rows.count + (0 if self.file is None else self.file.rows)


class PartWriter:
    """Parts of a project below `root`. `numbered` gives numbers that no file has."""

    def __init__(self, root: Path, project: str, positions: tuple[int, int], numbered: Callable[[], int]) -> None:
        self._root, self._project, self._positions, self._numbered = root, project, positions, numbered
        self._open: dict[str, _OpenPart] = {}
        """By day, the one that was used last at the end."""
        self._waiting = 0
        self._closed: list[PartFile] = []

    def add(self, grid: Mapping[str, Any]) -> tuple[int | None, int]:
        """Add the cells of a grid to the part of its day; return the number of the part, None where it has no cell,
        and how many rows it has there."""
        part, before = self._part(_instant(grid).strftime("%Y-%m-%d")), 0
        for count in add_grid(grid, part.number, part.rows):
            before += count
            self._waiting += count
            if self._waiting >= MOST_WAITING:
                self._write(max(self._open.values(), key=lambda one: one.rows.count))
        if part.size >= MOST_ROWS:
            self._close(part)
        return (part.number if before else None), before

    def close(self) -> list[PartFile]:
        """The parts that were written, each of them durable."""
        for part in list(self._open.values()):
            self._close(part)
        return self._closed

    def _part(self, day: str) -> _OpenPart:
        part = self._open.pop(day, None) or _OpenPart(self._numbered(), day)
        self._open[day] = part
        if len(self._open) > MOST_OPEN:
            self._close(next(iter(self._open.values())))
        return part

    def _write(self, part: _OpenPart) -> None:
        if part.file is None:
            part.file = ParquetFile(
                self._root, part_path(self._project, part.day, self._positions, part.number), CELLS_SCHEMA
            )
        self._waiting -= part.rows.count
        part.file.write(part.rows.taken())

    def _close(self, part: _OpenPart) -> None:
        if part.rows.count:
            self._write(part)
        del self._open[part.day]
        if part.file is not None:
            first, last = self._positions
            written = asdict(part.file.close())
            self._closed.append(PartFile(**written, part=part.number, day=part.day, first=first, last=last))


def part_path(project: str, day: str, positions: tuple[int, int], number: int) -> str:
    """The path of a part below the directory of the mirror."""
    first, last = positions
    return f"project={project}/day={day}/part-{first:012}-{last:012}-{number:06}.parquet"
