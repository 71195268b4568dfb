"""Answers to questions about an experiment: a stored document, or a promise of one."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson
from flask import Response

from registry.api.answers import known_tags, rendered, send_stored, tagged
from registry.api.context import caller, parts
from registry.api.waiting import unready, waited
from registry.errors import NotFound
from registry.operations.admit import admit
from registry.operations.ask import find_answer, has_grids, promise_answer, resolve
from registry.operations.find import with_aliases
from registry.question import Question

Renderers = Mapping[str, Callable[[Any], str]]


def answer_to(question: Question, project: str, form: str, renderers: Renderers, href: str) -> Response:
    """The answer to a question about an experiment, in the form that is wanted; `202` while it is pending."""
    known = [tag.removesuffix(tagged("", form)) for tag in known_tags() if tag.endswith(tagged("", form))]
    question, row = ask(question, project, known)
    if not settled(row) or not answered(row):
        return unready(row, question.document(), href, pending=not settled(row))
    if form == "json" or row.document is None:
        return send_stored(row.document, tagged(row.etag, form))
    return rendered(form, orjson.loads(gzip.decompress(row.document)), renderers, row.etag)


def ask(question: Question, project: str, known: Sequence[str] = (), patience: float = 0.0) -> tuple[Question, Any]:
    """The question without aliases and the row of its answer, which is promised when nobody asked before.

    Waits as long as the caller prefers, or for `patience` seconds if that is longer. The document is left out when
    its etag is among the `known` ones.
    """

    def look() -> Any:
        with parts().database.reading() as connection:
            row = find_answer(connection, project, question, known)
            admit(caller(connection), row, "reader")
            return row

    row = look()
    if row.aliased:
        with parts().database.reading() as connection:
            question = resolve(connection, row.project_id, question)
        row = look()
    if row.id is None:
        _promise(row.project_id, question)
    if not settled(row):
        parts().doorbell.ring()
        row = waited(look, settled, patience)
    return question, row


def answered(row: Any) -> bool:
    """Whether the stored document is for the inputs as they are now; new methods may be under way meanwhile."""
    return row.id is not None and not row.marked and row.etag is not None and row.answered == row.generation


def settled(row: Any) -> bool:
    """Whether waiting longer brings nothing: there is an answer, or it has failed."""
    return answered(row) or (row.id is not None and not row.marked and row.state == "failed")


def _promise(project_id: Any, question: Question) -> None:
    """Promise an answer; `NotFound` when no grid could be its input, so that typing errors store nothing."""
    with parts().database.transaction() as connection:
        experiments = with_aliases(connection, project_id, "experiment", [question.experiment])
        if question.experiment and not has_grids(connection, project_id, question, experiments):
            raise NotFound(f'No grid of experiment "{question.experiment}" has the metric "{question.metric}".')
        promise_answer(connection, project_id, question)
