"""Rankings: models, variants or the levels of an axis in order over the slots that they share."""

from __future__ import annotations

from typing import Any

import orjson
from flask import Response

from registry.api import examples
from registry.api.answers import not_modified, rendered, send, tagged, wanted_form
from registry.api.context import enter, parts
from registry.api.platform import API_PREFIX, Blueprint, reply
from registry.api.schemas import RankingQuery
from registry.api.statistics import unready, waited
from registry.errors import Fault, Invalid, NotFound
from registry.operations.ask import find_ranking, has_grids, promise_ranking, resolve
from registry.operations.find import with_aliases
from registry.question import METHODS, MISSING, Question
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
    reply(202, "Pending: come back", "Pending", example=examples.PENDING_RANKING, headers=["Retry-After"]),
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
    asked = _question(query)
    with parts().database.reading() as connection:
        project_id = enter(connection, project, "reader").id
        question = resolve(connection, project_id, asked)
        row = find_ranking(connection, project_id, question)
    if row is None:
        _promise(project_id, question)

    def look() -> Any:
        with parts().database.reading() as connection:
            return find_ranking(connection, project_id, question)

    if row is None or row.state == "pending" or row.marked:
        parts().doorbell.ring()
        row = waited(look, lambda row: row.state != "pending" and not row.marked)
    if row.state != "ready" or row.marked:
        state = "pending" if row.marked else row.state
        return unready(
            _State(state, row.reason, row.attempts), question.document(), f"{API_PREFIX}/projects/{project}/rankings"
        )
    form = wanted_form(suffix, _FORMS)
    if form == "json" or not_modified(tagged(row.etag, form)):
        return send(row.document, form=form, tag=tagged(row.etag, form))
    return rendered(form, orjson.loads(row.document), _RENDERERS, row.etag)


class _State:
    def __init__(self, state: str, reason: str | None, attempts: int) -> None:
        self.state, self.reason, self.attempts = state, reason, attempts


def _question(query: dict[str, Any]) -> Question:
    by = query["by"]
    if by not in ("model", "variant") and not (by.startswith("axis:") and len(by) > len("axis:")):
        raise Invalid([Fault("/by", "is model, variant or axis:<name>")])
    for name, known in (("method", METHODS), ("missing", MISSING)):
        if query[name] not in known:
            raise Invalid([Fault(f"/{name}", f"is one of {', '.join(known)}")])
    return Question(
        query["experiment"],
        query["metric"],
        by,
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
