"""Alerts: what the verdicts of one turn open, see again and resolve. Pure: values in, changes out."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from workers.verdict_values import Standing

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
    alert is seen again. An alert is resolved when its contender passes, when the contender or the version of the policy
    is gone; a failure after that opens it again.
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
        if alert.is_live and (standing.passes or alert.key in standing.cleared):
            yield _resolved(alert, "passed")
        elif alert.is_live and old:
            yield _resolved(alert, "policy_changed")
    elif alert.is_live:
        if standing.is_new:
            yield Change("see", alert.model, alert.key, standing.verdict_id, alert.id)
    elif alert.model in turn.alerting and (alert.key in standing.confirmed or alert.was_deleted):
        yield Change("reopen", alert.model, alert.key, standing.verdict_id, alert.id)


def _resolved(alert: Known, why: Resolution) -> Change:
    return Change("resolve", alert.model, alert.key, None, alert.id, resolution=why)
