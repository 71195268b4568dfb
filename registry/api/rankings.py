"""Rankings: models, variants or the levels of an axis in order over the slots that they share."""

from __future__ import annotations

import gzip
from typing import Any

import orjson
from flask import Response

from registry.api import examples
from registry.api.answers import known_tags, rendered, send_stored, tagged, wanted_form
from registry.api.context import caller, parts
from registry.api.platform import API_PREFIX, Blueprint, reply
from registry.api.schemas import RankingQuery
from registry.api.statistics import unready, waited
from registry.errors import NotFound
from registry.operations.admit import admit
from registry.operations.ask import find_ranking, has_grids, promise_ranking, resolve
from registry.operations.find import with_aliases
from registry.question import Question
from registry.renderings.ranking import ranking_csv, ranking_markdown, ranking_text

blp = Blueprint("rankings", __name__, url_prefix=API_PREFIX, description="Who is better, how surely, and over what.")

_FORMS = ("json", "txt", "md", "csv")
_RENDERERS = {"txt": ranking_text, "md": ranking_markdown, "csv": ranking_csv}
_DESCRIBED = blp.answers(
    reply(
        200,
        "The ranking, or why it failed",
        "Ranking",
        example=examples.RANKING,
        forms=examples.RANKING_FORMS,
        headers=["ETag"],
    ),
    reply(202, "Pending: come back", "PendingRanking", example=examples.PENDING_RANKING, headers=["Retry-After"]),
    reply(304, "Not modified"),
    public=True,
    parameters=["Prefer", "If-None-Match"],
)


@blp.get("/projects/<project>/rankings")
@blp.arguments(RankingQuery, location="query")
@_DESCRIBED
def read_ranking(query: dict[str, Any], project: str) -> Response:
    """Rank over shared slots

    The usual question (an experiment and a metric) is answered from a stored document; another is computed when it is
    first asked (`202`, `Prefer: wait=10` waits) and kept. An answer for old inputs is never given.
    """
    return _answer(query, project, None)


@blp.get("/projects/<project>/rankings.<any(json,txt,md,csv):suffix>")
@blp.arguments(RankingQuery, location="query")
@_DESCRIBED
def read_ranking_as(query: dict[str, Any], project: str, suffix: str) -> Response:
    """Rank, in the form that the suffix names"""
    return _answer(query, project, suffix)


def _answer(query: dict[str, Any], project: str, suffix: str | None) -> Response:
    form = wanted_form(suffix, _FORMS)
    known = [tag.removesuffix(tagged("", form)) for tag in known_tags() if tag.endswith(tagged("", form))]
    question = _question(query)

    def look() -> Any:
        with parts().database.reading() as connection:
            row = find_ranking(connection, project, question, known)
            admit(caller(connection), row, "reader")
            return row

    row = look()
    if row.aliased:
        with parts().database.reading() as connection:
            question = resolve(connection, row.project_id, question)
        row = look()
    if row.id is None:
        _promise(row.project_id, question)
    if not _settled(row):
        parts().doorbell.ring()
        row = waited(look, _settled)
    if not _settled(row) or row.state == "failed":
        href = f"{API_PREFIX}/projects/{project}/rankings"
        return unready(row, question.document(), href, pending=not _settled(row))
    if form == "json" or row.document is None:
        return send_stored(row.document, tagged(row.etag, form))
    return rendered(form, orjson.loads(gzip.decompress(row.document)), _RENDERERS, row.etag)


def _settled(row: Any) -> bool:
    """Whether the row answers for the inputs as they are now."""
    return row.id is not None and row.state != "pending" and not row.marked


def _question(query: dict[str, Any]) -> Question:
    return Question(
        query["experiment"],
        query["metric"],
        query["by"],
        tuple(sorted(set(query["benchmark"]))),
        tuple(sorted(set(query["variant"]))),
        query["method"],
        query["missing"],
        query["alpha"],
    )


def _promise(project_id: Any, question: Question) -> None:
    """Promise an answer; `NotFound` when no grid could be its input, so that typing errors store nothing."""
    with parts().database.transaction() as connection:
        experiments = with_aliases(connection, project_id, "experiment", [question.experiment])
        if not has_grids(connection, project_id, question, experiments):
            raise NotFound(f'No grid of experiment "{question.experiment}" has the metric "{question.metric}".')
        promise_ranking(connection, project_id, question)
