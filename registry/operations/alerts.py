"""Find the verdicts and alerts of baselines, which workers write (`workers/gates/`), and answer an alert."""

import uuid
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, ScalarSelect, Select, func, select, tuple_, type_coerce, update
from sqlalchemy.dialects.postgresql import JSONB, distinct_on

from registry.errors import Conflict, NotFound
from registry.operations.audit_log import Actor, record
from registry.operations.baselines import Expect, check_tag
from registry.operations.names import joined_names
from registry.renderings.numbers import wilson
from registry.results.alerts import WRONG, Alert, StoredVerdict
from registry.results.codec import from_document
from registry.results.events import EventType
from registry.results.gates import AlertPrecision
from registry.storage.arrivals import announce, of_alert, slug_of
from registry.storage.tables import alerts, gate_verdicts

_ANSWERED: dict[str, EventType] = {"acknowledged": "alert.acknowledged", "dismissed": "alert.dismissed"}
LIVE = ("open", "acknowledged")
"""States of alerts that somebody minds."""


def list_alerts(
    connection: Connection,
    project_id: uuid.UUID,
    filters: Mapping[str, Sequence[str]],
    after: tuple[datetime, uuid.UUID] | None,
    limit: int,
) -> Sequence[Any]:
    """Alerts of a project, the last opened first; with values of columns, such as `state`, only those."""
    statement = _rows().where(alerts.c.project_id == project_id)
    for name, values in filters.items():
        statement = statement.where(alerts.c[name].in_(values))
    if after is not None:
        statement = statement.where(tuple_(alerts.c.opened_at, alerts.c.id) < tuple_(*after))
    return connection.execute(statement.order_by(alerts.c.opened_at.desc(), alerts.c.id.desc()).limit(limit)).all()


def find_alert(connection: Connection, project_id: uuid.UUID, alert_id: uuid.UUID) -> Any:
    """An alert of the project; `NotFound` if it has no such alert."""
    here = (alerts.c.project_id == project_id, alerts.c.id == alert_id)
    row = connection.execute(_rows().where(*here)).one_or_none()
    if row is None:
        raise NotFound("The project has no such alert.")
    return row


def answer_alert(
    connection: Connection,
    actor: Actor,
    project_id: uuid.UUID,
    alert_id: uuid.UUID,
    said: Mapping[str, Any],
    expect: Expect,
) -> Any:
    """Acknowledge or dismiss an alert and return its row; what was changed is in the audit log.

    Raises `NotFound`, `PreconditionFailed` when its tag is not expected, and `Conflict` for one that is resolved.
    """
    held = select(alerts.c.id).where(alerts.c.project_id == project_id, alerts.c.id == alert_id)
    connection.execute(held.with_for_update())
    row = find_alert(connection, project_id, alert_id)
    check_tag(row, expect, "alert")
    if row.state == "resolved":
        raise Conflict("The alert is resolved: there is nothing left to acknowledge or dismiss.")
    changed = {"state": said["state"], "reason": said.get("reason"), "note": said.get("note", row.note)}
    if all(getattr(row, name) == value for name, value in changed.items()):
        return row
    changed |= {"is_right": said.get("reason") not in WRONG, "version": row.version + 1, "updated_at": func.now()}
    connection.execute(update(alerts).where(alerts.c.id == alert_id).values(changed))
    row = find_alert(connection, project_id, alert_id)
    told = of_alert(_ANSWERED[row.state], slug_of(connection, project_id), row)
    announce(connection, project_id, [told])
    logged = {"baseline": row.baseline, "model": row.model, **said}
    record(connection, actor, "alert.answered", alert_id, project_id=project_id, **logged)
    return row


def alerts_of(connection: Connection, baseline_id: uuid.UUID) -> tuple[int, AlertPrecision]:
    """How many alerts of a baseline are open, those that nobody answered, and how often its alerts were right."""
    counted = (
        func.count().filter(alerts.c.state == "open"),
        func.count().filter(alerts.c.is_right.is_(True)),
        func.count().filter(alerts.c.is_right.is_(False)),
    )
    going, right, wrong = connection.execute(select(*counted).where(alerts.c.baseline_id == baseline_id)).one()
    return going, precision(right, wrong)


