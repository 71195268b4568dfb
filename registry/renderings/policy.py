"""The policy of a baseline in words."""

from __future__ import annotations

from collections.abc import Iterator

from registry.results.gates import Definition, Policy

_PER = {"overall": "over all benchmarks", "benchmark": "on every benchmark", "cell": "in every cell"}


def subject_in_words(definition: Definition) -> str:
    """What contenders are judged against."""
    subject = definition.subject
    if subject.previous:
        order = "when they were published" if subject.along == "published" else f"the label {subject.along}"
        return f"the model before each, in the order of {order}"
    return subject.model or f"{len(subject.grids or ())} pinned revisions"


def policy_in_words(definition: Definition) -> Iterator[str]:
    """What a contender must show, sentence by sentence."""
    policy = definition.policy
    yield f"A contender passes when it is shown {_shown(policy)}, {_PER[policy.per]}."
    yield f"Each one-sided test has the level {100 * policy.alpha:g} %{_looks(policy)}."
    if policy.missing == "matched":
        share = f"{100 * policy.common_share:g} %"
        yield f"Cells that both have are judged, if they are at least {share} of the baseline's."
    else:
        yield "A contender that lacks a cell of the baseline is not comparable."
    if policy.confirm > 1:
        yield f"An alert is opened when {policy.confirm} verdicts on a contender fail, one after another."


def _shown(policy: Policy) -> str:
    percent = " % of the baseline" if policy.margin_unit == "percent" else " points"
    amount = f"{policy.margin:g}{percent}"
    match policy.kind:
        case "floor":
            return f"to reach {policy.margin:g}"
        case "improves":
            return f"to be better by more than {amount}" if policy.margin else "to be better"
        case "equivalent":
            return f"to be neither better nor worse by more than {amount}"
        case _:
            return f"not to be worse by more than {amount}" if policy.margin else "not to be worse at all"


def _looks(policy: Policy) -> str:
    if policy.looks == "fixed":
        return ""
    return " over all stored verdicts of this version together, of which the k-th test has 6/(πk)² of it"
