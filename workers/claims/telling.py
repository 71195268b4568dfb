"""Write the sentence of a judgement: its headline first, then the numbers, then the other layer."""

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from registry.claims.claim import (
    Compare,
    Compound,
    Coverage,
    Effect,
    Number,
    Part,
    Says,
    Stable,
    Step,
    Trend,
    Value,
    atoms_of,
    denials_of,
)
from registry.claims.wording import subject, unit_of
from registry.results.judgement import JudgedPart, TrialsNeeded, Verdict
from workers.claims.judgement import Group, Judged
from workers.claims.worlds import Found

_WORDS = {
    "supported": "Supported",
    "contradicted": "Contradicted",
    "not_decidable": "Not decidable",
    "ill_posed": "Ill-posed",
}
WHY: Mapping[str, str] = {
    "missing_cells": "cells are missing",
    "within_noise": "it is within the noise",
    "noise_unknown": "the noise is not known",
    "too_few_points": "there are too few points",
    "confounded": "the sides differ in more than one of benchmark, model and variant",
    "not_comparable": "the values are on different scales, or not above 0",
    "no_direction": "the metric has no better end",
    "vague": "several cells or series are meant; where or for say which",
    "not_published": "no cell of it was measured",
    "too_large": "it is about more cells than are judged at once",
    "failed": "judging it failed",
}
_WANTED = {False: "supported", True: "contradicted"}
"""The verdict on a statement with which a claim holds, by whether the claim denies it."""
_MOST_TOLD = 3
_FEW = 3
"""Degrees of freedom of a cell below which the test of a trend errs in up to 10 % where that cell is the noisiest."""


def sentence(judged: Judged, parts: Sequence[JudgedPart], posted: Verdict, noise: Verdict) -> str:
    """The verdict as one plain sentence with the numbers; it begins with the layer that the claim asks for."""
    if judged.ill_posed:
        return "Ill-posed: no results can decide this sentence."
    if not judged.groups or all(one.found["posted"].reason == "not_published" for one in judged.groups):
        return f"Not decidable: {WHY['not_published']}."
    if len(parts) == 1:
        return _of_one(judged, parts[0], posted, noise)
    pointers = [pointer for pointer, _ in atoms_of(judged.claim.says)]
    denied = dict(zip(pointers, denials_of(judged.claim.says), strict=True))
    held = sum(1 for one in parts if one.as_posted == _WANTED[denied[one.part]])
    shown = sum(1 for one in parts if one.beyond_noise == _WANTED[denied[one.part]])
    reasons = (_because(one.found["posted"]) for one in judged.groups)
    why = next(filter(None, reasons), f", {WHY['missing_cells']}") if posted == "not_decidable" else ""
    both = zip(judged.groups, parts, strict=True)
    odd = (_stated(one, part, denied=denied[part.part]) for one, part in both if _is_odd(one, denied=denied[part.part]))
    told = "".join(f"; {one}" for one in itertools.islice(odd, 1))
    counted = f"{held} of {len(parts)} statements hold{told}"
    counted = f"not ({counted})" if _denies(judged.claim.says) else counted
    beyond = f"{_WORDS[noise]} beyond noise: {shown} of {len(parts)} statements are shown."
    return _in_order(judged, f"{_WORDS[posted]} as posted{why}: {counted}.", beyond) + _apart(judged.groups, parts)


def _apart(groups: Sequence[Group], parts: Sequence[JudgedPart]) -> str:
    """Over which cells the statements are, where these differ, by the first statement about each."""
    firsts = {part.numbers.over: group for group, part in reversed(list(zip(groups, parts, strict=True)))}
    told = [f"{subject(one.atom, one.levels)}, {over}" for over, one in reversed(firsts.items()) if over]
    if len(told) < 2:
        return ""
    more = f"; and {len(told) - _MOST_TOLD} more" if len(told) > _MOST_TOLD else ""
    return f" Each statement is over its own cells: {'; '.join(told[:_MOST_TOLD])}{more}."


