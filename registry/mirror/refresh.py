"""Bring the mirror of a project up to its latest event: by its events, or by all of its grids where those are gone.

Write parts anew of which too much is not current, which are many and small, or which hold what was purged.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from registry.mirror.current_grids import (
    CELLS_SCHEMA,
    GRIDS_SCHEMA,
    GridRows,
    current_row,
    grids_in,
    joined,
    moved,
    rows_by_part,
    version_of,
    versions,
    without,
)
from registry.mirror.directory import MirrorDirectory, MirroredProject, PartFile, Superseded, WrittenFile, make_durable
from registry.mirror.part_writer import MOST_ROWS, ROW_GROUP, ParquetFile, PartWriter, part_path, write_table
from registry.mirror.source import Changes, EventsMissed, Source

LEAST_CURRENT = 0.5
"""The share of a part's rows that must be current."""
MOST_SMALL = 8
"""Small parts that a day may have."""
SMALL = 100_000
"""Rows below which a part is small."""
_READ = 65_536
KEPT_SECONDS = 600.0
"""Seconds for which a superseded file stays, for queries that have begun."""
State = Literal["mirrored", "updated", "unchanged", "absent"]


@dataclass(frozen=True, slots=True)
class Compacted:
    """Result of compaction: the parts, and for each that is gone the number of the one that has its current rows."""

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


@dataclass(frozen=True, slots=True)
class Refreshed:
    """Result of a run for a project: read all of it, read what changed, found nothing new, or no such project."""

    project: str
    state: State
    position: int = 0
    grids: int = 0
    """Current grids."""
    cells: int = 0
    """Rows of the current grids."""
    written: int = 0
    """Rows that were written, compaction included."""
    anew: str = ""
    """Why all of it was read again."""


def refresh(directory: MirrorDirectory, source: Source) -> Refreshed:
    """Bring a project up to date. A reader of the manifest sees its old or its new state at any moment; what is killed
    leaves the old one."""
    try:
        return _refreshed(directory, source)
    except BaseException:
        directory.remove_unknown()
        raise


def _refreshed(directory: MirrorDirectory, source: Source) -> Refreshed:
    known, found = directory.manifest.projects.get(source.slug), source.project_id()
    if found is None:
        if known is not None:
            directory.drop(source.slug)
        return Refreshed(source.slug, "absent")
    if known is None:
        return _mirrored(directory, source, found, None, "")
    if known.id != found:
        return _mirrored(directory, source, found, known, "It is another project of the same name.")
    damaged = directory.damaged(source.slug)
    if damaged is not None:
        return _mirrored(directory, source, found, known, f"{damaged} is not there as it was written.")
    try:
        changes = source.changes(known.cursor, known.position, known.anchor)
    except EventsMissed as missed:
        return _mirrored(directory, source, found, known, str(missed))
    return _updated(directory, source, known, changes)


def _mirrored(
    directory: MirrorDirectory, source: Source, project_id: str, known: MirroredProject | None, why: str
) -> Refreshed:
    """Read all grids. The files of before are removed at once: what was purged meanwhile may be in them."""
    numbers, rows = count(known.number if known else 1), GridRows()
    with source.everything() as found:
        writer = PartWriter(directory.path, source.slug, (0, found.position), lambda: next(numbers))
        for grid in found.grids:
            rows.add(current_row(grid, *writer.add(grid)))
    current = joined(rows.table(), source.aliases())
    made = MirroredProject(
        project=source.slug,
        id=project_id,
        cursor=found.cursor,
        position=found.position,
        number=0,
        grids=_NONE,
        parts=tuple(writer.close()),
    )
    return _committed(directory, made, current, numbers, Refreshed(source.slug, "mirrored", anew=why))


_NONE = WrittenFile(path="", rows=0, bytes=0, sha256="")


