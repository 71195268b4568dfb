"""Documents of grids, as the interface answers them, and as rows of `registry.operations.export`."""

import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from registry.renderings.cells_feed import columns_of, rows_of
from registry.renderings.grid import flat, page
from registry.renderings.rows import csv_of_rows
from registry.renderings.sheet import markdown, text


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


def grid_text(document: Any) -> str:
    """The grid for a terminal."""
    return text(page(document))


def grid_markdown(document: Any) -> str:
    """The grid as Markdown."""
    return markdown(page(document))


def exported(document: dict[str, Any]) -> Any:
    """The grid as a row of an export, its arrays as PostgreSQL's text."""

    def array(name: str) -> str | None:
        found = document.get(name)
        if name != "values" and not isinstance(found, list):
            return None
        numbers = flat(found, len(document["axes"]))
        return "{" + ",".join("NULL" if one is None else repr(one) for one in numbers) + "}"

    names = {name: document[name] for name in ("id", "experiment", "benchmark", "model", "variant")}
    trials = document.get("trials")
    return SimpleNamespace(
        **names, number=document["revision"], metric={"lower": None, "upper": None} | document["metric"],
        axes=json.dumps(document["axes"]), values=array("values"), cell_trials=array("trials"),
        trials=None if isinstance(trials, list) else trials, stderr=array("stderr"), repeats=array("repeats"),
        sd=array("sd"), updated_at=datetime(2026, 1, 1, tzinfo=UTC), protocol=document.get("protocol"),
    )  # fmt: skip


def cells_csv(document: dict[str, Any]) -> str:
    """The measured cells of the grid as `cells.csv` has them."""
    columns = columns_of([axis["name"] for axis in document["axes"]])
    return b"".join(csv_of_rows(columns.fields, rows_of(exported(document), columns))).decode()
