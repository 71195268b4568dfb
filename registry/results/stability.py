"""How far the ranks of names hold under other choices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from registry.results.pairs import Pair
from registry.results.policies import Method, Missing
from registry.results.terms import Count, Interval, Presence


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
    difference: Annotated[float | None, "The first less the second; null where leads are estimated."]
    interval: Annotated[Interval | None, "Of `difference`."]
    p_holm: Annotated[float | None, "Holm over all pairs."]
    shown: Annotated[Count, "How many names the first is then shown to be better than."]

    @classmethod
    def of(cls, benchmark: str, pair: Pair, first: str, shown: int) -> WithoutOne:
        """From the pair on the other benchmarks, in whichever order it has the two names."""
        size, ends = pair.difference, pair.interval
        if pair.a != first:
            size = None if size is None else 0.0 - size
            ends = ends and Interval(ends.level, 0.0 - ends.high, 0.0 - ends.low)
        return cls(benchmark, size, ends, pair.p_holm, shown)


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
        "The range of ranks, that over all benchmarks included, when each benchmark is left out in turn.",
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
