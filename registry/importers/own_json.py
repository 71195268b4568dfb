"""The registry's own JSON: the body of `POST …/grids`, a list of them, or one a line (NDJSON)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from registry.errors import Malformed
from registry.importers.found import Found, Overrides
from registry.importers.scores import mapping
from registry.importers.source import Source

NAME = "grid"


def looks_like(source: Source) -> bool:
    begin = source.head.lstrip()[:1]
    return begin in (b"{", b"[") and all(word in source.head for word in (b'"experiment"', b'"metric"', b'"model"'))


def read(source: Source, wanted: Overrides) -> Iterator[Found]:
    for given in _grids(source):
        yield wanted.applied(Found(dict(mapping(given, ""))))


def _grids(source: Source) -> Iterator[Any]:
    try:
        value = orjson.loads(source.content)
    except orjson.JSONDecodeError as whole:
        lines = [line for line in source.content.splitlines() if line.strip()]
        if len(lines) < 2:
            raise Malformed(f"This is not JSON: {whole}.") from None
        for number, line in enumerate(lines, start=1):
            try:
                yield orjson.loads(line)
            except orjson.JSONDecodeError as error:
                raise Malformed(f"Line {number} is not JSON: {error}.") from None
        return
    yield from value if isinstance(value, list) else [value]
