"""Imports: what the registry knows of them is that grids came together and name the files or systems they are from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import Connection

from registry.grids.intake import Submission
from registry.operations.publish import Published
from registry.results.codec import to_document
from registry.results.event_data import ImportEvent
from registry.storage.arrivals import Arrival, announce, cut


def announce_import(
    connection: Connection, project: Any, sent: Iterable[Submission], published: Sequence[Published], failed: int
) -> None:
    """Announce a batch that was stored, if it made a revision and a grid of it names its source.

    `failed` grids of the batch were refused. A large import is several batches, and so several events.
    """
    sources = {tuple(sorted(one.source.items())): one.source for one in sent if one.source}
    new = sum(one.is_new for one in published)
    if not sources or not new:
        return
    first = next(iter(sources.values()))
    said = ImportEvent(
        source=cut(first.get("name", "")),
        format=first.get("format", ""),
        sources=len(sources),
        new=new,
        unchanged=len(published) - new,
        failed=failed,
    )
    announce(connection, project.id, [Arrival("import.finished", f"projects/{project.slug}/grids", to_document(said))])
