"""Collection of faults and warnings while a submission, a claim or a parameter is read, each with its pointer."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeGuard

from registry.errors import Fault, Invalid

REPORTED = 20
"""Faults or warnings of one kind that are named; a last one gives the number of the others."""
MOST_TRIALS = 2**53
NO_VALUE = 'must be a finite number or null: 93.1, not "93.1%"'
_REST = "and {} more of these"


def number_of(warnings: Iterable[Mapping[str, str]]) -> int:
    """Number of them, the ones included that the last of a kind counts."""
    found = (re.fullmatch(_REST.format(r"(\d+)"), one["detail"]) for one in warnings)
    return sum(int(rest[1]) if rest else 1 for rest in found)


@dataclass(frozen=True, slots=True)
class IntakeWarning:
    """A doubtful part of an accepted submission; it goes into `warnings`."""

    code: str
    detail: str
    pointer: str | None = None

    def document(self) -> dict[str, str]:
        given = {"code": self.code, "detail": self.detail}
        return given if self.pointer is None else given | {"pointer": self.pointer}


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one grid."""

    cells: int = 1_000_000
    levels: int = 10_000
    name: int = 200


@dataclass
class Report:
    """The first faults, and the first warnings of each code, in order of occurrence; all of them are counted."""

    faults: list[Fault] = field(default_factory=list)
    warnings: list[IntakeWarning] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    """Number of warnings by code."""
    met: int = 0
    """Number of faults."""

    def fault(self, pointer: str, detail: str) -> None:
        self.met += 1
        if self.met <= REPORTED:
            self.faults.append(Fault(pointer, detail))

    def warn(self, code: str, pointer: str | None, detail: str) -> None:
        self.counts[code] += 1
        if self.counts[code] <= REPORTED:
            self.warnings.append(IntakeWarning(code, detail, pointer))

    def rounded(self, given: int, pointer: str) -> None:
        """Warn of a whole number that no double can represent: it was read as the nearest one."""
        self.warn("rounded", pointer, f"{given} was rounded to {int(float(given))}, the nearest number of 64 bits")

    def all_warnings(self) -> tuple[IntakeWarning, ...]:
        """Warnings, and for each code the number of further ones."""
        more = [(code, count - REPORTED) for code, count in self.counts.items() if count > REPORTED]
        return (*self.warnings, *(IntakeWarning(code, _REST.format(rest)) for code, rest in more))

    def stop_at_faults(self) -> None:
        """Raise `Invalid` with the faults found so far, if there are any."""
        if self.faults:
            rest = self.met - len(self.faults)
            last = self.faults[-1]
            if rest > 0:
                last = Fault(last.pointer, f"{last.detail} (and {rest} more faults after this one)")
            raise Invalid([*self.faults[:-1], last])


def number(value: Any) -> float | None:
    """Finite double of a JSON number; `None` for anything else, booleans and strings included."""
    if type(value) is float:
        return value if math.isfinite(value) else None
    if type(value) is int:
        try:
            return float(value)
        except OverflowError:
            return None
    return None


def is_rounded(given: Any) -> TypeGuard[int]:
    """Tell whether a JSON number is a whole one that no double can represent."""
    return type(given) is int and not -MOST_TRIALS <= given <= MOST_TRIALS and number(given) not in (None, given)


def unsigned_zero(value: float | None) -> float | None:
    """The number, with 0 for -0: levels and bounds are stored as decimal numbers, which have no negative zero."""
    return None if value is None else value + 0.0


def whole(value: Any) -> int | None:
    """Positive integer up to 2^53, also when it was written as 300.0; `None` for anything else."""
    found = number(value)
    if found is None or found != int(found) or not 1 <= found <= MOST_TRIALS:
        return None
    return int(found)


def escaped(part: str) -> str:
    """One reference token of a JSON pointer (RFC 6901)."""
    return part.replace("~", "~0").replace("/", "~1")
