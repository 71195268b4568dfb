"""The steps between neighbouring cells of a series, and where its decline begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from registry.results.terms import Detectable, FirstLevel, Interval, LastLevel, P, Place, Reason, Status

SharpReason = Literal["noise_unknown", "no_margin"]


@dataclass(frozen=True, slots=True)
class Change:
    """A step between neighbouring measured cells. All but its size are null without noise."""

    from_: FirstLevel
    to: LastLevel
    size: Annotated[float, "The later value less the earlier one, in the metric's unit."]
    sharp: Annotated[
        bool | None,
        "At least `params.sharp_change`, and `p_holm` below alpha. Null where the noise is unknown or no margin is "
        "set: size alone makes no step sharp.",
    ]
    p: P
    p_holm: Annotated[float | None, "Holm over all steps of the grid along this axis."]
    interval: Annotated[Interval | None, "Of this one step: Newcombe's with trials, z or t with errors; null without."]
    detectable: Detectable


@dataclass(frozen=True, slots=True)
class LevelSpan:
    """From one level to the next measured one."""

    from_: FirstLevel
    to: LastLevel


@dataclass(frozen=True, slots=True)
class LargestStep:
    """The largest step of one sign, and every place where it happens."""

    size: Annotated[float, "In the metric's unit."]
    at: Annotated[tuple[LevelSpan, ...], "Every step of this size."]
    p_holm: Annotated[float | None, "Holm over all steps of the grid along this axis; null without noise."]
    interval: Annotated[
        Interval | None,
        "At the level that picking the largest asks for (Bonferroni over the steps of the series); null without noise.",
    ]


@dataclass(frozen=True, slots=True)
class LargestSteps:
    """The largest fall and the largest rise of a series; null where there is none."""

    drop: LargestStep | None
    rise: LargestStep | None


@dataclass(frozen=True, slots=True)
class Onset:
    """Where the decline begins: the first level from which all later cells are worse than the best before it by more
    than `params.equivalence`, tested as a change is."""

    status: Status
    level: Annotated[Place | None, "Only where `p_holm` is below alpha."] = None
    candidate: Annotated[Place | None, "The most likely place, whether it is significant or not."] = None
    size: Annotated[
        float | None, "The mean from there on less the mean before, in the metric's unit; null without a candidate."
    ] = None
    p: Annotated[float | None, "Bonferroni over the possible places."] = None
    p_holm: Annotated[float | None, "Holm over the series along the axis."] = None
    reason: Reason = None
