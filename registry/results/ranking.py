"""Types of a ranking: names in order over the slots that they share, and what changed in it. `workers/statistics/`
fills them in `ranking.py`, `workers/rankings/` in `change.py`; `renderings/ranking.py` and pages write them."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from registry.grids.grid import Direction
from registry.results.pairs import Friedman, Pair, PolicySensitivity, Stability
from registry.results.statistics import Assumptions
from registry.results.terms import (
    About,
    Adjusted,
    Count,
    DerivedGrid,
    Detectable,
    Input,
    Instant,
    Interval,
    LeftOutByProtocol,
    Method,
    Missing,
    Presence,
    Reason,
    SetAside,
    SliceDocument,
    Status,
    Target,
    Warning,
)

ChangeVerdict = Literal["new", "gone", "unchanged", "same_cells", "better", "worse", "open"]


@dataclass(frozen=True, slots=True)
class Move:
    """A name with its ranks."""

    name: Annotated[str, "The name."]
    before: Annotated[int | None, "Its rank before; null: it had none."]
    now: Annotated[int | None, "Its rank now; null: it has none."]


@dataclass(frozen=True, slots=True)
class NameChange(Move):
    """A name then and now. The difference is that of its own values, now less then, over the cells measured at both
    instants: the pair of a ranking of both (`rerun`), in which a benchmark whose cells are all the same has a
    difference of 0 and no error."""

    verdict: Annotated[
        ChangeVerdict,
        "new, gone: it is in one of the rankings alone. unchanged: no cell of its grids changed. "
        "same_cells: other cells of its grids changed, came or went; those measured at both are the same. better, "
        "worse: `p_holm` is below alpha. open: the tests do not tell.",
    ]
    cells: Annotated[Count, "Cells measured at both instants."] = 0
    difference: Annotated[
        float | None, "Now less then, in the unit of the ranking; null where nothing is subtracted.", Presence.OPTIONAL
    ] = None
    interval: Annotated[Interval | None, "Of `difference`.", Presence.OPTIONAL] = None
    p: Annotated[float | None, "The p-value; null where nothing was tested.", Presence.OPTIONAL] = None
    p_holm: Annotated[float | None, "Holm over the names that were tested.", Presence.OPTIONAL] = None
    detectable: Detectable = None
    test: Annotated[str | None, "The test that was used; null: none.", Presence.OPTIONAL] = None
    reason: Annotated[str | None, "Why the tests do not tell.", Presence.OMITTED] = None
    rank_low_before: Annotated[int | None, "The best rank left open then.", Presence.OMITTED] = None
    rank_high_before: Annotated[int | None, "The worst one.", Presence.OMITTED] = None
    rank_low: Annotated[int | None, "The best rank left open now.", Presence.OMITTED] = None
    rank_high: Annotated[int | None, "The worst one.", Presence.OMITTED] = None


@dataclass(frozen=True, slots=True)
class RankingChange:
    """What changed in a ranking since an instant. Both rankings have the aliases of today."""

    since: Annotated[Instant, "The earlier instant."]
    names: Annotated[
        tuple[NameChange, ...], "The names with cells in the order of the ranking, then those that are gone."
    ]


def moves(before: Mapping[str, int | None], now: Mapping[str, int | None]) -> Iterator[Move]:
    """Every name of two rankings with its ranks: those of now, then those that are gone."""
    return (Move(name, before.get(name), now.get(name)) for name in {**now, **before})


@dataclass(frozen=True, slots=True)
class Slots:
    """A slot is a cell of a benchmark (and variant) that names may share."""

    total: Annotated[Count, "Slots in which any name was measured."]
    compared: Annotated[Count, "Slots that went into the scores."]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A name in a ranking."""

    rank: Annotated[int | None, "Equal scores share a rank; counted within a component."]
    name: Annotated[str, "What is ranked: a model, a variant or a level."]
    score: Annotated[
        float | None,
        "By the method. For mean_difference in the metric's unit, against the mean of the `pool` names: another "
        "name in the pool moves every score.",
    ]
    rank_low: Annotated[
        int | None,
        "1 + how many are significantly better and ahead in this order (the others: `order_contradicts_pair`).",
    ]
    rank_high: Annotated[int | None, "All less how many are significantly worse and behind in this order."]
    group: Annotated[
        tuple[str, ...], "Names that share a letter all met each other, and the tests do not separate them."
    ]
    component: Annotated[Count, "The number of its component, from 0."]
    cells: Annotated[Count, "How many cells it has in this scope; `compared` says how many count."]
    wins: Annotated[Count, "Slots in which it was better than another name, summed over the others."]
    ties: Annotated[Count, "Slots in which it was as good, to twelve significant digits."]
    losses: Annotated[Count, "Slots in which it was worse."]
    stderr: Annotated[
        float | None,
        "Of the score: the sandwich error of bradley_terry, which allows for comparisons that share a slot; else null.",
    ]
    pool: Annotated[
        int | None, "How many names the score is relative to; null for a method whose score is not relative."
    ]
    compared: Annotated[
        Count | None, "Its cells in slots that another name has too; null where only sums of pairs are kept."
    ] = None
    mean: Annotated[
        float | None,
        "The mean over the benchmarks, each with the same weight, of the slots there that all names have that have any "
        "and are not set aside (with `available`: of its own cells that another name has too), in the metric's unit. "
        "Absent of a name that lacks too much of what most others have, over several scales and in rankings of very "
        "many cells.",
        Presence.OMITTED,
    ] = None
    mean_interval: Annotated[
        Interval | None, "Of the mean, were these cells run again; absent without noise.", Presence.OMITTED
    ] = None
    adjusted: Adjusted = None


