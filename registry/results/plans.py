"""The type of a plan: the effect that could be found now, and the trials that find a smaller one.
`registry/plans/planning.py` fills it; `renderings/plan.py` writes it."""

from dataclasses import dataclass
from typing import Annotated, Literal

from registry.results.terms import At, Count, Identifier, Presence

PlanKind = Literal["separate", "claim", "gate"]
Impossible = Literal[
    "item_limit",
    "not_worth",
    "unknown_noise",
    "beyond_scale",
    "not_comparable",
    "no_direction",
    "on_boundary",
    "not_noise",
    "too_large",
]


@dataclass(frozen=True, slots=True)
class Needed:
    """What finds one effect: numbers of each side, rounded up."""

    effect: Annotated[float | None, "In the metric's unit; absent of claims.", Presence.OMITTED] = None
    factor: Annotated[float | None, "By how much the trials of all cells are multiplied.", Presence.OMITTED] = None
    trials: Annotated[int | None, "Trials of a cell, where all have as many.", Presence.OMITTED] = None


@dataclass(frozen=True, slots=True)
class PlannedShare:
    """A part of a budget."""

    share: Annotated[float, "0 to 1, of the trials to add: where these make the error smallest."]
    cells: Annotated[int, "Cells that share it."]
    grids: Annotated[tuple[Identifier, ...], "Their grids."]
    benchmark: Annotated[str | None, "Theirs.", Presence.OMITTED] = None
    trials_now: Annotated[float | None, "Mean trials of a cell.", Presence.OMITTED] = None
    trials: Annotated[
        int | None, "What is added to those of a cell, of `budget` or else of `total`.", Presence.OMITTED
    ] = None


@dataclass(frozen=True, slots=True)
class NextCell:
    """A cell that is measured first, as no number of trials of other cells stands in for it."""

    grid: Annotated[Identifier, "The grid's id."]
    benchmark: Annotated[str, "Its benchmark."]
    model: Annotated[str, "Its model."]
    at: Annotated[At, "The cell."]
    why: Annotated[Literal["missing_for_claim"], "The claim is about it, and it was not measured."]


@dataclass(frozen=True, slots=True)
class GateNow:
    """How a contender stands at a gate, and what the gate can show at all."""

    passes: Annotated[bool | None, "Whether the policy is shown to hold, or (false) not to; null: neither."]
    sentence: Annotated[str, "The verdict in plain words."]
    low: Annotated[float | None, "The gap is above this with confidence 1 - alpha."] = None
    high: Annotated[float | None, "It is below this with confidence 1 - alpha."] = None
    margin: Annotated[float | None, "In the metric's unit, over all benchmarks."] = None
    can_pass: Annotated[
        bool | None,
        "Whether a contender with the baseline's trials could pass, unpaired: with its scores, of improves and floor "
        "with the best there are; absent of a grid, which is judged on its own benchmark.",
        Presence.OMITTED,
    ] = None
    margin_shown_at_equal_scores: Annotated[
        float | None, "The loss that such a contender is shown not to have.", Presence.OMITTED
    ] = None
    trials_to_decide_margin: Annotated[
        int | None, "Trials of a cell with which such a contender passes with probability 80 %.", Presence.OMITTED
    ] = None


@dataclass(frozen=True, slots=True)
class Plan:
    """A plan for one question. What has no meaning for its kind is left out."""

    kind: Annotated[PlanKind, "What was asked."]
    power: Annotated[float, "The probability of finding the effect."]
    alpha: Annotated[float, "The level of the test."]
    one_sided: Annotated[bool, "Whether the test is."]
    formula: Annotated[str, "What was computed."]
    assumptions: Annotated[tuple[str, ...], "What the numbers take for granted."] = ()
    decidable_now: Annotated[
        bool | None,
        "Whether what is stored shows a gap, decides a claim beyond noise, or passes or fails a gate.",
        Presence.OMITTED,
    ] = None
    observed: Annotated[float | None, "The measured gap.", Presence.OMITTED] = None
    stderr: Annotated[float | None, "Its standard error.", Presence.OMITTED] = None
    detectable: Annotated[float | None, "The smallest gap that would be found now.", Presence.OMITTED] = None
    needed: Annotated[Needed | None, "For `effect`, else what was measured.", Presence.OMITTED] = None
    cautious: Annotated[
        Needed | None,
        "For the interval's end nearest to 0, if it excludes 0: what was found is too large on the average.",
        Presence.OMITTED,
    ] = None
    total: Annotated[int | None, "Trials to add for `needed`, all cells together, so split.", Presence.OMITTED] = None
    affordable: Annotated[bool | None, "Whether `budget` is enough.", Presence.OMITTED] = None
    allocation: Annotated[tuple[PlannedShare, ...], "How they are split, the largest share first."] = ()
    next_cells: Annotated[
        tuple[NextCell, ...] | None, "claim: what was not measured and comes first, up to 1,000.", Presence.OMITTED
    ] = None
    next_cells_left_out: Annotated[Count | None, "claim: how many more there are.", Presence.OMITTED] = None
    gate: Annotated[GateNow | None, "gate: how the contender stands.", Presence.OMITTED] = None
    impossible: Annotated[Impossible | None, "Why no number of trials is a plan.", Presence.OMITTED] = None
    reason: Annotated[str | None, "The same in a sentence.", Presence.OMITTED] = None
