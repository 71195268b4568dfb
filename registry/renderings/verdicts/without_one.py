"""That a claim rests on one benchmark: left out alone, it takes the claim away."""

from __future__ import annotations

from collections.abc import Sequence

from registry.renderings.numbers import p_value
from registry.renderings.verdicts.estimate import Estimate, Yardstick
from registry.renderings.verdicts.terms import joined
from registry.renderings.words import isolated
from registry.results.stability import WithoutOne

_LISTED = 3


def carried(without: Sequence[WithoutOne], yardstick: Yardstick, alpha: float, sign: int = 1) -> str:
    """What follows the claim that one of two is better: `; AIME'25 alone carries this: without it 0.7 points (95 %
    interval -1.7 to 3.0), left open`. Empty where it holds without each benchmark. `sign` times a difference is
    positive where the better one is ahead."""
    lost = [
        (one, found)
        for one in without
        for found in [_estimate(one, alpha, sign)]
        if not (one.p_holm is not None and one.p_holm < alpha and (found is None or found.difference > 0))
    ]
    if not lost:
        return ""
    worst, found = max(lost, key=lambda pair: 1.0 if pair[0].p_holm is None else pair[0].p_holm)
    size = _size(found, yardstick) if found else f"p {p_value(worst.p_holm)}"
    name = isolated(worst.benchmark)
    if len(lost) == 1:
        return f"; {name} alone carries this: without it {size}, left open"
    others = joined([one.benchmark for one, _ in lost if one is not worst], _LISTED)
    return f"; without {name} it is {size}, left open, as it is without {others}"


def fewer(without: Sequence[WithoutOne], claimed: int) -> str:
    """What follows the claim that the first of many names is better than so many others: `; with AIME'25 left out,
    than 1 of them`. Empty where as many stay without each benchmark."""
    lost = [one for one in without if one.shown < claimed]
    if not lost:
        return ""
    worst = min(lost, key=lambda one: one.shown)
    than = f"than {f'{worst.shown:,}' if worst.shown else 'none'} of them"
    if len(lost) == 1:
        return f"; with {isolated(worst.benchmark)} left out, {than}"
    names = joined([one.benchmark for one in lost], _LISTED)
    return f"; than fewer with any one of {names} left out, without {isolated(worst.benchmark)} {than}"


def _estimate(one: WithoutOne, alpha: float, sign: int) -> Estimate | None:
    if one.difference is None:
        return None
    return Estimate(one.difference, one.interval, one.p_holm, None, alpha).turned(sign)


def _size(found: Estimate, yardstick: Yardstick) -> str:
    around = found.brackets(Yardstick(yardstick.unit))
    return f"{yardstick.sized(('-' if found.difference < 0 else '') + found.size)}{around}"
