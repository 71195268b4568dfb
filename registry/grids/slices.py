"""Slices of grids: only the cells at some levels of some axes, such as `at.Context=>=64000` and `at.Type=1`.

A slice is what a grid would be if nothing else had been posted: axes keep their order and their kind, and have only the
levels that are asked for.

Members of a suite as they are written: a benchmark, `SummEval`, or one with its own levels, `STS22@subset=en`.
"""

import itertools
import operator
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from registry.errors import Fault, Invalid
from registry.grids.grid import Axis, Grid, Level
from registry.grids.intake.faults import escaped, number
from registry.grids.intake.levels import has_control

Slice = tuple[tuple[str, tuple[str, ...]], ...]
"""Axes by name, each with what its levels are asked to be: labels or numbers (one of them), and ranges (all)."""
Item = TypeVar("Item")

PARAMETER = "at."
MOST_CONDITIONS = 100
_RANGE = re.compile(r"(>=|<=|>|<)(.+)", re.DOTALL)
_COMPARE: Mapping[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_WORDS = {">=": "at least", "<=": "at most", ">": "above", "<": "below"}
_MOST_SHOWN = 12
_BEGINNING = re.compile(r"@[^@=,]+=")
"""The @ behind which levels stand, up to the first of them. Without one, every @ is of the benchmark's name."""


def read_slice(given: Iterable[tuple[str, Sequence[str]]]) -> Slice:
    """The slice in parameters `at.<axis>`; equal slices are equal values. `Invalid` for what can be no level."""
    conditions = {name.removeprefix(PARAMETER): texts for name, texts in given if name.startswith(PARAMETER)}
    faults = [
        Fault(pointer_to(axis), "names no axis: write the name of one after the dot" if not axis else _WANTED)
        for axis, texts in conditions.items()
        if not axis or any(not text or has_control(axis + text) for text in texts)
    ]
    if sum(map(len, conditions.values())) > MOST_CONDITIONS:
        faults.append(Fault("", f"a slice has at most {MOST_CONDITIONS} conditions"))
    if faults:
        raise Invalid(faults)
    return tuple((axis, tuple(sorted(set(texts)))) for axis, texts in sorted(conditions.items()))


_WANTED = "is a level (its label or its number), or a range such as >=64000"


def pointer_to(axis: str) -> str:
    """The place of an axis's conditions in a query."""
    return f"/{escaped(PARAMETER + axis)}"


def kept_levels(levels: Sequence[Level], conditions: Sequence[str]) -> list[int]:
    """Positions of the levels that are one of those named, if any is named, and in every range."""
    labels = {level.label for level in levels}
    ranges = [found for one in conditions if one not in labels and (found := _range_of(one)) is not None]
    named = [one for one in conditions if one in labels or _range_of(one) is None]
    return [
        place
        for place, level in enumerate(levels)
        if (not named or any(_is_named(level, one) for one in named))
        and all(level.number is not None and _COMPARE[sign](level.number, bound) for sign, bound in ranges)
    ]


def _range_of(condition: str) -> tuple[str, float] | None:
    match = _RANGE.fullmatch(condition)
    bound = None if match is None else _number_in(match[2])
    return None if match is None or bound is None else (match[1], bound)


def _number_in(text: str) -> float | None:
    try:
        return number(float(text))
    except ValueError:
        return None


def _is_named(level: Level, condition: str) -> bool:
    return condition == level.label or (level.number is not None and _number_in(condition) == level.number)


def kept_positions(axes: Mapping[str, Sequence[Level]], wanted: Slice) -> list[list[int]] | None:
    """Positions of the levels to keep, for each axis in its order; None when an axis that is asked for is missing, or
    nothing of one is left. Of an axis that is asked for twice those are kept that both keep."""
    kept = {name: list(range(len(levels))) for name, levels in axes.items()}
    for name, conditions in wanted:
        if name not in axes:
            return None
        here = frozenset(kept_levels(axes[name], conditions))
        kept[name] = [place for place in kept[name] if place in here]
        if not kept[name]:
            return None
    return list(kept.values())


def mask_of(shape: Sequence[int], kept: Sequence[Sequence[int]]) -> list[bool]:
    """Mask of the cells that are kept, row-major."""
    sets = [frozenset(positions) for positions in kept]
    inside = [[place in one for place in range(size)] for size, one in zip(shape, sets, strict=True)]
    return [all(at) for at in itertools.product(*inside)]


def sliced(grid: Grid, wanted: Slice) -> Grid | None:
    """The grid at these levels; None when it has none of them. Labels and statements about the grid stay."""
    if not wanted:
        return grid
    kept = kept_positions({axis.name: axis.levels for axis in grid.axes}, wanted)
    if kept is None:
        return None
    mask = mask_of(grid.shape, kept)
    places = list(itertools.accumulate(mask, initial=0))

    def taken(flat: tuple[Item, ...] | None) -> tuple[Item, ...] | None:
        return None if flat is None else tuple(itertools.compress(flat, mask))

    return replace(
        grid,
        axes=tuple(_with_levels(axis, positions) for axis, positions in zip(grid.axes, kept, strict=True)),
        values=tuple(itertools.compress(grid.values, mask)),
        trials=taken(grid.trials) if isinstance(grid.trials, tuple) else grid.trials,
        stderr=taken(grid.stderr),
        repeats=taken(grid.repeats),
        sd=taken(grid.sd),
        reasons={places[index]: reason for index, reason in grid.reasons.items() if mask[index]},
    )


def _with_levels(axis: Axis, positions: Sequence[int]) -> Axis:
    return replace(axis, levels=tuple(axis.levels[place] for place in positions))


def slice_faults(axes: Iterable[Axis], wanted: Slice, whose: str) -> list[Fault]:
    """A fault for each axis that no grid has, and each condition that no level of such an axis fulfils; it lists what
    there is. `whose` names the grids, as in "the grid" or "no grid"."""
    levels: dict[str, dict[str, Level]] = {}
    for axis in axes:
        levels.setdefault(axis.name, {}).update({level.label: level for level in axis.levels})
    faults = []
    for name, conditions in wanted:
        if name not in levels:
            has = "has the" if whose.startswith("no ") else "has no"
            faults.append(Fault(pointer_to(name), f'{whose} {has} axis "{name}"; {_meant(name, levels)}'))
            continue
        known = list(levels[name].values())
        faults += [
            Fault(pointer_to(name), f'the axis "{name}" has no level {_said(one, known)}; {_meant(one, levels[name])}')
            for one in conditions
            if not kept_levels(known, [one])
        ] or _contradictions(name, known, conditions)
    return faults


def _contradictions(axis: str, levels: Sequence[Level], conditions: Sequence[str]) -> list[Fault]:
    """A fault where each condition has a level and all of them together have none, such as a range with its ends
    exchanged."""
    if not levels or kept_levels(levels, conditions):
        return []
    told = f'the axis "{axis}" has no level that is {conditions_text(conditions)}'
    return [Fault(pointer_to(axis), f"{told} at once; {_there(level.label for level in levels)}")]


def _said(condition: str, levels: Sequence[Level]) -> str:
    found = _range_of(condition)
    if found is None:
        return f'"{condition}"'
    bare = "" if any(level.number is not None for level in levels) else " (its levels have no numbers)"
    return f"{_WORDS[found[0]]} {condition.removeprefix(found[0])}{bare}"


def _meant(asked: str, names: Iterable[str]) -> str:
    """List what there is, and before it what may have been meant: a bound that is no number, or a name in other
    letters."""
    known = list(names)
    sign, bound = match.groups() if (match := _RANGE.fullmatch(asked)) else ("", asked)
    alike = [name for name in known if name.casefold() == bound.strip().casefold()]
    hints = []
    if sign and _number_in(bound) is None:
        hints.append(f'a range is {sign} and a number, which "{bound}" is not')
    if alike:
        hints.append(f'did you mean "{alike[0]}"')
    return "; ".join([*hints, _there(known)])


def _there(names: Iterable[str]) -> str:
    found = list(names)
    if not found:
        return "there is none"
    more = f" and {len(found) - _MOST_SHOWN} more" if len(found) > _MOST_SHOWN else ""
    return f"there {'is' if len(found) == 1 else 'are'} {', '.join(found[:_MOST_SHOWN])}{more}"


def slice_text(wanted: Slice) -> str:
    """The slice in words: `Context at least 64000, Type 1 or 2`; empty for the whole."""
    return ", ".join(f"{axis} {conditions_text(conditions)}" for axis, conditions in wanted)


def with_slice(text: str, wanted: Slice) -> str:
    """The text, and after a comma the slice: `accuracy (%), Context at least 64000`."""
    return f"{text}, {slice_text(wanted)}" if wanted else text


def conditions_text(conditions: Sequence[str]) -> str:
    """Write in words what the levels of one axis are asked to be: `at least 64000`, `1 or 2`."""
    ranges = [(found[0], one.removeprefix(found[0])) for one in conditions if (found := _range_of(one)) is not None]
    named = [f'"{one}"' if one[0] in "<>=" else one for one in conditions if _range_of(one) is None]
    parts = [" or ".join(named)] if named else []
    return " and ".join([*parts, *(f"{_WORDS[sign]} {bound}" for sign, bound in ranges)])


def slice_document(wanted: Slice) -> dict[str, list[str]]:
    """The slice as it is stored and sent: conditions by axis."""
    return {axis: list(conditions) for axis, conditions in wanted}


def slice_of(document: Mapping[str, Sequence[str]]) -> Slice:
    """The slice in a document made by `slice_document`."""
    return tuple((axis, tuple(conditions)) for axis, conditions in sorted(document.items()))


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
    conditions = ",".join(f"{axis}={one}" for axis, several in levels for one in several)
    return f"{benchmark}@{conditions}" if levels else benchmark


_SEVERAL = "several levels are written in one, as in X@axis=a,axis=b"


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
