"""Gates: whether a contender is shown to be as good as a baseline. These raise what goes wrong, but no verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from results_registry.errors import Refused
from results_registry.origin import segment
from results_registry.reading import awaited, configured


def gate(baseline: str, contender: str | Mapping[str, Any], *, timeout: float = 30.0, **where: Any) -> dict[str, Any]:
    """The verdict on a contender by the policy of a baseline: `gate("main", "R1-Qwen")["passes"]`.

    The contender is a model, the id of a grid, a grid that was published, or one that is not: a mapping as the API
    takes it, of which nothing is kept. `passes` is True, False, or None where neither is shown, nothing can be
    compared, or the `verdict` is `pending` or `failed` after so many seconds; `sentence` says it in words.
    """
    config, more = configured(where)
    path = f"projects/{segment(config.project or '')}/baselines/{segment(baseline)}/gate"
    named = contender if isinstance(contender, str) else contender.get("id")
    try:
        if named is None:
            found = awaited(config, path, more, timeout, dict(contender))  # type: ignore[arg-type]
        else:
            found = awaited(config, path, {**more, "contender": str(named)}, timeout)
    except Refused as error:
        detail = dict(error.errors).get("/contender", "")
        if not detail.startswith("no grid"):
            raise
        return {"verdict": "not_comparable", "passes": None, "sentence": f"There is nothing to judge: {detail}."}
    if "passes" in found:
        return found
    word = str(found.get("state", "pending"))
    told = f"The verdict could not be computed: {found.get('reason')}." if word == "failed" else "It is being computed."
    return {**found, "verdict": word, "passes": None, "sentence": told}
