"""Write parts anew of which too much is not current, which are many and small, or which hold what was purged."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from registry.mirror.columns import CELLS_SCHEMA
from registry.mirror.current_grids import grids_in, rows_by_part
from registry.mirror.manifest import PartFile
from registry.mirror.parquet_file import ROW_GROUP, ParquetFile
from registry.mirror.part_writer import MOST_ROWS, part_path

LEAST_CURRENT = 0.5
"""The share of a part's rows that must be current."""
MOST_SMALL = 8
"""Small parts that a day may have."""
SMALL = 100_000
"""Rows below which a part is small."""
_READ = 65_536


@dataclass(frozen=True, slots=True)
class Compacted:
    """What compaction left: the parts, and for each that is gone the number of the one that has its current rows."""

    parts: tuple[PartFile, ...]
    moved: Mapping[int, int]


def compact(
    root: Path,
    project: str,
    parts: Sequence[PartFile],
    current: pa.Table,
    purged: Collection[str],
    numbered: Callable[[], int],
) -> Compacted:
    """Write anew what `groups_of` names; a part without a current row is left out."""
    kept, moved = list(parts), dict[int, int]()
    for group in groups_of(parts, rows_by_part(current), parts_with(root, parts, purged)):
        for one in group:
            kept.remove(one)
        written = _merged(root, project, group, current, numbered)
        if written is not None:
            kept.append(written)
            moved |= {one.part: written.part for one in group}
    return Compacted(tuple(kept), moved)


def groups_of(parts: Sequence[PartFile], current: Mapping[int, int], purged: Collection[int]) -> list[list[PartFile]]:
    """The parts to write anew, those of one day that become one part together."""
    days: dict[str, list[PartFile]] = defaultdict(list)
    for part in parts:
        days[part.day].append(part)
    found = []
    for together in days.values():
        small = [one for one in together if one.rows < SMALL]
        merged = {one.part for one in small} if len(small) > MOST_SMALL else set()
        stale = {one.part for one in together if current.get(one.part, 0) < LEAST_CURRENT * one.rows}
        group: list[PartFile] = []
        for one in together:
            if one.part not in merged | stale | set(purged):
                continue
            if group and sum(current.get(other.part, 0) for other in [*group, one]) > MOST_ROWS:
                found.append(group)
                group = []
            group.append(one)
        found += [group] if group else []
    return found


def parts_with(root: Path, parts: Sequence[PartFile], grids: Collection[str]) -> set[int]:
    """The numbers of the parts that hold rows of these grids, current or not."""
    if not grids:
        return set()
    wanted = [("grid", "in", set(grids))]
    return {
        one.part
        for one in parts
        if parquet.read_table(root / one.path, columns=["grid"], filters=wanted, partitioning=None).num_rows
    }


def _merged(
    root: Path, project: str, group: Sequence[PartFile], current: pa.Table, numbered: Callable[[], int]
) -> PartFile | None:
    """One part of the current rows of these; None where there is none."""
    numbers = [one.part for one in group]
    if not any(rows_by_part(current).get(number) for number in numbers):
        return None
    first, last, number = min(one.first for one in group), max(one.last for one in group), numbered()
    file = ParquetFile(root, part_path(project, group[0].day, (first, last), number), CELLS_SCHEMA)
    waiting: list[pa.Table] = []
    for one in group:
        alive = grids_in(current, [one.part])
        with parquet.ParquetFile(root / one.path) as read:
            for batch in read.iter_batches(_READ):
                waiting.append(_renumbered(pa.Table.from_batches([batch]), alive, number))
                if sum(table.num_rows for table in waiting) >= ROW_GROUP:
                    file.write(pa.concat_tables(waiting))
                    waiting.clear()
    if waiting:
        file.write(pa.concat_tables(waiting))
    return PartFile(**asdict(file.close()), part=number, day=group[0].day, first=first, last=last)


def _renumbered(rows: pa.Table, alive: pa.Array, number: int) -> pa.Table:
    kept = rows.filter(pc.is_in(rows["grid"], value_set=alive))
    return kept.set_column(0, "part", pa.array([number], pa.int64()).take(pa.array([0] * kept.num_rows, pa.int64())))
