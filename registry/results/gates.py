"""Types of baselines and of gates: whether a contender is shown to be as good as a baseline, or worse.
`workers/gates/gate.py` fills them; `renderings/gate.py`, the pages of gates and `registry gate` write them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from registry.grids.grid import Direction
from registry.results.comparison import ComparedRevision
from registry.results.plans import Needed
from registry.results.terms import About, At, Count, Identifier, Instant, P, Presence, Warning

PolicyKind = Literal["non_inferior", "no_cell_worse", "improves", "equivalent", "floor"]
MarginUnit = Literal["points", "percent"]
Per = Literal["overall", "benchmark", "cell"]
Multiplicity = Literal["holm", "none"]
MissingCells = Literal["refuse", "matched"]
OLD_MISSING: Mapping[str, MissingCells] = {"common": "matched"}
"""Former words for missing cells; they are still read."""
Looks = Literal["fixed", "alpha_spending"]
Side = Literal["baseline", "contender"]
Verdict = Literal[
    "improved", "equivalent", "non_inferior", "worse_within_margin", "regressed", "reached", "missed",
    "inconclusive", "not_comparable",
]  # fmt: skip
NotComparable = Literal[
    "no_common_cells",
    "missing_cells",
    "protocol",
    "no_direction",
    "scale",
    "zero_baseline",
    "ambiguous_variants",
    "too_large",
]


@dataclass(frozen=True, slots=True)
class Policy:
    """What a contender must show."""

    kind: Annotated[
        PolicyKind,
        "non_inferior: not worse by the margin or more. no_cell_worse: the same in every cell. improves: better by "
        "more than the margin. equivalent: neither better nor worse by more. floor: at least `margin` itself.",
    ] = "non_inferior"
    margin: Annotated[float, "The loss that is allowed, at least 0; of a floor the value."] = 0.0
    margin_unit: Annotated[MarginUnit, "The metric's unit, or percent of the baseline's value."] = "points"
    per: Annotated[Per, "What is judged: the mean over benchmarks, every benchmark, or every cell."] = "overall"
    alpha: Annotated[float, "The level of each one-sided test: the rate of wrong passes, and of false alarms."] = 0.05
    multiplicity: Annotated[
        Multiplicity, "How alarms over benchmarks or cells are corrected. A pass needs all of them, uncorrected."
    ] = "holm"
    missing: Annotated[MissingCells, "matched: judge the cells that both have; else all of the baseline's."] = "refuse"
    common_share: Annotated[float, "matched: the least share of the baseline's cells that both have."] = 0.5
    looks: Annotated[
        Looks,
        "Of stored verdicts. fixed: each at alpha. alpha_spending: the k-th test of this version at 6 alpha/(pi k)^2, "
        "so that all of them together raise a false alarm with probability alpha at most.",
    ] = "fixed"
    confirm: Annotated[Count, "How many verdicts on a contender must fail, one after another, for an alert."] = 1

    def __post_init__(self) -> None:
        """Take a former word of `missing`, which stored policies have, for what it stands for."""
        object.__setattr__(self, "missing", OLD_MISSING.get(self.missing, self.missing))


@dataclass(frozen=True, slots=True)
class Pinned:
    """A revision of a grid."""

    grid: Annotated[Identifier, "The grid's id."]
    revision: Annotated[Count, "The number of the revision."]


@dataclass(frozen=True, slots=True)
class Subject:
    """What a baseline is: a model with its current grids, revisions of grids, or the model before each contender."""

    model: Annotated[str | None, "The model.", Presence.OMITTED] = None
    grids: Annotated[tuple[Pinned, ...] | None, "Revisions, one of each benchmark.", Presence.OMITTED] = None
    previous: Annotated[Literal[True] | None, "Each contender is judged against the one before.", Presence.OMITTED] = (
        None
    )
    along: Annotated[
        str | None,
        "What orders them: a label whose text is a number, or `published`, when a model's first grid was.",
        Presence.OMITTED,
    ] = None


@dataclass(frozen=True, slots=True)
class Definition:
    """What a baseline says of itself, at one version of its policy."""

    experiment: Annotated[str, "The experiment."]
    metric: Annotated[str, "The name of the metric."]
    subject: Subject
    policy: Policy
    benchmarks: Annotated[tuple[str, ...], "Only these; empty: all that the baseline has."] = ()
    variants: Annotated[tuple[str, ...], "Only these; empty: all."] = ()


@dataclass(frozen=True, slots=True)
class Reachable:
    """Whether a contender with the baseline's own trials could pass, in closed form: with its scores too, of improves
    and floor with the best there is."""

    can_pass: bool | None = None
    margin_shown_at_equal_scores: float | None = None
    trials_to_decide_margin: int | None = None
    warnings: tuple[Warning, ...] = ()


@dataclass(frozen=True, slots=True)
class AlertPrecision:
    """How often alerts of a baseline were right, of those that people said something of."""

    right: Annotated[Count, "Acknowledged, or dismissed as expected or fixed_elsewhere."]
    wrong: Annotated[Count, "Dismissed as noise or wrong."]
    share: Annotated[float | None, "right / (right + wrong)."] = None
    low: Annotated[float | None, "Wilson's interval (1927) at 95 %."] = None
    high: Annotated[float | None, "Its upper end."] = None


@dataclass(frozen=True, slots=True)
class Baseline(Definition):
    """What contenders are judged against. Lists leave out what is computed."""

    name: Annotated[str, "Its name."] = ""
    policy_version: Annotated[int, "From 1; each change of the definition makes the next."] = 1
    updated_at: Annotated[Instant, "When this version was made."] = ""
    can_pass: Annotated[
        bool | None,
        "Whether a contender with the same trials could be shown to pass, unpaired: with the same scores, of improves "
        "and floor with the best score there is. Absent where that has too many cells to be computed at once.",
        Presence.OMITTED,
    ] = None
    margin_shown_at_equal_scores: Annotated[
        float | None,
        "The loss that a contender with the same scores is shown not to have: of all that is judged, the largest. "
        "Absent of improves and floor, which such scores say nothing of, and where no noise is known.",
        Presence.OMITTED,
    ] = None
    trials_to_decide_margin: Annotated[
        int | None,
        "Trials of a cell, on both sides, with which such a contender passes with probability 80 %.",
        Presence.OMITTED,
    ] = None
    alerts_open: Annotated[Count | None, "Alerts that are open: nobody answered them.", Presence.OMITTED] = None
    alert_precision: Annotated[AlertPrecision | None, "How often its alerts were right.", Presence.OMITTED] = None
    warnings: Annotated[
        tuple[Warning, ...] | None,
        "What to know before relying on it: cannot_pass, unknown_noise, uncorrected, unordered, independent_cells.",
        Presence.OMITTED,
    ] = None


@dataclass(frozen=True, slots=True)
class GateUnit:
    """One of the things that a policy judges. Gaps are contender less baseline, in the metric's unit."""

    verdict: Annotated[Verdict, "The verdict on it alone."]
    gap: Annotated[float | None, "The gap; of a floor the contender's value less the floor."] = None
    low: Annotated[float | None, "The gap is above it with confidence 1 - alpha; null: unknown noise."] = None
    high: Annotated[float | None, "Below this with confidence 1 - alpha."] = None
    margin: Annotated[float | None, "In the metric's unit."] = None
    p: Annotated[P, "That the contender is not worse than allowed."] = None
    p_holm: Annotated[float | None, "The same after Holm, over all that is judged."] = None
    paired: Annotated[bool, "Whether it is of the same items."] = False
    benchmark: Annotated[str | None, "The benchmark.", Presence.OMITTED] = None
    at: Annotated[At | None, "The cell.", Presence.OMITTED] = None


