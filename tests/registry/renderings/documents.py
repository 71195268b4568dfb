"""Renderers as the interface uses them: they take JSON documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from registry.api.responses import of_values
from registry.renderings import comparison, ranking, report, statistics, sweet_spot, thresholds
from registry.results.codec import from_document
from registry.results.comparison import Comparison
from registry.results.ranking import Ranking
from registry.results.statistics import Statistics
from registry.results.sweet_spot import SweetSpot
from registry.results.thresholds import Thresholds


def of(part: str) -> Mapping[str, Callable[[Any], str]]:
    """The renderers of a part of a grid's statistics, by form."""
    return of_values(Statistics, statistics.of(part))


def read(document: Mapping[str, Any] | None) -> Statistics | None:
    """The statistics that a document says."""
    return None if document is None else from_document(Statistics, document)


def report_of(form: str) -> Callable[[tuple[Any, Any]], str]:
    """The renderer of a report, of the JSON of a grid and that of its statistics."""
    return lambda both: report.of(form)((both[0], read(both[1])))


def thresholds_text(document: Mapping[str, Any]) -> str:
    return thresholds.thresholds_text(from_document(Thresholds, document))


def thresholds_csv(document: Mapping[str, Any]) -> str:
    return thresholds.thresholds_csv(from_document(Thresholds, document))


def sweet_spot_csv(document: Mapping[str, Any]) -> str:
    return sweet_spot.sweet_spot_csv(from_document(SweetSpot, document))


def compared(document: Mapping[str, Any]) -> Comparison:
    """The comparison that a document says."""
    return from_document(Comparison, document)


def comparison_text(document: Mapping[str, Any]) -> str:
    return comparison.comparison_text(compared(document))


def comparison_markdown(document: Mapping[str, Any]) -> str:
    return comparison.comparison_markdown(compared(document))


def comparison_csv(document: Mapping[str, Any]) -> str:
    return comparison.comparison_csv(compared(document))


def read_ranking(document: Mapping[str, Any]) -> Ranking:
    """The ranking that a document says."""
    return from_document(Ranking, document)


def ranking_text(document: Mapping[str, Any]) -> str:
    return ranking.ranking_text(read_ranking(document))


def ranking_markdown(document: Mapping[str, Any]) -> str:
    return ranking.ranking_markdown(read_ranking(document))


def ranking_csv(document: Mapping[str, Any]) -> str:
    return ranking.ranking_csv(read_ranking(document))