@dataclass(frozen=True, slots=True)
class BenchmarkScore:
    """A name on one benchmark."""

    name: Annotated[str, "What is ranked."]
    score: Annotated[float, "The mean of its cells there, in the metric's unit; of those that another name has too."]
    cells: Annotated[Count, "How many cells these are: names may have different ones."]
    interval: Annotated[Interval | None, "Of the score; null without noise."]


@dataclass(frozen=True, slots=True)
class BenchmarkScores:
    """The names on one benchmark."""

    benchmark: Annotated[str, "What was measured."]
    names: Annotated[tuple[BenchmarkScore, ...], "The names that have such cells there, by name."]


@dataclass(frozen=True, slots=True)
class Omission:
    """A part that an answer does without."""

    part: Annotated[str, "The part."]
    reason: Annotated[str, "Why it is left out."]


@dataclass(frozen=True, slots=True)
class Checksum:
    """Grids, counted and not listed."""

    count: Annotated[Count, "How many grids."]
    checksum: Annotated[str, "The sum, in hexadecimal."]


@dataclass(frozen=True, slots=True)
class RankedScale:
    """The scale of the values that were compared."""

    unit: Annotated[str | None, "The unit of values and differences; % for shares of 100."]
    direction: Annotated[Direction | None, "The better end."]
    lower: Annotated[float | None, "The least value that there can be."]
    upper: Annotated[float | None, "The largest value that there can be."]