def _updated(directory: MirrorDirectory, source: Source, known: MirroredProject, changes: Changes) -> Refreshed:
    told = replace(
        known,
        cursor=changes.cursor,
        position=changes.position,
        anchor=changes.anchor,
        superseded=() if changes.purged else known.superseded,  # what was purged may be in any of them
    )
    if not (changes.grids or changes.aliased):
        return _unchanged(directory, known, told)
    before = parquet.read_table(directory.path / known.grids.path, schema=GRIDS_SCHEMA, partitioning=None)
    numbers = count(known.number)
    current, written = _applied(directory, source, before, known, changes, lambda: next(numbers))
    current = joined(current, source.aliases())
    compacted = compact(
        directory.path, source.slug, (*known.parts, *written), current, changes.purged, lambda: next(numbers)
    )
    current = moved(current, compacted.moved)
    if current.equals(before) and compacted.parts == known.parts:
        return _unchanged(directory, known, told)
    made = replace(told, parts=compacted.parts, superseded=_superseded(known, compacted, changes))
    return _committed(directory, made, current, numbers, Refreshed(source.slug, "updated"))


def _applied(
    directory: MirrorDirectory,
    source: Source,
    current: pa.Table,
    known: MirroredProject,
    changes: Changes,
    numbered: Callable[[], int],
) -> tuple[pa.Table, list[PartFile]]:
    rows, stays = GridRows(), set[str]()
    versions_before = versions(current, changes.grids)
    writer = PartWriter(directory.path, source.slug, (known.position + 1, changes.position), numbered)
    asked = [one for one in changes.grids if one not in changes.purged]
    for grid in source.grids(asked, changes.position):
        if versions_before.get(grid["id"]) == version_of(grid):
            stays.add(grid["id"])
        else:
            rows.add(current_row(grid, *writer.add(grid)))
    kept = without(current, [one for one in changes.grids if one not in stays])
    return pa.concat_tables([kept, rows.table()]), writer.close()


def _superseded(known: MirroredProject, compacted: Compacted, changes: Changes) -> tuple[Superseded, ...]:
    """Files that queries may still read; none after a purge, for what was purged is in them."""
    if changes.purged:
        return ()
    now, stay = time.time(), {one.path for one in compacted.parts}
    gone = [one.path for one in (*known.parts, known.grids) if one.path not in stay]
    return (*_unexpired(known.superseded), *(Superseded(path, now) for path in gone))


def _unexpired(superseded: tuple[Superseded, ...]) -> tuple[Superseded, ...]:
    now = time.time()
    return tuple(one for one in superseded if 0 <= now - one.since < KEPT_SECONDS)


def _unchanged(directory: MirrorDirectory, known: MirroredProject, told: MirroredProject) -> Refreshed:
    """No file is written; the manifest only where the cursor has moved, or a superseded file has to go."""
    told = replace(told, superseded=_unexpired(told.superseded))
    if told != known:
        directory.adopt(told)
    current = parquet.read_table(directory.path / told.grids.path, columns=["cells"], partitioning=None)
    return Refreshed(told.project, "unchanged", told.position, told.grids.rows, _cells(current))


def _cells(current: pa.Table) -> int:
    return int(pc.sum(current["cells"]).as_py() or 0)


def _committed(
    directory: MirrorDirectory, made: MirroredProject, current: pa.Table, numbers: "count[int]", done: Refreshed
) -> Refreshed:
    number = next(numbers)
    grids = write_table(directory.path, f"project={made.project}/grids-{number:06}.parquet", current)
    before = directory.manifest.projects.get(made.project)
    old = set() if before is None else {one.path for one in before.parts}
    folders = {(directory.path / one.path).parent for one in (*made.parts, grids)}
    make_durable(sorted({*folders, directory.path, *(folder.parent for folder in folders)}))
    directory.adopt(replace(made, grids=grids, number=number + 1))
    directory.remove_unknown()  # a part that was written and at once became one with others
    written = sum(one.rows for one in made.parts if one.path not in old)
    return replace(done, position=made.position, grids=grids.rows, cells=_cells(current), written=written)
