"""A few statistics by the plainest code that can be written, to hold against those that the registry serves."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Any

Cells = Mapping[tuple[str, float], float]
"""Value by (task, step), only where somebody measured."""


def mann_kendall_s(values: Sequence[float]) -> int:
    """Pairs that rise minus pairs that fall."""
    return sum((b > a) - (b < a) for a, b in itertools.combinations(values, 2))


def theil_sen(points: Sequence[tuple[float, float]]) -> float:
    """The median of the slopes between all pairs."""
    return statistics.median((y2 - y1) / (x2 - x1) for (x1, y1), (x2, y2) in itertools.combinations(points, 2))


def standing(a: Mapping[Any, float], b: Mapping[Any, float]) -> tuple[int, int, int, int]:
    """Of two models whose higher values are better: common slots, wins, ties and losses of the first."""
    common = a.keys() & b.keys()
    wins, losses = sum(a[slot] > b[slot] for slot in common), sum(a[slot] < b[slot] for slot in common)
    return len(common), wins, len(common) - wins - losses, losses


def mean_difference(a: Mapping[Any, float], b: Mapping[Any, float]) -> float:
    """The mean over benchmarks of the mean difference within each; a slot's first part is its benchmark."""
    by_benchmark: dict[str, list[float]] = {}
    for slot in a.keys() & b.keys():
        by_benchmark.setdefault(slot[0], []).append(a[slot] - b[slot])
    return math.fsum(math.fsum(some) / len(some) for some in by_benchmark.values()) / len(by_benchmark)


def digest(document: Mapping[str, Any]) -> str:
    """SHA-256 of a grid's content as JSON without spaces: axes, labels, metric, values, their fields in this order."""
    values = document["values"]
    for _ in document["axes"][1:]:
        values = [value for row in values for value in row]
    axes = [
        {
            "name": axis["name"],
            "kind": axis["kind"],
            "levels": [_level(level) for level in axis["levels"]],
            "unit": axis["unit"],
            "scale": axis["scale"],
        }
        for axis in document["axes"]
    ]
    metric = {name: document["metric"][name] for name in ("name", "unit", "direction", "lower", "upper")}
    labels = dict(sorted(document["labels"].items()))
    content = {"axes": axes, "labels": labels, "metric": metric, "values": values}
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False)
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def _level(level: Any) -> dict[str, Any]:
    if isinstance(level, dict):
        return {"label": level["label"], "number": float(level["number"])}
    if isinstance(level, str):
        return {"label": level, "number": None}
    label = str(int(level)) if level == int(level) else repr(level)
    return {"label": label, "number": float(level)}


def cells(document: Mapping[str, Any]) -> dict[tuple[str, float], float]:
    """The measured cells of a grid over Task and Step."""
    tasks, steps = (axis["levels"] for axis in document["axes"])
    return {
        (task, float(step)): value
        for task, row in zip(tasks, document["values"], strict=True)
        for step, value in zip(steps, row, strict=True)
        if value is not None
    }
