"""Types of the verdicts that baselines store (`workers/gates/`), and of the alerts that these open."""

from dataclasses import dataclass
from typing import Annotated, Literal

from registry.results.gates import Side, Verdict
from registry.results.terms import At, Count, Identifier, Instant, Presence

AlertState = Literal["open", "acknowledged", "resolved", "dismissed"]
DismissalReason = Literal["noise", "expected", "wrong", "fixed_elsewhere"]
Resolution = Literal["passed", "policy_changed", "policy_deleted", "deleted"]
WRONG: tuple[DismissalReason, ...] = ("noise", "wrong")
"""Reasons for which an alert is dismissed that was wrong; for the others it was right."""


@dataclass(frozen=True, slots=True)
class FailingPlace:
    """What fails: everything together, a benchmark or a cell."""

    benchmark: Annotated[str | None, "The benchmark.", Presence.OMITTED] = None
    at: Annotated[At | None, "The cell.", Presence.OMITTED] = None
    gap: Annotated[float | None, "Contender less baseline, in the metric's unit."] = None
    low: Annotated[float | None, "The gap is above it with confidence 1 - alpha."] = None
    high: Annotated[float | None, "Below this with confidence 1 - alpha."] = None
    sentence: Annotated[str | None, "The same in plain words, of a benchmark or cell.", Presence.OMITTED] = None


@dataclass(frozen=True, slots=True)
class JudgedRevision:
    """A revision that was judged."""

    grid: Annotated[Identifier, "The grid's id."]
    revision: Annotated[Count, "The number of the revision."]
    side: Annotated[Side, "Of which side."]


@dataclass(frozen=True, slots=True)
class StoredVerdict:
    """A verdict that a baseline gave by itself, when a grid of either side had changed. It never changes."""

    number: Annotated[Count, "From 1, of each baseline."]
    policy_version: Annotated[int, "The version of the policy."]
    contender: Annotated[str, "The model."]
    verdict: Annotated[Verdict, "As of the gate."]
    passes: Annotated[bool | None, "Whether the policy is shown to hold, or (false) not to; null: neither."]
    sentence: Annotated[str, "The verdict in plain words."]
    created_at: Annotated[Instant, "When it was given."]
    against: Annotated[str | None, "The model before, where that is the baseline.", Presence.OMITTED] = None
    reason: Annotated[str | None, "As of the gate: why there is no answer."] = None
    look: Annotated[
        int | None, "Which test of this version of the policy it is; the same inputs again are no other one."
    ] = None
    alpha: Annotated[float | None, "The level of this look."] = None
    gap: Annotated[float | None, "Over all benchmarks, which weigh the same."] = None
    low: Annotated[float | None, "Above this with confidence 1 - alpha."] = None
    high: Annotated[float | None, "Below this with confidence 1 - alpha."] = None
    margin: Annotated[float | None, "In the metric's unit, over all benchmarks."] = None
    unit: Annotated[str | None, "The metric's unit."] = None
    judged: Annotated[Count, "How many benchmarks or cells were judged; 1 over all."] = 0
    failed: Annotated[Count, "How many are shown to be worse than allowed."] = 0
    undecided: Annotated[Count, "How many are neither shown to be worse nor not to be."] = 0
    failing: Annotated[tuple[FailingPlace, ...], "What failed, the surest first, up to 100."] = ()
    inputs: Annotated[tuple[JudgedRevision, ...], "The grids, and which revision of each."] = ()


@dataclass(frozen=True, slots=True)
class Alert:
    """A model that is shown not to keep to the policy of a baseline: altogether, on a benchmark or in a cell."""

    id: Annotated[Identifier, "The alert's id."]
    baseline: Annotated[str, "The name of the baseline."]
    policy_version: Annotated[int, "Of the verdict that failed last."]
    model: Annotated[str, "The contender."]
    state: Annotated[AlertState, "open and acknowledged: it goes on; dismissed: it does, and nobody minds."]
    verdict: Annotated[Count, "The number of the verdict that failed last."]
    sentence: Annotated[str, "That verdict in plain words; of a benchmark or cell what it says of that."]
    group: Annotated[Identifier, "The same for all that one change of the scope opened."]
    seen: Annotated[Count, "Verdicts that failed, one after another or again."]
    reopened: Annotated[Count, "How often it failed again after it was resolved."]
    opened_at: Annotated[Instant, "When it was opened, or opened again."]
    updated_at: Annotated[Instant, "When anything of it last changed."]
    benchmark: Annotated[str | None, "The benchmark.", Presence.OMITTED] = None
    at: Annotated[At | None, "The cell.", Presence.OMITTED] = None
    resolution: Annotated[
        Resolution | None,
        "Why it is resolved: a later verdict passes; another version of the policy, or none at all; the contender is "
        "gone.",
    ] = None
    reason: Annotated[DismissalReason | None, "Why it was dismissed."] = None
    note: Annotated[str, "What people wrote."] = ""
