"""The verdict of a gate in one plain sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from registry.results.gates import Gate, GateUnit, NotComparable, Verdict

ONE_BENCHMARK = "one_benchmark"
"""The code of the warning that a part of the baseline was judged, which the sentence says too."""
_SHOWN: dict[Verdict, str] = {
    "improved": "{c} is better than {b}",
    "equivalent": "{c} and {b} are equal within {m}",
    "non_inferior": "{c} is not worse than {b} by more than {m}",
    "worse_within_margin": "{c} is worse than {b}, by less than {m}",
    "regressed": "{c} is worse than {b} by more than {m}",
    "inconclusive": "Whether {c} is worse than {b} by more than {m} is left open",
}
_OF_FLOOR: dict[Verdict, str] = {
    "regressed": "{c} is below the floor {m}",
    "inconclusive": "Whether {c} reaches the floor {m} is left open",
}
_OPEN_IMPROVING = "Whether {c} is better than {b} by more than {m} is left open"
_NOT_IMPROVING = "{c} is not better than {b} by more than {m}"
_REASONS: dict[NotComparable, str] = {
    "no_common_cells": "they have no cell in common",
    "missing_cells": "the contender lacks cells of the baseline",
    "protocol": "their protocols differ, or do not say what the experiment requires",
    "no_direction": "the metric has no better end",
    "scale": "their values are on different scales",
    "zero_baseline": "the margin is percent and the baseline is 0",
    "ambiguous_variants": "there are several variants, of which none was chosen",
    "too_large": "they have too many cells",
}


def sentence(gate: Gate) -> str:
    """What the gate found, with the numbers that it rests on."""
    names = _names(gate)
    if gate.verdict == "not_comparable":
        reason = _REASONS[gate.reason] if gate.reason and gate.reason != "unknown_noise" else "unknown"
        return f"{names['c']} cannot be compared with {names['b']}: {_too_few(gate) or reason}."
    told = _one(gate, gate, names) if gate.judged == 1 else _several(gate, names)
    where = "".join(f" {one.detail}" for one in gate.warnings if one.code == ONE_BENCHMARK)
    return f"{told}{_outcome(gate)}.{where}"


def sentence_of_unit(gate: Gate, unit: GateUnit) -> str:
    """What the gate found of one benchmark or cell that fails, with its own numbers."""
    told = _one(gate, unit, _names(gate), f" on {_where(unit)}")
    return f"{told}; the policy {gate.policy.kind} is not kept."


def _where(unit: GateUnit) -> str:
    cell = (
        f"{axis} {level:g}" if isinstance(level, float) else f"{axis} {level}"
        for axis, level in (unit.at or {}).items()
    )
    return ", ".join([unit.benchmark or "", *cell])


def _names(gate: Gate) -> Mapping[str, str]:
    return {"c": gate.contender, "b": f"the baseline {gate.baseline}", "m": _amount(gate)}


def _too_few(gate: Gate) -> str | None:
    """The shares of common cells, where the policy allows that some are missing, and more are."""
    if gate.reason != "missing_cells" or gate.policy.missing != "matched" or gate.common_share is None:
        return None
    share, least = f"{100 * gate.common_share:.4g}", f"{100 * gate.policy.common_share:.4g}"
    return f"both have {share} % of the baseline's cells, and the policy asks for at least {least} %"


def _amount(gate: Gate) -> str:
    """The margin, or the floor: a value of the metric, of which percent are points."""
    policy = gate.policy
    if policy.margin_unit == "percent":
        return f"{policy.margin:g} percent of the baseline"
    if policy.kind != "floor" and gate.unit == "%":
        return f"{policy.margin:g} points"
    return f"{policy.margin:g} {gate.unit or 'points'}"


def _one(gate: Gate, found: Gate | GateUnit, names: Mapping[str, str], where: str = "") -> str:
    """What was found of the whole, or of one of what was judged."""
    if gate.policy.kind == "floor":
        told = _OF_FLOOR.get(found.verdict, "{c} reaches the floor {m}")
    elif gate.policy.kind == "improves" and found.verdict == "inconclusive":
        told = _NOT_IMPROVING if isinstance(found, Gate) and found.passes is not None else _OPEN_IMPROVING
    else:
        told = _SHOWN[found.verdict]
    told = told.format(**names) + where
    if found.low is None or found.high is None:
        return f"{told}: the noise of the cells is not known"
    form = _form((found.gap or 0.0, found.low, found.high))
    gap, low, high = f"{found.gap or 0.0:+{form}}", f"{found.low:{form}}", f"{found.high:{form}}"
    if found.low == found.high:
        return f"{told}: {gap}, without noise"
    return f"{told}: {gap}, with {100 * (1 - gate.policy.alpha):.4g} % confidence above {low} and below {high}"


def _form(values: Sequence[float]) -> str:
    """How numbers are written that stand together: all with the decimals of the largest, two for percentages."""
    largest = max(map(abs, values))
    if not 1e-9 < largest < 1e9:
        return ".3g"
    magnitude = math.floor(math.log10(largest))
    return f"z.{2 - magnitude if magnitude <= 0 else max(0, 3 - magnitude)}f"


def _several(gate: Gate, names: Mapping[str, str]) -> str:
    what = "cells" if gate.policy.per == "cell" else "benchmarks"
    kept = gate.judged - gate.failed - gate.undecided
    counted = f"of {gate.judged:,} {what}, {kept:,} keep to {names['m']}, {gate.failed:,} do not"
    return f"{names['c']} against {names['b']}: {counted}, and {gate.undecided:,} are not decided"


def _outcome(gate: Gate) -> str:
    """What follows for the policy."""
    if gate.passes is None:
        needed = gate.trials_needed
        factor = (
            "" if needed is None or needed.factor is None else f"; {needed.factor:.3g} times the trials would decide it"
        )
        return f"; this is no pass{factor}"
    return "" if gate.passes else f"; the policy {gate.policy.kind} is not kept"
