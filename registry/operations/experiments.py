"""Experiments: what people wrote about one, what it holds, and which keys of protocols bind. Joined names are one."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any

import orjson
from sqlalchemy import ColumnElement, Connection, and_, distinct, func, select, update
from sqlalchemy.dialects.postgresql import insert

from registry.errors import NotFound, PreconditionFailed
from registry.grids.intake.levels import has_control
from registry.grids.protocol import Rules
from registry.operations.amend import changed_labels
from registry.operations.audit_log import Actor, record
from registry.operations.find_grids import Filters
from registry.operations.names import joined_of_kind
from registry.operations.query_names import known_names_text
from registry.operations.revisions import invalidate_scopes
from registry.operations.scope_options import axis_options, name_options
from registry.query import OF_REVISIONS
from registry.storage.tables import aliases, experiments, grids

_JOINABLE = ("benchmark", "model", "variant")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExperimentNote:
    """What people wrote about an experiment: a description in Markdown, empty for none, and labels."""

    name: str
    """The name that its aliases stand for."""
    aliases: Sequence[str]
    description: str = ""
    labels: Mapping[str, str]
    rules: Rules
    """What it declares of protocols."""
    updated_at: datetime | None = None
    """When the description or the labels last changed; None: never."""

    @property
    def tag(self) -> str:
        """Changes with the description, the labels and what is declared of protocols."""
        return _tag([self.description, dict(self.labels), self.rules.document()])


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment(ExperimentNote):
    """An experiment with the numbers of what its grids have; joined names count once."""

    counts: Mapping[str, int]
    """By `grids`, `benchmarks`, `models`, `variants`, `metrics` and `axes`."""

    @property
    def etag(self) -> str:
        """Entity tag; its part before the dash is `tag`."""
        return f"{self.tag}-{_tag([self.name, list(self.aliases), dict(self.counts)])}"


def _tag(content: Any) -> str:
    return sha256(orjson.dumps(content, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def find_note(connection: Connection, project_id: uuid.UUID, name: str) -> ExperimentNote:
    """What people wrote about the experiment that this name, or the name that it is an alias of, stands for."""
    return ExperimentNote(**_note(connection, project_id, name))


def _note(connection: Connection, project_id: uuid.UUID, name: str) -> dict[str, Any]:
    joined = joined_of_kind(connection, project_id, "experiment")
    own = joined.get(name, name)
    row = connection.execute(select(experiments).where(*_here(project_id, own))).one_or_none()
    found = {"name": own, "aliases": tuple(sorted(alias for alias, target in joined.items() if target == own))}
    if row is None:
        return found | {"labels": {}, "rules": Rules()}
    rules = Rules.of(row.protocol_rules)
    return found | {
        "description": row.description, "labels": row.labels, "rules": rules, "updated_at": row.updated_at,
    }  # fmt: skip


def find_experiment(connection: Connection, project_id: uuid.UUID, name: str) -> Experiment:
    """Experiment of this name or alias; `NotFound` for one that has no grid, no description and no label."""
    note = {} if has_control(name) else _note(connection, project_id, name)
    counts = _counts(connection, project_id, note) if note else {}
    if not (counts.get("grids") or any(note.get(said) for said in ("description", "labels", "rules"))):
        known = name_options(connection, project_id, "experiment")
        raise NotFound(f"The project has no grid of such an experiment; {known_names_text(known)}.")
    return Experiment(**note, counts=counts)


def _counts(connection: Connection, project_id: uuid.UUID, note: Mapping[str, Any]) -> dict[str, int]:
    source: Any = grids
    columns: list[Any] = [func.count().label("grids")]
    for kind in _JOINABLE:
        joined = aliases.alias()
        same = (joined.c.project_id == grids.c.project_id, joined.c.kind == kind, joined.c.alias == grids.c[kind])
        source = source.outerjoin(joined, and_(*same))
        columns.append(func.count(distinct(func.coalesce(joined.c.name, grids.c[kind]))).label(f"{kind}s"))
    columns.append(func.count(distinct(grids.c.metric)).label("metrics"))
    names = [note["name"], *note["aliases"]]
    here = (grids.c.project_id == project_id, grids.c.experiment.in_(names), grids.c.deleted_at.is_(None))
    row = connection.execute(select(*columns).select_from(source).where(*here)).one()
    return {**row._mapping, "axes": len(axis_options(connection, project_id, Filters(experiment=names)))}


def describe_experiment(
    connection: Connection,
    project_id: uuid.UUID,
    name: str,
    changes: Mapping[str, Any],
    *,
    most_labels: int,
    expected: Collection[str] | None = None,
) -> tuple[Experiment, bool]:
    """Change the description, the labels or both; the experiment, and whether anything is not as it was.

    `expected`: tags of notes, one of which must be the experiment's. Raises `NotFound`, `PreconditionFailed`, and
    `Invalid` for too many labels.
    """
    before = _held(connection, project_id, name)
    if expected is not None and before.tag not in expected:
        raise PreconditionFailed("What is said of the experiment changed; read it again.")
    labels = changed_labels(before.labels, changes.get("labels", {}), most_labels)
    description = changes.get("description", before.description)
    is_changed = (description, labels) != (before.description, before.labels)
    if is_changed:
        values = {"description": description, "labels": labels, "updated_at": func.now()}
        connection.execute(update(experiments).where(*_here(project_id, before.name)).values(values))
    return find_experiment(connection, project_id, before.name), is_changed


def _here(project_id: uuid.UUID, name: str) -> tuple[ColumnElement[bool], ...]:
    return experiments.c.project_id == project_id, experiments.c.name == name


def _held(connection: Connection, project_id: uuid.UUID, name: str) -> ExperimentNote:
    """What is written about an experiment, locked until the end of the transaction; `NotFound`."""
    own = find_experiment(connection, project_id, name).name
    connection.execute(insert(experiments).values(project_id=project_id, name=own).on_conflict_do_nothing())
    connection.execute(select(experiments.c.name).where(*_here(project_id, own)).with_for_update())
    return find_note(connection, project_id, own)


def set_protocol_rules(connection: Connection, actor: Actor, project_id: uuid.UUID, name: str, rules: Rules) -> None:
    """Set which keys of protocols bind in an experiment. Other rules than before invalidate every question about it,
    and are in the audit log. Raises `NotFound`."""
    before = _held(connection, project_id, name)
    if rules == before.rules:
        return
    changed = update(experiments).where(*_here(project_id, before.name))
    connection.execute(changed.values(protocol_rules=rules.document()))
    _invalidate(connection, project_id, before)
    record(connection, actor, "experiment.protocol_set", before.name, project_id=project_id, **rules.document())


def _invalidate(connection: Connection, project_id: uuid.UUID, note: ExperimentNote) -> None:
    """Invalidate the experiment's questions about each metric, and every comparison of two grids of the project."""
    of_experiment = grids.c.experiment.in_([note.name, *note.aliases])
    metrics = select(grids.c.metric).where(grids.c.project_id == project_id, of_experiment).distinct()
    scopes = [(note.name, metric) for metric in connection.scalars(metrics.order_by(grids.c.metric))]
    invalidate_scopes(connection, project_id, dict.fromkeys([*scopes, OF_REVISIONS], ()))