def count_dismissed(connection: Connection, project_id: uuid.UUID) -> int:
    """How many alerts of a project still fail although nobody minds."""
    mine = (alerts.c.project_id == project_id, alerts.c.state == "dismissed")
    return int(connection.execute(select(func.count()).select_from(alerts).where(*mine)).scalar_one())


def precision(right: int, wrong: int) -> AlertPrecision:
    """The share of right ones with its interval; nothing of the kind without any."""
    count = right + wrong
    told = (right / count, *wilson(right / count, count, 1.0)) if count else ()
    return AlertPrecision(right, wrong, *told)


def alert_of(row: Any) -> Alert:
    """An alert as it is served."""
    instants = {name: getattr(row, name).isoformat() for name in ("opened_at", "updated_at")}
    names = {"id": str(row.id), "group": str(row.group_id), "verdict": row.number}
    return from_document(Alert, {**row._mapping, **instants, **names})


def _own_sentence() -> ScalarSelect[Any]:
    """What the verdict says of the alert's own benchmark or cell; NULL over all of them, and of older verdicts."""
    place = func.jsonb_array_elements(gate_verdicts.c.document["failing"]).column_valued("place")
    benchmark, at = type_coerce(place, JSONB)["benchmark"].astext, type_coerce(place, JSONB)["at"]
    same = (benchmark.is_not_distinct_from(alerts.c.benchmark), at.is_not_distinct_from(alerts.c.at))
    return select(type_coerce(place, JSONB)["sentence"].astext).where(*same).limit(1).scalar_subquery()


def _rows() -> Select[Any]:
    sentence = func.coalesce(_own_sentence(), gate_verdicts.c.document["sentence"].astext).label("sentence")
    against = gate_verdicts.c.document["against"].astext.label("against")
    return select(alerts, gate_verdicts.c.number, sentence, against).join(
        gate_verdicts, gate_verdicts.c.id == alerts.c.verdict_id
    )


def list_verdicts(
    connection: Connection, baseline: Any, contender: str | None, before: int | None, limit: int
) -> Sequence[Any]:
    """Verdicts of a baseline (its row), the last first; those on one model, or before a number."""
    statement = select(gate_verdicts).where(gate_verdicts.c.baseline_id == baseline.id)
    if contender is not None:
        name = joined_names(connection, baseline.project_id).get(("model", contender), contender)
        statement = statement.where(gate_verdicts.c.contender.in_({contender, name}))
    if before is not None:
        statement = statement.where(gate_verdicts.c.number < before)
    return connection.execute(statement.order_by(gate_verdicts.c.number.desc()).limit(limit)).all()


def last_verdicts(connection: Connection, baseline_id: uuid.UUID, version: int, limit: int) -> Sequence[Any]:
    """The last verdict on each contender by this version, the last given first."""
    mine = (gate_verdicts.c.baseline_id == baseline_id, gate_verdicts.c.policy_version == version)
    each = select(gate_verdicts).ext(distinct_on(gate_verdicts.c.contender)).where(*mine)
    last = each.order_by(gate_verdicts.c.contender, gate_verdicts.c.number.desc()).subquery()
    return connection.execute(select(last).order_by(last.c.number.desc()).limit(limit)).all()


def count_failing(connection: Connection, baselines: Sequence[Any]) -> dict[uuid.UUID, tuple[int, int, int]]:
    """How many contenders fail, pass and are neither by the last verdict on each, by baselines with any."""
    key = (gate_verdicts.c.baseline_id, gate_verdicts.c.policy_version)
    each = select(gate_verdicts).where(tuple_(*key).in_([(one.id, one.version) for one in baselines]))
    each = each.ext(distinct_on(gate_verdicts.c.baseline_id, gate_verdicts.c.contender))
    order = (gate_verdicts.c.baseline_id, gate_verdicts.c.contender, gate_verdicts.c.number.desc())
    last = each.order_by(*order).subquery()
    counts = (func.count().filter(last.c.passes.is_not_distinct_from(one)) for one in (False, True, None))
    rows = connection.execute(select(last.c.baseline_id, *counts).group_by(last.c.baseline_id))
    return {baseline: (failing, passing, neither) for baseline, failing, passing, neither in rows}


def verdict_of(row: Any) -> StoredVerdict:
    """A stored verdict as it is served."""
    columns = {name: getattr(row, name) for name in ("number", "policy_version", "contender", "passes", "look")}
    return from_document(StoredVerdict, {**row.document, **columns, "created_at": row.created_at.isoformat()})
