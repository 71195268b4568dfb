"""Compute due queries, by `answers`, `rankings`, `claims` and `gates`, and settle those whose inputs did not change."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Literal, cast

import orjson
import structlog
from sqlalchemy import Connection, and_, case, func, literal, select, update

from registry.query import (
    AggregatesQuery,
    BaselineQuery,
    ClaimPlanQuery,
    ClaimsQuery,
    ComparisonQuery,
    GateQuery,
    ModelComparisonQuery,
    Query,
    RankingQuery,
    RepeatNoiseQuery,
    RevisionQuery,
    StatisticsQuery,
    StoredClaimsQuery,
    ThresholdsQuery,
    query_of,
)
from registry.results.bi_facts import facts_of_answer
from registry.results.codec import to_bytes, to_document
from registry.results.gates import Gate
from registry.results.ranking import Ranking
from registry.settings import Settings
from registry.storage.database import Database
from registry.storage.item_outcomes import rows_of_grids
from registry.storage.rows import sliced_row
from registry.storage.tables import cached_results, projects, revisions
from workers.answers.aggregates import CellReader, aggregates_of, refused_aggregates
from workers.answers.comparisons import (
    Asked,
    compared_items,
    compared_rows,
    comparison_document,
    model_comparison_document,
    refused_model_comparison,
)
from workers.answers.repeat_noise import repeat_noise_document
from workers.claims.answer import MOST_CELLS, claim_plan_document, claims_document
from workers.claims.stored import judge_part, judge_turn, record_judgements
from workers.derive import SHIFT_SECONDS, derive_shift, statistics_asked_document, thresholds_document
from workers.gates.alerts import record_judging
from workers.gates.contenders import SHIFT, Judging, judge_contenders
from workers.gates.gate import MOST_LISTED, gate_of, read_sides, too_large
from workers.jobs.invalidation import IDLE_SHARE, READ_LATELY
from workers.jobs.leases import Claim, claim, fail_attempt, is_refused, put_off, release
from workers.jobs.worker_process import cpu_limit, is_shutting_down, wake_dispatcher
from workers.jobs.worker_process import done as jobs_done
from workers.protocols import Screen, rules_of, screen_of, with_left_out
from workers.rankings.change import Side, facts_told, facts_untold, record_ranking, with_change
from workers.rankings.direct import board_ranking, direct_ranking, ranking_from_sums, read_board, refused_ranking
from workers.rankings.pair_sums import catch_up, close_scope, is_up_to_date, keeps_sums, open_scope
from workers.scope import alias_map, scope_rows, scope_size, stream_rows
from workers.statistics import METHODS_VERSION
from workers.statistics.board import MOST_COUNTED, OF_CELLS, sums_have_order
from workers.statistics.ranking import MOST_NAMES

log = structlog.get_logger()

_PER_PAIR = 100
"""Cost of a pair of models besides their cells, in cells."""
READY = {"methods_version": METHODS_VERSION, "state": "ready"}
_TOO_MANY_CELLS = "too many cells to be compared one by one; ask about fewer models or benchmarks"
_TOO_MANY_PROTOCOLS = f"protocols differ in keys that bind, and there are {_TOO_MANY_CELLS}"
_MOST_WITHOUT_SUMS = 300_000
"""Cells up to which a ranking that pair sums could give is made from all cells each time. At 1.4 million one more grid
takes 0.8 to 3 s that way, and a tenth of it from sums."""
_COUNTING_SHIFT = 5.0
_COUNTING_PAUSE = 0.1
"""Seconds for which one claim updates pair sums, and those until its next one: other jobs get their share."""


Result = Ranking | Judging | dict[str, Any]
Way = Literal["cells", "board", "sums", "refused"]
"""From cells with exact tests, from all cells of a leaderboard at once, from pair sums, or not at all."""

_FROM_REVISION: dict[type[Query], Callable[[Any, Any], dict[str, Any]]] = {
    StatisticsQuery: statistics_asked_document,
    ThresholdsQuery: thresholds_document,
}
_SELECTED = (RankingQuery, AggregatesQuery, RepeatNoiseQuery, ModelComparisonQuery, GateQuery)
_RECORDERS: Mapping[type[Query], Callable[[Connection, Any, Any], None]] = {
    BaselineQuery: record_judging,
    RankingQuery: record_ranking,
    StoredClaimsQuery: record_judgements,
}
"""What else is written with a result: functions of the row of its question and of the result, each called in the
transaction that settles it, and only for a result of the current inputs."""


@dataclass
class Turns:
    """What a process computes in turn: statistics for a shift, then one query.

    While more is published than is described, rankings that nobody reads, of experiments that fill up, take a fifth of
    its time: they rest four times as long as a query took. What people ask and read, gates and claims go on.
    """

    database: Database
    settings: Settings
    rests_until: float = 0.0

    def take(self) -> int:
        """Compute; return how many grids and queries."""
        began = time.monotonic()
        described = derive_shift(self.database, self.settings)
        if is_shutting_down():
            return described
        ended = time.monotonic()
        behind = ended - began >= SHIFT_SECONDS
        answered = compute_due(self.database, self.settings, asked=behind and ended < self.rests_until)
        if answered:
            now = time.monotonic()
            self.rests_until = now + IDLE_SHARE * (now - ended)
        return described + answered


def compute_due(database: Database, settings: Settings, *, asked: bool = False) -> int:
    """Compute one due query, if there is one, or one that somebody `asked`; return how many there were."""
    unread = and_(cached_results.c.is_default, cached_results.c.read_at <= func.now() - READ_LATELY)
    only = ~and_(unread, cached_results.c.query["kind"].astext == RankingQuery.kind) if asked else None
    claimed = claim(database, settings, cached_results, 1, only)
    for row in claimed.rows:
        began, computed, failed = time.perf_counter(), False, False
        try:
            computed = _compute_and_settle(database, settings, claimed, row)
        except Exception as error:
            failed = True
            if is_refused(error):
                log.warning("answer put off", answer=str(row.id), error=repr(error))
                put_off(database, claimed, [row], error)
            else:
                log.warning("answer failed", answer=str(row.id), error=repr(error))
                fail_attempt(database, settings, claimed, row, error)
        seconds = time.perf_counter() - began
        jobs_done.add(row.query["kind"], computed, failed=failed, seconds=seconds)
        if computed:
            told = {"kind": row.query["kind"], "project_id": str(row.project_id), "ms": round(1000 * seconds, 1)}
            log.info("answered", answer=str(row.id), generation=row.generation, **told)
    return len(claimed.rows)


def _compute_and_settle(database: Database, settings: Settings, claimed: Claim, row: Any) -> bool:
    """Return whether there is a result; where sums take another turn, the job is released."""
    started = time.perf_counter()
    query = query_of(row.query)
    with cpu_limit():
        result = compute(database, settings, row.project_id, query)
    if result is None:
        release(database, claimed, [row], _COUNTING_PAUSE)
        return False
    document = document_of(result) | about(query)
    columns = {
        # The generation grew if an input changed since the claim. The job then stays pending, and this result, although
        # it is stored, is never served: `document_generation` is behind `generation`.
        "state": case((cached_results.c.generation == row.generation, "ready"), else_="pending"),
        "document_generation": row.generation,
        "attempts": 0,
        "lease": None,
        "leased_until": None,
        "reason": None,
        "document": to_bytes(document | {"computed_at": datetime.now(UTC)}),
        "facts": _facts_of(row, document if isinstance(result, Judging) else result),
        "etag": etag_of(document),
        "methods_version": METHODS_VERSION,
        "seconds": time.perf_counter() - started,
        "computed_at": func.now(),
    }
    with database.transaction() as connection:
        # Only under its own lease: after that ran out, another worker may have computed a newer result.
        held = and_(cached_results.c.id == row.id, cached_results.c.lease == claimed.lease)
        settled = update(cached_results).where(held).values(columns).returning(cached_results.c.generation)
        record = _RECORDERS.get(type(query))
        if connection.scalar(settled) == row.generation and record is not None:
            record(connection, row, result)
    wake_dispatcher()
    return True


def _facts_of(row: Any, result: Ranking | dict[str, Any]) -> Any:
    """Value of the column `facts`: a ranking that is not served keeps what was told last."""
    facts = to_document(facts_of_answer(result))
    if facts is None:
        return None
    kind = cached_results.c.facts.type
    told = cached_results.c.generation == row.generation
    return case((told, literal(facts_told(row, facts), kind)), else_=literal(facts_untold(row, facts), kind))


def document_of(result: Result) -> dict[str, Any]:
    """The document of a result, but for the time of computation."""
    if isinstance(result, Judging):
        return result.document | READY
    if not isinstance(result, Ranking):
        return result | READY
    document: dict[str, Any] = to_document(replace(result, methods_version=METHODS_VERSION))
    return document


def about(query: Query) -> dict[str, Any]:
    """What an answer about several grids says of the selection that it is about."""
    return {"selection": to_document(query.selected())} if isinstance(query, _SELECTED) else {}


def etag_of(document: Mapping[str, Any]) -> str:
    """Entity tag of a result: a hash of everything but the time of computation."""
    return sha256(orjson.dumps(dict(document))).hexdigest()[:24]


def compute_again(database: Database, settings: Settings, project_id: Any, query: Query) -> dict[str, Any] | None:
    """Complete document of a query, computed without a write and by nothing that was stored with its result; None while
    its pair sums are out of date, and where it takes more than one turn."""
    with cpu_limit():
        if isinstance(query, StoredClaimsQuery):
            every = judge_part(database, project_id, query, min(MOST_CELLS, settings.ranking_work))
            return None if every["left"] else document_of(every)
        result = compute(database, settings, project_id, query, writes=False)
    return None if result is None else document_of(result) | about(query)


def compute(
    database: Database, settings: Settings, project_id: Any, query: Query, *, writes: bool = True
) -> Result | None:
    """Result of a query from the rows as they are now; None while its pair sums are out of date. Unless it `writes`
    nothing, these are opened and updated, and deleted where it does not need them any more."""
    if isinstance(query, RevisionQuery | ComparisonQuery):
        return _compute_from_revisions(database, project_id, query)
    if isinstance(query, BaselineQuery):
        return judge_contenders(database, project_id, query, settings.ranking_work, time.monotonic() + SHIFT)
    if isinstance(query, StoredClaimsQuery):
        return judge_turn(database, project_id, query, min(MOST_CELLS, settings.ranking_work))
    screen = screen_of(database, project_id, query)
    way, idle = _way_of(database, settings, project_id, query, screen)
    if isinstance(query, ModelComparisonQuery | GateQuery):
        compare: Callable[..., Result] = _judge_contender if isinstance(query, GateQuery) else _compare_models
        return compare(database, project_id, query, refused=way == "refused")
    if idle and writes:
        close_scope(database, project_id, query)
    if way == "cells":
        found: Result | None = _compute_from_cells(database, project_id, query, screen)
    elif not isinstance(query, RankingQuery):
        return _refused(query, settings)
    elif way == "sums":
        found = _compute_from_sums(database, settings, project_id, query, writes=writes)
    elif way == "board":
        found = _compute_board(database, settings, project_id, query, screen)
    else:
        too_many = _TOO_MANY_PROTOCOLS if screen.ids else _TOO_MANY_CELLS
        found = refused_ranking(query, f"{too_many} {_limits(settings)}")
    found = found and with_left_out(found, screen)
    return (
        _compute_change(database, settings, project_id, query, found, screen)
        if isinstance(query, RankingQuery) and query.since and isinstance(found, Ranking)
        else found
    )


def _refused(query: Query, settings: Settings) -> dict[str, Any]:
    reason = f"too many cells; ask about fewer models or benchmarks {_limits(settings)}"
    if isinstance(query, AggregatesQuery):
        return refused_aggregates(query, reason)
    whose = {"experiment": query.experiment, "metric": query.metric}
    return whose | {"status": "undefined", "reason": reason, "inputs": []}


def _compute_change(
    database: Database, settings: Settings, project_id: Any, query: RankingQuery, now: Ranking, screen: Screen
) -> Ranking:
    earlier = query.then()
    then: Any = compute(database, settings, project_id, earlier)
    sides = Side(earlier, then, screen_of(database, project_id, earlier).ids), Side(query, now, screen.ids)
    with database.snapshot() as connection:
        return with_change(connection, project_id, *sides, settings.ranking_work)


def _compute_from_revisions(database: Database, project_id: Any, query: RevisionQuery | ComparisonQuery) -> Result:
    with database.reading() as connection:
        if isinstance(query, ComparisonQuery):
            aliases = alias_map(connection, project_id)
            sides = compared_rows(connection, project_id, query)
            items = compared_items(connection, query, *sides)
            own = aliases.get(("experiment", sides[0].experiment), sides[0].experiment)
            rules = rules_of(connection, project_id, own)
            return comparison_document(query, sides, aliases, rules, items)
        mine = (revisions.c.project_id == project_id, revisions.c.grid_id == query.grid)
        wanted = select(revisions).where(*mine, revisions.c.number == query.revision)
        revision = sliced_row(connection.execute(wanted).one(), query.at)
    return _FROM_REVISION[type(query)](query, revision)


def _compare_models(database: Database, project_id: Any, query: ModelComparisonQuery, *, refused: bool) -> Result:
    if refused:
        return refused_model_comparison(query)
    with database.reading() as connection:
        slug = str(connection.scalar(select(projects.c.slug).where(projects.c.id == project_id)))
        rows, aliases = scope_rows(connection, project_id, query), alias_map(connection, project_id)
        rules = rules_of(connection, project_id, query.experiment)
        items = rows_of_grids(connection, rows, query.as_of)
    return model_comparison_document(query, rows, aliases, rules, Asked(slug, items))


def _judge_contender(database: Database, project_id: Any, query: GateQuery, *, refused: bool) -> Result:
    if refused and query.model:  # without a model nothing of the scope is read
        return _listed(too_large(query))
    with database.reading() as connection:
        slug = str(connection.scalar(select(projects.c.slug).where(projects.c.id == project_id)))
        both = read_sides(connection, project_id, query, alias_map(connection, project_id))
        rules = rules_of(connection, project_id, query.experiment)
    return _listed(gate_of(query, both, rules, slug))


def _listed(gate: Gate) -> dict[str, Any]:
    found: dict[str, Any] = to_document(replace(gate, per=gate.per[:MOST_LISTED]))
    return found


def _compute_board(
    database: Database, settings: Settings, project_id: Any, query: RankingQuery, screen: Screen
) -> Result:
    with database.snapshot() as connection:
        board = read_board(connection, project_id, query, screen.ids)
    # Outside of the block: PostgreSQL ends a transaction that is idle for long.
    found = board_ranking(board, query)
    return refused_ranking(query, f"{_TOO_MANY_CELLS} {_limits(settings)}") if found is None else found


def _limits(settings: Settings) -> str:
    """The operator's limits, for a sentence that says that there are too many cells."""
    most = f"REGISTRY_RANKING_CELLS is {settings.ranking_cells:,}, REGISTRY_RANKING_WORK {settings.ranking_work:,}"
    return f"(the operator's limits: {most})"


