"""What a grid holds, by the plainest code that can be written, to hold against what the registry serves."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

Cells = Mapping[tuple[str, float], float]
"""Value by (task, step), only where somebody measured."""


def standing(a: Mapping[Any, float], b: Mapping[Any, float]) -> tuple[int, int, int, int]:
    """Of two models whose higher values are better: common slots, wins, ties and losses of the first."""
    common = a.keys() & b.keys()
    wins, losses = sum(a[slot] > b[slot] for slot in common), sum(a[slot] < b[slot] for slot in common)
    return len(common), wins, len(common) - wins - losses, losses


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
