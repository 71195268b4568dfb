"""The ranks of names when the benchmarks are drawn again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from registry.results.terms import Count, Reason, Status


@dataclass(frozen=True, slots=True)
class RankShare:
    """How often a rank came out."""

    rank: Annotated[Count, "A rank."]
    share: Annotated[float, "The share of resamples that give it, 0 to 1."]


@dataclass(frozen=True, slots=True)
class ResampledRank:
    """The ranks of one name over the resamples."""

    name: Annotated[str, "What is ranked."]
    rank: Annotated[Count, "Its rank as it is."]
    low: Annotated[Count, "The best rank of the range."]
    median: Annotated[Count, "The median rank."]
    high: Annotated[Count, "The worst rank of the range."]
    first_share: Annotated[
        float, "The share of resamples in which it is first, shared or not. No probability of being best."
    ]
    shares: Annotated[tuple[RankShare, ...], "The share of resamples at each rank; left out above fifty names."]


@dataclass(frozen=True, slots=True)
class Resampling:
    """The ranks of one component when its benchmarks are drawn again with replacement. insufficient: fewer than two
    names or than eight benchmarks, or too much work."""

    status: Status
    component: Annotated[Count, "The number of the component, from 0."]
    benchmarks: Annotated[Count, "How many benchmarks it has."]
    level: Annotated[float, "Of the ranges: 1 less alpha."]
    law: Annotated[
        Literal["bootstrap", "linearised_bootstrap"] | None,
        "How benchmarks were drawn; null: not at all. linearised: where hundreds of names have gaps, scores follow the "
        "weights of the benchmarks by their linear part.",
    ] = None
    resamples: Annotated[Count, "How many times."] = 0
    seed: Annotated[int | None, "Of the bootstrap's generator, PCG64."] = None
    ranked: Annotated[float | None, "The share of resamples that rank all names together; the rest is given that."] = (
        None
    )
    names: Annotated[tuple[ResampledRank, ...], "The ranks of each name."] = ()
    reason: Reason = None
