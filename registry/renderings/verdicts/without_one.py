"""What is left of a verdict on two names or many without one of its benchmarks."""

from collections.abc import Sequence

from registry.renderings.numbers import p_value
from registry.renderings.verdicts.estimate import Estimate, Yardstick, joined
from registry.renderings.words import isolated
from registry.results.pairs import WithoutOne

_CARRYING = 3
"""Benchmarks that carry a claim, as far as they are written out."""
_ALL_WITHOUT = 12
"""Benchmarks up to which each that is left out is told of, also where that changes nothing."""


def carried(without: Sequence[WithoutOne], yardstick: Yardstick, alpha: float, sign: int = 1) -> str:
    """What follows the claim that one of two is better: `; without AIME'25 it is 0.7 points (95 % interval -1.7 to
    3.0), left open`, or that it cannot be told where they share nothing else. Empty where it holds without each.
    `sign` times a difference is positive where the better one is ahead."""
    lost = [
        (one, found)
        for one in without
        for found in [_estimate_without(one, alpha, sign)]
        if not (one.p_holm is not None and one.p_holm < alpha and (found is None or found.difference > 0))
    ]
    if not lost:
        return ""
    turned = [one for one in lost if one[1] is not None and one[1].shown]
    apart = [one for one in lost if one[1] is None and one[0].p_holm is None]
    some = turned or apart or lost
    worst, found = max(some, key=lambda pair: 1.0 if pair[0].p_holm is None else pair[0].p_holm)
    size = f"is {_size_without(found, yardstick)}" if found else f"has p {p_value(worst.p_holm)}"
    told = "cannot be told" if some is apart else f"{size}, {'shown the other way round' if turned else 'left open'}"
    alike = joined([one.benchmark for one, _ in some if one is not worst], _CARRYING)
    rest = joined([pair[0].benchmark for pair in lost if pair not in some], _CARRYING)
    also = (f", as it is without {alike}" if alike else "") + (f"; without {rest} it is left open" if rest else "")
    return f"; without {isolated(worst.benchmark)} it {told}{also}"


def fewer(without: Sequence[WithoutOne], claimed: int, group: str) -> tuple[str, tuple[str, ...]]:
    """What follows the claim that the first of many names is better than so many others: `; with AIME'25 left out, than
    1 of them`, and where several benchmarks take some away what each leaves, where they are few also those that take
    none. Empty where as many stay without each. `group` is the word for what is left out."""
    lost = [one for one in without if one.shown < claimed]
    if not lost:
        return "", ()
    worst = min(lost, key=lambda one: one.shown)
    name, than = isolated(worst.benchmark), f"than {_beaten(worst)}"
    some = f"{len(lost):,} {group}s" if len(lost) == len(without) else f"{len(lost):,} of the {len(without):,} {group}s"
    if len(lost) == 1:
        return f"; with {name} left out, {than}", ()
    if len({_beaten(one) for one in lost}) == 1:
        return f"; with any one of {some} left out, {than}", ()
    listed = without if len(without) <= _ALL_WITHOUT else lost
    each = tuple(
        f"Without {isolated(one.benchmark)}, than {_beaten(one) if one in lost else 'no fewer'}." for one in listed
    )
    return f"; with any one of {some} left out, than fewer: without {name}, {than}", each


def of_them(count: int) -> str:
    """So many of the names."""
    return f"{f'{count:,}' if count else 'none'} of them"


def _beaten(one: WithoutOne) -> str:
    """So many of the names, or all that still have results."""
    if not one.shown or one.shown != one.remaining:
        return of_them(one.shown)
    return f"all {one.shown:,} that then remain" if one.shown > 1 else "the only other one that then remains"


def _estimate_without(one: WithoutOne, alpha: float, sign: int) -> Estimate | None:
    if one.difference is None:
        return None
    return Estimate(one.difference, one.interval, one.p_holm, None, alpha).turned(sign)


def _size_without(found: Estimate, yardstick: Yardstick) -> str:
    around = found.brackets(Yardstick(yardstick.unit))
    return f"{yardstick.sized(('-' if found.difference < 0 else '') + found.size)}{around}"
