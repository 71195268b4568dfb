"""What an answer is about."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from registry.results.terms import Digest, Presence, SliceDocument


@dataclass(frozen=True, slots=True)
class Selected:
    """The selection that an answer is about, without aliases."""

    experiment: Annotated[str, "The experiment."]
    metric: Annotated[str, "The name of the metric; empty where an answer is about two."]
    benchmark: Annotated[tuple[str, ...], "Only these benchmarks; empty: all."]
    model: Annotated[tuple[str, ...], "Only these models; empty: all."]
    variant: Annotated[tuple[str, ...], "Only these variants; empty: all."]
    suite: Annotated[str | None, "The suite that the benchmarks are from.", Presence.OMITTED]
    at: SliceDocument
    slices: Annotated[
        Mapping[str, Mapping[str, tuple[str, ...]]] | None,
        "The levels of those benchmarks of the suite that have their own, by benchmark and axis.",
        Presence.OMITTED,
    ]
    as_of: Annotated[str | None, "The instant whose revisions count; absent for now.", Presence.OMITTED]
    set_aside: Annotated[
        tuple[str, ...] | None,
        "Names that are left out where a slot must be common to all; `none` for nobody, absent for those that cost the "
        "others more than a fifth of their slots.",
        Presence.OMITTED,
    ]
    sentence: Annotated[str, "It in words."]
    digest: Annotated[Digest, "Equal for equal selections."]


About = Annotated[Selected | None, "What the answer is about.", Presence.OMITTED]
