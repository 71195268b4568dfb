"""Reading back and asking: grids, statistics, rankings, claims, gates, plans, events. These raise what goes wrong."""

import json
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from results_registry.config import Config, find_config
from results_registry.errors import BadAddress, BadData, NotNow, Refused, Unreachable
from results_registry.http import Transport
from results_registry.origin import backoff, segment
from results_registry.records import (
    AggregatesDocument,
    Cells,
    ComparisonDocument,
    GridDocument,
    RankingDocument,
    Records,
    StatisticsDocument,
    read_feed,
)

_CLAIMS_AT_ONCE = 100
"""Claims of one request."""
_MOST_WAIT = 30
"""Seconds that one request may wait for judgements."""
Names = str | Sequence[str] | None
_AT_ONCE = 30
"""Seconds that one request may wait for statistics."""


def judge_claims(
    claims: Mapping[str, Any] | Sequence[Mapping[str, Any]], *, timeout: float = 30.0, **where: Any
) -> Any:
    """The judgement of a claim, or of each claim of a list: its `verdict`, the numbers behind it, and a `sentence`.

    `judge_claims({"kind": "trend", "about": {"experiment": "E", "metric": "accuracy", "model": "A"}, "along": "Length",
    "goes": "down"})["verdict"]` is supported, contradicted, not_decidable or ill_posed.
    """
    config, more = configured(where)
    sent = claims if isinstance(claims, Mapping) else list(claims)
    found = awaited(config, _at(config, "claims"), {"dry_run": True, **more}, timeout, sent)
    return found if isinstance(claims, Mapping) else found.get("items", found)


def add_claims(claims: Mapping[str, Any] | Sequence[Mapping[str, Any]], *, timeout: float = 30.0, **where: Any) -> Any:
    """Have a claim kept, or each of a list: the claim with its `id`, `state`, `verdict` and `judgement`, or a list of
    them. The same statement again is the claim that is there. Waits so many seconds for judgements; `state` is
    `pending` where there is none yet. `judge_claims` keeps nothing.
    """
    config, more = configured(where)
    several = [claims] if isinstance(claims, Mapping) else list(claims)
    wait = min(_MOST_WAIT, round(timeout))
    headers = {"Prefer": f"wait={wait}"} if wait >= 1 else {}
    path, found = _at(config, "claims"), []
    with config.transport(timeout=_MOST_WAIT + 10.0) as transport:
        for first in range(0, len(several), _CLAIMS_AT_ONCE):
            sent = [dict(one) for one in several[first : first + _CLAIMS_AT_ONCE]]
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
        return Records(transport.pages(_at(config, "claims"), **query))


def claim(id: str, **where: Any) -> dict[str, Any]:
    """One claim with its whole judgement."""
    config, more = configured(where, needs_project=False)
    with config.transport() as transport:
        found: dict[str, Any] = transport.get(f"claims/{segment(id)}", **more)
        return found


def plan(question: Mapping[str, Any], *, timeout: float = 30.0, **asked: Any) -> dict[str, Any]:
    """The plan for a question, as in the API: `plan({"kind": "separate", "experiment": "E", "metric": "accuracy",
    "baseline_model": "A", "contender_model": "B"}, power=0.9)["needed"]["factor"]`.

    `power`, `alpha`, `one_sided`, `budget` and `item_limit` are as in the API; `state` is `pending` where the
    comparison is not computed after so many seconds.
    """
    config, more = configured(asked)
    return awaited(config, _at(config, "plan"), {}, timeout, {"question": dict(question), **more})


