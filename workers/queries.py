"""Answer: what was asked about a scope -> a document, settled only if no input changed meanwhile."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

import orjson
import structlog
from sqlalchemy import and_, case, func, select, update

from registry.query import (
    ComparisonQuery,
    Query,
    RankingQuery,
    RevisionQuery,
    StatisticsQuery,
    SweetSpotQuery,
    ThresholdsQuery,
    query_of,
)
from registry.results.codec import to_bytes
from registry.settings import Settings
from registry.storage.bi_facts import facts_of_answer
from registry.storage.database import Database
from registry.storage.tables import answers, revisions
from workers.comparisons import compared_rows, comparison_document
from workers.jobs.cpu_limit import cpu_limit
from workers.jobs.leases import Claim, claim, fail_attempt, release
from workers.rankings.direct import ranking_document, refused_ranking
from workers.rankings.from_pair_sums import ranking_from_sums, size_from_sums
from workers.rankings.pair_sums.update import catch_up, close_scope, is_up_to_date, keeps_sums, open_scope
from workers.scope import alias_map, scope_rows, scope_size
from workers.statistics import METHODS_VERSION
from workers.statistics.ranking import MOST_NAMES
from workers.statistics_by_settings import statistics_asked_document
from workers.sweet_spots import TOO_LARGE, sweet_spot_document, thresholds_document

log = structlog.get_logger()

_PER_PAIR = 100
"""What two models cost beside their cells, in cells."""
READY = {"methods_version": METHODS_VERSION, "state": "ready"}
_TOO_MANY_CELLS = "too many cells to be compared one by one; ask about fewer models or benchmarks"
_COUNTING_SHIFT = 5.0
_COUNTING_PAUSE = 0.1
"""How long one claim counts, and how long it pauses when there is more: other promises have their turn."""


def answer_due(database: Database, settings: Settings) -> int:
    """Answer one due question, if there is one; how many there were."""
    claimed = claim(database, settings, answers, 1)
    for row in claimed.rows:
        try:
            _answer(database, settings, claimed, row)
        except Exception as error:
            log.warning("answer failed", answer=str(row.id), error=repr(error))
            fail_attempt(database, settings, claimed, row, error)
    return len(claimed.rows)


def _answer(database: Database, settings: Settings, claimed: Claim, row: Any) -> None:
    begun = time.perf_counter()
    with cpu_limit():
        found = read_and_answer(database, settings, row.project_id, query_of(row.question))
    if found is None:
        release(database, claimed, [row], _COUNTING_PAUSE)
        return
    document = found | READY
    settled = {
        # An input that changed since the claim leaves the promise open; this answer is then never served.
        "state": case((answers.c.generation == row.generation, "ready"), else_="pending"),
        "answered": row.generation,
        "attempts": 0,
        "lease": None,
        "leased_until": None,
        "reason": None,
        "document": to_bytes(document | {"computed_at": datetime.now(UTC)}),
        "facts": facts_of_answer(document),
        "etag": tag_of(document),
        "methods_version": METHODS_VERSION,
        "seconds": time.perf_counter() - begun,
        "computed_at": func.now(),
    }
    with database.transaction() as connection:
        mine = and_(answers.c.id == row.id, answers.c.lease == claimed.lease)
        connection.execute(update(answers).where(mine).values(settled))


def tag_of(document: Mapping[str, Any]) -> str:
    """The entity tag of an answer, from all of it but the instant at which it was computed."""
    return sha256(orjson.dumps(dict(document))).hexdigest()[:24]


def answer_again(database: Database, settings: Settings, project_id: Any, question: Query) -> dict[str, Any] | None:
    """The finished document of a question, computed without a write; None while its sums are still being counted."""
    with cpu_limit():
        if isinstance(question, RankingQuery) and _is_large(database, settings, project_id, question):
            if not _of_sums(question):
                return refused_ranking(question, _TOO_MANY_CELLS) | READY
            with database.snapshot() as connection:
                whole = is_up_to_date(connection, project_id, question)
                return ranking_from_sums(connection, project_id, question) | READY if whole else None
        found = read_and_answer(database, settings, project_id, question)
    return None if found is None else found | READY


def read_and_answer(database: Database, settings: Settings, project_id: Any, question: Query) -> dict[str, Any] | None:
    """The document that answers a question from the rows as they are now; None while sums are still being counted."""
    if isinstance(question, RevisionQuery):
        with database.reading() as connection:
            wanted = (revisions.c.grid_id == question.grid, revisions.c.number == question.revision)
            revision = connection.execute(select(revisions).where(*wanted)).one()
        return _about_revision(question, revision)
    if isinstance(question, ComparisonQuery):
        with database.reading() as connection:
            joined = alias_map(connection, project_id)
            return comparison_document(question, *compared_rows(connection, project_id, question), joined)
    if _is_large(database, settings, project_id, question):
        return _answer_large(database, settings, project_id, question)
    return _answer_from_cells(database, project_id, question)


def _about_revision(question: RevisionQuery, revision: Any) -> dict[str, Any]:
    if isinstance(question, ThresholdsQuery):
        return thresholds_document(question, revision)
    if isinstance(question, StatisticsQuery):
        return statistics_asked_document(question, revision)
    raise TypeError(f"nobody answers {question.kind}")


def _answer_from_cells(database: Database, project_id: Any, question: Query) -> dict[str, Any]:
    with database.reading() as connection:
        rows = scope_rows(connection, project_id, question)
        joined = alias_map(connection, project_id)
    return answer(question, rows, joined)


def _is_large(database: Database, settings: Settings, project_id: Any, question: Query) -> bool:
    """Whether the cells of a question are too many to be read and compared each time."""
    with database.reading() as connection:
        usual = isinstance(question, RankingQuery) and _of_sums(question) and not question.model
        if usual and keeps_sums(connection, project_id, question):
            return True
        return is_much(settings, question, *scope_size(connection, project_id, question))


def is_much(settings: Settings, question: Query, models: int, cells: int) -> bool:
    """Whether so many are too many."""
    if isinstance(question, RankingQuery) and question.by == "model":
        return models > MOST_NAMES or models * cells + _PER_PAIR * models**2 > settings.ranking_work
    return cells > settings.ranking_work


def _of_sums(question: RankingQuery) -> bool:
    """Whether sums of pairs are kept for such a question."""
    return question.by == "model" and not question.benchmark and not question.variant


def _answer_large(database: Database, settings: Settings, project_id: Any, question: Query) -> dict[str, Any] | None:
    if not isinstance(question, RankingQuery):
        return {"experiment": question.experiment, "metric": question.metric} | TOO_LARGE
    if not _of_sums(question):
        return refused_ranking(question, _TOO_MANY_CELLS)
    open_scope(database, project_id, question)
    if not catch_up(database, project_id, question, time.monotonic() + _COUNTING_SHIFT):
        return None
    with database.snapshot() as connection:
        names, cells = size_from_sums(connection, project_id, question)
        if question.model or is_much(settings, question, names, 2 * cells):
            return ranking_from_sums(connection, project_id, question)
    # Most of it was deleted: what is left is compared cell by cell again.
    close_scope(database, project_id, question)
    return _answer_from_cells(database, project_id, question)


def answer(question: Query, rows: Sequence[Any], joined: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """The document that answers a question about a scope: equal inputs give equal bytes."""
    if isinstance(question, SweetSpotQuery):
        return sweet_spot_document(question, rows, joined)
    if isinstance(question, RankingQuery):
        return ranking_document(question, rows, joined)
    raise TypeError(f"nobody answers {question.kind}")
