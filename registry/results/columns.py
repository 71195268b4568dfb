"""Statistics in few bytes, as workers store them and `codec.py` reads them: a JSON document with columns instead of
lists of objects, deflated with the words that all such documents have.

The first byte is the number of the file of words, below that of gzip, so that what was stored before is told apart. A
file of words is never changed, for what was deflated with it could not be read: a better one is the next number.
"""

import zlib
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

WORDS = 1
_HOW = (5, zlib.DEFLATED, -15, 9, zlib.Z_FILTERED)
"""Most of what is left are digits: to look for ever more repetitions of them takes twice the time for 1 %."""
_SCALARS, _OBJECTS, _LISTS, _SOME, _MIXED, _EQUAL = range(6)
"""How a list is written, as its first item: as it is; objects with the same keys, by key; lists, end to end; what is
not null; anything else; a scalar as often as it stands there."""


@lru_cache(maxsize=4)
def _words(number: int) -> bytes:
    return Path(__file__).with_name(f"{number}.words").read_bytes()


def packed(document: Mapping[str, Any]) -> bytes:
    """The bytes that a document without NaN and Infinity is stored as."""
    written = orjson.dumps(in_columns(document), option=orjson.OPT_UTC_Z)
    deflate = zlib.compressobj(*_HOW, _words(WORDS))
    return bytes([WORDS]) + deflate.compress(written) + deflate.flush()


def unpacked(stored: bytes | memoryview) -> dict[str, Any]:
    """The document in such bytes."""
    inflate = zlib.decompressobj(_HOW[2], zdict=_words(bytes(stored)[0]))
    document: dict[str, Any] = _as_it_was(orjson.loads(inflate.decompress(stored[1:])))
    return document


def in_columns(value: Any) -> Any:
    """A JSON value with its lists as columns."""
    if isinstance(value, Mapping):
        return {name: in_columns(item) for name, item in value.items()}
    return _column(value) if isinstance(value, list) else value


def _column(items: list[Any]) -> list[Any]:
    kinds = set(map(type, items))
    if kinds == {dict} and len(keys := set(map(tuple, items))) == 1:
        return [_OBJECTS, len(items), {name: _column([item[name] for item in items]) for name in keys.pop()}]
    if kinds == {list}:
        return [_LISTS, [len(item) for item in items], _column([one for item in items for one in item])]
    if kinds.isdisjoint((dict, list)):
        equal = len(items) > 2 and len(kinds) == 1 and items.count(items[0]) == len(items)
        return [_EQUAL, len(items), items[0]] if equal else [_SCALARS, *items]
    if None in items:
        there = [item for item in items if item is not None]
        return [_SOME, [int(item is not None) for item in items], _column(there)]
    return [_MIXED, *map(in_columns, items)]


def _as_it_was(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _as_it_was(item) for name, item in value.items()}
    return _list(value) if isinstance(value, list) else value


def _list(column: list[Any]) -> list[Any]:
    how = column[0]
    if how == _SCALARS:
        return column[1:]
    if how == _EQUAL:
        return [column[2]] * column[1]
    if how == _MIXED:
        return [_as_it_was(item) for item in column[1:]]
    if how == _OBJECTS:
        names, items = column[2].keys(), zip(*map(_list, column[2].values()), strict=True)
        return [dict(zip(names, item, strict=True)) for item in items] if names else [{} for _ in range(column[1])]
    inside = iter(_list(column[2]))
    if how == _SOME:
        return [next(inside) if there else None for there in column[1]]
    return [[next(inside) for _ in range(length)] for length in column[1]]
