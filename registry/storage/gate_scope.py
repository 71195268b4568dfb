"""Scope of a baseline, by its definition: the question about a contender, and the order of contenders."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, ScalarSelect, func, or_, select
from sqlalchemy.dialects.postgresql import insert

from registry.grids.intake.levels import read_number
from registry.query import BaselineQuery, GateQuery
from registry.results.codec import from_document
from registry.results.gates import Definition
from registry.storage.keys import of_current
from registry.storage.tables import cached_results, grids, new_id, stored_revisions

_CELLS = (
    *("shape_id", "metric", "axes", "numbers", "scale", "values", "trials", "cell_trials", "stderr", "repeats", "sd"),
    *("questions", "design_effect", "derived"),
)
"""Columns of what is known of the cells of a revision."""
PUBLISHED = "published"
"""The order by when the first grid of a model was published; any other is that of a label's numbers."""


def question_of(name: str, version: int, definition: Mapping[str, Any]) -> GateQuery:
    """The question of a gate, without a contender; without a baseline too where that is the model before it."""
    found = from_document(Definition, definition)
    model, grids = found.subject.model or "", found.subject.grids or ()
    return GateQuery(
        found.experiment,
        found.metric,
        benchmark=tuple(sorted(set(found.benchmarks))),
        model=(model,) if model else (),
        variant=tuple(sorted(set(found.variants))),
        baseline_name=name,
        policy_version=version,
        baseline_model=model,
        baseline_grids=tuple(f"{one.grid}@{one.revision}" for one in grids),
        policy=definition["policy"],
    )


def along_of(definition: Mapping[str, Any]) -> str | None:
    """Order of the contenders of a baseline that is the model before each; None of any other."""
    subject = definition["subject"]
    return str(subject["along"]) if subject.get("previous") else None


def in_order(measured: Iterable[tuple[str, Any]], along: str) -> list[tuple[Any, str]]:
    """Places and models from the first to the last; models without a place in the order are left out.

    Each grid comes with its model (no alias) and has `labels` and `created_at`. Along a label a model has a place where
    all of its grids that have the label say the same number; models at the same place go by their names.
    """
    places: dict[str, set[Any]] = {}
    for model, row in measured:
        place = row.created_at if along == PUBLISHED else number_of(row.labels, along)
        if place is not None:
            places.setdefault(model, set()).add(place)
    return sorted((min(found), model) for model, found in places.items() if along == PUBLISHED or len(found) == 1)


def number_of(labels: Mapping[str, str] | None, name: str) -> float | None:
    """The number that the text of a label is; None where it is none."""
    text = (labels or {}).get(name)
    return None if text is None else read_number(text)


def grids_of_scope(
    connection: Connection, project_id: uuid.UUID, query: GateQuery, joined: Mapping[tuple[str, str], str]
) -> Sequence[Any]:
    """The measured grids of the experiment and metric without their values, in the order in which gates read them; each
    with when its cells were published as they are, and `judged`, the first of the revisions up to the current one of
    which verdicts would be the same."""
    own = [alias for (kind, alias), name in joined.items() if kind == "experiment" and name == query.experiment]
    current = of_current(stored_revisions)
    columns = (grids.c.benchmark, grids.c.model, grids.c.variant, grids.c.created_at, stored_revisions.c.grid_id)
    published = _first_alike(project_id, _CELLS, "created_at").label("published_at")
    judged = _first_alike(project_id, (*_CELLS, "protocol"), "number").label("judged")
    about = (stored_revisions.c[name] for name in ("number", "labels", "derived", "cell_count"))
    here = (
        grids.c.project_id == project_id,
        grids.c.experiment.in_([query.experiment, *own]),
        grids.c.metric == query.metric,
        grids.c.deleted_at.is_(None),
        stored_revisions.c.derived.is_(None),
    )
    statement = select(*columns, published, judged, *about).join(stored_revisions, current).where(*here)
    return connection.execute(statement.order_by(grids.c.updated_at, grids.c.id)).all()


def _first_alike(project_id: uuid.UUID, names: Sequence[str], told: str) -> ScalarSelect[Any]:
    """A column of the first of the revisions up to the current one that have the same content under these names: later
    ones may have other labels, and are no other result."""
    current, before, first = stored_revisions.c, stored_revisions.alias().c, stored_revisions.alias().c

    def of_grid(one: Any) -> tuple[ColumnElement[bool], ...]:
        return one.project_id == project_id, one.grid_id == current.grid_id

    differs = or_(*(before[name].is_distinct_from(current[name]) for name in names))
    last = select(func.max(before.number)).where(*of_grid(before), before.number < current.number, differs)
    begun = first.number > func.coalesce(last.correlate(stored_revisions).scalar_subquery(), 0)
    here = select(first[told]).where(*of_grid(first), begun).order_by(first.number).limit(1)
    return here.correlate(stored_revisions).scalar_subquery()


def models_of_scope(
    connection: Connection, project_id: uuid.UUID, query: GateQuery, joined: Mapping[tuple[str, str], str]
) -> list[tuple[str, Any]]:
    """The grids of the scope of a question, whose names have no aliases, each with its model."""

    def name(kind: str, row: Any) -> str:
        return joined.get((kind, getattr(row, kind)), getattr(row, kind))

    def within(row: Any) -> bool:
        return all(
            not getattr(query, kind) or name(kind, row) in getattr(query, kind) for kind in ("benchmark", "variant")
        )

    found = grids_of_scope(connection, project_id, query, joined)
    return [(name("model", row), row) for row in found if within(row)]


def ask_always(connection: Connection, project_id: uuid.UUID, query: BaselineQuery) -> None:
    """Have the contenders of a baseline judged now and after every change of the scope."""
    values = {
        "id": new_id(),
        "project_id": project_id,
        "experiment": query.experiment,
        "metric": query.metric,
        "query": query.document(),
        "query_key": query.key,
        "is_default": True,
    }
    statement = insert(cached_results).values(values)
    moved = {name: statement.excluded[name] for name in ("experiment", "metric", "query")}
    # Another name of the experiment may have become the one that aliases stand for.
    other = cached_results.c.experiment != statement.excluded.experiment
    connection.execute(
        statement.on_conflict_do_update(index_elements=["project_id", "query_key"], set_=moved, where=other)
    )


def standing_question(
    baseline_id: uuid.UUID, version: int, definition: Mapping[str, Any], joined: Mapping[tuple[str, str], str]
) -> BaselineQuery:
    """The question that stands as long as a version of a baseline does."""
    experiment = definition["experiment"]
    name = joined.get(("experiment", experiment), experiment)
    return BaselineQuery(name, definition["metric"], baseline=str(baseline_id), policy_version=version)
