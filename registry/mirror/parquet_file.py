"""Write one Parquet file of a mirror: a row group at a time, durable and with its digest when it is closed."""

from __future__ import annotations

import hashlib
import io
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import parquet

from registry.mirror.manifest import WrittenFile

ROW_GROUP = 131_072


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
