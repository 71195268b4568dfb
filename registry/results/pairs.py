"""Two names of a ranking, compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from registry.results.policies import Estimand, Target
from registry.results.terms import Count, Detectable, Interval, Reason, Status


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
