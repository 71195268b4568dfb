"""Values of cells as whole numbers over a power of ten: half the bytes of doubles, and exactly the same values.

Most results are given with few decimals: 72.3 is stored as 723 over 10. A quotient of a whole number and a power of ten
below 2**53 is the double nearest to the decimal number (IEEE 754 rounds a division correctly), so nothing is lost.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import orjson

MOST = 2**31 - 1
_MOST_DECIMALS = 6
_DECIMALS = re.compile(rb"\.([0-9]*[1-9])")
_UNPACKABLE = re.compile(rb"e|-0\.0(?![0-9])")
"""An exponent, or a negative zero, which no whole number is."""


def packed(values: Sequence[float | None]) -> tuple[list[int | None], int] | None:
    """The whole numbers and the power of ten by which they are divided; None where some value is no such quotient."""
    text = orjson.dumps(values)  # the shortest decimals that stand for these doubles
    decimals = max(map(len, _DECIMALS.findall(text)), default=0)
    if decimals > _MOST_DECIMALS or _UNPACKABLE.search(text):
        return None
    scale = 10**decimals
    numbers = [None if value is None else round(value * scale) for value in values]
    measured = [number for number in numbers if number is not None]
    if measured and not -MOST <= min(measured) <= max(measured) <= MOST:
        return None
    return numbers, scale
