"""Doubts about drawing grids together that were measured in different ways."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from registry.charts.slots import Source
from registry.grids.protocol import Protocol, Rules, joined, varying
from registry.results.inputs import Warning


def protocol_warnings(sources: Sequence[Source], rules: Rules) -> Iterator[Warning]:
    """Warnings of keys, the free ones aside, in which grids of one benchmark and metric differ."""
    together: dict[tuple[str, str], list[Protocol]] = {}
    for one in sources:
        if one.grid.protocol:
            place = one.names["benchmark"], one.grid.metric.name
            together.setdefault(place, []).append(one.grid.protocol)
    keys = sorted({key for protocols in together.values() for key in varying(protocols)})
    told = "Grids of one benchmark were measured by protocols that differ in"
    if binding := [key for key in keys if rules.role_of(key) == "binding"]:
        yield Warning("protocol_differs", f"{told} {joined(binding)}, by which they are not comparable.")
    if others := [key for key in keys if rules.role_of(key) == "other"]:
        yield Warning("protocol_differs", f"{told} {joined(others)}; no such key binds.")
