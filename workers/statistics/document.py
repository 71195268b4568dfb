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

import numpy as np

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
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (np.generic, np.ndarray)):
        return plain(value.tolist())
    return {
        written: plain(item)
        for name, written in names(cast(Hashable, kind))
        if (item := getattr(value, name)) is not None or name != "reason"
    }


@lru_cache(maxsize=256)
def names(kind: Hashable) -> tuple[tuple[str, str], ...]:
    """The fields of a dataclass and how they are written."""
    return tuple((field.name, field.name.rstrip("_")) for field in dataclasses.fields(cast(Any, kind)))