def _in_order(judged: Judged, as_posted: str, beyond_noise: str) -> str:
    """Both layers, the one first that the claim asks for."""
    told = (beyond_noise, as_posted) if judged.claim.strength == "noise" else (as_posted, beyond_noise)
    return " ".join(told)


def with_left_out(coordinates: str) -> str:
    """Say that a verdict may be due to what was not compared, as not all have it, as a sentence after the verdict."""
    if not coordinates:
        return ""
    return f" What missing cells could change is not known: {coordinates} that not all have were left out."


def with_few_repeats(judged: Judged) -> str:
    """Say what tests of trends assume of cells that have few repeats, as a sentence after the verdict."""
    for one in judged.groups:
        says = one.atom.says
        tested = isinstance(says, Trend) and not (says.monotone or says.strictly or says.goes == "not_monotone")
        if tested and bool(np.any(one.facts.errors.at(one.cells).df < _FEW)):
            return " The test of a trend takes cells of two or three repeats to have about one noise."
    return ""


def with_more_trials(needed: TrialsNeeded | None, judged: Judged) -> str:
    """Say what decides a claim within the noise, as a sentence after the verdict."""
    if needed is None:
        return ""
    if needed.impossible in ("too_large", "unknown_noise"):
        return f" How many more trials decide it is not known: {needed.why}."
    if needed.needed is None or needed.needed.factor is None or needed.impossible is not None:
        return f" More trials do not decide it: {needed.why}."
    factor, trials = needed.needed.factor, needed.needed.trials
    each = "" if trials is None else f" ({trials:,} of a cell)"
    times = f"{factor:,.0f}" if factor >= 100 else f"{factor:.3g}"
    times += f" times the {_counted(judged)}"
    least = "" if needed.one_sum else " at least"
    return (
        f" With {times}{each} it is decided with a probability of{least} {100 * needed.power:g}"
        " %, if the posted numbers are true."
    )


def _counted(judged: Judged) -> str:
    """What more of lessens the noise of the cells."""
    errors = [judged.facts.errors.at(one.cells) for one in judged.groups]
    repeats = any(bool(np.any((one.n == 0) & np.isfinite(one.df))) for one in errors)
    trials = any(bool(np.any(one.n > 0)) for one in errors) or not repeats
    return " or ".join(["trials"] * trials + ["repeats"] * repeats)


def _denies(part: Part) -> bool:
    """Tell whether a claim as a whole denies what is within it."""
    denied = False
    while isinstance(part, Compound) and len(part.claims) == 1:
        denied ^= part.kind == "not"
        part = part.claims[0]
    return denied


def _is_odd(group: Group, *, denied: bool) -> bool:
    """Tell whether a statement is an example of why the whole is contradicted."""
    return group.found["posted"].answer == _WANTED[(group.atom.holds.word == "none") == denied]


def _stated(group: Group, part: JudgedPart, denied: bool) -> str:
    return f"not ({_number(group, part)})" if denied else _number(group, part)


def _of_one(judged: Judged, part: JudgedPart, posted: Verdict, noise: Verdict) -> str:
    """The verdicts on the claim with its only statement, and with that one's own verdict where it is another."""
    claim, group = judged.claim, judged.groups[0]
    said = _number(group, part)
    if group.atom.holds.word in ("none", "exactly", "at_least"):
        said = f"{group.atom.holds.text} ({said})"
    said = f"not ({said})" if _denies(claim.says) else said
    own = "" if posted == part.as_posted else f", as the statement itself is {_WORDS[part.as_posted].lower()}"
    as_posted = f"{_WORDS[posted]} as posted{_because(group.found['posted'])}: {said}{own}."
    if group.atom.kind == "coverage":
        return as_posted
    between = _between(judged, group, part)
    beyond = f"{_WORDS[noise]} beyond noise{_left_open(group)}{f': {between}' if between else ''}."
    return _in_order(judged, as_posted, beyond)


