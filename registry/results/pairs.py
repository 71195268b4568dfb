"""Types of three parts of a ranking, its pairs, how stable its order is, and the test of its blocks: filled by
`workers/statistics/` (`pairs.py`, `rank_groups.py`), written by `renderings/pairs.py` and `policies.py`."""

from dataclasses import dataclass
from typing import Annotated

from registry.results.terms import (
    Count,
    Detectable,
    Estimand,
    Interval,
    Method,
    Missing,
    Presence,
    Reason,
    Status,
    Target,
)


@dataclass(frozen=True, slots=True)
class Pair:
    """Two names, compared over the slots that both have."""

    a: Annotated[str, "The first name."]
    b: Annotated[str, "The second name."]
    status: Status
    n_common: Annotated[Count, "Slots that both have; without any, the pair is not_comparable."]
    benchmarks: Annotated[Count, "Benchmarks among these slots."]
    wins: Annotated[Count, "Slots in which a is better."]
    ties: Annotated[Count, "Slots in which both are as good."]
    losses: Annotated[Count, "Slots in which b is better."]
    lead: Annotated[float | None, "Wins less losses over slots, -1 to 1; benchmarks weigh equally."]
    target: Annotated[Target, "What the test holds for."]
    estimand: Annotated[
        Estimand, "What `p`, `p_holm` and the order are about: the difference, or for methods that count, the lead."
    ]
    difference: Annotated[
        float | None,
        "a less b: the mean over benchmarks of the estimate within each, benchmarks weighing equally. The one "
        "estimate that interval, p, rank and group come from. Null where the lead is estimated.",
    ] = None
    interval: Annotated[Interval | None, "Of `difference`."] = None
    stderr: Annotated[float | None, "Of `difference`."] = None
    df: Annotated[float | None, "Degrees of freedom of its t law; null where the law is normal or exact."] = None
    p: Annotated[float | None, "The p-value of the pair; null where nothing could be tested."] = None
    p_holm: Annotated[float | None, "Holm over all pairs."] = None
    detectable: Detectable = None
    min_attainable_p: Annotated[float | None, "The smallest p that so many slots can give."] = None
    test: Annotated[str | None, "The test that was used; null: none."] = None
    reason: Reason = None


@dataclass(frozen=True, slots=True)
class OtherRank:
    """A rank under another policy."""

    method: Annotated[Method, "The other method."]
    missing: Annotated[Missing, "The other policy."]
    rank: Annotated[Count, "The rank."]


@dataclass(frozen=True, slots=True)
class PolicySensitivity:
    """How far a name moves."""

    name: Annotated[str, "What is ranked."]
    rank: Annotated[Count, "Its rank as it was asked for."]
    best: Annotated[Count, "Its best rank."]
    worst: Annotated[Count, "Its worst rank."]
    ranks: Annotated[tuple[OtherRank, ...], "Under the policies that have an order."]


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """The range of a name's ranks."""

    name: Annotated[str, "What is ranked."]
    best: Annotated[Count, "Its best rank."]
    worst: Annotated[Count, "Its worst rank."]


@dataclass(frozen=True, slots=True)
class WithoutOne:
    """The first of two names less the second, on all benchmarks but one."""

    benchmark: Annotated[str, "The one that is left out."]
    difference: Annotated[
        float | None, "The first less the second; null where leads are estimated or the two then share no slot."
    ]
    interval: Annotated[Interval | None, "Of `difference`."]
    p_holm: Annotated[float | None, "Holm over all pairs."]
    shown: Annotated[Count, "How many names the first is then shown to be better than."]
    remaining: Annotated[
        Count | None, "How many other names then have results that are compared.", Presence.OPTIONAL
    ] = None

    @classmethod
    def of(cls, benchmark: str, pair: Pair, first: str, shown: int, remaining: int | None = None) -> "WithoutOne":
        """From the pair on the other benchmarks, in whichever order it has the two names."""
        size, ends = pair.difference, pair.interval
        if pair.a != first:
            size = None if size is None else 0.0 - size
            ends = ends and Interval(ends.level, 0.0 - ends.high, 0.0 - ends.low)
        return cls(benchmark, size, ends, pair.p_holm, shown, remaining)


@dataclass(frozen=True, slots=True)
class PolicyAgreement:
    """How far another policy gives the same order."""

    method: Annotated[Method, "The other method."]
    missing: Annotated[Missing, "The other policy."]
    tau: Annotated[float | None, "From -1 to 1; null where it has no order."]


@dataclass(frozen=True, slots=True)
class Stability:
    """How far the ranks hold under other choices."""

    leave_one_out: Annotated[
        tuple[LeaveOneOut, ...],
        "The range of ranks, that over all benchmarks included, when each benchmark is left out in turn, but for those "
        "without which the names fall apart.",
    ] = ()
    agreement: Annotated[
        tuple[PolicyAgreement, ...],
        "Kendall's tau-b with the other methods and policies.",
    ] = ()
    without: Annotated[
        tuple[WithoutOne, ...],
        "The first name and the next one when each benchmark is left out in turn; empty where several are first, or "
        "names fall apart, and above 5,000 pairs.",
        Presence.OPTIONAL,
    ] = ()


@dataclass(frozen=True, slots=True)
class ImanDavenport:
    """Iman and Davenport's F on k - 1 and (k - 1)(b - 1) degrees of freedom."""

    f: Annotated[float | None, "Null where all blocks agree and F is infinite."]
    p: Annotated[float | None, "Null where F is."]


@dataclass(frozen=True, slots=True)
class CriticalDifference:
    """Mean ranks further apart than this differ (Nemenyi)."""

    alpha: Annotated[float, "The rate of error over all pairs."]
    value: Annotated[float, "In ranks."]


@dataclass(frozen=True, slots=True)
class Friedman:
    """Friedman's test of whether k treatments differ over b complete blocks."""

    status: Status
    mean_ranks: Annotated[tuple[float, ...], "Of each treatment over the blocks; 1 is the best."]
    chi2: Annotated[float | None, "Corrected for ties; null where nothing was tested."]
    df: Annotated[Count, "Degrees of freedom: the treatments less one."]
    p: Annotated[float | None, "Of the chi-squared law; null where nothing was tested."]
    iman_davenport: Annotated[ImanDavenport | None, "Null where nothing was tested."]
    exact_p: Annotated[float | None, "Over all permutations within blocks, where they can be enumerated; else null."]
    critical_difference: Annotated[CriticalDifference | None, "Null where nothing was tested."]
    blocks: Annotated[Count, "How many there are."]
    reason: Reason = None
