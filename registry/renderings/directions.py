"""The direction of a series in words that do not say more than was shown."""

from __future__ import annotations

from registry.renderings.numbers import rough
from registry.renderings.words import said
from registry.results.series import Series

_WORDS = {"insufficient_points": "too few points"}


def direction(one: Series) -> str:
    """The direction; where nothing was shown, the smallest change that would have been: `(could have shown 4.1)`."""
    found = one.direction
    word = _WORDS.get(found, said(found))
    seen = one.detectable
    return f"{word} (could have shown {rough(seen)})" if found == "inconclusive" and seen is not None else word


def differs(one: Series) -> bool:
    """Whether the cells of a series were shown to differ at all: only then a shape says more than a constant."""
    return one.direction not in ("inconclusive", "flat", "constant")
