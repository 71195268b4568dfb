"""From a baseline and a contender to the `GateQuery` that workers answer.

A contender is a model, a stored grid or one that is not published. The API and pages of gates ask by this, and plans.
The baseline's part of the question is in `storage/gate_scope.py`.
"""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from registry.errors import Fault, Invalid
from registry.grids.intake import Submission
from registry.operations.baselines import below
from registry.operations.compare import revision_of, unpublished
from registry.operations.names import joined_names
from registry.operations.read import find_grid
from registry.query import GateQuery
from registry.storage.gate_scope import PUBLISHED, along_of, in_order, models_of_scope, number_of, question_of


def gate_of_model(connection: Connection, project_id: uuid.UUID, row: Any, contender: str) -> GateQuery:
    """Question about a contender, which is a model or the id of a grid, at its current revision.

    Raises `Invalid` where it is the baseline itself.
    """
    question, joined = question_of(row.name, row.version, row.definition), joined_names(connection, project_id)
    grid = _as_id(contender)
    if grid is not None:
        with below("/contender"):
            number, _ = revision_of(connection, project_id, grid, None)
        model = find_grid(connection, grid, number).model
        question = _against(connection, project_id, row, question, model)
        if f"{grid}@{number}" in question.baseline_grids or _same(joined, model, question.baseline_model):
            raise Invalid([Fault("/contender", "is the baseline itself")])
        return replace(question, contender_grid=f"{grid}@{number}")
    question = _against(connection, project_id, row, question, contender)
    if _same(joined, contender, question.baseline_model):
        raise Invalid([Fault("/contender", f'is the baseline itself: "{question.baseline_model}"')])
    return _about(question, contender)


def _about(question: GateQuery, contender: str) -> GateQuery:
    models = {name for name in (contender, question.baseline_model) if name}
    return replace(question, contender_model=contender, model=tuple(sorted(models)))


def gates_since(connection: Connection, project_id: uuid.UUID, row: Any, since: datetime) -> list[GateQuery]:
    """Questions about the contenders of which a current revision was published since, the latest published first.

    The baseline (its row) may be one that is not stored.
    """
    joined = joined_names(connection, project_id)
    question = question_of(row.name, row.version, row.definition).canonical(joined)
    measured = models_of_scope(connection, project_id, question, joined)
    published: dict[str, datetime] = {}
    revisions: dict[str, set[str]] = {}
    for model, one in measured:
        published[model] = max(one.published_at, published.get(model, one.published_at))
        revisions.setdefault(model, set()).add(f"{one.grid_id}@{one.number}")
    along = along_of(row.definition)
    if along is None:
        others = (one for one in published if not revisions[one] <= set(question.baseline_grids))
        before = {model: question.baseline_model for model in others if model != question.baseline_model}
    else:
        order = [model for _, model in in_order(measured, along)]
        before = dict(zip(order[1:], order, strict=False))
    lately = sorted((one for one in before if published[one] >= since), key=published.__getitem__, reverse=True)
    return [_about(replace(question, baseline_model=before[one]), one) for one in lately]


def _against(connection: Connection, project_id: uuid.UUID, row: Any, question: GateQuery, contender: str) -> GateQuery:
    """The question with the model before the contender, where that is the baseline; `Invalid` where there is none."""
    along = along_of(row.definition)
    if along is None:
        return question
    joined = joined_names(connection, project_id)
    measured = models_of_scope(connection, project_id, question.canonical(joined), joined)
    order = [model for _, model in in_order(measured, along)]
    mine = joined.get(("model", contender), contender)
    if mine not in {model for model, _ in measured}:
        return _with_baseline(question, order[-1:])  # the names are checked where the question is asked
    if mine not in order:
        raise Invalid([Fault("/contender", f'has no number under the label "{along}", or several')])
    if order[0] == mine:
        raise Invalid([Fault("/contender", "is the first in the order: nothing is before it")])
    return _with_baseline(question, order[order.index(mine) - 1 :][:1])


def _with_baseline(question: GateQuery, models: Sequence[str]) -> GateQuery:
    return replace(question, baseline_model="".join(models), model=tuple(models))


def gate_of_content(connection: Connection, project_id: uuid.UUID, row: Any, submission: Submission) -> GateQuery:
    """Question about a grid that is not stored; `Invalid` where it is of another experiment or metric, or too large,
    and where nothing is before it in the order of the baseline."""
    question, names = question_of(row.name, row.version, row.definition), submission.names
    told = {"experiment": question.experiment, "metric": question.metric}
    faults = [
        Fault("/metric/name" if place == "metric" else f"/{place}", f'is "{wanted}" of this baseline')
        for place, wanted in told.items()
        if getattr(names, place) != wanted
    ]
    if faults:
        raise Invalid(faults)
    content = unpublished(submission)
    return replace(_before_content(connection, project_id, row, question, submission), content=content)


def _before_content(
    connection: Connection, project_id: uuid.UUID, row: Any, question: GateQuery, submission: Submission
) -> GateQuery:
    along = along_of(row.definition)
    if along is None:
        return question
    joined = joined_names(connection, project_id)
    model = submission.names.model
    mine = joined.get(("model", model), model)
    place = None if along == PUBLISHED else number_of(submission.grid.labels, along)
    if along != PUBLISHED and place is None:
        raise Invalid([Fault("/labels", f'has no number under "{along}", which orders contenders')])
    order = in_order(models_of_scope(connection, project_id, question.canonical(joined), joined), along)
    before = [one for at, one in order if one != mine and (place is None or (at, one) < (place, mine))]
    if not before:
        raise Invalid([Fault("/model", "nothing is before it in the order of this baseline")])
    return _with_baseline(question, before[-1:])


def _same(joined: Mapping[tuple[str, str], str], one: str, other: str) -> bool:
    return bool(other) and joined.get(("model", one), one) == joined.get(("model", other), other)


def _as_id(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text) if len(text) == len(str(uuid.NAMESPACE_DNS)) else None
    except ValueError:
        return None
