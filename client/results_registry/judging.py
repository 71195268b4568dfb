"""Claims: judged at once, or kept by the registry and judged again whenever their grids change. These raise what goes
wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from results_registry.origin import segment
from results_registry.reading import Names, awaited, configured
from results_registry.records import Records

_AT_ONCE = 100
"""Claims of one request."""
_MOST_WAIT = 30
"""Seconds that one request may wait for judgements."""


def judge_claims(
    claims: Mapping[str, Any] | Sequence[Mapping[str, Any]], *, timeout: float = 30.0, **where: Any
) -> Any:
    """The judgement of a claim, or of each claim of a list: its `verdict`, the numbers behind it, and a `sentence`.

    `judge_claims({"kind": "trend", "about": {"experiment": "E", "metric": "accuracy", "model": "A"}, "along": "Length",
    "goes": "down"})["verdict"]` is supported, contradicted, not_decidable or ill_posed.
    """
    config, more = configured(where)
    sent = claims if isinstance(claims, Mapping) else list(claims)
    found = awaited(config, f"projects/{segment(config.project or '')}/claims/judge", more, timeout, sent)
    return found if isinstance(claims, Mapping) else found.get("items", found)


def add_claims(claims: Mapping[str, Any] | Sequence[Mapping[str, Any]], *, timeout: float = 30.0, **where: Any) -> Any:
    """Have a claim kept, or each of a list: the claim with its `id`, `state`, `verdict` and `judgement`, or a list of
    them. The same statement again is the claim that is there. Waits so many seconds for judgements; `state` is
    `pending` where there is none yet. `dry_run=True` keeps nothing.
    """
    config, more = configured(where)
    several = [claims] if isinstance(claims, Mapping) else list(claims)
    wait = min(_MOST_WAIT, round(timeout))
    headers = {"Prefer": f"wait={wait}"} if wait >= 1 else {}
    path, found = f"projects/{segment(config.project or '')}/claims", []
    with config.transport(timeout=_MOST_WAIT + 10.0) as transport:
        for first in range(0, len(several), _AT_ONCE):
            sent = [dict(one) for one in several[first : first + _AT_ONCE]]
            found += transport.call("POST", path, sent, query=more, headers=headers).json()["items"]
    return found[0] if isinstance(claims, Mapping) else found


def claims(
    *, verdict: Names = None, state: Names = None, experiment: Names = None, source: Names = None, **where: Any
) -> Records:
    """The claims that a project keeps, the oldest first, with their latest verdicts. A list means any of them."""
    config, more = configured(where)
    wanted = {"verdict": verdict, "state": state, "experiment": experiment, "source": source} | more
    query = {name: value for name, value in wanted.items() if value is not None}
    with config.transport() as transport:
        return Records(transport.pages(f"projects/{segment(config.project or '')}/claims", **query))


def claim(id: str, **where: Any) -> dict[str, Any]:
    """One claim with its whole judgement."""
    config, more = configured(where, needs_project=False)
    with config.transport() as transport:
        found: dict[str, Any] = transport.get(f"claims/{segment(id)}", **more)
        return found