def _compute_from_cells(database: Database, project_id: Any, query: Query, screen: Screen) -> Result:
    if isinstance(query, AggregatesQuery):
        with database.snapshot() as connection:
            aliases = alias_map(connection, project_id)
            streamed = stream_rows(connection, project_id, query)
            cells = CellReader(query, aliases).read(row for row in streamed if row.id not in screen.ids)
        # Outside of the block: PostgreSQL ends a transaction that is idle for long.
        return aggregates_of(query, cells)
    # Two statements and so two snapshots: a change between them has invalidated the result before it is served.
    with database.reading() as connection:
        rows = [row for row in scope_rows(connection, project_id, query) if row.id not in screen.ids]
        aliases, rules = alias_map(connection, project_id), rules_of(connection, project_id, query.experiment)
        of_items = isinstance(query, RankingQuery) and query.target == "new_questions"
        items = rows_of_grids(connection, rows, query.as_of) if of_items else {}
    if isinstance(query, ClaimPlanQuery):
        return claim_plan_document(query, rows, aliases, rules)
    if isinstance(query, ClaimsQuery):
        return claims_document(query, rows, aliases, rules)
    if isinstance(query, RankingQuery):
        return direct_ranking(query, rows, aliases, items)
    return repeat_noise_document(cast(RepeatNoiseQuery, query), rows, aliases)


