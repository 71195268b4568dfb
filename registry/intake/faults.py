"""Collecting what is wrong and what is doubtful while a submission is read."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from registry.errors import Fault, Invalid

REPORTED = 20
"""Of a fault or doubt that repeats in many cells, so many are named; the last one says how many more there are."""


MOST_TRIALS = 2**53


@dataclass(frozen=True, slots=True)
class Doubt:
    """Something accepted with a doubt; it goes into `warnings`."""

    code: str
    detail: str
    pointer: str | None = None

    def document(self) -> dict[str, str]:
        given = {"code": self.code, "detail": self.detail}
        return given if self.pointer is None else given | {"pointer": self.pointer}


@dataclass(frozen=True, slots=True)
class Limits:
    """What one grid may hold."""

    cells: int = 1_000_000
    levels: int = 10_000
    name: int = 200


@dataclass
class Findings:
    """Faults and doubts in the order in which they were met."""

    faults: list[Fault] = field(default_factory=list)
    doubts: list[Doubt] = field(default_factory=list)

    def fault(self, pointer: str, detail: str) -> None:
        self.faults.append(Fault(pointer, detail))

    def doubt(self, code: str, pointer: str | None, detail: str) -> None:
        self.doubts.append(Doubt(code, detail, pointer))

    def stop_at_faults(self) -> None:
        """Raise `Invalid` with everything found so far, if anything was."""
        if self.faults:
            rest = len(self.faults) - REPORTED
            shown = self.faults[:REPORTED]
            if rest > 0:
                shown[-1] = Fault(shown[-1].pointer, f"{shown[-1].detail} (and {rest} more faults after this one)")
            raise Invalid(shown)


def number(value: Any) -> float | None:
    """The finite double that a JSON number means; `None` for anything else, booleans and strings included."""
    if type(value) is float:
        return value if math.isfinite(value) else None
    if type(value) is int:
        try:
            return float(value)
        except OverflowError:
            return None
    return None


def unsigned_zero(value: float | None) -> float | None:
    """The number, and 0 for -0: levels and bounds are stored as decimal numbers, which know no negative zero."""
    return None if value is None else value + 0.0


def whole(value: Any) -> int | None:
    """A positive integer up to 2^53, also when it was written as 300.0; `None` for anything else."""
    found = number(value)
    if found is None or found != int(found) or not 1 <= found <= MOST_TRIALS:
        return None
    return int(found)


def escaped(part: str) -> str:
    """One reference token of a JSON pointer (RFC 6901)."""
    return part.replace("~", "~0").replace("/", "~1")
