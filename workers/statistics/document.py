"""Results as JSON-ready values with the contract's names: the only module that knows how an answer is written.

A trailing underscore of a field falls off (`from_`), a `reason` of `None` is left out, a number that is not
finite becomes `None`, an array a list.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Mapping
from functools import lru_cache
from typing import Any, cast

AS_THEY_ARE = frozenset({type(None), str, bool, int})


def plain(value: Any) -> Any:
    """The value as dicts, lists, strings, ints, finite floats, booleans and `None`."""
    kind = type(value)
    if kind in AS_THEY_ARE:
        return value
    if kind is float:
        return value if math.isfinite(value) else None
    if kind is tuple or kind is list:
        return [plain(item) for item in value]
    if fields := names(cast(Hashable, kind)):
        return written(value, fields)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    return plain(value.tolist())


def written(value: Any, fields: tuple[tuple[str, str], ...]) -> dict[str, Any]:
    """A dataclass as a dict; scalars are most of it, and take the short way."""
    found: dict[str, Any] = {}
    for name, field in fields:
        item = getattr(value, name)
        kind = type(item)
        if kind is float:
            found[field] = item if math.isfinite(item) else None
        elif kind not in AS_THEY_ARE:
            found[field] = plain(item)
        elif item is not None or name != "reason":
            found[field] = item
    return found


@lru_cache(maxsize=256)
def names(kind: Hashable) -> tuple[tuple[str, str], ...]:
    """The fields of a dataclass and how they are written; none of any other type."""
    if not dataclasses.is_dataclass(kind):
        return ()
    return tuple((field.name, field.name.rstrip("_")) for field in dataclasses.fields(cast(Any, kind)))
