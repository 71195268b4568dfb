"""How far the ranks of names hold under other choices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from registry.results.policies import Method, Missing
from registry.results.resampling import Resampling
from registry.results.terms import Count


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
        "The range of ranks when each benchmark is left out in turn.",
    ] = ()
    agreement: Annotated[
        tuple[PolicyAgreement, ...],
        "Kendall's tau-b with the other methods and policies.",
    ] = ()
    resampling: Annotated[tuple[Resampling, ...], "One for each component."] = ()
