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

from registry.database import Database
from registry.question import Question, RankingQuestion, SweetSpotQuestion, ThresholdsQuestion, question_of
from registry.settings import Settings
from registry.tables import answers, revisions
from workers.compromise import sweet_spot_document, thresholds_document
from workers.derive import finished
from workers.promises import claim, give_back
from workers.rank import ranking
from workers.scope import alias_map, scope_rows
from workers.statistics import METHODS_VERSION

log = structlog.get_logger()


def answer_due(database: Database, settings: Settings) -> int:
    """Answer one due question, if there is one; how many there were."""
    claimed = claim(database, settings, answers, 1)
    for row in claimed.rows:
        try:
            _answer(database, claimed.lease, row)
        except Exception as error:
            log.warning("answer failed", answer=str(row.id), error=repr(error))
            give_back(database, settings, claimed, row, error)
    return len(claimed.rows)


def _answer(database: Database, lease: Any, row: Any) -> None:
    begun = time.perf_counter()
    question = question_of(row.question)
    document = read_and_answer(database, row.project_id, question) | {
        "methods_version": METHODS_VERSION,
        "state": "ready",
    }
    settled = {
        # An input that changed since the claim leaves the promise open; this answer is then never served.
        "state": case((answers.c.generation == row.generation, "ready"), else_="pending"),
        "answered": row.generation,
        "attempts": 0,
        "lease": None,
        "leased_until": None,
        "reason": None,
        "document": finished(document | {"computed_at": datetime.now(UTC)}),
        "etag": sha256(orjson.dumps(document)).hexdigest()[:24],
        "methods_version": METHODS_VERSION,
        "seconds": time.perf_counter() - begun,
        "computed_at": func.now(),
    }
    with database.transaction() as connection:
        mine = and_(answers.c.id == row.id, answers.c.lease == lease)
        connection.execute(update(answers).where(mine).values(settled))


def read_and_answer(database: Database, project_id: Any, question: Question) -> dict[str, Any]:
    """The document that answers a question from the rows as they are now."""
    with database.reading() as connection:
        if isinstance(question, ThresholdsQuestion):
            wanted = (revisions.c.grid_id == question.grid, revisions.c.number == question.revision)
            return thresholds_document(question, connection.execute(select(revisions).where(*wanted)).one())
        rows = scope_rows(connection, project_id, question)
        joined = alias_map(connection, project_id)
    return answer(question, rows, joined)


def answer(question: Question, rows: Sequence[Any], joined: Mapping[tuple[str, str], str]) -> dict[str, Any]:
    """The document that answers a question about a scope: equal inputs give equal bytes."""
    if isinstance(question, SweetSpotQuestion):
        return sweet_spot_document(question, rows, joined)
    if isinstance(question, RankingQuestion):
        return ranking(question, rows, joined)
    raise TypeError(f"nobody answers {question.kind}")
