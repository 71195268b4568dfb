"""Types of the `data` of events: ids, names, a verdict, one number. Whoever wants more follows the event's subject."""

from dataclasses import dataclass
from typing import Annotated, Literal

from registry.results.alerts import AlertState, DismissalReason, Resolution
from registry.results.gates import Verdict
from registry.results.judgement import Verdict as ClaimVerdict
from registry.results.ranking import Move
from registry.results.terms import At, Count, Digest, Identifier, Instant, Presence

GridId = Annotated[Identifier, "The grid's id."]
Experiment = Annotated[str, "The experiment, as published or as an alias joins it."]
Metric = Annotated[str, "The name of the metric."]
Cut = "Cut where it is long."


@dataclass(frozen=True, slots=True)
class GridEvent:
    """A grid, by its id and names."""

    grid: GridId
    revision: Annotated[Count, "The current one, or the last one that it had."]
    experiment: Annotated[str, "As published."]
    benchmark: Annotated[str, "As published."]
    model: Annotated[str, "As published."]
    variant: Annotated[str, "As published; may be empty."]
    metric: Metric


@dataclass(frozen=True, slots=True)
class PurgeEvent:
    """A grid that is gone for good. Earlier events that named it, or names that went with it, have no data any more."""

    grid: GridId


@dataclass(frozen=True, slots=True)
class StatisticsEvent(GridEvent):
    """A grid whose statistics are there."""

    methods_version: Annotated[str, "Changes whenever a stored number would come out differently."]


@dataclass(frozen=True, slots=True)
class StatisticsFailure(GridEvent):
    """A grid whose statistics could not be computed."""

    reason: Annotated[str, f"Why. {Cut}"]


@dataclass(frozen=True, slots=True)
class ItemsEvent(GridEvent):
    """A grid with more outcomes of items."""

    set: Annotated[str, "The name of the item set."]
    digest: Annotated[Digest, "Of the item set."]
    cells: Annotated[Count, "How many cells got outcomes."]


@dataclass(frozen=True, slots=True)
class RankingEvent:
    """The default ranking of an experiment and metric, with another order or other groups of ties than were told
    last."""

    experiment: Experiment
    metric: Metric
    models: Annotated[Count, "How many are ranked."]
    leaders: Annotated[tuple[str, ...], "Those of rank 1, up to three."]
    leader_count: Annotated[Count, "How many have rank 1: one for each component, and more where scores are equal."]
    tied_with_leader: Annotated[Count, "How many more share a group with the first leader."]
    first: Annotated[bool, "Whether no order was told before."]
    moved: Annotated[
        tuple[Move, ...],
        "Whose rank is another one: who is new or gone, then who moved furthest, up to five.",
        Presence.OPTIONAL,
    ] = ()
    moved_count: Annotated[Count, "How many ranks are other ones.", Presence.OPTIONAL] = 0
    since: Annotated[Instant | None, "When the grids of the order before were read.", Presence.OMITTED] = None
    as_of: Annotated[Instant | None, "When those of this order were read; absent with `first`.", Presence.OMITTED] = (
        None
    )


@dataclass(frozen=True, slots=True)
class JudgementEvent:
    """A claim that was judged."""

    claim: Annotated[Identifier, "The claim's id."]
    judgement: Annotated[Count, "The number of the judgement, from 1."]
    verdict: Annotated[ClaimVerdict, "By the strength that the claim asks for."]
    beyond_noise: Annotated[ClaimVerdict, "Whatever the noise; older events lack it.", Presence.OPTIONAL]
    reason: Annotated[str | None, "Why it is not decided, such as `within_noise`."]
    estimate: Annotated[float | None, "What the claim's first statement rests on, as posted, in the metric's unit."]
    experiment: Experiment
    metric: Metric
    text: Annotated[str, f"The claim as it was written; may be empty. {Cut}"]


@dataclass(frozen=True, slots=True)
class FlipEvent(JudgementEvent):
    """A claim whose verdict is another one than before."""

    before: Annotated[ClaimVerdict, "The verdict before."]


