"""Write the words that stored statistics are deflated with: `python -m bench.words FILE`.

They are the statistics of small grids with each kind of noise, as columns. zlib finds the end of a file soonest, so the
most usual kind is the last. A file that a release has is never written again: `registry.results.columns` says why.
"""

import re
import sys
from pathlib import Path
from uuid import UUID

import orjson

from registry.grids.intake import Limits, read_submission
from registry.results.codec import to_short_document
from registry.results.columns import in_columns
from workers.statistics import METHODS_VERSION, describe

_AXES = [
    {"name": "model", "kind": "nominal", "levels": ["a", "b", "c", "d", "e"]},
    {"name": "size", "kind": "numeric", "levels": [1, 2, 3, 4, 5, 6, 7, 8]},
]
_VALUES = [[round(90 - 3 * row - 37 * column % 41, 1) for column in range(8)] for row in range(5)]
_REPEATS = {"repeats": [[5] * 8] * 5, "sd": [[1.5 + 0.1 * column for column in range(8)] for _ in range(5)]}
_NOISE = ({}, {"stderr": [[1.5] * 8] * 5}, _REPEATS, {"trials": 300})
_PERCENT = {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0, "upper": 100}


def words() -> bytes:
    """One document after the other, without what each grid has of its own."""
    return b"".join(map(_written, _NOISE))


def _written(noise: dict[str, object]) -> bytes:
    names = {"experiment": "e", "benchmark": "b", "model": "m", "variant": ""}
    grid = read_submission({**names, "metric": _PERCENT, "axes": _AXES, "values": _VALUES, **noise}, Limits()).grid
    head = {
        "grid": UUID(int=0), "revision": 1, "digest": "sha256:", "state": "ready", "methods_version": METHODS_VERSION,
        "computed_at": "2026-11-28T16", "metric": _PERCENT, "axes": _AXES,
    }  # fmt: skip
    document = {**head, **to_short_document(describe(grid), 5)}
    return re.sub(rb"0{8}[0-9a-f-]+", b"", orjson.dumps(in_columns(document)))


if __name__ == "__main__":
    Path(sys.argv[1]).write_bytes(words())
