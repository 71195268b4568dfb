"""Rows of one table as CSV, NDJSON, JSON, Arrow and Parquet, so many at once: however many there are, few are held.

Arrow and Parquet need pyarrow, and are written in row groups of a bounded size.
"""

import csv
import io
import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import orjson

from registry.errors import NotInstalled
from registry.renderings.table import harmless

Kind = Literal["text", "level", "number", "whole", "instant"]
Row = tuple[Any, ...]
_ROWS = 2_048
"""Rows that are written at once, whatever grids they are of: a grid may have a million."""
_GROUP = 16_384
"""Rows of a row group, the last one's aside."""
_KEPT = 4_096


@dataclass(frozen=True, slots=True)
class Field:
    """A column: its name, what its values are, and what it means. The number of a level is the column after it."""

    name: str
    kind: Kind
    about: str = ""
    nullable: bool = True


def csv_of_rows(fields: Sequence[Field], rows: Iterable[Row]) -> Iterator[bytes]:
    """A header, then the rows. Numbers read back as the same doubles; text that a spreadsheet would run is quoted, but
    not a label that is nothing but its number."""
    texts = _Texts()
    yield ",".join(texts[field.name] for field in fields).encode() + b"\n"
    for block in _blocks(rows, _ROWS):
        columns = [*zip(*block, strict=True)]
        for place, field in enumerate(fields):
            if field.kind in ("number", "whole"):
                columns[place] = tuple("" if one is None else str(one) for one in columns[place])
            elif field.kind == "level":
                levels = zip(columns[place], block, strict=True)
                told = (texts[one] if row[place + 1] is None or not _is_plain(one) else one for one, row in levels)
                columns[place] = tuple(told)
            else:
                columns[place] = tuple(map(texts.__getitem__, columns[place]))
        yield "\n".join(map(",".join, zip(*columns, strict=True))).encode() + b"\n"


class _Texts(dict[Any, str]):
    """Texts as fields of CSV: the same few stand in most rows."""

    def __missing__(self, text: str | None) -> str:
        if len(self) >= _KEPT:
            self.clear()
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerow([harmless(text), ""])
        return self.setdefault(text, out.getvalue()[:-2])


def _is_plain(label: str) -> bool:
    """Whether a label is nothing but a number, which runs no formula."""
    return label.lstrip("-").replace(".", "", 1).isdecimal()


def _blocks(rows: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """The rows, so many at once and no more."""
    left = iter(rows)
    while block := list(itertools.islice(left, size)):
        yield block


def objects_of(fields: Sequence[Field], rows: Iterable[Row]) -> Iterator[dict[str, Any]]:
    """An object a row, with every column; None where it is empty."""
    names = [field.name for field in fields]
    return (dict(zip(names, row, strict=True)) for row in rows)


def ndjson_of_rows(fields: Sequence[Field], rows: Iterable[Row]) -> Iterator[bytes]:
    """An object a line."""
    for block in _blocks(map(orjson.dumps, objects_of(fields, rows)), _ROWS):
        yield b"\n".join(block) + b"\n"


def json_of_rows(fields: Sequence[Field], rows: Iterable[Row]) -> Iterator[bytes]:
    """`{"items": [...]}` with an object a row."""
    return json_of_objects(objects_of(fields, rows))


def json_of_objects(objects: Iterable[dict[str, Any]], head: dict[str, Any] | None = None) -> Iterator[bytes]:
    """The same, behind what the head says."""
    yield (orjson.dumps(head)[:-1] + b"," if head else b"{") + b'"items":['
    between = b""
    for block in _blocks(map(orjson.dumps, objects), _ROWS):
        yield between + b",".join(block)
        between = b","
    yield b"]}"


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


def arrow_of_rows(fields: Sequence[Field], rows: Iterable[Row]) -> Iterator[bytes]:
    """An Arrow IPC file, which is what `pandas.read_feather` and `polars.read_ipc` open; it ends with its footer."""
    import pyarrow

    sink, schema = _Sink(), _schema(fields)
    return _written(sink, pyarrow.ipc.new_file(pyarrow.PythonFile(sink, mode="w"), schema), schema, rows)


def parquet_of_rows(fields: Sequence[Field], rows: Iterable[Row]) -> Iterator[bytes]:
    """A Parquet file."""
    from pyarrow import parquet

    sink, schema = _Sink(), _schema(fields)
    return _written(sink, parquet.ParquetWriter(sink, schema, compression="zstd"), schema, rows)


def _schema(fields: Sequence[Field]) -> Any:
    import pyarrow as pa

    types = {
        **dict.fromkeys(("text", "level"), pa.string()),
        "number": pa.float64(),
        "whole": pa.int64(),
        "instant": pa.timestamp("us", tz="UTC"),
    }
    return pa.schema([(field.name, types[field.kind]) for field in fields])


def _written(sink: "_Sink", writer: Any, schema: Any, rows: Iterable[Row]) -> Iterator[bytes]:
    import pyarrow

    instants = {place for place, field in enumerate(schema) if pyarrow.types.is_timestamp(field.type)}
    with writer:
        for block in _blocks(rows, _GROUP):
            columns = [
                list(map(datetime.fromisoformat, found)) if place in instants else found
                for place, found in enumerate(zip(*block, strict=True))
            ]
            arrays = list(map(pyarrow.array, columns, schema.types))
            writer.write_table(pyarrow.Table.from_arrays(arrays, schema=schema))
            yield sink.taken()
    yield sink.taken()


class _Sink(io.RawIOBase):
    """A file that is written to its end only: what was taken out of it is no longer held."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._length = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._length

    def write(self, data: Any) -> int:
        part = bytes(data)
        self._parts.append(part)
        self._length += len(part)
        return len(part)

    def taken(self) -> bytes:
        found = b"".join(self._parts)
        self._parts.clear()
        return found


WRITERS: dict[str, Callable[[Sequence[Field], Iterable[Row]], Iterator[bytes]]] = {
    "json": json_of_rows,
    "csv": csv_of_rows,
    "ndjson": ndjson_of_rows,
    "parquet": parquet_of_rows,
    "arrow": arrow_of_rows,
}
"""What writes rows in each form."""
