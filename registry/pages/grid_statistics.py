"""Statistics as the page of a grid shows them."""

from __future__ import annotations

import itertools
from typing import Any

from registry.pages.blocks import Part, parts_of, table_part
from registry.pages.findings import findings_of, missing_of
from registry.pages.shares import shares_of
from registry.pages.spark import HEIGHT, WIDTH, sparks_of
from registry.renderings import changes, coverage, peaks, precision, sensitivity, trends
from registry.renderings.table import Table
from registry.results.codec import to_document
from registry.results.grid import GridDocument
from registry.results.statistics import Statistics

_MOST_SPARKS = 200


def of_statistics(document: GridDocument, statistics: Statistics | None) -> dict[str, Any]:
    """Findings and the parts of the statistics; the gaps alone of a grid without statistics."""
    return {
        "statistics": statistics,
        "params": to_document(statistics.params) if statistics else {},
        "findings": findings_of(document, statistics) if statistics else list(missing_of(document)),
        "sections": _parts(document, statistics) if statistics else {},
        "shares": shares_of(statistics) if statistics else [],
        "spark": (WIDTH, HEIGHT),
    }


def _parts(document: GridDocument, statistics: Statistics) -> dict[str, list[Part]]:
    """The parts of the statistics, each as its blocks."""
    return {
        "trends": _trends(document, statistics),
        "breaks": parts_of(changes.blocks(statistics)),
        "peaks": parts_of(peaks.blocks(statistics)),
        "coverage": parts_of(coverage.blocks(statistics)),
        "sensitivity": parts_of(sensitivity.blocks(statistics)),
        "precision": parts_of(precision.blocks(statistics)),
    }


def _trends(document: GridDocument, statistics: Statistics) -> list[Part]:
    """The tables of trends, each row with its small line."""
    groups = [list(found) for _, found in itertools.groupby(statistics.series, lambda one: one.along)]
    parts: list[Part] = []
    for block in trends.blocks(statistics):
        if isinstance(block, Table):
            series = groups.pop(0)
            sparks = sparks_of(document, series) if len(series) <= _MOST_SPARKS else []
            parts.append(table_part(block, max(1, len(series[0].at)), sparks))
        else:
            parts += parts_of([block])
    return parts