def gate(baseline: str, contender: str | Mapping[str, Any], *, timeout: float = 30.0, **where: Any) -> dict[str, Any]:
    """The verdict on a contender by the policy of a baseline: `gate("main", "R1-Qwen")["passes"]`.

    The contender is a model, the id of a grid, a grid that was published, or one that is not: a mapping as the API
    takes it, of which nothing is kept. `passes` is True, False, or None where neither is shown, nothing can be
    compared, or the `verdict` is `pending` or `failed` after so many seconds; `sentence` says it in words.
    """
    config, more = configured(where)
    path = _at(config, "baselines", baseline, "gate")
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

    `where` is `project`, `url`, `token`, and the list's own `q` (words of names and labels), `sort` and
    `updated_since`.
    """
    config, more = configured(where)
    names = {"experiment": experiment, "benchmark": benchmark, "model": model, "variant": variant, "metric": metric}
    wanted = names | {f"label.{name}": text for name, text in (labels or {}).items()} | more
    with config.transport() as transport:
        return Records(_found(transport, config, wanted))


def grid(id: str, **where: Any) -> GridDocument:
    """One grid with its values."""
    config, more = configured(where, needs_project=False)
    with config.transport() as transport:
        return GridDocument(transport.get(f"grids/{segment(_id(id))}", **more))


def cells(grid: str | Mapping[str, Any] | None = None, **wanted: Any) -> Cells:
    """The measured cells of one grid (its id, or what `grids` gave), or of all that the names of `grids` find.

    `at={"Context": ">=64000"}` reads only these.
    """
    config, more = configured(wanted, needs_project=grid is None)
    path = _at(config) if grid is None else f"grids/{segment(_id(grid))}"
    return read_feed(_table(config, f"{path}/cells", more))


def trends(**wanted: Any) -> Records:
    """A row for each series of all grids that the names of `grids` find, with its slope, its change and how sure they
    are; a grid without any has one row, whose `state` and `reason` say why."""
    return _statistic("trends", wanted)


def peaks(**wanted: Any) -> Records:
    """A row for each best cell of all grids that the names of `grids` find; a grid without one has a row, too."""
    return _statistic("peaks", wanted)


def coverage(**wanted: Any) -> Records:
    """Read how much of each grid was measured, for all grids that the names of `grids` find."""
    return _statistic("coverage", wanted)


def _statistic(name: str, wanted: Mapping[str, Any]) -> Records:
    config, more = configured(wanted)
    lines = _table(config, _at(config, "statistics"), {"part": name, **more})
    return Records(json.loads(line) for line in lines.splitlines())


def _table(config: Config, path: str, wanted: Mapping[str, Any]) -> bytes:
    query = _sliced(wanted)
    labels = query.pop("labels", None) or {}
    query |= {f"label.{name}": text for name, text in labels.items()}
    with config.transport() as transport:
        return transport.call("GET", f"{path}.ndjson", query=query, headers={"Accept": "*/*"}).body


def statistics(grid: str | Mapping[str, Any], *, timeout: float = 30.0, **where: Any) -> StatisticsDocument:
    """Everything that was computed about a grid; waits for it so many seconds. `state`: ready, failed or pending.

    `alpha`, `sharp_change` and `equivalence` ask for other settings than the usual ones, `at` for a slice.
    """
    config, more = configured(where, needs_project=False)
    return StatisticsDocument(awaited(config, f"grids/{segment(_id(grid))}/statistics", _sliced(more), timeout))


def ranking(experiment: str, metric: str, *, timeout: float = 30.0, **asked: Any) -> RankingDocument:
    """A ranking, by default of models: `by`, `benchmark`, `method`, `missing`, `alpha` and so on are as in the API.

    `at={"Context": ">=64000"}` ranks on these cells alone; a list of levels means any of them.
    """
    config, more = configured(asked)
    query = {"experiment": experiment, "metric": metric, **_sliced(more)}
    return RankingDocument(awaited(config, _at(config, "rankings"), query, timeout))


def aggregates(
    experiment: str,
    metric: str,
    *,
    group_by: str | Sequence[str] = ("model", "benchmark"),
    timeout: float = 30.0,
    **asked: Any,
) -> AggregatesDocument:
    """A table of means, bests or counts, by default of models by benchmarks.

    `group_by` and `over` name `benchmark`, `model`, `variant` or `axis:<name>`; `value`, `missing`, `benchmark` and so
    on are as in the API, `at` tabulates a slice. `.to_pandas()["value"].unstack()` is the table.
    """
    config, more = configured(asked)
    query = {"experiment": experiment, "metric": metric, "group_by": group_by, **_sliced(more)}
    return AggregatesDocument(awaited(config, _at(config, "aggregates"), query, timeout))


def comparison(
    baseline: str | Mapping[str, Any] | None = None,
    contender: str | Mapping[str, Any] | None = None,
    *,
    timeout: float = 30.0,
    **asked: Any,
) -> ComparisonDocument:
    """Read how far the contender is from the baseline, on the cells that both have; `at` compares a slice.

    Two grids by their ids, or two models by name: `comparison(experiment="E", metric="accuracy", baseline_model="A",
    contender_model="B")` has `by_benchmark`, and over all of them `whole`. Names go with `benchmark`, `suite`,
    `variant`, or `baseline_variant` and `contender_variant`, as in the API.
    """
    config, more = configured(asked)
    grids = {"baseline": baseline, "contender": contender}
    query = {side: _id(grid) for side, grid in grids.items() if grid is not None} | _sliced(more)
    return ComparisonDocument(awaited(config, _at(config, "comparisons"), query, timeout))


def configured(where: Mapping[str, Any], *, needs_project: bool = True) -> tuple[Config, dict[str, Any]]:
    """The registry that is meant, and what else was asked."""
    config = find_config(where.get("url"), where.get("token"), where.get("project"))
    if needs_project and config.project is None:
        raise BadAddress("No project is named: give project= or REGISTRY_PROJECT.")
    return config, {name: value for name, value in where.items() if name not in ("url", "token", "project")}


def _at(config: Config, *names: str) -> str:
    return "/".join(["projects", *map(segment, (config.project or "", *names))])


def _sliced(query: Mapping[str, Any]) -> dict[str, Any]:
    at = query.get("at") or {}
    return {name: value for name, value in query.items() if name != "at"} | {f"at.{axis}": at[axis] for axis in at}


def _found(transport: Transport, config: Config, wanted: Mapping[str, Any]) -> list[dict[str, Any]]:
    query = {name: value for name, value in wanted.items() if value is not None}
    return list(transport.pages(_at(config, "grids"), **query))


def _id(grid: str | Mapping[str, Any]) -> str:
    if isinstance(grid, str):
        return grid
    if "id" not in grid:
        raise BadData("A grid is its id, or what `grids` or `log_grid` gave.")
    return str(grid["id"])


def awaited(
    config: Config, path: str, query: Mapping[str, Any], timeout: float, question: Any = None
) -> dict[str, Any]:
    """The answer at a path, or to a question that is sent there, once it is computed, or as it is after `timeout`."""
    method = "GET" if question is None else "POST"
    until = time.monotonic() + timeout
    with config.transport(timeout=_AT_ONCE + 10.0) as transport:
        while True:
            left = until - time.monotonic()
            headers = {"Prefer": f"wait={min(_AT_ONCE, round(left))}"} if left >= 1 else {}
            answer = transport.call(method, path, question, query=query, headers=headers)
            if answer.status != 202 or left <= 0:
                found: dict[str, Any] = answer.json()
                return found
            time.sleep(min(0.5, max(0.0, left)))


_EVENTS_AT_ONCE = 1_000


def events(
    project: str | None = None,
    *,
    after: str | datetime | None = None,
    type: Names = None,
    follow: bool = False,
    **where: Any,
) -> Iterator[dict[str, Any]]:
    """The events of a project in their order, each once: all that are kept, or those after a cursor, an instant or
    `"now"`. With `follow` it goes on as they happen, and does not end.

    `type` is a type or all of a kind, as `"claim.*"`; `where` is `url`, `token`, and the feed's own `experiment`,
    `benchmark`, `model` and `metric`. To go on later, keep the `cursor` of the last event that was dealt with, and give
    it as `after`. While it follows, a registry that does not answer is asked again until it does; `Refused` with status
    410 says that events after the cursor are not kept any more.
    """
    config, more = configured({**where, "project": project})
    begin = after.isoformat() if isinstance(after, datetime) else after
    return followed(config, {"type": type, **more}, begin, follow=follow)


def followed(config: Config, asked: Mapping[str, Any], after: str | None, *, follow: bool) -> Iterator[dict[str, Any]]:
    """Like `events`, of a registry that was found."""
    path, cursor, attempt = _at(config, "events"), after, 0
    with config.transport() as transport:
        while True:
            try:
                for event, behind in _told(transport, path, asked, cursor, follow=follow):
                    cursor, attempt = behind, 0
                    if event is not None:
                        yield event
                if not follow:
                    return
            except (Unreachable, NotNow) as error:
                if not follow:
                    raise
                attempt += 1
                time.sleep(backoff(attempt, float(error.after)))


def _told(
    transport: Transport, path: str, asked: Mapping[str, Any], after: str | None, *, follow: bool
) -> Iterator[tuple[dict[str, Any] | None, str]]:
    """Events, each with the cursor behind it, page by page and then from one stream; None where only that moved."""
    while True:
        page = transport.get(path, **asked, after=after, limit=_EVENTS_AT_ONCE)
        for event in page["items"]:
            yield event, event["cursor"]
        after = page["next"]
        yield None, page["next"]
        if page["next"] == page["head"]:
            break
    if follow:
        query = {**asked, "after": after}
        with transport.stream(path, query=query, headers={"Accept": "text/event-stream"}) as (_, chunks):
            for message in _messages(chunks):
                if "id" in message:
                    yield (json.loads(message["data"]) if "data" in message else None), message["id"]


def _messages(chunks: Iterable[bytes]) -> Iterator[dict[str, str]]:
    """The fields of each message of server-sent events, as our registry writes them: each on one line."""
    rest = b""
    for chunk in chunks:
        *whole, rest = (rest + chunk).split(b"\n\n")
        for message in whole:
            lines = [line.partition(": ") for line in message.decode().splitlines() if not line.startswith(":")]
            yield {name: text for name, _, text in lines}
