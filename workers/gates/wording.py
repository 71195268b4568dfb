"""The sentence of a verdict by `gate.py`: what was found, with its numbers, and what follows for the policy."""

import math
from collections.abc import Mapping, Sequence
from typing import cast

from registry.results.gates import Gate, GateUnit, NotComparable, PolicyKind, Verdict
from registry.results.parameters import POWER
from registry.results.terms import At

ONE_BENCHMARK, FEWER_CELLS, WEIGHED = PARTS = ("one_benchmark", "fewer_cells", "weighed_by_trials")
"""The codes of the warnings that a part of the baseline was judged, which the sentence says too."""
MOST_NAMED = 3
"""Names that a sentence lists: what a contender lacks, what is not compared, what has unknown noise."""
_SHOWN: dict[Verdict, str] = {
    "improved": "{c} is better than {b}",
    "equivalent": "{c} and {b} are equal{on} within {m}",
    "non_inferior": "{c} is not worse than {b}{by}",
    "worse_within_margin": "{c} is worse than {b}, by less than {m}",
    "regressed": "{c} is worse than {b}{by}",
    "reached": "{c} reaches the floor {m}",
    "inconclusive": "Whether {c} is worse than {b}{by} is left open",
}
_SHOWN_OF: dict[PolicyKind, dict[Verdict, str]] = {
    "floor": {
        "missed": "{c} is {below} the floor {m}",
        "inconclusive": "Whether {c} reaches the floor {m} is left open",
    },
    "equivalent": {"inconclusive": "Whether {c} and {b} are equal{on} within {m} is left open"},
    "improves": {
        "improved": "{c} is better than {b}{by}",
        "missed": "{c} is not better than {b}{by}",
        "inconclusive": "Whether {c} is better than {b}{by} is left open",
    },
}
_REASONS: dict[NotComparable, str] = {
    "missing_cells": "the contender lacks cells of the baseline",
    "no_direction": "the metric has no better end",
    "scale": "their values are on different scales",
    "zero_baseline": "the margin is percent and the baseline is 0",
    "ambiguous_variants": "there are several variants, of which none was chosen",
    "too_large": "they have too many cells",
}


def sentence(gate: Gate, why: str = "", more: str = "trials") -> str:
    """What the gate found, with the numbers that it rests on; `why` nothing is compared, where that depends, and `more`
    of what decides what is open."""
    names = _names(gate)
    said = [FEWER_CELLS] if gate.reason == "missing_cells" else PARTS * (gate.reason in (None, "unknown_noise"))
    where = "".join(f" {one.detail}" for one in gate.warnings if one.code in said)
    if gate.verdict == "not_comparable":
        reason = why or _too_few(gate) or _REASONS[cast("NotComparable", gate.reason)]
        return f"{names['c']} cannot be compared with {names['b']}: {reason}.{where}"
    told = _one(gate, gate, names) if gate.judged == 1 else _several(gate, names)
    return f"{told}{_outcome(gate, more)}.{where}"


def sentence_of_unit(gate: Gate, unit: GateUnit) -> str:
    """What the gate found of one benchmark or cell that fails, with its own numbers."""
    told = _one(gate, unit, _names(gate), f" on {where_of(unit.benchmark, unit.at)}")
    return f"{told}; the policy is not kept."


def where_of(benchmark: str | None, at: At | None) -> str:
    cell = (
        f"{axis} {level:g}" if isinstance(level, float) else f"{axis} {level}" for axis, level in (at or {}).items()
    )
    return ", ".join([benchmark or "", *cell])


def _names(gate: Gate) -> Mapping[str, str]:
    mean = " on average" if gate.policy.per == "overall" else ""
    by = f" by more than {_amount(gate)}" if gate.policy.margin else ""
    below = "worse than" if gate.direction == "lower" else "below"
    baseline = f"the baseline {gate.baseline}"
    return {"c": gate.contender, "b": baseline, "m": _amount(gate), "by": by, "on": mean, "below": below}


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
        return f"{policy.margin:g} point{'' if policy.margin == 1 else 's'}"
    return f"{policy.margin:g} {gate.unit or ''}".rstrip()


