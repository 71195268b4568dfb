"""Statistics as the page of a grid shows them."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

from registry.pages.blocks import Part, parts_of, table_part
from registry.pages.findings import findings_of, missing_of
from registry.pages.shares import shares_of
from registry.pages.spark import HEIGHT, WIDTH, sparks_of
from registry.pages.verdict import shown
from registry.renderings import changes, coverage, peaks, precision, sensitivity, trends
from registry.renderings.table import Table
from registry.renderings.verdicts.grid import grid_verdict
from registry.results.codec import to_document
from registry.results.grid import GridDocument
from registry.results.statistics import Statistics

_MOST_SPARKS = 200
_MOST_ROWS = 100
"""Rows of a table that the page shows; the rest is counted, and in the CSV."""


def of_statistics(document: GridDocument, statistics: Statistics | None) -> dict[str, Any]:
    """Findings and the parts of the statistics; the gaps alone of a grid without statistics."""
    return {
        "statistics": statistics,
        "verdict": shown(grid_verdict(document, statistics)),
        "params": to_document(statistics.params) if statistics else {},
        "findings": findings_of(document, statistics) if statistics else list(missing_of(document)),
        "sections": _parts(document, statistics) if statistics else {},
        "shares": shares_of(statistics) if statistics else [],
        "spark": (WIDTH, HEIGHT),
    }


def _parts(document: GridDocument, statistics: Statistics) -> dict[str, list[Part]]:
    """The parts of the statistics, each as its blocks."""
    sections = {
        "trends": _trends(document, statistics),
        "breaks": parts_of(changes.blocks(statistics)),
        "peaks": parts_of(peaks.blocks(statistics)),
        "coverage": parts_of(coverage.blocks(statistics)),
        "sensitivity": parts_of(sensitivity.blocks(statistics)),
        "precision": parts_of(precision.blocks(statistics)),
    }
    return {name: [shown for part in parts for shown in _cut(part)] for name, parts in sections.items()}


def _cut(part: Part) -> list[Part]:
    """A table with as many rows as a page has, and words where it has more."""
    if len(part.rows) <= _MOST_ROWS:
        return [part]
    told = f"These are the first {_MOST_ROWS} of {len(part.rows):,} rows; the CSV has all of them."
    return [replace(part, rows=part.rows[:_MOST_ROWS], sparks=part.sparks[:_MOST_ROWS]), Part("text", told)]


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
