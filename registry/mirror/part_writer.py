"""Write grids into parts: one directory a day of publication, a bounded number of rows in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from registry.mirror.cell_rows import CellRows, add_grid, day_of
from registry.mirror.columns import CELLS_SCHEMA
from registry.mirror.manifest import PartFile
from registry.mirror.parquet_file import ROW_GROUP, ParquetFile

MOST_WAITING = 2 * ROW_GROUP
"""Rows that wait to be written, of all days together."""
MOST_OPEN = 64
"""Parts that are open at once."""
MOST_ROWS = 2_000_000
"""Rows from which a part is closed, so that a purge has less to write anew."""


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
        part, before = self._part(day_of(grid)), 0
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
