"""Plans: what the next measurement takes. These raise what goes wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from results_registry.origin import segment
from results_registry.reading import awaited, configured


def plan(question: Mapping[str, Any], *, timeout: float = 30.0, **asked: Any) -> dict[str, Any]:
    """The plan for a question, as in the API: `plan({"kind": "separate", "experiment": "E", "metric": "accuracy",
    "baseline_model": "A", "contender_model": "B"}, power=0.9)["needed"]["factor"]`.

    `power`, `alpha`, `one_sided`, `budget` and `item_limit` are as in the API; `state` is `pending` where the
    comparison is not computed after so many seconds.
    """
    config, more = configured(asked)
    path = f"projects/{segment(config.project or '')}/plan"
    return awaited(config, path, {}, timeout, {"question": dict(question), **more})