@dataclass(frozen=True, slots=True)
class GateEvent:
    """A verdict that a baseline gave by itself."""

    id: Annotated[Identifier, "The verdict's id."]
    baseline: Annotated[str, "The name of the baseline."]
    policy_version: Annotated[Count, "The version of its policy."]
    number: Annotated[Count, "Of the verdict, from 1, of each baseline."]
    contender: Annotated[str, "The model that was judged."]
    verdict: Annotated[Verdict, "As of the gate."]
    passes: Annotated[bool | None, "Whether the policy is shown to hold, or (false) not to; null: neither."]
    gap: Annotated[float | None, "Contender less baseline over all benchmarks, in the metric's unit."]
    unit: Annotated[str | None, "The metric's unit."]
    sentence: Annotated[str, f"The verdict in plain words. {Cut}"]
    experiment: Experiment
    metric: Metric


@dataclass(frozen=True, slots=True)
class AlertEvent:
    """An alert of a baseline, and what became of it."""

    alert: Annotated[Identifier, "The alert's id."]
    baseline: Annotated[str, "The name of the baseline."]
    model: Annotated[str, "The contender."]
    state: Annotated[AlertState, "What it is now."]
    reopened: Annotated[Count, "How often it failed again after it was resolved; 0 when it is opened first."]
    benchmark: Annotated[str | None, "The benchmark.", Presence.OMITTED] = None
    at: Annotated[At | None, "The cell, where it is short.", Presence.OMITTED] = None
    resolution: Annotated[Resolution | None, "alert.resolved: why.", Presence.OMITTED] = None
    reason: Annotated[DismissalReason | None, "alert.dismissed: why.", Presence.OMITTED] = None


@dataclass(frozen=True, slots=True)
class ImportEvent:
    """Grids that one request brought from files or another system."""

    source: Annotated[str, f"The name of the first file or address. {Cut}"]
    format: Annotated[str, "Its format, such as `lm-eval`; may be empty."]
    sources: Annotated[Count, "How many files or addresses."]
    new: Annotated[Count, "Grids of which a revision was made."]
    unchanged: Annotated[Count, "Grids that were there with this content."]
    failed: Annotated[Count, "Grids that were refused."]


@dataclass(frozen=True, slots=True)
class AliasEvent:
    """A name that stands for another, or no longer does."""

    alias: Annotated[str, "The name that is read as the other."]
    name: Annotated[str, "The name that it stands for."]
    kind: Annotated[Literal["model", "benchmark", "variant", "experiment"], "What is named."]


@dataclass(frozen=True, slots=True)
class SuiteEvent:
    """A list of benchmarks."""

    suite: Annotated[str, "Its name."]


@dataclass(frozen=True, slots=True)
class ExperimentEvent:
    """An experiment."""

    experiment: Annotated[str, "Its name."]


@dataclass(frozen=True, slots=True)
class BaselineEvent:
    """A baseline."""

    baseline: Annotated[str, "Its name."]
    version: Annotated[Count, "The version of its definition."]


@dataclass(frozen=True, slots=True)
class ClaimEvent:
    """A claim that is kept."""

    claim: Annotated[Identifier, "The claim's id."]
    text: Annotated[str, f"As it was written; may be empty. {Cut}"]


@dataclass(frozen=True, slots=True)
class ProjectEvent:
    """A project."""

    changed: Annotated[tuple[str, ...], "Which of its fields, such as `visibility`."]


@dataclass(frozen=True, slots=True)
class ShareEvent:
    """A link that opens a path of the project to whoever has it; never the link itself."""

    share: Annotated[Identifier, "The link's id."]
    path: Annotated[str | None, f"What it opens. {Cut}", Presence.OMITTED] = None
    expires_at: Annotated[Instant | None, "When it ends.", Presence.OMITTED] = None


@dataclass(frozen=True, slots=True)
class TokenEvent:
    """A token; never its secret."""

    token: Annotated[Identifier, "The token's id."]
    name: Annotated[str | None, "What it was called.", Presence.OMITTED] = None
    role: Annotated[str | None, "reader, writer or admin.", Presence.OMITTED] = None
    expires_at: Annotated[Instant | None, "When it ends.", Presence.OMITTED] = None


@dataclass(frozen=True, slots=True)
class WebhookEvent:
    """A webhook; never its secret."""

    webhook: Annotated[Identifier, "The webhook's id."]
    reason: Annotated[str, f"Why it is disabled. {Cut}"]
