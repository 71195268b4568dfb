"""Baselines of a project: what contenders are judged against, by name, with every version of the definition.

A definition is checked against the grids that there are, and answered with what its policy can show."""

import uuid
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, Select, and_, delete, func, insert, select, update

from registry.errors import Fault, Invalid, NotFound, PreconditionFailed
from registry.grids.grid import Grid
from registry.operations.audit_log import Actor, record
from registry.operations.compare import revision_of
from registry.operations.find_grids import Page, find_whole_grids, with_aliases
from registry.operations.names import joined_names
from registry.operations.projects import lock_project
from registry.operations.query_names import check_names, known_names_text
from registry.operations.query_scope import filters_of, size_of
from registry.operations.read import find_grid
from registry.operations.stored_grids import stored_grid
from registry.plans.reachable import reachable, zero_baselines
from registry.query import BaselineQuery, RankingQuery
from registry.results.codec import from_document, to_document
from registry.results.gates import Definition, Pinned, Reachable, Subject
from registry.results.terms import Warning
from registry.storage.arrivals import announce, of_alert, slug_of
from registry.storage.gate_scope import PUBLISHED, ask_always, in_order, models_of_scope, question_of, standing_question
from registry.storage.tables import alerts, baseline_versions, baselines, cached_results, new_id

MOST = 1_000
"""Baselines of a project."""
Expect = Collection[str] | None
"""Entity tags that a write allows; None: any."""


def tag_of(row: Any) -> str:
    """Entity tag of a row with versions; another of the same name has another."""
    return f"{row.version}-{row.id.hex[-12:]}"


def check_tag(row: Any, expect: Expect, what: str) -> None:
    """Raise `PreconditionFailed` for what is not there, or is there with a tag that is not expected."""
    if expect is not None and (row is None or ("*" not in expect and tag_of(row) not in expect)):
        raise PreconditionFailed(f"The {what} is not at the version that If-Match names; read it again.")


def set_baseline(
    connection: Connection, actor: Actor, project_id: uuid.UUID, name: str, definition: dict[str, Any], expect: Expect
) -> tuple[Any, bool]:
    """Create the baseline, or add a version to it unless it has this definition: its row, and whether it is new. What
    was changed is in the audit log.

    Raises `PreconditionFailed` when its tag is not expected, and `Invalid` when the project has too many.
    """
    lock_project(connection, project_id)
    row = _find(connection, project_id, name)
    check_tag(row, expect, "baseline")
    if row is not None and to_document(from_document(Definition, row.definition)) == definition:
        return row, False
    if row is None:
        count = select(func.count()).select_from(baselines).where(baselines.c.project_id == project_id)
        if (connection.scalar(count) or 0) >= MOST:
            raise Invalid([Fault("", f"a project has at most {MOST:,} baselines")])
        baseline_id, version = new_id(), 1
        made = {"id": baseline_id, "project_id": project_id, "name": name, "version": version}
        connection.execute(insert(baselines).values(made))
    else:
        baseline_id, version = row.id, row.version + 1
        connection.execute(update(baselines).where(baselines.c.id == row.id).values(version=version))
    kept = {"baseline_id": baseline_id, "version": version, "definition": definition}
    connection.execute(insert(baseline_versions).values(kept))
    _ask_no_more(connection, project_id, baseline_id)
    joined = joined_names(connection, project_id)
    ask_always(connection, project_id, standing_question(baseline_id, version, definition, joined))
    told = {"name": name, "version": version, "definition": definition}
    record(connection, actor, "baseline.set", baseline_id, project_id=project_id, **told)
    return find_baseline(connection, project_id, name), version == 1


def list_baselines(connection: Connection, project_id: uuid.UUID, after: str | None, limit: int) -> Sequence[Any]:
    """Baselines of a project by name."""
    query = _rows().where(baselines.c.project_id == project_id).order_by(baselines.c.name).limit(limit)
    return connection.execute(query if after is None else query.where(baselines.c.name > after)).all()


def find_baseline(connection: Connection, project_id: uuid.UUID, name: str, version: int | None = None) -> Any:
    """Baseline of this name at its current version or at this one.

    Raises `NotFound` with the names that there are, and for a version that there is not.
    """
    row = _find(connection, project_id, name)
    if row is None:
        known = connection.scalars(select(baselines.c.name).where(baselines.c.project_id == project_id)).all()
        raise NotFound(f'The project has no baseline "{name}"; {known_names_text(known, name)}.')
    if version is None or version == row.version:
        return row
    older = connection.execute(_rows(version).where(baselines.c.id == row.id)).one_or_none()
    if older is None:
        raise NotFound(f'The baseline "{name}" has no version {version}.')
    return older


