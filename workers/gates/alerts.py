"""Settle one turn of a baseline: which alerts its verdicts open, see again or resolve, and what the feed tells of them.

`changes` is pure. `record_judging` stores all of it in the transaction that settles the question of the baseline.
"""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import quote, urlencode

from sqlalchemy import Connection, func, insert, select, update

from registry.query import query_of
from registry.results.codec import to_document
from registry.results.event_data import GateEvent
from registry.results.events import EventType
from registry.storage.arrivals import Arrival, announce, cut, of_alert, slug_of
from registry.storage.tables import alerts, cached_results, gate_verdicts, new_id
from workers.gates.contenders import Judging, NewVerdict, Standing

Act = Literal["open", "see", "reopen", "resolve"]
Resolution = Literal["passed", "policy_changed", "deleted"]


@dataclass(frozen=True, slots=True)
class Known:
    """An alert as it is stored."""

    id: uuid.UUID
    key: uuid.UUID
    model: str
    policy_version: int
    is_live: bool
    """Open, acknowledged or dismissed: what was failing still is."""
    was_deleted: bool
    """Resolved because the contender was gone."""


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to one alert: `alert` is None for a new one, whose `place` is told."""

    act: Act
    model: str
    key: uuid.UUID
    verdict_id: uuid.UUID | None
    alert: uuid.UUID | None = None
    place: Mapping[str, Any] | None = None
    resolution: Resolution | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn knows: how the contenders stand that have verdicts, all contenders, and those of which alerts may
    be opened."""

    policy_version: int
    standings: Mapping[str, Standing]
    contenders: frozenset[str]
    alerting: frozenset[str]


def changes(known: Sequence[Known], turn: Turn) -> Iterator[Change]:
    """The changes that a turn makes, each alert at most once.

    A failure that is new is worth an alert when it is confirmed and the contender is one that alerts; one that has an
    alert is seen again. An alert is resolved when the version of the policy is gone and the next does not fail the
    same, whether it passes or not; else when its contender passes or is gone. A failure after that opens it again.
    """
    for alert in known:
        yield from _of_known(alert, turn)
    met = {alert.key for alert in known}
    for model in sorted(turn.standings.keys() & turn.alerting):
        standing = turn.standings[model]
        if standing.is_new:
            for key, place in standing.failing.items():
                if key in standing.confirmed and key not in met:
                    yield Change("open", model, key, standing.verdict_id, place=place)


def _of_known(alert: Known, turn: Turn) -> Iterator[Change]:
    old = alert.policy_version != turn.policy_version
    standing = turn.standings.get(alert.model)
    if alert.model not in turn.contenders:
        if alert.is_live:
            yield _resolved(alert, "policy_changed" if old else "deleted")
    elif standing is None:
        return  # its turn comes
    elif alert.key not in standing.failing:
        if alert.is_live and old:
            yield _resolved(alert, "policy_changed")
        elif alert.is_live and (standing.passes or alert.key in standing.cleared):
            yield _resolved(alert, "passed")
    elif alert.is_live:
        if standing.is_new:
            yield Change("see", alert.model, alert.key, standing.verdict_id, alert.id)
    elif alert.model in turn.alerting and (alert.key in standing.confirmed or alert.was_deleted):
        yield Change("reopen", alert.model, alert.key, standing.verdict_id, alert.id)


def _resolved(alert: Known, why: Resolution) -> Change:
    return Change("resolve", alert.model, alert.key, None, alert.id, resolution=why)


def of_verdicts(
    slug: str, name: str, row: Any, policy_version: int, verdicts: Iterable[tuple[int, NewVerdict]]
) -> list[Arrival]:
    found = []
    for number, one in verdicts:
        said = GateEvent(
            id=str(one.id),
            baseline=name,
            policy_version=policy_version,
            number=number,
            contender=one.contender,
            verdict=one.document["verdict"],
            passes=one.passes,
            gap=one.document["gap"],
            unit=one.document["unit"],
            sentence=cut(one.document["sentence"]),
            experiment=row.experiment,
            metric=row.metric,
        )
        below = f"projects/{slug}/baselines/{quote(name, safe='')}/verdicts?{urlencode({'contender': one.contender})}"
        found.append(Arrival("gate.verdict", below, to_document(said)))
    return found


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
