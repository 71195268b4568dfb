"""The noise between repeats, on the page of an experiment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from registry.api.cached_results import ask
from registry.operations.stored_grids import StoredGrid
from registry.pages.blocks import Part, parts_of
from registry.pages.queries import state_of
from registry.query import RepeatNoiseQuery
from registry.renderings.repeat_noise import page
from registry.results.codec import read
from registry.results.repeat_noise import RepeatNoise


def asked_noise(query: RepeatNoiseQuery, project: str, shown: Sequence[StoredGrid]) -> Any:
    """The row of the answer; None, and nothing is asked, where none of the grids that are shown has repeats."""
    return ask(query, project)[1] if any(one.grid.sd is not None for one in shown) else None


def noise_parts(found: Any) -> list[Part]:
    """The table and the sentences of the benchmarks that have repeats; nothing without any, or while it is computed."""
    if state_of(found) != "ready":
        return []
    document = read(RepeatNoise, found.document)
    repeated = tuple(one for one in document.benchmarks if one.between is not None)
    return parts_of(page(replace(document, benchmarks=repeated))) if repeated else []
