"""The examples of the OpenAPI document. Answers were given by the service and are kept in `examples.json`."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

_ANSWERS: dict[str, Any] = json.loads((files(__package__) / "examples.json").read_text(encoding="utf-8"))

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
PROJECT_IN = {"slug": "demo", "name": "Demo", "visibility": "public"}
TOKEN_IN = {"name": "nightly evaluation", "role": "writer", "days": 30}
SHARE_IN = {"path": "/api/v1/projects/demo/cells", "expires_in": 604_800}
SUITE_IN = {"benchmarks": ["AIME'24", "GPQA_D"]}
ALIAS_IN = {"kind": "benchmark", "alias": "AIME24", "name": "AIME'24"}


def _answer(name: str) -> Any:
    return _ANSWERS.get(name)


def _forms(name: str, *forms: str) -> dict[str, str | None]:
    """An example of each form besides JSON that a resource has; None where none is kept, to keep the document small."""
    kept = _ANSWERS.get(name, {})
    return {form: kept.get(form) for form in forms or ("txt", "md", "csv")}


PROJECT = _answer("project")
PROJECTS = _answer("projects")
TOKEN_SECRET = _answer("token_secret")
TOKENS = _answer("tokens")
IDENTITY = _answer("identity")
SHARE_LINK = _answer("share_link")
SHARES = _answer("shares")
BADGE = _answer("badge")
ALIAS = _answer("alias")
ALIASES = _answer("aliases")
SUITE = _answer("suite")
SUITES = _answer("suites")
AUDIT = _answer("audit")
NAMES = _answer("names")
GRID_SUMMARY = _answer("grid_summary")
GRID = _answer("grid")
GRID_FORMS = _forms("grid_forms")
GRIDS = _answer("grids")
BATCH_ANSWER = _answer("batch_answer")
CELLS = _answer("cells")
CELLS_FORMS = _forms("cells_forms", "txt", "md", "csv", "ndjson")
FEED = _answer("feed")
FEED_FORMS = _forms("feed_forms", "csv", "ndjson")
REVISIONS = _answer("revisions")
DIFFERENCE = _answer("difference")
CHANGES = _answer("changes")
PEAKS = _answer("peaks")
COVERAGE = _answer("coverage")
SENSITIVITY = _answer("sensitivity")
PRECISION = _answer("precision")
STATISTICS = _answer("statistics")
STATISTICS_FORMS = _forms("statistics_forms")
TRENDS = _answer("trends")
TREND_FORMS = _forms("trend_forms")
PENDING = _answer("pending")
RANKING = _answer("ranking")
RANKING_FORMS = _forms("ranking_forms")
COMPARISON = _answer("comparison")
COMPARISON_FORMS = _forms("comparison_forms")
SWEET_SPOT = _answer("sweet_spot")
SWEET_SPOT_FORMS = _forms("sweet_spot_forms")
THRESHOLDS = _answer("thresholds")
THRESHOLDS_FORMS = _forms("thresholds_forms")
_NOTHING = {"pending": 0, "failed": 0, "oldest_seconds": 0.0}
READY = {"status": "ready", "derivations": _NOTHING, "answers": _NOTHING}
LIMITS = _answer("limits")


def part(name: str) -> Any:
    """The example of a part of the statistics; `changes`, which has the series of `trends`, is of a single number."""
    return _answer(name)


_SUFFIXES = {"txt": "Text", "md": "Markdown", "csv": "Csv", "ndjson": "Ndjson"}


def named() -> dict[str, Any]:
    """Every example by its name in the document: `GridIn`, `StatisticsMarkdown`."""
    found: dict[str, Any] = {}
    for constant, example in globals().items():
        if constant.isupper() and not constant.startswith("_"):
            name = "".join(word.capitalize() for word in constant.split("_") if word != "FORMS")
            if constant.endswith("_FORMS"):
                found |= {f"{name}{_SUFFIXES[suffix]}": text for suffix, text in example.items()}
            else:
                found[name] = example
    return found
