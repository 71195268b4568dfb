"""Import Parquet: a tidy table or a pivot, read as CSV is; needs pyarrow.

Numbers keep their bits on the way; null is an unmeasured cell, and so is NaN, which pandas writes instead.
"""

import math
from collections.abc import Iterator
from typing import Any

from registry.errors import Malformed
from registry.importers.cell_text import Report, Row, Table
from registry.importers.imported_grid import ImportedGrid, Note, Overrides
from registry.importers.source import Source
from registry.importers.tables import read_table

NAME = "parquet"
_BATCH = 10_000
MOST = 5_000_000
"""Largest number of cells read from a file: a small file may hold very many equal ones."""


def looks_like(source: Source) -> bool:
    return source.head.startswith(b"PAR1")


def read(source: Source, wanted: Overrides) -> Iterator[ImportedGrid]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise Malformed("Reading Parquet needs pyarrow: pip install pyarrow.") from None
    report = Report()
    nans: list[int] = []

    def rows() -> Iterator[Row]:
        line = 1
        for batch in file.iter_batches(_BATCH):
            for row in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                line += 1
                yield line, [_written(value, line, nans) for value in row]

    try:
        file = parquet.ParquetFile(source.path or pyarrow.BufferReader(source.content))
        if file.metadata.num_rows * file.metadata.num_columns > MOST:
            shape = f"{file.metadata.num_rows} rows of {file.metadata.num_columns} columns"
            raise Malformed(f"It has {shape}; at most {MOST} cells of a Parquet file are read: split it.")
        header = [name for name in file.schema_arrow.names if not name.startswith("__index_level_")]
        for sheet in read_table(Table(header, rows(), 1), wanted, report):
            if nans:
                sheet.notes.append(Note("nan_read", f"{len(nans)} NaN were read as cells that nobody measured"))
            yield sheet.found(wanted)
    except pyarrow.ArrowException as error:
        raise Malformed(f"The Parquet file cannot be read: {error}.") from None


def _written(value: Any, line: int, nans: list[int]) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        if math.isnan(value):
            nans.append(line)
            return ""
        return repr(value)
    return str(value)
