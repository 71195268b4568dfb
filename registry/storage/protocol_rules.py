"""What an experiment declares of protocols, as it is stored."""

from __future__ import annotations

import uuid

from sqlalchemy import Connection, select

from registry.grids.protocol import Rules
from registry.storage.tables import experiments


def rules_of(connection: Connection, project_id: uuid.UUID, experiment: str) -> Rules:
    """The rules of an experiment, which is named as its aliases stand for."""
    here = (experiments.c.project_id == project_id, experiments.c.name == experiment)
    return Rules.of(connection.scalar(select(experiments.c.protocol_rules).where(*here)))
