"""The examples of requests and answers in the OpenAPI document, for the routes. Answers were given by the service and
are kept in `examples.json`; `tests/record_examples.py` records them."""

import json
from importlib.resources import files
from typing import Any

_ANSWERS: dict[str, Any] = json.loads((files(__package__) / "examples.json").read_text(encoding="utf-8"))
_ANSWERS["grid_summary"] = {name: value for name, value in _ANSWERS["grid"].items() if name not in ("values", "trials")}
_ANSWERS["batch_answer"]["items"][0]["grid"] = _ANSWERS["grid_summary"]
_CLAIM = _ANSWERS["stored_claim"]
_ANSWERS["judgement"] = _CLAIM["judgement"] | {"computed_at": _CLAIM["judged_at"]}
_ANSWERS["webhook_secret"] = _ANSWERS["webhook"] | {"secret": f"whsec_{'A' * 43}="}

GRID_IN: dict[str, Any] = {
    "experiment": "type-by-length",
    "benchmark": "Core Generalization",
    "model": "Qwen-2.5 3B",
    "variant": "Baseline",
    "metric": {"name": "accuracy", "unit": "%", "direction": "higher", "lower": 0, "upper": 100},
    "axes": [
        {"name": "Type", "kind": "nominal", "levels": ["1", "6"]},
        {"name": "Length", "kind": "numeric", "levels": [0, 1, 2, 3, 4, 5]},
    ],
    "values": [[99.3, 96.7, 98.3, 92.7, 87.7, None], [100.0, 99.3, 99.7, 99.7, 99.0, 100.0]],
    "trials": 300,
    "labels": {"git_sha": "4f2c1e9"},
    "source": {"format": "csv", "name": "type-by-length.csv"},
}
GRID_CHANGE: dict[str, Any] = {"description": "Measured with the *second* tokenizer.", "labels": {"git_sha": "9ab1c04"}}
EXPERIMENT_CHANGE: dict[str, Any] = {
    "description": "Accuracy by type and length, 300 trials a cell.",
    "labels": {"protocol": "https://example.org/protocol", "draft": None},
    "protocol": {"binding": ["dataset_revision", "shots"], "free": ["git_hash"], "required": False},
}
GRID_TIDY = """\
Type,Length,value,trials
1,0,99.3,300
1,1,96.7,300
6,0,100.0,300
6,1,99.3,300
"""
GRID_PIVOT = """\
Type,0,1,2
1,99.3,96.7,98.3
6,100.0,99.3,
"""
GRID_PIPES = """\
| Type | Length 0 | Length 1 | Length 2 |
| :--- | :--- | :--- | :--- |
| **1** | 99.3 | 96.7 | 98.3 |
| **6** | 100.0 | 99.3 | |
"""
RIVAL_IN: dict[str, Any] = GRID_IN | {
    "model": "Qwen-2.5 7B",
    "values": [[99.7, 99.0, 98.7, 95.3, 92.0, 90.7], [100.0, 99.7, 99.7, 100.0, 99.3, None]],
}
CURVE_IN: dict[str, Any] = GRID_IN | {
    "benchmark": "Length Generalization",
    "axes": [{"name": "Length", "kind": "numeric", "levels": [0, 1, 2, 3]}],
    "values": [99.3, 96.7, 92.7, None],
}
"""A small grid, whose statistics are the examples."""
NUMBER_IN: dict[str, Any] = GRID_IN | {"benchmark": "All", "axes": [], "values": 97.3}
"""A grid of one number, for the statistics as a whole: the examples of their parts are of the small grid."""
OTHER_NUMBER_IN: dict[str, Any] = NUMBER_IN | {"model": "Qwen-2.5 7B", "values": 98.9}
PAIR_IN: dict[str, Any] = CURVE_IN | {
    "benchmark": "Ends",
    "axes": [{"name": "Length", "kind": "numeric", "levels": [0, 3]}],
    "values": [99.3, 87.7],
}
OTHER_CURVE_IN: dict[str, Any] = CURVE_IN | {"model": "Qwen-2.5 7B", "values": [99.7, 99.0, 95.3, 90.7]}
CELLS_IN: dict[str, Any] = {"cells": [{"at": {"Type": "1", "Length": 5}, "value": 83.0, "trials": 300}]}
ITEMS_IN: dict[str, Any] = {
    "set": {"name": "Ends", "count": 4, "ids": ["q1", "q2", "q3", "q4"]},
    "cells": [{"at": {"Length": 0}, "outcomes": "0A=="}, {"at": {"Length": 3}, "outcomes": "kA=="}],
}
"""Bits 1101 and 1001."""
MEASURED_IN: dict[str, Any] = CURVE_IN | {
    "benchmark": "Items",
    "axes": [{"name": "Length", "kind": "numeric", "levels": [0, 3]}],
    "values": [75, 50],
    "trials": 4,
}
"""A grid with these outcomes."""
PROJECT_IN = {"slug": "demo", "name": "Demo", "visibility": "public"}
TOKEN_IN = {"name": "nightly evaluation", "role": "writer", "days": 30}
SHARE_IN = {"path": "/api/v1/projects/demo/cells", "expires_in": 604_800}
SUITE_IN = {"benchmarks": ["AIME'24", "GPQA_D"]}
PLAN_IN: dict[str, Any] = {
    "question": {
        "kind": "separate",
        "experiment": "type-by-length",
        "metric": "accuracy",
        "baseline_model": "Qwen-2.5 3B",
        "contender_model": "Qwen-2.5 7B",
    },
    "power": 0.8,
}
BASELINE_IN: dict[str, Any] = {
    "experiment": "type-by-length",
    "metric": "accuracy",
    "subject": {"model": "Qwen-2.5 3B"},
    "policy": {"kind": "non_inferior", "margin": 0.5},
}
WEBHOOK_IN: dict[str, Any] = {
    "url": "https://ci.example.org/hooks/registry",
    "types": ["claim.flipped", "alert.*"],
    "filter": {"experiment": ["type-by-length"]},
    "description": "Opens an issue.",
}
WEBHOOK_MESSAGE: dict[str, Any] = {
    "type": "baseline.set",
    "timestamp": "2026-11-21T08:00:00Z",
    "data": {
        "baseline": "main",
        "version": 2,
        "project": "demo",
        "subject": "projects/demo/baselines/main",
        "url": "https://results.example/api/v1/projects/demo/baselines/main",
        "position": 17,
    },
}
WEBHOOK_CHANGE: dict[str, Any] = {"types": ["claim.flipped"], "filter": {}}
RECOVER_IN: dict[str, Any] = {"since": "2026-11-21T08:00:00Z"}
ALERT_CHANGE = {"state": "dismissed", "reason": "expected", "note": "The longer context costs this."}
ALIAS_IN = {"kind": "benchmark", "alias": "AIME24", "name": "AIME'24"}
CLAIM: dict[str, Any] = {
    "kind": "trend",
    "about": {
        "experiment": "type-by-length",
        "metric": "accuracy",
        "benchmark": "Length Generalization",
        "model": "Qwen-2.5 3B",
    },
    "along": "Length",
    "goes": "down",
    "text": "Accuracy falls with length.",
}
_NOTHING = {"pending": 0, "failed": 0, "oldest_seconds": 0.0}
READY = {"status": "ready", "writes": "taken", "derivations": _NOTHING, "answers": _NOTHING}
_STREAM = """\
retry: 3120
id: AWiZ1nSsRAE

id: AQW3bQ9KcgI
data: {"id":"8c7c2f0e-4f5d-4c39-9d57-0a4f6b8f0e11","position":2,"type":"grid.published",…}

"""
_ANSWERS["events_forms"] = {"sse": _STREAM}
_SUFFIXES = {
    "txt": "Text",
    "md": "Markdown",
    "csv": "Csv",
    "tex": "Latex",
    "ndjson": "Ndjson",
    "sse": "Stream",
}


def answer(name: str, form: str = "json") -> Any:
    """The recorded answer of this name in a form; None where none is kept, to keep the document small."""
    return _ANSWERS.get(name) if form == "json" else _ANSWERS.get(f"{name}_forms", {}).get(form)


def named() -> dict[str, Any]:
    """Every example by its name in the document: `GridIn`, `StatisticsMarkdown`."""
    told = {name: one for name, one in globals().items() if name.isupper() and not name.startswith("_")}
    found: dict[str, Any] = {}
    for name, example in (told | _ANSWERS).items():
        of = name.lower().removesuffix("_forms")
        component = "".join(word.capitalize() for word in of.split("_"))
        if name.endswith("_forms"):
            found |= {f"{component}{_SUFFIXES[form]}": text for form, text in example.items()}
        else:
            found[component] = example
    return found
