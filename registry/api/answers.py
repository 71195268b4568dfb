"""Answer a question about an experiment or a revision with its stored document, or promise one and have it computed;
the rows are read and written in `registry/operations/cached_results.py`."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import orjson
from flask import Response
from sqlalchemy import Connection

from registry.api.context import caller, parts
from registry.api.long_poll import preference, unready, usual_wait, waited
from registry.api.responses import json_answer, known_tags, rendered, send_stored, tagged
from registry.errors import Busy, Fault, Invalid
from registry.operations.auth import authorize
from registry.operations.cached_results import (
    find_result,
    forget_result,
    is_usual,
    note_read,
    progress_of,
    request_result,
    resolve,
)
from registry.operations.find_grids import with_aliases
from registry.operations.query_names import check_names
from registry.query import Query
from registry.results.codec import from_bytes
from registry.results.field_paths import NoKey, Tree, selected, tree_of, unknown_path

Renderers = Mapping[str, Callable[[Any], str | bytes]]
_NAMED = ("experiment", "metric")
_ROUNDS = 5
"""Attempts to look a question up again when its aliases change while it is answered."""

_FOR_ANYONE = 5


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a document, and what tells its entity tag from the whole's."""

    mark: str
    select: Callable[[dict[str, Any]], dict[str, Any]]


def answer_to(question: Query, project: str, form: str, renderers: Renderers, part: Part | None = None) -> Response:
    """The answer to a question, or a part of it, in the form that is wanted; while it is pending `202` in JSON."""
    question, row = ask(question, project, tags_known(form, part), usual_wait(form))
    if not settled(row) or not answered(row):
        return unanswered(question, row, form)
    return stored_answer(row, form, renderers, part)


def answer_once(question: Query, project: str, told: Mapping[str, Any]) -> Response:
    """The answer to a question about what is not stored, which is forgotten once given; `told` are its fields that an
    unready answer names."""
    question, row = ask(question, project)
    if not settled(row):
        return unready(row, {"kind": question.kind, **told}, "json", pending=True)
    with parts().database.transaction() as connection:
        forget_result(connection, row.id)
    if not answered(row):
        return unready(row, {"kind": question.kind, **told}, "json", pending=False)
    return json_answer(from_bytes(row.document))


def tags_known(form: str, part: Part | None) -> list[str]:
    """The tags of documents of which the caller has a part in this form."""
    end = tagged(part.mark if part else "", form)
    return [tag.removesuffix(end) for tag in known_tags() if tag.endswith(end)]


def stored_answer(row: Any, form: str, renderers: Renderers, part: Part | None) -> Response:
    """The stored document, or a part of it, in the form that is wanted."""
    tag = row.etag + (part.mark if part else "")
    if row.document is None or (form == "json" and part is None):
        return send_stored(row.document, tagged(tag, form))
    document = from_bytes(row.document)
    return rendered(form, part.select(document) if part else document, renderers, tag)


def unanswered(question: Query, row: Any, form: str) -> Response:
    """The answer where the row of a question has no current document."""
    waits = not settled(row)
    done = progress(row, question) if waits and form == "json" else None
    # A question about one grid is of no experiment and no metric by name.
    told = {name: asked for name, asked in question.document().items() if asked != "" or name not in _NAMED}
    return unready(row, told, form, pending=waits, progress=done)


def ask(
    question: Query,
    project: str,
    known: Sequence[str] = (),
    patience: float = 0.0,
    *,
    most: float = math.inf,
    beside: bool = False,
) -> tuple[Query, Any]:
    """The question without aliases and the row of its answer, which is promised when nobody asked before. What is asked
    `beside` another question leaves half of the room to others.

    Waits as long as the caller prefers, or for `patience` seconds if that is longer, but for `most` seconds at most.
    The document is left out when its etag is among the `known` ones.
    """

    def look() -> Any:
        with parts().database.reading() as connection:
            row = find_result(connection, project, question, known)
            authorize(caller(connection), row, "reader")
            return row

    preference()
    asked = question
    for _ in range(_ROUNDS):
        row = look()
        if row.aliased:
            question = _resolved(row.project_id, asked)
            row = look()
        if row.id is None:
            _promise(row.project_id, question, beside)
        elif row.unread or asleep(row):
            with parts().database.transaction() as connection:
                note_read(connection, row.project_id, row.id, _room(connection, beside))
        if not settled(row):
            parts().notifier.notify()
            row = waited(look, settled, patience, most)
        if question == asked or question == _resolved(row.project_id, asked):
            return question, row
        question = asked  # an alias was made or removed meanwhile: what was answered is another question
    raise Busy("The aliases in this question are being changed; ask again.", reason="aliases_changing")


def progress(row: Any, question: Query) -> float | None:
    """How much of a pending answer is done, from 0 to 1; None where nobody knows."""
    with parts().database.reading() as connection:
        return progress_of(connection, row.project_id, question)


def _resolved(project_id: Any, question: Query) -> Query:
    with parts().database.reading() as connection:
        return resolve(connection, project_id, question)


def answered(row: Any) -> bool:
    """Return whether the stored document is for the inputs as they are now; new methods may be under way meanwhile."""
    return row.etag is not None and not row.invalidated and row.document_generation == row.generation


def asleep(row: Any) -> bool:
    """Return whether an input has changed and the result is computed again only when it is asked for."""
    return not row.invalidated and row.state == "ready" and row.document_generation != row.generation


def settled(row: Any) -> bool:
    """Return whether the job has ended: there is a current result, or it has failed."""
    return answered(row) or (row.id is not None and not row.invalidated and row.state == "failed")


def _promise(project_id: Any, question: Query, beside: bool) -> None:
    """Promise an answer; `NotFound` or `Invalid` when no grid could be its input: typing errors store nothing."""
    with parts().database.transaction() as connection:
        experiments = with_aliases(connection, project_id, "experiment", [question.experiment])
        if question.experiment:
            check_names(connection, project_id, question, experiments)
        request_result(connection, project_id, question, _room(connection, beside))
        if caller(connection).is_anyone and not is_usual(question) and not beside:
            parts().policy.note_question()


def _room(connection: Connection, beside: bool) -> int:
    """The questions that may be open at once for this caller: without a token a fifth of all."""
    most = parts().settings.max_open_questions // (1 + beside)
    return max(1, most // _FOR_ANYONE) if caller(connection).is_anyone else most


_POINTER = "/fields"


def part_asked(
    query: Mapping[str, Any], kind: type, form: str, *, only: Collection[str] | None = None, of: Part | None = None
) -> Part | None:
    """The part of a document of this type that a query asks for with `fields`, of the part `of` if that is given;
    `of` itself where it does not ask.

    `Invalid` for a path that no such document has (`only`: the fields at its top), and in another form than JSON.
    """
    if "fields" not in query:
        return of
    if form != "json":
        raise Invalid([Fault(_POINTER, f"is for JSON; the {form} form has what it has")])
    if (wrong := unknown_path(query["fields"], kind, only)) is not None:
        raise Invalid([Fault(_POINTER, wrong)])
    tree = tree_of(query["fields"])
    mark = sha256(orjson.dumps(tree, option=orjson.OPT_SORT_KEYS)).hexdigest()[:8]

    def select(document: dict[str, Any]) -> dict[str, Any]:
        return _selected(document if of is None else of.select(document), tree, kind)

    return Part(f"{of.mark if of else ''}-f{mark}", select)


def _selected(document: dict[str, Any], tree: Tree, kind: type) -> dict[str, Any]:
    try:
        return selected(document, tree, kind)
    except NoKey as missing:
        raise Invalid([Fault(_POINTER, str(missing))]) from None
