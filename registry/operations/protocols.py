"""What experiments declare of their protocols: which keys bind."""

from __future__ import annotations

import uuid

from sqlalchemy import Connection, select, update
from sqlalchemy.dialects.postgresql import insert as upsert

from registry.grids.protocol import Rules
from registry.operations.experiments import ExperimentNote, find_experiment, find_note
from registry.operations.revisions import invalidate_scopes
from registry.query import OF_REVISIONS
from registry.storage.tables import experiments, grids


def declare(
    connection: Connection,
    project_id: uuid.UUID,
    name: str,
    rules: Rules,
) -> tuple[ExperimentNote, bool]:
    """Set the rules of an experiment: what is said of it now, and whether they are not what they were. Other rules
    invalidate every question about the experiment. Raises `NotFound`.
    """
    own = find_experiment(connection, project_id, name).name
    here = (experiments.c.project_id == project_id, experiments.c.name == own)
    connection.execute(upsert(experiments).values(project_id=project_id, name=own).on_conflict_do_nothing())
    connection.execute(select(experiments.c.name).where(*here).with_for_update())
    before = find_note(connection, project_id, own)
    if rules == before.rules:
        return before, False
    connection.execute(update(experiments).where(*here).values(protocol_rules=rules.document()))
    _invalidate(connection, project_id, before)
    return find_note(connection, project_id, own), True


def _invalidate(connection: Connection, project_id: uuid.UUID, note: ExperimentNote) -> None:
    """Invalidate the experiment's questions about each metric, and every comparison of two grids of the project."""
    of_experiment = grids.c.experiment.in_([note.name, *note.aliases])
    metrics = select(grids.c.metric).where(grids.c.project_id == project_id, of_experiment).distinct()
    scopes = [(note.name, metric) for metric in connection.scalars(metrics.order_by(grids.c.metric))]
    invalidate_scopes(connection, project_id, dict.fromkeys([*scopes, OF_REVISIONS], ()))