def delete_baseline(connection: Connection, actor: Actor, project_id: uuid.UUID, name: str, expect: Expect) -> None:
    """Delete a baseline with its versions, and resolve its alerts; raises what `find_baseline` and `set_baseline`
    raise. The audit log has it."""
    lock_project(connection, project_id)
    row = find_baseline(connection, project_id, name)
    check_tag(row, expect, "baseline")
    # First: this waits for a turn that is being stored, and one that ends later stores nothing.
    _ask_no_more(connection, project_id, row.id)
    connection.execute(delete(baseline_versions).where(baseline_versions.c.baseline_id == row.id))
    connection.execute(delete(baselines).where(baselines.c.id == row.id))
    _resolve_alerts(connection, project_id, row.id)
    told = {"name": row.name, "version": row.version, "definition": row.definition}
    record(connection, actor, "baseline.deleted", row.id, project_id=project_id, **told)


def _resolve_alerts(connection: Connection, project_id: uuid.UUID, baseline_id: uuid.UUID) -> None:
    going = (alerts.c.baseline_id == baseline_id, alerts.c.state != "resolved")
    resolved = {"state": "resolved", "resolution": "policy_deleted", "version": alerts.c.version + 1}
    ended = update(alerts).where(*going).values(resolved | {"updated_at": func.now()}).returning(alerts)
    slug = slug_of(connection, project_id)
    announce(connection, project_id, [of_alert("alert.resolved", slug, row) for row in connection.execute(ended)])


def _ask_no_more(connection: Connection, project_id: uuid.UUID, baseline_id: uuid.UUID) -> None:
    asked = cached_results.c.query
    mine = (asked["kind"].astext == BaselineQuery.kind, asked["baseline"].astext == str(baseline_id))
    connection.execute(delete(cached_results).where(cached_results.c.project_id == project_id, *mine))


def _find(connection: Connection, project_id: uuid.UUID, name: str) -> Any:
    if "\0" in name:
        return None  # PostgreSQL has no such text
    here = (baselines.c.project_id == project_id, baselines.c.name == name)
    return connection.execute(_rows().where(*here)).one_or_none()


def _rows(version: int | None = None) -> Select[Any]:
    """Baselines at their current version, or at this one."""
    wanted = baselines.c.version if version is None else version
    joined = and_(baseline_versions.c.baseline_id == baselines.c.id, baseline_versions.c.version == wanted)
    columns = (baselines.c.id, baselines.c.project_id, baselines.c.name, baseline_versions.c.version)
    return select(*columns, baseline_versions.c.definition, baseline_versions.c.created_at).join(
        baseline_versions, joined
    )


MOST_CELLS = 100_000
"""Cells of a baseline that are looked at while it is defined: 0.4 seconds of a web process."""
_PLACES = {"/model": "/subject/model", "/benchmark": "/benchmarks", "/variant": "/variants"}


def pinned(connection: Connection, project_id: uuid.UUID, definition: Definition) -> Definition:
    """The definition with the revisions of its grids; `Invalid` for a grid that the project does not have."""
    grids = definition.subject.grids
    if grids is None:
        return definition
    found = []
    for place, one in enumerate(grids):
        with below(f"/subject/grids/{place}"):
            number, _ = revision_of(connection, project_id, uuid.UUID(one.grid), one.revision or None)
            found.append(Pinned(one.grid, number))
    return replace(definition, subject=Subject(grids=tuple(found)))


def is_being_judged(connection: Connection, project_id: uuid.UUID, row: Any) -> bool:
    """Whether the contenders of a baseline (its row) are being judged."""
    joined = joined_names(connection, project_id)
    question = standing_question(row.id, row.version, row.definition, joined)
    own = (cached_results.c.project_id == project_id, cached_results.c.query_key == question.key)
    return connection.scalar(select(cached_results.c.state).where(*own)) == "pending"


def what_it_reaches(connection: Connection, project_id: uuid.UUID, definition: Definition) -> Reachable:
    """Whether the policy can pass with the baseline as it is now.

    Raises `Invalid` for names that no grid has, for a metric without a better end, and for a percentage of 0.
    """
    if definition.subject.previous:
        return _of_newest(connection, project_id, definition)
    grids = (
        _of_model(connection, project_id, definition)
        if definition.subject.grids is None
        else _of_revisions(connection, project_id, definition)
    )
    return Reachable() if grids is None else _reached(definition, grids)