def _one(gate: Gate, found: Gate | GateUnit, names: Mapping[str, str], where: str = "") -> str:
    """What was found of the whole, or of one of what was judged."""
    by_less = found.verdict == "improved" and gate.passes is None
    own = {} if by_less else _SHOWN_OF.get(gate.policy.kind, {})
    told = (_SHOWN | own)[found.verdict].format(**names) + where
    if found.low is None or found.high is None:
        return f"{told}: the noise of the cells is not known"
    form = _form((found.gap or 0.0, found.low, found.high))
    gap, low, high = f"{found.gap or 0.0:+{form}}", f"{found.low:{form}}", f"{found.high:{form}}"
    better = "lower is better; " if gate.direction == "lower" else ""
    if found.low == found.high:
        return f"{told}: {gap}, {better}without noise"
    return f"{told}: {gap} ({better}{100 * gate.level:.4g} % interval {low} to {high})"


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
    one, fail = kept == 1, "does" if gate.failed == 1 else "do"
    lower = " (lower is better)" * (gate.direction == "lower")
    words = {"floor": f"reach{'es' * one} {names['m']}{lower}", "improves": f"show{'s' * one} it better{names['by']}"}
    keep = words.get(gate.policy.kind, f"keep{'s' * one} to {names['m']}")
    counted = f"of {gate.judged:,} {what}, {kept:,} {keep}, {gate.failed:,} {fail} not"
    blind = [where_of(one.benchmark, one.at) for one in gate.per if one.low is None]
    unknown = f", {len(blind):,} of them for unknown noise ({first_few(blind)})" if blind else ""
    told = f"and {gate.undecided:,} {'is' if gate.undecided == 1 else 'are'} not decided{unknown}{_corrected(gate)}"
    against = "" if gate.policy.kind == "floor" else f" against {names['b']}"
    return f"{names['c']}{against}: {counted}, {told}"


def _corrected(gate: Gate) -> str:
    """How sure each is, and that a failure is corrected for all that are tested."""
    tested, alpha = sum(one.p_holm is not None for one in gate.per), gate.policy.alpha
    if tested < 2 or gate.policy.multiplicity != "holm":
        return ""
    first = f"by Holm the first failure among {tested:,} needs {100 * (1 - alpha / tested):.4g} %"
    return f" (each at {100 * (1 - alpha):.4g} % confidence; {first})"


def _outcome(gate: Gate, more: str) -> str:
    """What follows for the policy."""
    if gate.passes is None:
        asked = "" if gate.verdict == "inconclusive" else f"; whether it is better{_names(gate)['by']} is left open"
        return f"{asked}; this is no pass{_decides(gate, more)}"
    return "" if gate.passes else "; the policy is not kept"


def _decides(gate: Gate, more: str) -> str:
    """How many times as `more` of them decide what is open; nothing where that is not known."""
    needed = gate.trials_needed
    if needed is not None and needed.factor is not None:
        true = "this the true gap" if gate.judged == 1 else "these the true gaps"
        times = f"{float(f'{needed.factor:.3g}'):,.10g} times the {more}"
        return f"; {times} would decide it with {100 * POWER:g} % chance, were {true}"
    limit = 0.0 if gate.policy.kind == "floor" else gate.margin
    on_limit = gate.judged == 1 and None not in (gate.low, limit) and math.isclose(abs(gate.gap or 0.0), limit or 0.0)
    return "; were this the true gap, which lies on the limit, no number of trials would decide it" if on_limit else ""


def first_few(names: Sequence[str]) -> str:
    """The first few of the names, and how many more there are."""
    rest = len(names) - len(names[:MOST_NAMED])
    return "; ".join([*names[:MOST_NAMED], *([f"{rest:,} more"] if rest else [])])
