"""Values of cells as whole numbers over a power of ten: half the bytes of doubles, and exactly the same values.

Most results are given with few decimals: 72.3 is stored as 723 over 10. A quotient of a whole number and a power of ten
below 2**53 is the double nearest to the decimal number (IEEE 754 rounds a division correctly), so nothing is lost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

MOST = 2**31 - 1
_LARGEST_SCALE = 10**6


def packed(values: Sequence[float | None]) -> tuple[list[int | None], int] | None:
    """The whole numbers and the power of ten by which they are divided; None where some value is no such quotient."""
    scale = 1
    for value in values:
        while value is not None and round(value * scale) / scale != value:
            scale *= 10
            if scale > _LARGEST_SCALE:
                return None
    numbers = [None if value is None else round(value * scale) for value in values]
    is_exact = all(_is_quotient(value, number, scale) for value, number in zip(values, numbers, strict=True))
    return (numbers, scale) if is_exact else None


def _is_quotient(value: float | None, number: int | None, scale: int) -> bool:
    if value is None or number is None:
        return True
    if number == 0:
        return math.copysign(1.0, value) > 0  # A whole number has no negative zero.
    return -MOST <= number <= MOST and number / scale == value
