"""The direction of a series in words that do not say more than was shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from registry.renderings.numbers import UNDEFINED, rough
from registry.renderings.words import said

Document = Mapping[str, Any]
_WORDS = {"insufficient_points": "too few points"}


def direction(one: Document) -> str:
    """The direction; where nothing was shown, the smallest change that would have been: `(could have shown 4.1)`."""
    found = one.get("direction")
    if not found:
        return UNDEFINED
    word = _WORDS.get(found, said(found))
    seen = one.get("detectable")
    return f"{word} (could have shown {rough(seen)})" if found == "inconclusive" and seen is not None else word


def differs(one: Document) -> bool:
    """Whether the cells of a series were shown to differ at all: only then a shape says more than a constant."""
    return one.get("direction") not in ("inconclusive", "flat", "constant")