@dataclass(frozen=True, slots=True)
class GateInput(ComparedRevision):
    """A grid that was judged."""

    benchmark: Annotated[str, "Its benchmark."] = ""
    side: Annotated[Side, "Of which side."] = "baseline"


@dataclass(frozen=True, slots=True)
class Gate:
    """The verdict on a contender."""

    baseline: Annotated[str, "The name of the baseline."]
    policy_version: Annotated[int, "The version of its policy."]
    policy: Policy
    contender: Annotated[str, "The model; of a grid its id."]
    verdict: Annotated[
        Verdict,
        "improved: better than 0. non_inferior: not worse by the margin. worse_within_margin: worse, by less. "
        "regressed: worse by more. reached, missed: of a floor; missed also: not better by what improves asks for. "
        "inconclusive: none of these was shown.",
    ]
    passes: Annotated[bool | None, "Whether the policy is shown to hold, or (false) not to; null: neither."]
    sentence: Annotated[str, "The verdict in plain words."]
    reason: Annotated[
        NotComparable | Literal["unknown_noise"] | None, "Why there is no answer; unknown_noise: of some of it."
    ] = None
    gap: Annotated[float | None, "Over all benchmarks, which weigh the same."] = None
    low: Annotated[float | None, "Above this with confidence 1 - alpha."] = None
    high: Annotated[float | None, "Below this with confidence 1 - alpha."] = None
    level: Annotated[float, "Of the interval from `low` to `high`, as comparisons have it: 1 - 2 alpha."] = 0.9
    margin: Annotated[float | None, "In the metric's unit, over all benchmarks."] = None
    direction: Annotated[Direction | None, "The metric's better end."] = None
    unit: Annotated[str | None, "The metric's unit."] = None
    judged: Annotated[Count, "How many benchmarks or cells were judged; 1 over all."] = 0
    paired: Annotated[bool, "Whether all that was judged is of the same items; else samples are independent."] = False
    failed: Annotated[Count, "How many are shown to be worse than allowed."] = 0
    undecided: Annotated[Count, "How many are neither shown to be worse nor not to be."] = 0
    per: Annotated[tuple[GateUnit, ...], "The benchmarks or cells, up to 1,000, those that failed first."] = ()
    common_share: Annotated[float | None, "The share of the baseline's cells that the contender has."] = None
    trials_needed: Annotated[
        Needed | None, "inconclusive: what decides a gap as it was measured, with probability 80 %."
    ] = None
    inputs: Annotated[tuple[GateInput, ...], "The grids, and which revision of each."] = ()
    warnings: Annotated[
        tuple[Warning, ...],
        "Doubts about the inputs.",
    ] = ()
    selection: About = None
    methods_version: Annotated[str | None, "Of the statistics.", Presence.OMITTED] = None
    computed_at: Annotated[Instant | None, "When it was computed.", Presence.OMITTED] = None
    state: Annotated[Literal["ready"], "It is computed."] = "ready"
