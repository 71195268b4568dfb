"""Reading back: grids, cells, statistics and rankings as plain values. These raise what goes wrong."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from results_registry.config import Config, find_config
from results_registry.errors import BadAddress, BadData
from results_registry.http import Transport
from results_registry.origin import segment
from results_registry.records import Cells, GridDocument, RankingDocument, Records, read_feed

Names = str | Sequence[str] | None
_AT_ONCE = 30
"""Seconds that one request may wait for statistics."""


def grids(
    *,
    experiment: Names = None,
    benchmark: Names = None,
    model: Names = None,
    variant: Names = None,
    metric: Names = None,
    labels: Mapping[str, str] | None = None,
    **where: Any,
) -> Records:
    """The grids of a project without their values, newest first. A list of names means any of them.

    `where` is `project`, `url`, `token`, and the list's own `sort` and `updated_since`.
    """
    config, more = _config(where)
    names = {"experiment": experiment, "benchmark": benchmark, "model": model, "variant": variant, "metric": metric}
    wanted = names | {f"label.{name}": text for name, text in (labels or {}).items()} | more
    with config.transport() as transport:
        return Records(_found(transport, config, wanted))


def grid(id: str, **where: Any) -> GridDocument:
    """One grid with its values."""
    config, more = _config(where, needs_project=False)
    with config.transport() as transport:
        return GridDocument(transport.get(f"grids/{segment(_id(id))}", **more))


def cells(grid: str | Mapping[str, Any] | None = None, **wanted: Any) -> Cells:
    """The measured cells of one grid (its id, or what `grids` gave), or of all that the names of `grids` find.

    `at={"Context": ">=64000"}` reads only these.
    """
    config, more = _config(wanted, needs_project=grid is None)
    labels = more.pop("labels", None) or {}
    query = _sliced(more) | {f"label.{name}": text for name, text in labels.items()}
    path = f"projects/{segment(config.project or '')}" if grid is None else f"grids/{segment(_id(grid))}"
    with config.transport() as transport:
        answer = transport.call("GET", f"{path}/cells.ndjson", query=query, headers={"Accept": "*/*"})
    return read_feed(answer.body)


def statistics(grid: str | Mapping[str, Any], *, timeout: float = 30.0, **where: Any) -> dict[str, Any]:
    """Everything that was computed about a grid; waits for it so many seconds. `state`: ready, failed or pending.

    `alpha`, `sharp_change` and `equivalence` ask for other settings than the usual ones, `at` for a slice.
    """
    config, more = _config(where, needs_project=False)
    return _awaited(config, f"grids/{segment(_id(grid))}/statistics", _sliced(more), timeout)


def ranking(experiment: str, metric: str, *, timeout: float = 30.0, **asked: Any) -> RankingDocument:
    """A ranking, by default of models: `by`, `benchmark`, `method`, `missing`, `alpha` and so on are as in the API.

    `at={"Context": ">=64000"}` ranks on these cells alone; a list of levels means any of them.
    """
    config, more = _config(asked)
    query = {"experiment": experiment, "metric": metric, **_sliced(more)}
    return RankingDocument(_awaited(config, f"projects/{segment(config.project or '')}/rankings", query, timeout))


def comparison(
    baseline: str | Mapping[str, Any], contender: str | Mapping[str, Any], *, timeout: float = 30.0, **asked: Any
) -> dict[str, Any]:
    """How far the contender is from the baseline, on the cells that both have; `at` compares a slice."""
    config, more = _config(asked)
    query = {"baseline": _id(baseline), "contender": _id(contender), **_sliced(more)}
    return _awaited(config, f"projects/{segment(config.project or '')}/comparisons", query, timeout)


def _config(where: Mapping[str, Any], *, needs_project: bool = True) -> tuple[Config, dict[str, Any]]:
    """The registry that is meant, and what else was asked."""
    config = find_config(where.get("url"), where.get("token"), where.get("project"))
    if needs_project and config.project is None:
        raise BadAddress("No project is named: give project= or REGISTRY_PROJECT.")
    return config, {name: value for name, value in where.items() if name not in ("url", "token", "project")}


def _sliced(query: Mapping[str, Any]) -> dict[str, Any]:
    """The query with `at`, conditions by axis, as the API's parameters."""
    at = query.get("at") or {}
    return {name: value for name, value in query.items() if name != "at"} | {f"at.{axis}": at[axis] for axis in at}


def _found(transport: Transport, config: Config, wanted: Mapping[str, Any]) -> list[dict[str, Any]]:
    query = {name: value for name, value in wanted.items() if value is not None}
    return list(transport.pages(f"projects/{segment(config.project or '')}/grids", **query))


def _id(grid: str | Mapping[str, Any]) -> str:
    if isinstance(grid, str):
        return grid
    if "id" not in grid:
        raise BadData("A grid is its id, or what `grids` or `log_grid` gave.")
    return str(grid["id"])


def _awaited(config: Config, path: str, query: Mapping[str, Any], timeout: float) -> dict[str, Any]:
    until = time.monotonic() + timeout
    with config.transport(timeout=_AT_ONCE + 10.0) as transport:
        while True:
            left = until - time.monotonic()
            headers = {"Prefer": f"wait={min(_AT_ONCE, round(left))}"} if left >= 1 else {}
            answer = transport.call("GET", path, query=query, headers=headers)
            if answer.status != 202 or left <= 0:
                found: dict[str, Any] = answer.json()
                return found
            time.sleep(min(0.5, max(0.0, left)))