@dataclass(frozen=True, slots=True)
class Ranking:
    """Names in order over the slots that they share."""

    by: Annotated[
        str,
        "What is ranked: `model`, `variant`, `benchmark` or `axis:<name>`. Where benchmarks are, models take their "
        "place in all else: they weigh equally, `pairs[].benchmarks` counts them, and `stability` is about them.",
    ]
    experiment: Annotated[str, "The experiment that was asked about."]
    metric: Annotated[str, "The name of the metric."]
    benchmarks: Annotated[tuple[str, ...], "The benchmarks of the grids that were compared.", Presence.OPTIONAL]
    suite: Annotated[str | None, "The suite that the benchmarks are from.", Presence.OMITTED]
    variant: Annotated[tuple[str, ...], "Only these variants were asked for; empty: all.", Presence.OPTIONAL]
    status: Annotated[Status, Presence.OPTIONAL]
    method: Annotated[Method, "What scores come from."]
    missing: Annotated[Missing, "What is made of slots that not all names have."]
    alpha: Annotated[float, "The level of the tests."]
    target: Annotated[Target, "What the tests hold for.", Presence.OPTIONAL]
    slots: Annotated[Slots | None, Presence.OMITTED]
    slice: SliceDocument = None
    scale: Annotated[
        RankedScale | None, "Of the values; left out where there are several, and in older answers.", Presence.OMITTED
    ] = None
    ranking: Annotated[tuple[Ranked, ...], "The names, the best first.", Presence.OPTIONAL] = ()
    groups: Annotated[
        tuple[tuple[str, ...], ...],
        "The maximal sets of names that all met and that the tests do not separate.",
        Presence.OPTIONAL,
    ] = ()
    never_met: Annotated[
        tuple[tuple[str, ...], ...],
        "Pairs of names of one component without a common slot: their order rests on third names alone.",
        Presence.OPTIONAL,
    ] = ()
    pairs: Annotated[
        tuple[Pair, ...],
        "Every two names; above a hundred names those that are neighbours in the order, or those of `pairs_of`.",
        Presence.OPTIONAL,
    ] = ()
    pairs_of: Annotated[str | None, "The name whose pairs were asked for, and no others.", Presence.OMITTED] = None
    components: Annotated[
        tuple[tuple[str, ...], ...],
        "Names that are linked by shared slots; one ranking for each.",
        Presence.OPTIONAL,
    ] = ()
    by_benchmark: Annotated[
        tuple[BenchmarkScores, ...],
        "The scores of the names on each benchmark, over the slots that were compared; up to a thousand scores, and "
        "not where benchmarks are ranked.",
        Presence.OPTIONAL,
    ] = ()
    policy_sensitivity: Annotated[
        tuple[PolicySensitivity, ...],
        "How far each name moves under the other methods and missing policies.",
        Presence.OPTIONAL,
    ] = ()
    stability: Annotated[Stability, Presence.OPTIONAL] = field(default_factory=Stability)
    mle_exists: Annotated[bool | None, "bradley_terry: finite without a prior?", Presence.OPTIONAL] = None
    prior: Annotated[
        Literal["half_tie"] | None,
        "bradley_terry: half a tie between any two, where the maximum likelihood does not exist; null where it is "
        "served.",
        Presence.OPTIONAL,
    ] = None
    friedman: Annotated[
        Friedman | None, "borda: the benchmarks are blocks, where these are complete.", Presence.OPTIONAL
    ] = None
    assumes: Assumptions = ()
    warnings: Annotated[
        tuple[Warning, ...], "Doubts about the inputs, such as names that nearly match.", Presence.OPTIONAL
    ] = ()
    set_aside: Annotated[
        tuple[SetAside, ...],
        "Names that are not ranked, for they cost the others slots: where a slot must be common to all.",
        Presence.OPTIONAL,
    ] = ()
    left_out: Annotated[
        tuple[Omission, ...],
        "Parts that a ranking of very many cells or names does without, and why.",
        Presence.OPTIONAL,
    ] = ()
    reason: Reason = None
    inputs: Annotated[tuple[Input, ...], "The grids, and which revision of each.", Presence.OPTIONAL] = ()
    inputs_left_out: Annotated[
        Checksum | None,
        "In place of `inputs` where a ranking is made from sums of pairs: how many grids, and the sum modulo 2^128 "
        "of the first 128 bits of SHA-256(grid id, revision as 8 bytes) over them.",
        Presence.OMITTED,
    ] = None
    derived: Annotated[
        tuple[DerivedGrid, ...],
        "Grids that were declared to be made of others, such as an average: not ranked and not counted.",
        Presence.OPTIONAL,
    ] = ()
    incomparable: LeftOutByProtocol = None
    change: Annotated[
        RankingChange | None, "What changed since `since`; absent where nobody asked.", Presence.OMITTED
    ] = None
    selection: About = None
    methods_version: Annotated[
        str | None, "Changes whenever a stored number would come out differently.", Presence.OMITTED
    ] = None
    state: Annotated[Literal["ready", "failed"], "failed: `reason` says why."] = "ready"
    computed_at: Annotated[Instant | None, "When it was computed.", Presence.OMITTED] = None
    attempts: Annotated[Count | None, "How often it was tried in vain.", Presence.OMITTED] = None

    def renamed(self, told: Callable[[str], str]) -> "Ranking":
        """The same with other names in its order, its pairs and groups, and in what changed."""
        groups, never_met, components = (
            tuple(tuple(map(told, part)) for part in parts) for parts in (self.groups, self.never_met, self.components)
        )
        ranges = tuple(replace(one, name=told(one.name)) for one in self.stability.leave_one_out)
        changed = self.change and tuple(replace(one, name=told(one.name)) for one in self.change.names)
        return replace(
            self,
            ranking=tuple(replace(one, name=told(one.name)) for one in self.ranking),
            pairs=tuple(replace(one, a=told(one.a), b=told(one.b)) for one in self.pairs),
            groups=groups,
            never_met=never_met,
            components=components,
            policy_sensitivity=tuple(replace(one, name=told(one.name)) for one in self.policy_sensitivity),
            stability=replace(self.stability, leave_one_out=ranges),
            change=self.change and replace(self.change, names=changed or ()),
        )
