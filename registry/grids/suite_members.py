"""Members of a suite as they are written: a benchmark, `SummEval`, or one with its own levels, `STS22@subset=en`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from registry.errors import Fault, Invalid
from registry.grids.slices import MOST_CONDITIONS, Slice

_BEGINNING = re.compile(r"@[^@=,]+=")
"""The @ behind which levels stand, up to the first of them. Without one, every @ is of the benchmark's name."""


@dataclass(frozen=True, slots=True)
class Member:
    """A benchmark, and those of its levels that count; none for all."""

    text: str
    benchmark: str
    levels: Slice = ()


def read_members(texts: Sequence[str]) -> tuple[Member, ...]:
    """The members of these texts, each benchmark once; `Invalid` for what can be read in two ways, or in none."""
    found, faults = dict[str, Member](), list[Fault]()
    for place, text in enumerate(texts):
        try:
            one = _read(text)
            if found.setdefault(one.benchmark, one).levels != one.levels:
                raise ValueError(f'names "{one.benchmark}" once more, with other levels; {_SEVERAL}')
        except ValueError as error:
            faults.append(Fault(f"/benchmarks/{place}", str(error)))
    if faults:
        raise Invalid(faults)
    return tuple(found.values())


def member_text(benchmark: str, levels: Slice) -> str:
    """The benchmark with its own levels, as a member is written."""
    return f"{benchmark}@{','.join(_conditions(levels))}" if levels else benchmark


_SEVERAL = "several levels are written in one, as in X@axis=a,axis=b"


def _conditions(levels: Slice) -> Iterable[str]:
    return (f"{axis}={one}" for axis, conditions in levels for one in conditions)


def _read(text: str) -> Member:
    beginnings = list(_BEGINNING.finditer(text))
    if not beginnings:
        return Member(text, text)
    if len(beginnings) > 1:
        both = " and ".join(f'"{one[0]}"' for one in beginnings)
        raise ValueError(f"may have its levels behind {both}; between levels stand commas, as in X@axis=a,other=b")
    benchmark, conditions = text[: beginnings[0].start()], text[beginnings[0].start() + 1 :].split(",")
    if not benchmark:
        raise ValueError("names no benchmark before its @")
    if len(conditions) > MOST_CONDITIONS:
        raise ValueError(f"has {len(conditions)} levels; at most {MOST_CONDITIONS} are allowed")
    levels = dict[str, set[str]]()
    for one in conditions:
        axis, _, level = one.partition("=")
        if not axis or not level:
            raise ValueError(f'has "{one}" where an axis and a level are wanted, as in axis=level; {_SEVERAL}')
        if axis[-1] in "<>":
            raise ValueError(f'has "{one}"; a range is written {axis[:-1]}={axis[-1]}={level}')
        levels.setdefault(axis, set()).add(level)
    return Member(text, benchmark, tuple((axis, tuple(sorted(given))) for axis, given in sorted(levels.items())))
