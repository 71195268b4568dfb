"""Documents of grids, as the interface answers them."""

from __future__ import annotations

from typing import Any


def axis(name: str, levels: list[Any], kind: str = "nominal", unit: str | None = None) -> dict[str, Any]:
    return {"name": name, "kind": kind, "unit": unit, "scale": "linear", "levels": levels}


def document(axes: list[dict[str, Any]], values: Any, **more: Any) -> dict[str, Any]:
    return {
        "id": "0193a7c0-0000-7000-8000-000000000001",
        "experiment": "type-by-length",
        "benchmark": "Core Generalization",
        "model": "Qwen-2.5 3B",
        "variant": "Baseline",
        "metric": {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0, "upper": 100},
        "axes": axes,
        "values": values,
        "revision": 1,
        **more,
    }


def two_axes(**more: Any) -> dict[str, Any]:
    axes = [axis("Type", ["1", "2"]), axis("Length", [0, 1, 2], "numeric")]
    return document(axes, [[99.3, 96.7, 98.3], [None, 100.0, 99.7]], **{"trials": 300, **more})
