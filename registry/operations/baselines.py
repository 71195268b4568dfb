"""Baselines of a project: what contenders are judged against, by name, with every version of the definition."""

from __future__ import annotations

import uuid
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, and_, delete, func, insert, select, update

from registry.errors import Fault, Invalid, NotFound, PreconditionFailed
from registry.operations.aliases import joined_names
from registry.operations.projects import lock_project
from registry.operations.query_names import known_names_text
from registry.query import BaselineQuery
from registry.results.codec import from_document, to_document
from registry.results.gates import Definition
from registry.storage.gate_scope import ask_always, standing_question
from registry.storage.tables import baseline_versions, baselines, cached_results, new_id

MOST = 1_000
"""Baselines of a project."""
Expect = Collection[str] | None
"""Entity tags that a write allows; None: any."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A baseline's row, and whether it was given another definition."""

    row: Any
    is_changed: bool


def tag_of(row: Any) -> str:
    """Entity tag of the definition; another baseline of the same name has another."""
    return f"{row.version}-{row.id.hex[-12:]}"


def set_baseline(
    connection: Connection, project_id: uuid.UUID, name: str, definition: dict[str, Any], expect: Expect
) -> Kept:
    """Create the baseline, or add a version to it unless it has this definition.

    Raises `PreconditionFailed` when its tag is not expected, and `Invalid` when the project has too many.
    """
    lock_project(connection, project_id)
    row = _find(connection, project_id, name)
    _check(row, expect)
    if row is not None and to_document(from_document(Definition, row.definition)) == definition:
        return Kept(row, False)
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
    return Kept(find_baseline(connection, project_id, name), True)


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


def delete_baseline(connection: Connection, project_id: uuid.UUID, name: str, expect: Expect) -> Any:
    """Delete a baseline with its versions and return its row; raises what `find_baseline` and `set_baseline` raise."""
    lock_project(connection, project_id)
    row = find_baseline(connection, project_id, name)
    _check(row, expect)
    # First: this waits for a turn that is being stored, and one that ends later stores nothing.
    _ask_no_more(connection, project_id, row.id)
    connection.execute(delete(baseline_versions).where(baseline_versions.c.baseline_id == row.id))
    connection.execute(delete(baselines).where(baselines.c.id == row.id))
    return row


def _ask_no_more(connection: Connection, project_id: uuid.UUID, baseline_id: uuid.UUID) -> None:
    """Delete the standing questions of a baseline."""
    asked = cached_results.c.query
    mine = (asked["kind"].astext == BaselineQuery.kind, asked["baseline"].astext == str(baseline_id))
    connection.execute(delete(cached_results).where(cached_results.c.project_id == project_id, *mine))


def _check(row: Any, expect: Expect) -> None:
    if expect is not None and (row is None or ("*" not in expect and tag_of(row) not in expect)):
        raise PreconditionFailed("The baseline is not at the version that If-Match names; read it again.")


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
