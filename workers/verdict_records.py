"""Store what one turn of a baseline found: verdicts and alerts, in the transaction that settles its question."""

from __future__ import annotations

import uuid
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from registry.query import query_of
from registry.results.events import EventType
from registry.storage.arrivals import Arrival, announce, of_alert, slug_of
from registry.storage.tables import alerts, cached_results, gate_verdicts, new_id
from workers.alerts import Act, Change, Known, Turn, changes
from workers.contenders import Judging
from workers.verdict_events import of_verdicts

_TOLD: dict[Act, EventType] = {"open": "alert.opened", "reopen": "alert.opened", "resolve": "alert.resolved"}


def record_judging(connection: Connection, row: Any, found: Judging) -> None:
    """Store the verdicts and alerts of a turn; the question is due again at once where contenders are left.

    `row` is the claimed question, which the transaction has settled and so holds: no other turn of the same baseline is
    stored at the same time.
    """
    query: Any = query_of(row.query)
    baseline = uuid.UUID(query.baseline)
    of_baseline = {"project_id": row.project_id, "baseline_id": baseline, "policy_version": query.policy_version}
    last = connection.scalar(select(func.max(gate_verdicts.c.number)).where(gate_verdicts.c.baseline_id == baseline))
    names = ("id", "contender", "inputs_key", "look", "passes", "document")
    numbered = list(enumerate(found.verdicts, (last or 0) + 1))
    values = [
        of_baseline | {"number": number, "grid_ids": list(one.grid_ids)} | {name: getattr(one, name) for name in names}
        for number, one in numbered
    ]
    slug = slug_of(connection, row.project_id)
    if values:
        connection.execute(insert(gate_verdicts), values)
        told = of_verdicts(slug, found.name, row, query.policy_version, numbered)
        announce(connection, row.project_id, told)
    turn = Turn(query.policy_version, found.standings, frozenset(found.contenders), found.alerting)
    # What one change of the scope opened is one event, whatever the number of turns that judge it.
    opened_with = of_baseline | {"baseline": found.name, "group_id": uuid.uuid5(row.id, str(row.generation))}
    ended = list[Arrival]()
    for change in changes(_known(connection, baseline), turn):
        alert = _apply(connection, change, opened_with)
        if change.act in _TOLD:
            ended.append(of_alert(_TOLD[change.act], slug, alert))
    announce(connection, row.project_id, ended)
    if found.left:
        again = {"state": "pending", "due_at": func.now()}
        connection.execute(update(cached_results).where(cached_results.c.id == row.id).values(again))


def _known(connection: Connection, baseline: uuid.UUID) -> list[Known]:
    """The alerts of a baseline, which stay as they are until the transaction ends."""
    statement = select(alerts).where(alerts.c.baseline_id == baseline).order_by(alerts.c.id).with_for_update()
    return [
        Known(one.id, one.key, one.model, one.policy_version, one.state != "resolved", one.resolution == "deleted")
        for one in connection.execute(statement)
    ]


def _apply(connection: Connection, change: Change, opened_with: dict[str, Any]) -> Any:
    """Make the change; the row of the alert as it is then."""
    if change.act == "open":
        place = change.place or {}
        named = {"model": change.model, "benchmark": place.get("benchmark"), "at": place.get("at"), "key": change.key}
        values = opened_with | named | {"id": new_id(), "verdict_id": change.verdict_id}
        return connection.execute(insert(alerts).values(values).returning(alerts)).one()
    changed: dict[str, Any] = {"version": alerts.c.version + 1, "updated_at": func.now()}
    if change.act == "resolve":
        changed |= {"state": "resolved", "resolution": change.resolution}
    else:
        changed |= {"verdict_id": change.verdict_id, "policy_version": opened_with["policy_version"]}
        changed |= {"seen": alerts.c.seen + 1}
    if change.act == "reopen":
        changed |= {"state": "open", "resolution": None, "reason": None, "reopened": alerts.c.reopened + 1}
        changed |= {"group_id": opened_with["group_id"], "opened_at": func.now()}
    made = update(alerts).where(alerts.c.id == change.alert).values(changed).returning(alerts)
    return connection.execute(made).one()