def _way_of(database: Database, settings: Settings, project_id: Any, query: Query, screen: Screen) -> tuple[Way, bool]:
    """How a query about a scope is computed, and whether pair sums are kept that it does not need.

    A scope that keeps pair sums goes on with them until it is half as large as one that would begin to keep them, so
    that a scope near the limit does not change its way by turns. Sums are of all grids, also of those that are left
    out because of their protocols.
    """
    with database.reading() as connection:
        models, cells = scope_size(connection, project_id, query)
        keeps = isinstance(query, RankingQuery) and _has_pair_sums(query) and keeps_sums(connection, project_id, query)
    if not isinstance(query, RankingQuery):
        return "refused" if exceeds_limit(settings, query, models, cells) else "cells", False
    most, usual, idle = settings.ranking_cells, keeps and not query.model and not screen.ids, False
    if _has_pair_sums(query) and sums_have_order(query.method, query.missing):
        idle = keeps and not query.model
        if not screen.ids and models <= MOST_COUNTED:
            most = min(most, _MOST_WITHOUT_SUMS) // (2 if usual else 1)
    if not exceeds_limit(settings, query, models, 2 * cells if usual and cells > most else cells):
        return "cells", idle
    if not query.by.startswith("axis:") and cells <= most:
        return "board", idle
    return "sums" if _has_pair_sums(query) and not screen.ids else "refused", False


