"""What the feed tells of a judgement: that a claim was judged, or that its verdict flipped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from registry.results.codec import to_document
from registry.results.event_data import JudgementEvent
from registry.storage.arrivals import Arrival, cut


def told_of(claim: Any, number: int, document: Mapping[str, Any]) -> Arrival:
    """The event of a judgement of a claim, whose row still has the verdict before."""
    first = next(iter(document["parts"]), None)
    event = JudgementEvent(
        claim=str(claim.id),
        judgement=number,
        verdict=document["verdict"],
        reason=document["reason"],
        estimate=first["numbers"].get("estimate") if first else None,
        experiment=claim.experiment,
        metric=claim.metric,
        text=cut(claim.text),
    )
    said, subject = to_document(event), f"claims/{claim.id}"
    # The judgement before may have been purged with its grids: then nothing is known to have flipped.
    if claim.verdict in (None, event.verdict):
        return Arrival("claim.judged", subject, said)
    return Arrival("claim.flipped", subject, {**said, "before": claim.verdict})
