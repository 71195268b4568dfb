"""A tidy feed as an Arrow file or as Parquet, written in row groups of a bounded size. Needs pyarrow."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from registry.errors import NotInstalled
from registry.renderings.feed import IDENTITY, MEASURED, Cells, Columns, Measured, Place

_GROUP = 32_768
"""Rows of a row group, the last one's aside."""


def arrow_version() -> str:
    """The version of pyarrow, which the bytes depend on; `NotInstalled` where there is none."""
    try:
        import pyarrow
    except ImportError:
        raise NotInstalled(
            "Parquet and Arrow need pyarrow, which this server does not have: pip install 'results-registry[parquet]'. "
            "CSV, NDJSON and JSON are there."
        ) from None
    return str(pyarrow.__version__)


def arrow_pieces(columns: Columns, pieces: Iterable[Iterable[Cells]], *, explicit: bool) -> Iterator[bytes]:
    """An Arrow IPC file, which is what `pandas.read_feather` and `polars.read_ipc` open; it ends with its footer."""
    import pyarrow

    sink = _Counting()
    schema = _schema(columns)
    with pyarrow.ipc.new_file(pyarrow.PythonFile(sink, mode="w"), schema) as writer:
        for group in _groups(columns, pieces, explicit):
            writer.write_table(pyarrow.Table.from_pydict(group, schema=schema))
            yield sink.taken()
    yield sink.taken()


def parquet_pieces(columns: Columns, pieces: Iterable[Iterable[Cells]], *, explicit: bool) -> Iterator[bytes]:
    """A Parquet file."""
    import pyarrow
    from pyarrow import parquet

    sink = _Counting()
    schema = _schema(columns)
    with parquet.ParquetWriter(sink, schema, compression="zstd") as writer:
        for group in _groups(columns, pieces, explicit):
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

    types: dict[str, Any] = dict.fromkeys(IDENTITY, pa.string()) | {"revision": pa.int32()}
    for label, number in zip(columns.names[::2], columns.names[1::2], strict=True):
        types |= {label: pa.string(), number: pa.float64()}
    types |= dict.fromkeys(MEASURED, pa.float64()) | {"trials": pa.int64(), "updated_at": pa.timestamp("us", tz="UTC")}
    return pa.schema([(name, types[name]) for name in columns.header])


def _groups(columns: Columns, pieces: Iterable[Iterable[Cells]], explicit: bool) -> Iterator[dict[str, list[Any]]]:
    """The columns of so many rows as make a row group, of several grids or of a part of one.

    The next group fills the same lists: at no time are there two.
    """
    group: dict[str, list[Any]] = {name: [] for name in columns.header}
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


def _add(group: dict[str, list[Any]], columns: Columns, cells: Cells, kept: list[tuple[Place, Measured]]) -> None:
    for name, one in zip(IDENTITY, cells.identity, strict=True):
        group[name] += [one] * len(kept)
    for number, slot in enumerate(cells.slots):
        for part in (0, 1):
            found = [None if slot is None else place[slot][part] for place, _ in kept]
            group[columns.names[2 * number + part]] += found
    for number, name in enumerate(MEASURED[:-1]):
        group[name] += [measured[number] for _, measured in kept]
    group["updated_at"] += [datetime.fromisoformat(cells.updated_at)] * len(kept)