def exceeds_limit(settings: Settings, query: Query, models: int, cells: int) -> bool:
    """Return whether a query over so many models and cells is too large."""
    if isinstance(query, RankingQuery) and query.by == "model":
        return models > MOST_NAMES or models * cells + _PER_PAIR * models**2 > settings.ranking_work
    return cells > (min(MOST_CELLS, settings.ranking_work) if isinstance(query, ClaimsQuery) else settings.ranking_work)


def _has_pair_sums(query: RankingQuery) -> bool:
    """Return whether pair sums are kept for this kind of ranking. They are of now, and of one instant."""
    narrowed = query.benchmark or query.variant or query.at
    return query.by == "model" and not (narrowed or query.as_of or query.since)


def _compute_from_sums(
    database: Database, settings: Settings, project_id: Any, query: RankingQuery, *, writes: bool
) -> Result | None:
    """The ranking from pair sums; where it needs every cell, of which there are too many, it names the limits."""
    if writes:
        open_scope(database, project_id, query)
        if not catch_up(database, project_id, query, time.monotonic() + _COUNTING_SHIFT):
            return None
    # One snapshot: another worker may update the scope and the sums of its names meanwhile.
    with database.snapshot() as connection:
        if not writes and not is_up_to_date(connection, project_id, query):
            return None
        found = ranking_from_sums(connection, project_id, query)
    reason = found.reason or ""
    return replace(found, reason=f"{reason} {_limits(settings)}") if reason.endswith(OF_CELLS) else found
