"""A tidy feed as an Arrow file or as Parquet, written in row groups of a bounded size. Needs pyarrow."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import Any

from registry.errors import NotInstalled
from registry.renderings.feed import IDENTITY, MEASURED, Cells, Columns, Measured, Place
from registry.renderings.grid import Field, Row, blocks

_GROUP = 32_768
"""Rows of a row group of cells, the last one's aside."""
_WIDE_GROUP = 8_192
"""The same of tables with some forty columns."""


def arrow_version() -> str:
    """The version of pyarrow, which the bytes depend on; `NotInstalled` where there is none."""
    try:
        import pyarrow
    except ImportError:
        raise NotInstalled(
            "Parquet and Arrow need pyarrow, which this server does not have: pip install pyarrow. "
            "CSV, NDJSON and JSON are there."
        ) from None
    return str(pyarrow.__version__)


def arrow_pieces(columns: Columns, pieces: Iterable[Iterable[Cells]], *, explicit: bool) -> Iterator[bytes]:
    """An Arrow IPC file, which is what `pandas.read_feather` and `polars.read_ipc` open; it ends with its footer."""
    return _arrow(_schema(columns), _groups(columns, pieces, explicit))


def parquet_pieces(columns: Columns, pieces: Iterable[Iterable[Cells]], *, explicit: bool) -> Iterator[bytes]:
    """A Parquet file."""
    return _parquet(_schema(columns), _groups(columns, pieces, explicit))


def arrow_of_rows(fields: Sequence[Field], rows: Iterable[Row]) -> Iterator[bytes]:
    """An Arrow IPC file of rows."""
    return _arrow(_schema_of(fields), _groups_of(fields, rows))


def parquet_of_rows(fields: Sequence[Field], rows: Iterable[Row]) -> Iterator[bytes]:
    """A Parquet file of rows."""
    return _parquet(_schema_of(fields), _groups_of(fields, rows))


Group = dict[str, list[Any]]


def _arrow(schema: Any, groups: Iterable[Group]) -> Iterator[bytes]:
    import pyarrow

    sink = _Counting()
    with pyarrow.ipc.new_file(pyarrow.PythonFile(sink, mode="w"), schema) as writer:
        for group in groups:
            writer.write_table(pyarrow.Table.from_pydict(group, schema=schema))
            yield sink.taken()
    yield sink.taken()


def _parquet(schema: Any, groups: Iterable[Group]) -> Iterator[bytes]:
    import pyarrow
    from pyarrow import parquet

    sink = _Counting()
    with parquet.ParquetWriter(sink, schema, compression="zstd") as writer:
        for group in groups:
            writer.write_table(pyarrow.Table.from_pydict(group, schema=schema))
            yield sink.taken()
    yield sink.taken()


class _Counting(io.RawIOBase):
    """A file that is written to its end only: what was taken out of it is no longer held."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._written = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._written

    def write(self, data: Any) -> int:
        part = bytes(data)
        self._parts.append(part)
        self._written += len(part)
        return len(part)

    def taken(self) -> bytes:
        found = b"".join(self._parts)
        self._parts.clear()
        return found


def _schema(columns: Columns) -> Any:
    import pyarrow as pa

    types: dict[str, Any] = dict.fromkeys((*IDENTITY, *columns.last), pa.string()) | {"revision": pa.int32()}
    for label, number in zip(columns.names[::2], columns.names[1::2], strict=True):
        types |= {label: pa.string(), number: pa.float64()}
    types |= dict.fromkeys(MEASURED, pa.float64()) | {"trials": pa.int64(), "updated_at": pa.timestamp("us", tz="UTC")}
    return pa.schema([(name, types[name]) for name in columns.header])


def _schema_of(fields: Sequence[Field]) -> Any:
    import pyarrow as pa

    types = {
        **dict.fromkeys(("text", "level"), pa.string()),
        "number": pa.float64(),
        "whole": pa.int64(),
        "instant": pa.timestamp("us", tz="UTC"),
    }
    return pa.schema([(field.name, types[field.kind]) for field in fields])


def _groups_of(fields: Sequence[Field], rows: Iterable[Row]) -> Iterator[Group]:
    """The columns of so many rows as make a row group."""
    for block in blocks(iter(rows), _WIDE_GROUP):
        columns = zip(fields, zip(*block, strict=True), strict=True)
        yield {
            field.name: list(map(datetime.fromisoformat, found) if field.kind == "instant" else found)
            for field, found in columns
        }


def _groups(columns: Columns, pieces: Iterable[Iterable[Cells]], explicit: bool) -> Iterator[Group]:
    """The columns of so many rows as make a row group, of several grids or of a part of one.

    The next group fills the same lists: at no time are there two.
    """
    group: Group = {name: [] for name in columns.header}
    for cells in itertools.chain.from_iterable(pieces):
        rows = _rows(cells, explicit)
        while kept := list(itertools.islice(rows, _GROUP - len(group["value"]))):
            _add(group, columns, cells, kept)
            if len(group["value"]) >= _GROUP:
                yield group
                for column in group.values():
                    column.clear()
    if group["value"]:
        yield group


def _rows(cells: Cells, explicit: bool) -> Iterator[tuple[Place, Measured]]:
    found = zip(cells.places(), cells.measured, strict=True)
    return found if explicit else ((place, measured) for place, measured in found if measured[0] is not None)


def _add(group: Group, columns: Columns, cells: Cells, kept: list[tuple[Place, Measured]]) -> None:
    for name, one in zip((*IDENTITY, *columns.last), (*cells.identity, *cells.last), strict=True):
        group[name] += [one] * len(kept)
    for number, slot in enumerate(cells.slots):
        for part in (0, 1):
            found = [None if slot is None else place[slot][part] for place, _ in kept]
            group[columns.names[2 * number + part]] += found
    for number, name in enumerate(MEASURED[:-1]):
        group[name] += [measured[number] for _, measured in kept]
    group["updated_at"] += [datetime.fromisoformat(cells.updated_at)] * len(kept)
