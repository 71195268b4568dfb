"""What the feed tells of the verdicts of a baseline."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote, urlencode

from registry.results.codec import to_document
from registry.results.event_data import GateEvent
from registry.storage.arrivals import Arrival, cut
from workers.verdict_values import NewVerdict


def of_verdicts(
    slug: str, name: str, row: Any, policy_version: int, verdicts: Iterable[tuple[int, NewVerdict]]
) -> list[Arrival]:
    """The events of the numbered verdicts of a baseline by its name; `row` is that of its question."""
    found = []
    for number, one in verdicts:
        said = GateEvent(
            id=str(one.id),
            baseline=name,
            policy_version=policy_version,
            number=number,
            contender=one.contender,
            verdict=one.document["verdict"],
            passes=one.passes,
            gap=one.document["gap"],
            unit=one.document["unit"],
            sentence=cut(one.document["sentence"]),
            experiment=row.experiment,
            metric=row.metric,
        )
        below = f"projects/{slug}/baselines/{quote(name, safe='')}/verdicts?{urlencode({'contender': one.contender})}"
        found.append(Arrival("gate.verdict", below, to_document(said)))
    return found