def _between(judged: Judged, group: Group, part: JudgedPart) -> str:
    """Write what noise leaves possible, one number where that is all; "" where it is not known."""
    low, high = part.numbers.low, part.numbers.high
    if low is None and high is None:
        return ""
    ends = ["unbounded" if end is None else f"{end:.4g}" for end in (low, high)]
    measured = group.cells[group.facts.present[group.cells]]
    if low == high and bool(group.facts.errors.is_exact[measured].all()):
        return f"{ends[0]}, as no cell has noise"
    between = f"{ends[0] if low == high else ' to '.join(ends)} at {100 * (1 - judged.claim.alpha):g} % confidence"
    says = group.atom.says
    if isinstance(says, Trend) and says.goes in ("up", "down", "flat") and not (says.monotone or says.strictly):
        between += " along the line of the trend test"
    return between + ("" if judged.claim.looks == "fixed" else " over all revisions")


def _left_open(group: Group) -> str:
    """Why noise decides nothing; of cells without noise of their own the trend test takes that from their scatter."""
    found, errors = group.found["noise"], group.facts.errors.at(group.cells)
    is_open = found.reason == "within_noise" and isinstance(group.atom.says, Trend)
    if is_open and not bool(np.any((errors.n > 0) | (errors.stderr > 0))):
        return ", it is within the scatter of the points"
    return _because(found)


def _because(found: Found) -> str:
    said = found.detail or ("" if found.reason is None else WHY[found.reason])
    return said and f", {said}"


def _number(group: Group, part: JudgedPart) -> str:
    """Write what is claimed and what was found: `the value at Type 1 is 99.3 (claimed: 99.3)`."""
    said, numbers = subject(group.atom, group.levels), part.numbers
    over = f", {numbers.over}" if numbers.over else ""
    found = ""
    says = group.atom.says
    if isinstance(says, Coverage):
        is_told = numbers.estimate is not None and says.is_ in ("cells", "last_below")
        found = f" is {numbers.estimate:.10g}" if is_told else ""
    elif numbers.estimate is not None:
        told = written(numbers.estimate, group.facts.decimals(group.cells), list(_limits(says)))
        total = f" of {numbers.out_of:,}" if numbers.out_of is not None else ""
        found = f"{',' if over else ''} is {f'{told} {unit_of(says)}'.rstrip()}{total}{_against(group, part)}"
    rounds = "" if group.found["bare"].answer == group.found["posted"].answer else ", and it rounds to that"
    return f"{said}{over}{found} (claimed: {numbers.compared_with}{rounds})"


def _against(group: Group, part: JudgedPart) -> str:
    """The cells by which a count is contradicted: `; against it: 90.7 at Length 17`."""
    if part.as_posted != "contradicted" or not part.numbers.cells or part.numbers.out_of is None:
        return ""
    varying = set(group.facts.varying(group.cells))
    cells = [
        f"{cell.value:.10g}{' at ' if varying else ''}"
        + ", ".join(f"{axis} {level}" for axis, level in cell.at.items() if axis in varying)
        for cell in part.numbers.cells
    ]
    more = f" and {len(cells) - _MOST_TOLD} more" if len(cells) > _MOST_TOLD else ""
    return f"; against it: {'; '.join(cells[:_MOST_TOLD])}{more}"


def written(number: float, decimals: int, limits: Sequence[float]) -> str:
    """A number with two decimals more than the posted ones, or as many more as keep it on its side of every limit."""
    for more in (2, 4, 6):
        text = f"{number:.{decimals + more}f}"
        if len(text) <= 12 and all(_side(float(text), limit) == _side(number, limit) for limit in limits):
            return f"{float(text):.10g}"
    return f"{number:.10g}"


def _side(number: float, limit: float) -> int:
    return (number > limit) - (number < limit)


def _limits(says: Says) -> Iterator[float]:
    """Numbers on whose side a statement depends."""
    yield 0.0
    match says:
        case Value():
            yield from _ends(says.is_)
        case Step(size=Number() as amount) | Compare(by=Number() as amount):
            yield from (sign * end for end in _ends(amount) for sign in (1, -1))
        case Stable() | Effect():
            yield says.within
        case Trend(margin=float() as margin) | Compare(margin=float() as margin):
            yield from (margin, -margin)


def _ends(said: Number) -> Iterator[float]:
    low, high, _, _ = said.ends()
    yield from filter(math.isfinite, (low, high))
