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
CELLS_IN: dict[str, Any] = {"cells": [{"at": {"Type": "1", "Length": 5}, "value": 83.0, "trials": 300}]}
PROJECT_IN = {"slug": "demo", "name": "Demo", "visibility": "public"}
TOKEN_IN = {"name": "nightly evaluation", "role": "writer", "days": 30}
SHARE_IN = {"path": "/api/v1/projects/demo/cells", "expires_in": 604_800}
ALIAS_IN = {"kind": "benchmark", "alias": "AIME24", "name": "AIME'24"}


def _answer(name: str) -> Any:
    return _ANSWERS.get(name)


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
AUDIT = _answer("audit")
NAMES = _answer("names")
GRID_SUMMARY = _answer("grid_summary")
GRID = _answer("grid")
GRID_FORMS = _answer("grid_forms")
GRIDS = _answer("grids")
BATCH_ANSWER = _answer("batch_answer")
CELLS = _answer("cells")
CELLS_FORMS = _answer("cells_forms")
FEED = _answer("feed")
FEED_FORMS = _answer("feed_forms")
REVISIONS = _answer("revisions")
DIFFERENCE = _answer("difference")
STATISTICS = _answer("statistics")
STATISTICS_FORMS = _answer("statistics_forms")
TRENDS = _answer("trends")
TREND_FORMS = _answer("trend_forms")
PENDING = _answer("pending")
RANKING = _answer("ranking")
RANKING_FORMS = _answer("ranking_forms")
PENDING_RANKING = _answer("pending_ranking")
COMPARISON = _answer("comparison")
COMPARISON_FORMS = _answer("comparison_forms")
PENDING_COMPARISON = _answer("pending_comparison")
SWEET_SPOT = _answer("sweet_spot")
SWEET_SPOT_FORMS = _answer("sweet_spot_forms")
PENDING_SWEET_SPOT = _answer("pending_sweet_spot")
THRESHOLDS = _answer("thresholds")
THRESHOLDS_FORMS = _answer("thresholds_forms")
_NOTHING = {"pending": 0, "failed": 0, "oldest_seconds": 0.0}
READY = {"status": "ready", "derivations": _NOTHING, "answers": _NOTHING}
LIMITS = _answer("limits")
