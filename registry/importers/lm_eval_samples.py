"""Samples of lm-evaluation-harness, `samples_<task>_<time>.jsonl` beside `results_<time>.json` (`--log_samples`).

A line is a document with the metrics of one filter. Items are sorted by `doc_id`, and named by it and `doc_hash`, so
that two runs over the same documents have the same item set, in whatever order they ran.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from registry.importers.imported_grid import ImportedGrid, Note
from registry.importers.item_outcomes import item_id, outcomes_of
from registry.importers.source import MOST, Source

_RESULTS = re.compile(r"results_(.+)\.json(?:\.gz)?")


class Samples:
    """Samples of the tasks of one file of results."""

    def __init__(self, source: Source) -> None:
        match = _RESULTS.fullmatch(source.path.name) if source.path is not None else None
        self._folder: Path | None = source.path.parent if source.path is not None and match else None
        self._stamp = match[1] if match else ""
        self._read: dict[str, list[dict[str, Any]] | Note] = {}

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(path.name for path in self._folder.glob("samples_*.jsonl")) if self._folder else frozenset()

    def added(self, found: ImportedGrid, metric: str, cells: Mapping[str, Mapping[str, Any]]) -> ImportedGrid:
        """The grid with the outcomes of its cells, by task, as far as there are samples of them."""
        items, notes = [], []
        for task, cell in cells.items():
            rows = self._rows(task)
            if isinstance(rows, Note):
                notes.append(rows)
            elif rows:
                body, note = outcomes_of(task, _scores(rows, metric), cell, found.submission["metric"])
                items += [body] if body else []
                notes += [note] if note else []
        return replace(found, items=tuple(items), notes=(*found.notes, *notes))

    def _rows(self, task: str) -> list[dict[str, Any]] | Note:
        """Lines of a task without what was asked and answered; none where no samples were logged."""
        name = f"samples_{task}_{self._stamp}.jsonl"
        if self._folder is None or name not in self._names:
            return []
        if task not in self._read:
            self._read[task] = _read(self._folder / name)
        return self._read[task]


def _read(path: Path) -> list[dict[str, Any]] | Note:
    if path.stat().st_size > 8 * MOST:
        return Note("items_left_out", f"{path.name} is too large")
    kept = []
    try:
        with path.open("rb") as file:
            for line in file:
                row = orjson.loads(line)
                kept.append({name: one for name, one in row.items() if name not in _LONG})
    except (OSError, ValueError, AttributeError) as error:
        return Note("items_left_out", f"{path.name} cannot be read: {error}")
    return kept


_LONG = ("doc", "arguments", "resps", "filtered_resps", "prompt", "logits")


def _scores(rows: list[dict[str, Any]], metric: str) -> list[tuple[str, Any]]:
    """Ids and scores of a metric, as `acc` or `exact_match,strict-match`, in the order of the documents."""
    name, _, way = metric.partition(",")
    mine = [row for row in rows if row.get("filter", way or "none") == (way or "none")]
    numbered = [row for row in mine if isinstance(row.get("doc_id"), int)]
    return [
        (item_id(row["doc_id"], row.get("doc_hash", row.get("target"))), row.get(name))
        for row in sorted(numbered, key=lambda row: int(row["doc_id"]))
    ]
