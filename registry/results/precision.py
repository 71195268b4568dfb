"""Types of the precision of a grid, the decimals of its values and the trials that they imply: a part of
`statistics.py`, filled by `workers/statistics/describe.py` and written by `renderings/precision.py`."""

from dataclasses import dataclass
from typing import Annotated

from registry.results.terms import At, Count, Reason, Status


@dataclass(frozen=True, slots=True)
class OffLattice:
    """A value that no whole number of successes of its trials rounds to."""

    at: At
    value: Annotated[float, "As it was posted, in the metric's unit."]


@dataclass(frozen=True, slots=True)
class Precision:
    """The printed decimals, and the trials that they imply. Implied trials are reported, never adopted."""

    status: Status
    decimals: Annotated[
        int | None, "Of the values as they were posted; negative beyond 10^12, null where no cell was measured."
    ]
    implied_trials: Annotated[
        int | None,
        "The smallest number of trials, below the printed resolution, that explains every value of a proportion; null "
        "where there is none.",
    ] = None
    candidates: Annotated[tuple[Count, ...], "The five smallest such numbers."] = ()
    chance: Annotated[
        float | None, "The probability that a random printed value lies on the lattice of `implied_trials`, 0 to 1."
    ] = None
    off_lattice_count: Annotated[
        int | None, "How many values contradict the given trials; null where none are given."
    ] = None
    off_lattice: Annotated[tuple[OffLattice, ...] | None, "The first hundred of them."] = None
    reason: Reason = None