def _reached(definition: Definition, grids: Sequence[tuple[str, Grid]]) -> Reachable:
    kind = definition.policy.kind
    if kind != "equivalent" and not any(grid.metric.direction for _, grid in grids):
        raise Invalid([Fault("/metric", f"has no better end, which a policy of the kind {kind} needs")])
    if zeros := zero_baselines(definition.policy, grids):
        told = f"is percent, and {zeros} of what is judged have a baseline of 0: give the margin in points"
        raise Invalid([Fault("/policy/margin_unit", told)])
    return reachable(definition.policy, grids)


def _of_newest(connection: Connection, project_id: uuid.UUID, definition: Definition) -> Reachable:
    """What the policy reaches against the last model of the order; also how many models have no place in it."""
    joined = joined_names(connection, project_id)
    query = question_of("", 0, to_document(definition)).canonical(joined)
    measured = models_of_scope(connection, project_id, query, joined)
    along = definition.subject.along or PUBLISHED
    order = in_order(measured, along)
    models = {model for model, _ in measured}
    if not models:
        raise Invalid([Fault("/experiment", "no grid of this experiment and metric is there to put in an order")])
    if not order:
        raise Invalid([Fault("/subject/along", f'no model has a number under the label "{along}"')])
    newest = replace(definition, subject=Subject(model=order[-1][1]))
    grids = _of_model(connection, project_id, newest)
    found = Reachable() if grids is None else _reached(newest, grids)
    apart = len(models) - len(order)
    if not apart:
        return found
    told = f'{apart} of {len(models)} models have no number under the label "{along}", or several: they are not judged.'
    return replace(found, warnings=(*found.warnings, Warning("unordered", told)))


def _of_model(
    connection: Connection, project_id: uuid.UUID, definition: Definition
) -> Sequence[tuple[str, Grid]] | None:
    """The current grids of the baseline with their benchmarks, in their order; None for too many cells."""
    model = definition.subject.model or ""
    query = RankingQuery(
        definition.experiment,
        definition.metric,
        benchmark=definition.benchmarks,
        model=(model,),
        variant=definition.variants,
    )
    query = query.canonical(joined_names(connection, project_id))
    with _placed():
        experiments = with_aliases(connection, project_id, "experiment", [query.experiment])
        check_names(connection, project_id, query, experiments)
    if size_of(connection, project_id, query) > MOST_CELLS:
        return None
    joined, page = joined_names(connection, project_id), Page("updated_at", None, MOST_CELLS)
    found = find_whole_grids(connection, project_id, filters_of(query), page)
    named = [(joined.get(("benchmark", one.names.benchmark), one.names.benchmark), one) for one in found]
    return [(name, one.grid) for name, one in sorted(named, key=lambda pair: pair[0]) if not one.grid.derived]


def _of_revisions(
    connection: Connection, project_id: uuid.UUID, definition: Definition
) -> Sequence[tuple[str, Grid]] | None:
    joined = joined_names(connection, project_id)
    found, seen = [], dict[tuple[str, str], int]()
    experiment = joined.get(("experiment", definition.experiment), definition.experiment)
    for place, one in enumerate(definition.subject.grids or ()):
        stored = stored_grid(find_grid(connection, uuid.UUID(one.grid), one.revision))
        names = stored.names
        wrong = "experiment" if joined.get(("experiment", names.experiment), names.experiment) != experiment else ""
        wrong = wrong or ("metric" if names.metric != definition.metric else "")
        if wrong:
            told = f'is of the {wrong} "{getattr(names, wrong)}", and the baseline of "{getattr(definition, wrong)}"'
            raise Invalid([Fault(f"/subject/grids/{place}", told)])
        benchmark = joined.get(("benchmark", names.benchmark), names.benchmark)
        identity = benchmark, joined.get(("variant", names.variant), names.variant)
        if identity in seen:
            told = f"is of the same benchmark and variant as that at {seen[identity]}"
            raise Invalid([Fault(f"/subject/grids/{place}", told)])
        seen[identity] = place
        found.append((benchmark, stored.grid))
    found.sort(key=lambda one: one[0])
    return None if sum(grid.cell_count for _, grid in found) > MOST_CELLS else found


@contextmanager
def _placed() -> Iterator[None]:
    """Faults of names have the places of the names in a definition; what is not there is one too."""
    try:
        yield
    except Invalid as error:
        raise Invalid(Fault(_PLACES.get(at, at), detail) for at, detail in error.faults) from None
    except NotFound as error:
        raise Invalid([Fault("/metric", error.detail)]) from None


@contextmanager
def below(pointer: str) -> Iterator[None]:
    """What is not there is a fault at this place."""
    try:
        yield
    except NotFound as error:
        raise Invalid([Fault(pointer, error.detail)]) from None
