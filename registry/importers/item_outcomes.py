"""Outcomes of items as importers find them: the body of `POST /grids/{grid}/items` for one cell, if they fit it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from registry.grids.grid import Cell, Metric
from registry.grids.intake.faults import number
from registry.grids.outcomes import Outcomes, disagreement, scale_of
from registry.importers.imported_grid import Note

MOST_IN_ID = 200


def item_id(own: Any, content: Any) -> str:
    """Id of an item that changes with its content: a data set that was revised has other items under the same names."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, default=str)
    return f"{str(own)[: MOST_IN_ID - 17]}:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()[:16]}"


def outcomes_of(
    name: str, found: Sequence[tuple[str, Any]], cell: Mapping[str, Any], metric: Mapping[str, Any], repeats: int = 1
) -> tuple[dict[str, Any] | None, Note | None]:
    """The body for a cell with `at`, `value` and `trials`, from ids and scores in their order; or why there is none."""
    scores = [number(int(score) if isinstance(score, bool) else score) for _, score in found]
    known = [score for score in scores if score is not None and 0 <= score <= 1]
    ids = [one for one, _ in found]
    if not found or len(known) < len(scores) or len(set(ids)) < len(ids):
        return None, _left_out(name, "not every one has an id of its own and a score from 0 to 1")
    scale = scale_of(Metric("", metric.get("unit"), None, metric.get("lower"), metric.get("upper")))
    given = Outcomes(len(known), scores=tuple(known), repeats=repeats)
    odd = disagreement(Cell((), cell["value"], cell.get("trials")), scale, given) if scale else "no proportion"
    if odd is not None:
        return None, _left_out(name, odd)
    told = {"at": cell["at"], "outcomes": [int(one) if one.is_integer() else one for one in known]}
    if repeats > 1:
        told["repeats"] = repeats
    return {"set": {"name": name[:200], "count": len(ids), "ids": ids}, "cells": [told]}, None


def _left_out(name: str, why: str) -> Note:
    return Note("items_left_out", f'the outcomes of the items of "{name}" were left out: {why}')
